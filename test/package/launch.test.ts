import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { formatRelease, newestKnownRelease } from '../../src/runtimehooks/index.ts';
import { needs } from '../support/needs.ts';
import { findOldNode } from './old-node.ts';
import { projectFolder } from './tree.ts';

const bin = join(projectFolder, 'bin');
const { version } = JSON.parse(readFileSync(join(projectFolder, 'package.json'), 'utf8')) as { version: string };

const oldNode = findOldNode();

/** A checkout before `npm ci`, and the Node.js that `npm ci` would install on request. */
let checkout: string;
beforeAll(() => {
  // Inside the folder of the run, so that Node.js finds its compile cache by path.
  checkout = join(inject('runFolder'), 'launch');
  for (const path of ['bin', 'package.json']) {
    cpSync(join(projectFolder, path), join(checkout, path), { recursive: true });
  }
  mkdirSync(join(checkout, 'src'));
  writeFileSync(
    join(checkout, 'src/main.ts'),
    `const said: string = process.argv.slice(2).join();
    if (said === 'wait') {
      setInterval(() => {}, 10_000);
      process.once('SIGTERM', () => process.exit(7));
      process.once('disconnect', () => process.exit(8));
    }
    console.log(said);`,
  );
});
afterAll(() => rmSync(checkout, { recursive: true }));

const start = (node: string, file: string, ...args: string[]) => spawnSync(node, [file, ...args], { encoding: 'utf8' });

test('uses the name under which it was called', () => {
  const plugin = start(process.execPath, join(bin, 'kubectl-extensionconfig'), 'rules', 'no-such-rule');
  expect(plugin.stderr).toMatch(/^kubectl extensionconfig: rules: there is no rule/);
  expect(plugin.status).toBe(2);
  const command = start(process.execPath, join(bin, 'extensionconfig-webhook'), '--help');
  expect(command.stdout).toMatch(/^Usage: extensionconfig-webhook /);
});

test.each(['--version', 'version'])('%s prints the version', (word) => {
  const { stdout } = start(process.execPath, join(bin, 'extensionconfig-webhook'), word);
  expect(stdout).toContain(`extensionconfig-webhook ${version} (`);
  expect(stdout).toContain(`Node.js ${process.version}, Cluster API v1.2 to ${formatRelease(newestKnownRelease)})`);
});

describe('with an outdated Node.js', needs('a Node.js before 24', oldNode !== undefined), () => {
  const old = oldNode as string;

  test('without another one, it prints a sentence, whatever the arguments', () => {
    for (const args of [[], ['--version'], ['lint', '.']]) {
      const { status, stderr, stdout } = start(old, join(checkout, 'bin/extensionconfig-webhook'), ...args);
      expect(stderr).toMatch(
        /^extensionconfig-webhook: this is Node\.js v[\d.]+ \(.+\), and 24 or newer is needed: .*"npm ci".*\n$/,
      );
      expect(stdout).toBe('');
      expect(status).toBe(2);
    }
  });

  /** As `npm ci` would, for one test. */
  function installNode(): void {
    const folder = join(checkout, 'node_modules/node/bin');
    mkdirSync(folder, { recursive: true });
    symlinkSync(process.execPath, join(folder, 'node'));
    onTestFinished(() => rmSync(join(checkout, 'node_modules'), { recursive: true }));
  }

  test('in a checkout after npm ci, it runs with the installed Node.js', () => {
    installNode();
    const { status, stdout } = start(old, join(checkout, 'bin/extensionconfig-webhook'), 'a b', '$c');
    expect([status, stdout]).toEqual([0, 'a b,$c\n']);
    expect(start(old, join(bin, 'extensionconfig-webhook'), '--no-such-flag').status).toBe(2);
  });

  test('it passes on signals and exit codes', async () => {
    installNode();
    const child = spawn(old, [join(checkout, 'bin/extensionconfig-webhook'), 'wait'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    expect(String(await once(child.stdout, 'data'))).toBe('wait\n');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  test('the program ends with it, even when it is killed', async () => {
    installNode();
    const child = spawn(old, [join(checkout, 'bin/extensionconfig-webhook'), 'wait'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    expect(String(await once(child.stdout, 'data'))).toBe('wait\n');
    child.kill('SIGKILL');
    // The program has it open as well.
    await once(child.stdout, 'close');
  });
});

test('a package without its program says so', () => {
  const folder = join(inject('runFolder'), 'incomplete');
  cpSync(bin, join(folder, 'bin'), { recursive: true });
  cpSync(join(projectFolder, 'package.json'), join(folder, 'package.json'));
  const { status, stderr } = start(process.execPath, join(folder, 'bin/extensionconfig-webhook'));
  rmSync(folder, { recursive: true });
  expect(stderr).toMatch(/^extensionconfig-webhook: the package is not complete, .* is missing: install it again\n$/);
  expect(status).toBe(2);
});
