import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const main = fileURLToPath(new URL('../../bin/extensionconfig-webhook', import.meta.url));
/** Prints the CommonJS packages that were loaded, to standard error. */
const tell = `import { createRequire } from 'node:module';
const { cache } = createRequire('/');
process.on('exit', () => {
  const names = Object.keys(cache).map((file) => file.split('/node_modules/').at(-1).split('/')[0]);
  console.error(JSON.stringify([...new Set(names)]));
});`;

function packagesLoadedBy(...args: string[]): string[] {
  const hook = `data:text/javascript,${encodeURIComponent(tell)}`;
  const { stderr, status } = spawnSync(process.execPath, ['--import', hook, main, ...args], { encoding: 'utf8' });
  expect(status).toBe(0);
  return JSON.parse(stderr);
}

test('the help loads nothing that only a command needs', () => {
  const packages = packagesLoadedBy('--help');
  for (const name of ['yaml', 'ajv', 'express', 'node-forge', 'prom-client', 'pino', '@kubernetes']) {
    expect(packages).not.toContain(name);
  }
  for (const name of ['yaml', 'ajv']) {
    expect(packagesLoadedBy('--version')).not.toContain(name);
  }
  const serving = packagesLoadedBy('serve', '--help');
  expect(serving).toContain('express');
  // Serving with a certificate that is there needs nothing that makes certificates, and no YAML unless a flag names some.
  expect(serving).not.toContain('node-forge');
  expect(serving).not.toContain('yaml');
  const listing = packagesLoadedBy('rules');
  expect(listing).not.toContain('yaml');
  expect(listing).not.toContain('express');
  const folder = mkdtempSync(join(tmpdir(), 'start-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [manifest, rules] = [join(folder, 'namespace.yaml'), join(folder, 'rules.yaml')];
  writeFileSync(manifest, 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n');
  writeFileSync(rules, 'rules:\n  url-query: warn\n');
  expect(packagesLoadedBy('lint', '--allow-empty', manifest)).not.toContain('yaml');
  expect(packagesLoadedBy('lint', '--allow-empty', '--rules-config', rules, manifest)).toContain('yaml');
});

/** Prints which files Node.js had to search for, to standard error. */
const tellSearches = `import { registerHooks } from 'node:module';
registerHooks({
  resolve(specifier, context, next) {
    if (specifier.startsWith('.')) {
      process.stderr.write(context.parentURL + ' ');
    }
    return next(specifier, context);
  },
});`;

test('the sources find each other without a search', () => {
  const hook = `data:text/javascript,${encodeURIComponent(tellSearches)}`;
  const { stderr, status } = spawnSync(process.execPath, ['--import', hook, main, '--help'], { encoding: 'utf8' });
  expect(status).toBe(0);
  // Those of packages do.
  expect(stderr).toContain('/node_modules/commander/');
  expect(stderr).not.toContain('/src/');
});
