// Clients that do what they like: nothing is left of them, and nothing ends the process.
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { fixedCertificate, Refusal, startServer } from '../../../src/server/index.ts';
import { localhost } from '../../base/x509/certificates.ts';
import { metricAt } from '../../support/metrics.ts';
import { answering, collectingLog, openTls, pairOf } from '../running.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const timeoutMs = 100;

const errors: unknown[] = [];
const onError = (error: unknown) => errors.push(error);
process.on('unhandledRejection', onError);
afterEach(() => void errors.splice(0));

/** A server with small limits, whose responses take some time, and are small or large. */
async function smallServer() {
  const { log, lines } = collectingLog();
  let calls = 0;
  const server = await startServer({
    application: answering(async (_request, response, { inFlight }) => {
      const call = calls++;
      await pause((call % 4) * 10);
      if (call % 8 === 0) {
        throw new Refusal(418, 'no');
      }
      inFlight.send(response, { code: 200, text: 'x'.repeat([10, 1_000, 1_000_000][call % 3]!) });
    }),
    name: 'main',
    metricsPrefix: 'x_',
    certificates: fixedCertificate(pairOf(localhost)),
    main: { host: '127.0.0.1', port: 0 },
    health: { host: '127.0.0.1', port: 0 },
    limits: {
      maxConnections: 12,
      maxBodyBytes: 100_000,
      maxInFlightBytes: 200_000,
      headersTimeoutMs: timeoutMs,
      requestTimeoutMs: timeoutMs,
      responseTimeoutMs: timeoutMs,
      keepAliveTimeoutMs: timeoutMs,
      stallTimeoutMs: 30,
      timeoutCheckMs: 10,
    },
    log,
    version: '1',
    processMetrics: false,
    now: () => new Date('2030-01-01T00:00:00Z'),
  });
  const health = `http://127.0.0.1:${server.healthPort}`;
  return { ...server, lines, metric: (name: string) => metricAt(health, `x_${name}`) };
}

const waits = fc.constantFrom(0, 0, 5, 30, 2 * timeoutMs);
const sizes = fc.constantFrom(0, 10, 5_000, 99_000, 200_000);

/** What a client writes. */
const head = 'POST /x HTTP/1.1\r\nhost: x\r\n';
const messages = fc.oneof(
  fc.constantFrom(
    'hello\r\n\r\n',
    'CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n',
    head,
    `${head}transfer-encoding: chunked\r\n\r\n`,
    '1\r\nx\r\n',
    '0\r\n\r\n',
  ),
  fc.integer({ min: 1, max: 20 }).map((count) => 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(count)),
  fc.record({ declared: sizes, sent: sizes, expects: fc.boolean() }).map(({ declared, sent, expects }) => {
    const expect = expects ? 'expect: 100-continue\r\n' : '';
    return `${head}${expect}content-length: ${declared}\r\n\r\n${'z'.repeat(Math.min(declared, sent))}`;
  }),
);
const someClient = fc.record({
  reads: fc.boolean(),
  ends: fc.boolean(),
  messages: fc.array(fc.record({ text: messages, wait: waits }), { maxLength: 5 }),
});

type ClientOf<A> = A extends fc.Arbitrary<infer Client> ? Client : never;

async function play(port: number, client: ClientOf<typeof someClient>) {
  const socket = await openTls(port);
  socket.on('error', () => {});
  if (client.reads) {
    socket.resume();
  }
  for (const { text, wait } of client.messages) {
    if (socket.writable) {
      socket.write(text);
    }
    await pause(wait);
  }
  if (client.ends) {
    socket.end();
    await pause(10);
  }
  socket.destroy();
}

test('whatever clients do, nothing is left of it', { timeout: 120_000 }, async () => {
  const { port, stop, lines, metric } = await smallServer();
  await fc.assert(
    fc.asyncProperty(fc.array(someClient, { minLength: 20, maxLength: 25 }), async (clients) => {
      // A client for which there is no room loses its connection.
      await Promise.all(clients.map((client) => play(port, client).catch(() => {})));
      await vi.waitFor(async () => {
        const left = ['in_flight_bytes', 'requests_in_flight', 'connections'].map(metric);
        expect(await Promise.all(left)).toEqual([0, 0, 0]);
      }, 20_000);
      expect(errors).toEqual([]);
    }),
    { numRuns: 2, endOnFailure: true },
  );
  expect(lines.filter(({ level }) => Number(level) >= 50)).toEqual([]);
  await stop({ graceMs: 0, timeoutMs: 1_000 });
  process.off('unhandledRejection', onError);
});
