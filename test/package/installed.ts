import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { hookNames } from '../../src/scaffold/index.ts';
import { onceARun } from '../tools/once-a-run.ts';
import { builtImage } from './image-build.ts';
import {
  fromRegistry,
  linkDependencies,
  linkFolder,
  neededLockfile,
  projectFolder,
  runWell,
  takeFrom,
} from './tree.ts';

/** The package as npm packs it, and a project that has it installed. Nobody may change them: copy them. */
export interface Installed {
  tarball: string;
  /** Paths of the files in the package. */
  packed: string[];
  /** By `new-extension` for all hooks, after `npm install`. */
  project: string;
}

/** Name of the project, and of its folder. */
export const projectName = 'lab-extension';

/** Packages that the project has for its development, and the checkout as well. */
const developsWith = /^node_modules\/(typescript|@typescript\/.*|@types\/node|undici-types)$/;

/**
 * Gives a project the packages that the checkout has unpacked, in the versions that it names, so that npm needs neither a
 * registry nor half a minute: it reads in the package what that needs, finds it, and unpacks the package alone.
 */
function takePackages(project: string): void {
  const lockfile = { ...neededLockfile(projectFolder, developsWith), name: projectName };
  writeFileSync(join(project, 'package-lock.json'), JSON.stringify(lockfile));
  linkDependencies(projectFolder, project, developsWith);
}

/** Packs the project and installs that package, as its users do; once in a run of the tests. */
export function installedPackage(): Promise<Installed> {
  return onceARun('installed', async (folder) => {
    const built = await builtImage();
    const source = join(folder, 'source');
    takeFrom(projectFolder, ['bin', 'manifests', 'templates', 'package.json', 'README.md', 'LICENSE'], source);
    const { scripts } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    expect(scripts.prepack, 'what `npm pack` runs first, which the build of the image has run').toBe('npm run build');
    linkFolder(join(built, 'dist'), join(source, 'dist'));
    const pack = ['pack', '--ignore-scripts', '--json', '--loglevel=error', '--pack-destination', folder];
    const [{ filename, files }] = JSON.parse(await runWell(source, 'npm', pack)) as [
      { filename: string; files: { path: string }[] },
    ];
    const tarball = join(folder, filename);
    await runWell(folder, process.execPath, [
      join(built, 'dist/main.js'),
      ...['new-extension', projectName, '--hooks', hookNames.join(','), '--package', `file:${tarball}`],
    ]);
    const project = join(folder, projectName);
    if (!fromRegistry) {
      takePackages(project);
    }
    await runWell(project, 'npm', ['install', ...npmFlags]);
    return { tarball, packed: files.map(({ path }) => path), project };
  });
}

/** What `npm install` need not do here. */
const npmFlags = ['--no-audit', '--no-fund', '--loglevel=error', fromRegistry ? '--prefer-offline' : '--offline'];
