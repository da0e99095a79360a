import type { Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Connection, type OpenExchange } from '../../../src/server/connections/connection.ts';
import { takeTime } from '../clock.ts';

/** A connection, and the bytes on it. */
function newConnection() {
  const transport = { bytesRead: 0, bytesWritten: 0 };
  return { connection: new Connection(transport as Socket, new Set()), transport };
}
const exchange = (isDeciding: boolean) => ({ isDeciding }) as OpenExchange;

test.each([
  ['makes no progress', 0, 0, 100, true],
  ['reads too little', 3_199, 0, 100, true],
  ['reads enough', 3_200, 0, 100, false],
  ['reads and writes enough together', 1_600, 1_600, 100, false],
  ['has had too little time', 0, 0, 99, false],
])('a connection that %s: stalled or not', async (_name, read, written, ms, isStalled) => {
  const time = takeTime();
  onTestFinished(time.restore);
  const { connection, transport } = newConnection();
  transport.bytesRead = 50_000;
  expect(connection.isStalled(100)).toBe(false);
  transport.bytesRead += read;
  transport.bytesWritten += written;
  await time.advance(ms);
  expect(connection.isStalled(100)).toBe(isStalled);
});

test('the server is to blame while it decides on one of the requests', async () => {
  const time = takeTime();
  onTestFinished(time.restore);
  const { connection } = newConnection();
  connection.markProgress();
  await time.advance(1_000);
  connection.exchanges.add(exchange(true)).add(exchange(false));
  expect(connection.isStalled(100)).toBe(false);
  connection.exchanges.clear();
  connection.exchanges.add(exchange(false));
  expect(connection.isStalled(100)).toBe(true);
});

test.each([
  ['without a request', 0, 0, 4 * 1024 * 1024],
  ['with two requests', 2, 0, 4 * 1024 * 1024 + 128 * 1024],
  ['with a request of 1,000 bytes', 1, 1_000, 4 * 1024 * 1024 + 64 * 1024 + 2_000],
])('a connection %s may send some bytes besides bodies', (_name, requestCount, bodyBytes, most) => {
  const { connection, transport } = newConnection();
  Object.assign(connection, { requestCount, bodyBytes });
  transport.bytesRead = most;
  expect(connection.isWasteful()).toBe(false);
  transport.bytesRead = most + 1;
  expect(connection.isWasteful()).toBe(true);
});
