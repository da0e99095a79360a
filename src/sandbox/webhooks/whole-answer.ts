import type { ClientRequest, IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { readLimited } from '../../base/index.ts';

export interface WholeAnswer {
  status: number;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

const decompressed = promisify(gunzip);

/**
 * Sends a request, which its signal may abort, and reads the response, which may be compressed as for an API server.
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
  call.setHeader('accept-encoding', 'gzip');
  call.end(body);
  const response = await promise;
  const bytes = await readLimited(response, maxBytes);
  if (bytes === undefined) {
    throw new Error(`the response is longer than ${maxBytes} bytes`);
  }
  const { statusCode = 0, headers } = response;
  const isCompressed = headers['content-encoding']?.toLowerCase() === 'gzip';
  return {
    status: statusCode,
    headers,
    body: isCompressed ? await decompressed(bytes, { maxOutputLength: maxBytes }) : bytes,
  };
}
