/** Why a folder cannot be read or written, by error code. */
const reasons: Readonly<Record<string, string>> = {
  EEXIST: 'it exists and is not a folder',
  ENOTDIR: 'a part of the path is not a folder',
  ENAMETOOLONG: 'the name is too long',
  ENOENT: 'a folder cannot be created there, or a link in the path is broken',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** Why a folder cannot be read or written, in one line with a remedy: `/certs cannot be written: permission denied: choose …`. */
export function folderProblem(folder: string, action: 'read' | 'written', error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const reason = Object.hasOwn(reasons, code) ? reasons[code] : code || message;
  return `${folder} cannot be ${action}: ${reason}: choose a folder that this user can write to`;
}
