import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { refuseBrokenRequests } from '../../../src/server/requests/broken-requests.ts';
import { takeTime } from '../clock.ts';

let time: ReturnType<typeof takeTime>;
beforeEach(() => {
  time = takeTime();
});
afterEach(() => time.restore());

/** What happens to a connection after an error on it. */
function outcomeOf(error: object, socket: { writable?: boolean; _httpMessage?: object } = {}) {
  const refused: number[] = [];
  const seen = { ended: '', isDestroyed: false };
  const server = new EventEmitter();
  refuseBrokenRequests(server as never, (code) => refused.push(code));
  server.emit('clientError', Object.assign(new Error('broken'), error), {
    writable: true,
    ...socket,
    destroy: () => {
      seen.isDestroyed = true;
    },
    end: (text: string) => {
      seen.ended = text;
    },
  });
  return { refused, seen };
}

test.each([
  ['ERR_HTTP_REQUEST_TIMEOUT', '408 Request Timeout', 'the request did not arrive in time'],
  ['HPE_HEADER_OVERFLOW', '431 Request Header Fields Too Large', 'the header of the request is too large'],
  ['HPE_INVALID_METHOD', '400 Bad Request', 'the request is not valid HTTP/1.1'],
])('%s is answered with %s, and the connection ends within a second', async (code, status, message) => {
  const { refused, seen } = outcomeOf({ code });
  expect(refused).toEqual([Number.parseInt(status, 10)]);
  expect(seen.ended).toMatch(new RegExp(`^HTTP/1\\.1 ${status}\\r\\n`));
  expect(seen.ended).toContain(JSON.stringify(message));
  // The process does not wait for it.
  expect(time.referenced()).toBe(0);
  await time.advance(999);
  expect(seen.isDestroyed).toBe(false);
  await time.advance(1);
  expect(seen.isDestroyed).toBe(true);
});

test.each<[string, object, object?]>([
  ['a failed handshake', { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }],
  ['a connection that was reset', { code: 'ECONNRESET' }],
  ['an error without a code', {}],
  ['a code that only contains such a word', { code: 'X_HPE_INVALID' }],
  ['a response that has begun', { code: 'HPE_INVALID_METHOD' }, { _httpMessage: { headersSent: true } }],
  ['a connection that is no longer writable', { code: 'HPE_INVALID_METHOD' }, { writable: false }],
])('%s ends at once, without a response', (_, error, socket) => {
  const { refused, seen } = outcomeOf(error, socket);
  expect([refused, seen]).toEqual([[], { ended: '', isDestroyed: true }]);
});

test('is closed without a second response once a response has begun', () => {
  const { refused, seen } = outcomeOf({ code: 'HPE_INVALID_CHUNK_SIZE' }, { _httpMessage: { headersSent: false } });
  expect(refused).toEqual([400]);
  expect(seen.ended).toContain('HTTP/1.1 400');
});
