import { existsSync, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemProblem } from './files.ts';

/**
 * Creates a folder and its missing parents. Does not use Node.js's `recursive` option, which loops forever where the
 * system cannot create folders: below /proc.
 */
export function makeFolder(folder: string, mode = 0o777): void {
  const parent = dirname(folder);
  if (!existsSync(parent)) {
    makeFolder(parent, mode);
  }
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // It is there, or another process was faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(folder).isDirectory()) {
      throw error;
    }
  }
}

/** Longest name of a file that is made of another name, in characters. */
const maxFileName = 200;

/**
 * The path of a file below a folder. Each name is one step of it, whatever characters it has: those that could lead elsewhere
 * are encoded, as in URLs.
 */
export function pathBelow(folder: string, ...names: readonly string[]): string {
  const steps = names.map((name) => (/^\.*$/.test(name) ? `_${name}` : encodeURIComponent(name).slice(0, maxFileName)));
  return join(folder, ...steps);
}

/** Errors that say something else of folders. */
const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'it exists and is not a folder',
  ENOENT: 'a folder cannot be created there, or a link in the path is broken',
};

/** Why a folder cannot be read or written, in one line with a remedy: `/certs cannot be written: permission denied: choose …`. */
export function folderProblem(folder: string, action: 'read' | 'written', error: unknown): string {
  const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? systemProblem(error);
  return `${folder} cannot be ${action}: ${reason}: choose a folder that this user can write to`;
}

/** The home folder; undefined for a user whom the system knows only by number, as in pods on OpenShift. */
export function homeFolder(env: NodeJS.ProcessEnv, systemHome: () => string = homedir): string | undefined {
  try {
    return env.HOME || systemHome();
  } catch {
    return undefined;
  }
}

/** The folder of the package or checkout, with a slash at its end: the nearest one with a package.json. */
export const packageRoot: URL = (() => {
  let folder = new URL('./', import.meta.url);
  while (!existsSync(new URL('package.json', folder)) && folder.pathname !== '/') {
    folder = new URL('../', folder);
  }
  return folder;
})();
