import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createHttpsPort } from '../../src/server/https.ts';
import { defaultLimits, type Exchange } from '../../src/server/index.ts';
import { localhost, testCa } from '../base/x509/certificates.ts';
import { apiServer } from './client-ca.ts';
import { collectingLog, openTls, readAll } from './running.ts';

/** An HTTPS port that listens until the test ends, and responds with the path. */
async function listening(options: Partial<Parameters<typeof createHttpsPort>[0]> = {}) {
  const handler = vi.fn((exchange: Exchange) => exchange.respond({ code: 200, text: JSON.stringify(exchange.path) }));
  const events = { evicted() {}, dropped() {}, responseDropped() {}, refused() {}, handshakeFailed() {} };
  const { log, lines } = collectingLog();
  const https = createHttpsPort({
    limits: defaultLimits,
    clients: undefined,
    events,
    log,
    handler,
    ...options,
  });
  https.use(localhost);
  await once(https.server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => new Promise((closed) => void https.server.close(() => closed())));
  return { ...https, port: (https.server.address() as AddressInfo).port, handler, lines };
}

/** Bytes that a client sends for its handshake and a request. */
async function bytesSent(port: number, certificate?: { cert: string; key: string }): Promise<number> {
  const transport = connect(port, '127.0.0.1');
  const socket = connectTls({ socket: transport, servername: 'localhost', ca: testCa.cert, ...certificate });
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  await readAll(socket);
  return transport.bytesWritten;
}

test('the certificates of clients are requested only if there is a policy for them', async () => {
  const { port } = await listening();
  expect(await bytesSent(port, apiServer)).toBe(await bytesSent(port));
  const { port: other } = await listening({ clients: { allowedNames: [] } });
  expect(await bytesSent(other, apiServer)).toBeGreaterThan((await bytesSent(other)) + 500);
});

test('a client that has left during its handshake is not judged, and a request of it not handled', async () => {
  const { server, connections, port, handler, lines } = await listening({ clients: { allowedNames: [] } });
  server.prependListener('secureConnection', () => connections.open.clear());
  const arrived = once(server, 'request');
  const socket = await openTls(port);
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await arrived;
  socket.destroy();
  expect([lines, handler.mock.calls]).toEqual([[], []]);
});
