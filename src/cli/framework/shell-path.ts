/** A path for commands that users copy to a shell: quoted if it contains a space, for example. */
export function shellPath(path: string): string {
  return /^[\w./][\w./-]*$/.test(path) ? path : `'${path.startsWith('-') ? './' : ''}${path.replaceAll("'", "'\\''")}'`;
}
