import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { recordLoads, tellPackages } from '../tools/loads.ts';

/** Names of the CommonJS packages that are loaded, and of those in Node.js, and `http2`, its largest module. */
const packages = `const { cache } = (await import('node:module')).createRequire('/');
const packages = () => [...new Set([...Object.keys(cache), ...process.moduleLoadList.filter((name) => name.includes('/deps/') || name === 'NativeModule http2')]
  .map((file) => file.split(/\\/node_modules\\/|\\/deps\\/|NativeModule /).at(-1).split('/')[0]))];`;

test('the help loads nothing that only a command needs', () => {
  const main = fileURLToPath(new URL('../../bin/extensionconfig-webhook', import.meta.url));
  const { stderr, status } = spawnSync(process.execPath, ['--import', tellPackages, main, '--help'], {
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  const loaded = JSON.parse(stderr) as string[];
  expect(loaded).toContain('commander');
  for (const name of ['yaml', 'ajv', 'express', 'node-forge', 'prom-client', 'pino', '@kubernetes']) {
    expect(loaded).not.toContain(name);
  }
});

test('what Node.js unpacks of a package.json for each file of the program is its type alone', () => {
  const nearest = findPackageJSON(new URL('../../src/main.ts', import.meta.url));
  expect(JSON.parse(readFileSync(nearest!, 'utf8'))).toEqual({ type: 'module' });
});

/** Runs commands one after the other in one process, or loads modules; returns the packages loaded after each. */
function packagesLoadedBy(...commands: (string[] | URL)[]): string[][] {
  const script = `${packages}
    const { run } = await import(${JSON.stringify(new URL('../../src/commands/index.ts', import.meta.url))});
    const { stdin, stdout, stderr, env } = process;
    const told = [];
    for (const command of ${JSON.stringify(commands)}) {
      // The module of a thread fails when it has loaded, since nobody has told it what to do.
      const code = Array.isArray(command)
        ? await run(command, { stdin, stdout, stderr, env, signal: new AbortController().signal })
        : await import(command).then(() => 0, () => 0);
      told.push({ code, packages: packages() });
    }
    stderr.write(JSON.stringify(told));`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  const told = JSON.parse(stderr) as { code: number; packages: string[] }[];
  expect(told.map(({ code }) => code)).toEqual(commands.map(() => 0));
  return told.map((one) => one.packages);
}

test('a command loads nothing that only another one needs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'start-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [manifest, rules] = [join(folder, 'namespace.yaml'), join(folder, 'rules.yaml')];
  writeFileSync(manifest, 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n');
  writeFileSync(rules, 'rules:\n  url-query: warn\n');
  // If one does not load a package, none before it did.
  const [version, listing, deciding, described, linting, serving, configured, explained, hosted, answering] =
    packagesLoadedBy(
      ['--version'],
      ['rules'],
      new URL('../../src/commands/serve/thread.ts', import.meta.url),
      ['openapi'],
      ['lint', '--allow-empty', manifest],
      ['serve', '--help'],
      ['lint', '--allow-empty', '--rules-config', rules, manifest],
      ['hooks', 'BeforeClusterUpgrade'],
      new URL('../../src/commands/sandbox/extension-thread.ts', import.meta.url),
      new URL('../../src/webhook/application.ts', import.meta.url),
    );
  for (const name of ['yaml', 'ajv']) {
    expect(version).not.toContain(name);
  }
  expect(listing).not.toContain('yaml');
  expect(listing).not.toContain('express');
  // The thread for large bodies serves nothing.
  expect(deciding).toContain('piscina');
  expect(deciding).not.toContain('express');
  expect(deciding).not.toContain('prom-client');
  expect(described).not.toContain('yaml');
  expect(linting).not.toContain('yaml');
  // Serving with an existing certificate loads nothing that makes certificates, and no YAML unless a flag names a YAML
  // file.
  expect(serving).not.toContain('node-forge');
  expect(serving).toContain('prom-client');
  expect(serving).not.toContain('@opentelemetry');
  // Only servers that offer HTTP/2 load it.
  expect(serving).not.toContain('http2');
  // The HTTP client in Node.js, which any import of node:http loads.
  expect(serving).not.toContain('undici');
  expect(serving).not.toContain('yaml');
  expect(serving).not.toContain('js-yaml');
  expect(configured).toContain('js-yaml');
  // It edits YAML, and takes as long to load as the rest of a start: files that are only read use another one.
  expect(configured).not.toContain('yaml');
  expect(explained).not.toContain('yaml');
  // The sandbox's extension has no health port, and so needs no Express.
  expect(hosted).toContain('pino');
  expect(hosted).not.toContain('express');
  expect(answering).toContain('express');
});

test('commands that call extensions load no rules, no compiler, and only the parts of the HTTP client that calls need', () => {
  const script = `${recordLoads}
    const { run } = await import(${JSON.stringify(new URL('../../src/commands/index.ts', import.meta.url))});
    const { stdin, stdout, stderr, env } = process;
    // The sandbox's extension is named like a command.
    for (const args of [['discover', 'sample-extension', '--help'], ['__complete', '--', 'discover', 'sample-extension', '--']]) {
      await run(args, { stdin, stdout, stderr, env, signal: new AbortController().signal });
    }
    const named = [...loads];
    // preflight loads the rules only when it runs.
    for (const command of ['discover', 'call', 'conformance', 'rehearse', 'preflight', 'sample-extension']) {
      await run([command, '--help'], { stdin, stdout, stderr, env, signal: new AbortController().signal });
    }
    const { clusterApiHooks } = await import(${JSON.stringify(new URL('../../src/hooks/index.ts', import.meta.url))});
    const messages = await import(${JSON.stringify(new URL('../../src/messages/index.ts', import.meta.url))});
    for (const hook of clusterApiHooks) {
      messages.prepareChecks(hook);
      const [request, response] = [messages.sampleRequest(hook), messages.sampleResponse(hook)];
      messages.messageProblems(hook, 'request', request, 'strict');
      messages.decodeRequest(hook, { ...request, settings: null });
      messages.messageProblems(hook, 'response', response, 'strict');
      messages.decodeResponse(hook, { ...response, kind: null });
    }
    const { collectProcessMetrics, Registry } = await import(${JSON.stringify(new URL('../../src/prometheus/index.ts', import.meta.url))});
    collectProcessMetrics(new Registry());
    const called = [...loads];
    await run(['certs', 'status', '--cert-dir', '/no-such-folder'], { stdin, stdout, stderr: stdout, env, signal: new AbortController().signal });
    const inFolder = [...loads];
    await run(['sandbox', '--help'], { stdin, stdout, stderr, env, signal: new AbortController().signal });
    stderr.write(JSON.stringify([named, called, inFolder, loads]));`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' });
  const [named, called, inFolder, all] = JSON.parse(stderr) as [string[], string[], string[], string[]];
  const filesOf = (place: string, files = called) => files.filter((file) => file.includes(place));
  expect(filesOf('/src/commands/discover.ts', named)).toHaveLength(1);
  expect(filesOf('/src/commands/sample-extension.ts', named)).toEqual([]);
  expect(filesOf('/src/rules/')).toEqual([]);
  // Needed for the ExtensionConfigs and certificates of a cluster, but not for those in files.
  expect(filesOf('/src/cluster/')).toEqual([]);
  expect(filesOf('/src/certs/')).toEqual([]);
  expect(filesOf('/src/certs/folder-store.ts', inFolder)).toHaveLength(1);
  expect(filesOf('/src/cluster/', inFolder)).toEqual([]);
  // Needed for ExtensionConfigs of an older version.
  expect(filesOf('/src/conversion/')).toEqual([]);
  // What checks the messages of Cluster API's hooks is generated.
  expect(filesOf('/src/messages/strict-fits.ts')).toHaveLength(1);
  expect(filesOf('/node_modules/ajv/dist/compile/')).toEqual([]);
  expect(filesOf('/node_modules/undici/').length).toBeLessThan(40);
  expect(filesOf('/src/runtime/').length).toBeGreaterThan(5);
  // Metrics of the process, which each server has.
  expect(filesOf('/node_modules/prom-client/').length).toBeGreaterThan(10);
  expect(filesOf('/node_modules/@opentelemetry/')).toEqual([]);
  // Most sandboxes use no facts about the cluster, and their controller starts when everything else is ready.
  expect(filesOf('/src/certs/', all).length).toBeGreaterThan(5);
  expect(filesOf('/src/watching/', all)).toEqual([]);
  expect(filesOf('/src/controller/', all)).toEqual([]);
});
