import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onceARun } from '../support/once-a-run.ts';
import { projectFolder, runWell } from './tree.ts';

/** Both packages, packed as for publishing and installed as their users do. Read-only: copy them to change them. */
export interface Installed {
  /** The folder with both tarballs. */
  packed: string;
  /** A folder in which extensionconfig-webhook alone is installed. */
  program: string;
  /** A folder in which cluster-api-extension alone is installed. */
  sdk: string;
}

/** Installs a tarball into a new folder, without a registry: a package without dependencies needs none. */
async function install(folder: string, tarball: string): Promise<string> {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module', private: true }));
  const flags = ['--offline', '--no-audit', '--no-fund', '--loglevel=error', '--cache', join(folder, '.npm')];
  await runWell(folder, 'npm', ['install', ...flags, tarball]);
  return folder;
}

/** Packs and installs both packages, once per test run. */
export function installedPackages(): Promise<Installed> {
  return onceARun('installed', async (folder) => {
    const packed = join(folder, 'packed');
    const lines = await runWell(projectFolder, process.execPath, ['tools/build/pack.ts', packed]);
    const [program, sdk] = await Promise.all(
      lines
        .trim()
        .split('\n')
        .map((tarball, index) => install(join(folder, `consumer${index}`), tarball)),
    );
    return { packed, program: String(program), sdk: String(sdk) };
  });
}

/**
 * Gives a generated project both packages, and those of its devDependencies that the checkout has, as links: `npm install`
 * without a registry and half a minute.
 */
export function linkPackages({ program, sdk }: Installed, project: string): void {
  const modules = join(project, 'node_modules');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  mkdirSync(join(modules, '@types'));
  symlinkSync(join(program, 'node_modules/extensionconfig-webhook'), join(modules, 'extensionconfig-webhook'));
  symlinkSync(join(sdk, 'node_modules/cluster-api-extension'), join(modules, 'cluster-api-extension'));
  for (const name of ['typescript', '@types/node', 'undici-types']) {
    symlinkSync(join(projectFolder, 'node_modules', name), join(modules, name));
  }
  symlinkSync(join(projectFolder, 'node_modules/.bin/tsc'), join(modules, '.bin/tsc'));
  symlinkSync(
    join(program, 'node_modules/.bin/extensionconfig-webhook'),
    join(modules, '.bin/extensionconfig-webhook'),
  );
}
