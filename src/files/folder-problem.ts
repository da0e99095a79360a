/** Why a folder cannot be read or written, by the system's codes. */
const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'it exists and is not a folder',
  ENOTDIR: 'a part of the path is not a folder',
  ENOENT: 'a folder cannot be created there, or a link in the path is broken',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** One line that says why a folder cannot be read or written: `/certs cannot be written: permission denied`. */
export function folderProblem(folder: string, action: 'read' | 'written', error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return `${folder} cannot be ${action}: ${Object.hasOwn(reasons, code) ? reasons[code] : code || message}`;
}
