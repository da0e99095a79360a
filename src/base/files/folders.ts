import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { FailureError } from '../errors.ts';
import { systemProblem } from './files.ts';

/** Creates a folder and its parents. Node.js's `recursive` loops forever below /proc, where no folder can be created. */
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

/** The path of a file below a folder: each name is one step, with what could lead elsewhere encoded as in URLs. */
export function pathBelow(folder: string, ...names: readonly string[]): string {
  const steps = names.map((name) => (/^\.*$/.test(name) ? `_${name}` : encodeURIComponent(name).slice(0, 200)));
  return join(folder, ...steps);
}

const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'it exists and is not a folder',
  ENOENT: 'a folder cannot be created there, or a link in the path is broken',
};

/** Why a folder cannot be read or written, in one line with a remedy: `/certs cannot be written: permission denied: choose …`. */
export function folderProblem(folder: string, action: 'read' | 'written', error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  const reason = reasons[code] ?? systemProblem(error);
  const remedy =
    code === 'ENOSPC' ? 'make room, or choose a folder on another disk' : 'choose a folder that this user can write to';
  return `${folder} cannot be ${action}: ${reason}: ${remedy}`;
}

/**
 * Creates a folder, and returns what writes a text into a new file below it; if that fails, nothing of it is left.
 * @param flag begins the messages: the flag that names the folder, and a colon. @throws {FailureError} also if it is not empty.
 */
export function newFolder(
  folder: string,
  { flag = '', isPrivate = false } = {},
): (text: string, ...names: readonly string[]) => void {
  const mode = isPrivate ? 0o700 : 0o777;
  const isNew = !existsSync(folder);
  const attempt = <T>(action: () => T): T => {
    try {
      return action();
    } catch (error) {
      throw new FailureError(`${flag}${folderProblem(folder, 'written', error)}`);
    }
  };
  const [present] = attempt(() => {
    makeFolder(folder, mode);
    return readdirSync(folder);
  });
  if (present !== undefined) {
    throw new FailureError(`${flag}${folder} is not empty (${present}): name a folder that is not there yet`);
  }
  const discard = () => {
    for (const path of isNew ? [folder] : readdirSync(folder).map((name) => join(folder, name))) {
      rmSync(path, { recursive: true, force: true });
    }
  };
  return (text, ...names) =>
    attempt(() => {
      const file = pathBelow(folder, ...names);
      try {
        makeFolder(dirname(file), mode);
        writeFileSync(file, text, { mode: isPrivate ? 0o600 : 0o666, flag: 'wx' });
      } catch (error) {
        discard();
        throw error;
      }
    });
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
