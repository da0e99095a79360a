/**
 * The remedy for a port that the server cannot listen on; undefined for other problems.
 *
 * @param code of the system: EADDRINUSE, EACCES, …
 * @param flag that sets the port.
 */
export function portProblem(code: string | undefined, port: number, flag: string): string | undefined {
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} is in use: stop what listens there or choose another with ${flag}`;
    case 'EACCES':
      return `port ${port} needs privileges: choose one above 1023 with ${flag}`;
    default:
      return undefined;
  }
}
