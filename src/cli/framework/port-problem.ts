import { ClientCaError, ListenError } from '../../server/index.ts';
import { FailureError, UsageError } from './program.ts';

/** The remedy for a port that the server cannot listen on; undefined for other codes than EADDRINUSE, EACCES. */
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

/** A server that starts. @throws {UsageError} or {FailureError} with the flag to change, and other errors as they are. */
export async function started<T>(server: Promise<T>): Promise<T> {
  try {
    return await server;
  } catch (error) {
    if (error instanceof ClientCaError) {
      throw new UsageError(`--client-ca-file: ${error.message}`);
    }
    if (!(error instanceof ListenError)) {
      throw error;
    }
    const { code } = error;
    const { host, port } = error.address;
    const flag = error.port === 'main' ? '--port' : '--health-port';
    const address = ['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code)
      ? `${host} is not an address of this machine: correct --host`
      : `cannot listen on ${host ?? '*'}:${port}: ${code} (${flag}, --host)`;
    throw new FailureError(portProblem(code, port, flag) ?? address);
  }
}
