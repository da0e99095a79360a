import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onceARun } from '../tools/once-a-run.ts';
import { copyProject, fromRegistry, linkDependencies, projectFolder, runWell } from './tree.ts';

/** The package as npm packs it, and a folder of somebody who installed it. Nobody may change them: copy them. */
export interface Installed {
  tarball: string;
  /** Paths of the files in the package. */
  packed: string[];
  /** Has `package.json` and `node_modules`. */
  consumer: string;
}

/** Packs the project and installs that package, as its users do; once in a run of the tests. */
export function installedPackage(): Promise<Installed> {
  return onceARun('installed', async (folder) => {
    const source = join(folder, 'source');
    copyProject(
      [
        'bin',
        'src',
        'tools',
        'manifests',
        'templates',
        'package.json',
        'tsconfig.json',
        'tsconfig.build.json',
        'README.md',
        'LICENSE',
      ],
      source,
    );
    symlinkSync(join(projectFolder, 'node_modules'), join(source, 'node_modules'));
    const [{ filename, files }] = JSON.parse(await runWell(source, 'npm', ['pack', '--json', '--loglevel=error'])) as [
      { filename: string; files: { path: string }[] },
    ];
    const tarball = join(source, filename);
    const consumer = join(folder, 'consumer');
    mkdirSync(consumer);
    writeFileSync(join(consumer, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module', private: true }));
    // Unpacked already: npm reads in the package what it needs, keeps that, fetches what is missing and removes the rest.
    if (!fromRegistry) {
      await linkDependencies(consumer);
      rmSync(join(consumer, 'node_modules/.package-lock.json'));
    }
    await runWell(consumer, 'npm', ['install', ...npmFlags, tarball]);
    return { tarball, packed: files.map(({ path }) => path), consumer };
  });
}

/** What `npm install` need not do here. */
export const npmFlags = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
