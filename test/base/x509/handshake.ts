import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';

/**
 * A TLS handshake with a server that has a certificate: `connected`, or the error code of a client that trusts a CA.
 */
export async function shakeHands(serving: { cert: string; key: string }, ca: string, host: string): Promise<string> {
  const server = createServer(serving, (socket) => socket.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', servername: host, ca });
  const result = await new Promise<string>((resolve) => {
    socket.once('secureConnect', () => resolve('connected'));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)));
  });
  socket.destroy();
  server.close();
  return result;
}
