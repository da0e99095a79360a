import type { AddressInfo, Server } from 'node:net';

/** The address that a server listens on. Port 0 lets the system choose; without a host, all interfaces. */
export interface Address {
  host?: string | undefined;
  port: number;
}

/** A port that the server cannot listen on. `code` is the system's: EADDRINUSE, EACCES, … */
export class ListenError extends Error {
  readonly port: 'main' | 'health';
  readonly address: Address;
  readonly code: string;
  constructor(port: 'main' | 'health', address: Address, code: string) {
    super(`cannot listen on ${address.host ?? '*'}:${address.port}: ${code}`);
    this.port = port;
    this.address = address;
    this.code = code;
  }
}

/** Returns the port. @throws {ListenError} */
export function listen(server: Server, port: 'main' | 'health', address: Address): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) =>
      reject(new ListenError(port, address, error.code ?? error.message));
    server.once('error', onError);
    server.listen(address, () => {
      server.off('error', onError);
      resolve((server.address() as AddressInfo).port);
    });
  });
}
