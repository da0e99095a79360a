import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from './tree.ts';

const version = '22.23.3';

/**
 * A Node.js 22, from the npm registry, kept in node_modules/.cache; undefined where the registry has none for this
 * system, or cannot be reached.
 */
export function findNode22(): string | undefined {
  const folder = join(projectFolder, 'node_modules/.cache', `node-${version}`);
  const name = `node-${process.platform}-${process.arch}`;
  const node = join(folder, 'node_modules', name, 'bin/node');
  if (!existsSync(node)) {
    mkdirSync(folder, { recursive: true });
    const flags = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder];
    try {
      execFileSync('npm', ['install', ...flags, `${name}@${version}`], { stdio: 'ignore', timeout: 120_000 });
    } catch {
      return undefined;
    }
  }
  return existsSync(node) ? node : undefined;
}
