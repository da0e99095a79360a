import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import type { Server } from 'node:tls';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { OpenExchange } from '../../../src/server/connections/connection.ts';
import { refuseBrokenRequests } from '../../../src/server/requests/broken-requests.ts';
import { takeTime } from '../clock.ts';
import { connectionsWith } from '../connections/recorded.ts';

/** What happens to a connection with these requests when an error occurs. */
function failing(error: object, exchanges: readonly object[] = [], { isOpen = true, isWritable = true } = {}) {
  const time = takeTime();
  onTestFinished(time.restore);
  const { connections, events } = connectionsWith();
  const socket = new Socket();
  Object.defineProperty(socket, 'writable', { value: isWritable });
  const end = vi.spyOn(socket, 'end').mockReturnThis();
  if (isOpen) {
    connections.open(socket);
    for (const exchange of exchanges) {
      connections.of(socket)?.exchanges.add({ end() {}, heldBytes: 0, ...exchange } as OpenExchange);
    }
  }
  const server = new EventEmitter();
  refuseBrokenRequests(server as Server, connections);
  server.emit('clientError', error, socket);
  return { sent: end.mock.calls.map(([text]) => String(text)), refused: events.refused.mock.calls, socket, time };
}

const invalid = { code: 'HPE_INVALID_METHOD' };
const arriving = { hasArrived: false, respondingSince: undefined };

test.each([
  ['invalid', invalid, [], 400, 'Bad Request'],
  ['too long a header', { code: 'HPE_HEADER_OVERFLOW' }, [], 431, 'Request Header Fields Too Large'],
  ['late', { code: 'ERR_HTTP_REQUEST_TIMEOUT' }, [arriving], 408, 'Request Timeout'],
] as const)('a request that is %s is refused, and its connection closed', async (_name, error, exchanges, code, why) => {
  const { sent, refused, socket, time } = failing(error, exchanges);
  expect([sent.map((text) => text.split('\r\n')[0]), refused]).toEqual([[`HTTP/1.1 ${code} ${why}`], [[code]]]);
  const [head, body = ''] = (sent[0] ?? '').split('\r\n\r\n');
  expect(head).toMatch(new RegExp(`content-length: ${body.length}\r\nconnection: close$`));
  await time.advance(999);
  expect(socket.destroyed).toBe(false);
  await time.advance(1);
  expect(socket.destroyed).toBe(true);
});

test.each<[string, object, object[]?, object?]>([
  ['with an error of TLS', { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }],
  ['with an error of the system', { code: 'ECONNRESET' }],
  ['with an error without a code', new Error('no')],
  ['whose first request is being decided', invalid, [{ ...arriving, hasArrived: true }, arriving]],
  ['whose first request is being refused', invalid, [{ ...arriving, respondingSince: 1 }]],
  ['that is cut already', invalid, [], { isOpen: false }],
  ['that takes no response', invalid, [], { isWritable: false }],
])('a connection %s is cut without a response', (_name, error, exchanges, state) => {
  const { sent, refused, socket } = failing(error, exchanges, state);
  expect([sent, refused, socket.destroyed]).toEqual([[], [], true]);
});
