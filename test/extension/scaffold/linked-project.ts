import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { writeProject } from '../../../src/extension/scaffold/index.ts';

const root = new URL('../../../', import.meta.url).pathname;
const source = (file: string) => `./src/exports/${file}.ts`;
export const run = promisify(execFile);

/** A generated project that has this checkout as the SDK. */
export function linkedProject(hooks: readonly string[], templateTypes?: string): string {
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
