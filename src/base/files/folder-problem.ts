import { systemProblem } from './system-problem.ts';

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
