import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from './tree.ts';

/**
 * A file of an npm package of another version than development uses, kept in node_modules/.cache; undefined where the
 * registry has none for this system, or cannot be reached.
 */
function fromRegistry(name: string, version: string, path: string): string | undefined {
  const folder = join(projectFolder, 'node_modules/.cache', `${name}-${version}`);
  const file = join(folder, 'node_modules', name, path);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true });
    const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder];
    try {
      execFileSync('npm', ['install', ...flags, `${name}@${version}`], { stdio: 'ignore', timeout: 120_000 });
    } catch {
      return undefined;
    }
  }
  return existsSync(file) ? file : undefined;
}

/** A Node.js 22: the oldest that the packages run on. */
export const node22 = '22.23.3';
export const findNode22 = () => fromRegistry(`node-${process.platform}-${process.arch}`, node22, 'bin/node');

/** The compiler of TypeScript 5.9, a file for Node.js. */
export const findTypeScript5 = () => fromRegistry('typescript', '5.9.3', 'bin/tsc');
