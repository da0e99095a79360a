import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { version as checkedOut } from '../../src/cli/framework/version.ts';
import { onceARun } from '../support/once-a-run.ts';
import { type Ended, projectFolder, run, runWell } from './tree.ts';

/** Both packages. Read-only: copy them to change them. */
export interface Packages {
  /** Both tarballs, as `npm run pack` names them in this checkout. */
  packages: string;
  /** A folder in which extensionconfig-webhook alone is installed. */
  program: string;
  /** A folder in which cluster-api-extension alone is installed. */
  sdk: string;
}

/** The same as a release publishes them, installed as their users do; `packages` has the names of both versions. */
export interface Installed extends Packages {
  version: string;
  /** The folder that the release wrote. */
  packed: string;
}

const names = ['extensionconfig-webhook', 'cluster-api-extension'] as const;

/**
 * Both packages as `npm run pack` writes them, once per test run. They are put where npm would install them, which takes npm
 * and a release twice the time: for tests of what the packages do.
 */
export function packedPackages(): Promise<Packages> {
  return onceARun('packed', async (folder) => {
    const packages = join(folder, 'packages');
    await runWell(projectFolder, process.execPath, ['tools/build/pack.ts', packages]);
    const [program, sdk] = await Promise.all(
      names.map(async (name) => {
        const project = join(folder, `with-${name}`);
        const installed = join(project, 'node_modules', name);
        mkdirSync(installed, { recursive: true });
        const tarball = join(packages, `${name}-${checkedOut}.tgz`);
        await runWell(installed, 'tar', ['--strip-components=1', '-xzf', tarball]);
        const { bin = {} } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
          bin?: Record<string, string>;
        };
        mkdirSync(join(project, 'node_modules/.bin'));
        for (const [command, file] of Object.entries(bin)) {
          symlinkSync(join('..', name, file), join(project, 'node_modules/.bin', command));
        }
        return project;
      }),
    );
    return { packages, program: String(program), sdk: String(sdk) };
  });
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
    const consumers = names.map((name, index) => {
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
export function linkPackages({ program, sdk }: Packages, project: string): void {
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
