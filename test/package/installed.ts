import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onceARun } from '../support/once-a-run.ts';
import { version as checkedOut, type Ended, projectFolder, run, runWell } from './tree.ts';

/** Both packages, as a release publishes them, installed as their users do. Read-only: copy them to change them. */
export interface Installed {
  version: string;
  /** The folder that the release wrote. */
  packed: string;
  /** Both tarballs, as `npm run pack` would name them in this checkout and in a checkout of the version. */
  packages: string;
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

/** Where the releases of tests are published. */
export const repository = 'https://github.com/acme/extensionconfig-webhook';

/** A version that can be released now: a new one, or that of the checkout if nothing has changed since its release. */
function versionToRelease(): string {
  const changelog = readFileSync(join(projectFolder, 'CHANGELOG.md'), 'utf8');
  return /^## \[Unreleased\]\s+## /m.test(changelog) ? checkedOut : '98.7.6';
}

/** Runs `npm run release` of a checkout. */
export const runRelease = (checkout: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> =>
  run(checkout, process.execPath, ['tools/release/release.ts', ...args, '--repository', repository], env);

/** Releases and installs both packages, once per test run. */
export function installedPackages(): Promise<Installed> {
  return onceARun('installed', async (folder) => {
    const packed = join(folder, 'packed');
    const version = versionToRelease();
    const { code, stdout, stderr } = await runRelease(projectFolder, [version, '--output', packed]);
    if (code !== 0 && !stderr.startsWith('incomplete: kubectl')) {
      throw new Error(`npm run release ended with ${code}:\n${stdout}\n${stderr}`);
    }
    const packages = join(folder, 'packages');
    mkdirSync(packages);
    const consumers = ['extensionconfig-webhook', 'cluster-api-extension'].map((name, index) => {
      const tarball = join(packed, `${name}-${version}.tgz`);
      for (const named of new Set([version, checkedOut])) {
        symlinkSync(tarball, join(packages, `${name}-${named}.tgz`));
      }
      return install(join(folder, `consumer${index}`), tarball);
    });
    const [program, sdk] = await Promise.all(consumers);
    return { version, packed, packages, program: String(program), sdk: String(sdk) };
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
