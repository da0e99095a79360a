import type { ClientRequest, IncomingMessage } from 'node:http';
import { readLimited } from '../../base/index.ts';

export interface WholeAnswer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

/**
 * Sends a request, which its signal may abort, and reads the response.
 *
 * @throws {Error} when there is none, when it is longer than `maxBytes`, and when it is one with another protocol.
 */
export async function wholeAnswer(call: ClientRequest, maxBytes: number, body?: Buffer): Promise<WholeAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  call.on('error', reject).on('response', resolve);
  // Without a listener Node closes the connection, and the promise would never settle.
  call.on('upgrade', (_, socket) => {
    socket.destroy();
    reject(new Error('the server switched protocols'));
  });
  call.end(body);
  const response = await promise;
  const bytes = await readLimited(response, maxBytes);
  if (bytes === undefined) {
    throw new Error(`the response is longer than ${maxBytes} bytes`);
  }
  return { status: response.statusCode ?? 0, headers: response.headers, body: bytes };
}
