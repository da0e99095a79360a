/** A path as a shell reads it, for commands that are shown to be copied: in quotes where it has a space, say. */
export function shellPath(path: string): string {
  return /^[\w./][\w./-]*$/.test(path) ? path : `'${path.startsWith('-') ? './' : ''}${path.replaceAll("'", "'\\''")}'`;
}
