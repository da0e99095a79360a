const problems: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'too many symbolic links',
  EISDIR: 'is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  ENAMETOOLONG: 'the name is too long',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
};

/** Why the system refused an operation, without the path. */
export function systemProblem(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return problems[code] ?? (code || message);
}
