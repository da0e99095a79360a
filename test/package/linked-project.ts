import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { writeProject } from '../../src/extension/scaffold/index.ts';
import { declarations } from '../support/declarations.ts';

const root = new URL('../../', import.meta.url).pathname;
/** An entry of the SDK: its declarations, as users have them, and its source, which Node.js runs. */
const source = (file: string) => ({ types: `./types/exports/${file}.d.ts`, default: `./src/exports/${file}.ts` });
const run = promisify(execFile);

/** A generated project that has this checkout as the SDK. */
export async function linkedProject(hooks: readonly string[], templateTypes?: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'generated-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeProject(folder, {
    name: 'lab',
    hooks,
    certificates: 'cert-manager',
    packages: { sdk: '*', program: '*' },
    templateTypes,
  });
  const modules = join(folder, 'node_modules');
  const sdk = join(modules, 'cluster-api-extension');
  mkdirSync(join(modules, '@types'), { recursive: true });
  mkdirSync(sdk);
  symlinkSync(join(root, 'node_modules/@types/node'), join(modules, '@types/node'));
  symlinkSync(join(root, 'src'), join(sdk, 'src'));
  symlinkSync(await declarations(), join(sdk, 'types'));
  symlinkSync(root, join(modules, 'extensionconfig-webhook'));
  const exports = {
    '.': source('extension'),
    './testing': source('extension-testing'),
    './topology': source('extension-topology'),
  };
  writeFileSync(join(sdk, 'package.json'), JSON.stringify({ name: 'cluster-api-extension', type: 'module', exports }));
  return folder;
}

/** What a compiler says about a project. */
export const compile = async (folder: string, tsc = join(root, 'node_modules/.bin/tsc')): Promise<string> => {
  const { stdout } = await run(tsc, ['-p', '.'], { cwd: folder }).catch((error: { stdout: string }) => error);
  return stdout;
};

/** What the tests of a project print, in TAP: all of them in one process, which loads the SDK once. */
export async function runTests(folder: string): Promise<string> {
  const args = ['--test', '--test-isolation=none', '--test-reporter=tap', 'test/*.test.ts'];
  const { stdout } = await run(process.execPath, args, { cwd: folder }).catch((error: { stdout: string }) => error);
  return stdout;
}
