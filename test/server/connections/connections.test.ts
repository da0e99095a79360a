import { once } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { startHealthServer } from '../../../src/server/index.ts';
import { needs } from '../../support/needs.ts';
import {
  collectingLog,
  keepAliveAgent,
  metricOf,
  mutate,
  openTls,
  readAll,
  review,
  send,
  start,
  stopAll,
  until,
  validate,
} from '../running.ts';

const opened: Socket[] = [];

afterEach(async () => {
  for (const socket of opened.splice(0)) {
    socket.destroy();
  }
  await stopAll();
});

const head = `POST ${validate} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;

/** A connection on which one review was answered, and which stays open. */
async function idleAfterReview(port: number): Promise<TLSSocket> {
  const socket = await openTls(port);
  opened.push(socket);
  socket.on('error', () => {});
  const answered = new Promise((resolve) => socket.once('data', resolve));
  socket.write(`${head}content-length: ${review('x').length}\r\n\r\n${review('x')}`);
  await answered;
  return socket;
}

/** A TCP connection that sends nothing. */
function openTcp(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    opened.push(socket);
    socket.on('error', reject);
  });
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('when there is no room for another connection', () => {
  test('the longest idle one is closed, however many connections one client has', async () => {
    const { webhookPort, health } = await start({ limits: { maxConnections: 6 } });
    const sockets: TLSSocket[] = [];
    for (let i = 0; i < 6; i++) {
      sockets.push(await idleAfterReview(webhookPort));
    }
    // The first one is used again, so the second has been idle longest.
    sockets[0]!.write(`${head}content-length: ${review('x').length}\r\n\r\n${review('x')}`);
    await new Promise((resolve) => sockets[0]!.once('data', resolve));
    expect((await send(webhookPort, validate, review('x'))).code).toBe(200);
    await until(() => sockets[1]!.closed, 'the second is closed');
    expect(sockets.filter(({ closed }) => closed)).toEqual([sockets[1]]);
    expect(await metricOf(health, 'connections_evicted_total{port="webhook"}')).toBe(1);
  });

  test.each([
    ['never begin a TLS handshake', openTcp],
    ['never send a request', (port: number) => openTls(port)],
  ])('clients that %s are disconnected', async (_name, open) => {
    const { webhookPort } = await start({ limits: { maxConnections: 4, stallTimeoutMs: 50 } });
    for (let i = 0; i < 4; i++) {
      opened.push(await open(webhookPort));
    }
    await pause(60);
    for (let i = 0; i < 4; i++) {
      expect((await send(webhookPort, validate, review('x'))).code).toBe(200);
    }
  });

  test('requests that do not end are cut, but only after some time', async () => {
    const { webhookPort, health } = await start({
      limits: { maxConnections: 3, stallTimeoutMs: 300, timeoutCheckMs: 20 },
    });
    const startedMs = performance.now();
    const slow = await Promise.all([openTls(webhookPort), openTls(webhookPort), openTls(webhookPort)]);
    for (const socket of slow) {
      opened.push(socket);
      socket.on('error', () => {});
      socket.write(`${head}content-length: 100\r\n\r\n{`);
    }
    await until(async () => (await metricOf(health, 'requests_in_flight')) === 3, 'all are in flight');
    let dropped = 0;
    const code = () =>
      send(webhookPort, validate, review('x')).then(
        (answer) => answer.code,
        () => {
          dropped++;
        },
      );
    await until(async () => (await code()) === 200, 'a new caller is served');
    expect(performance.now() - startedMs).toBeGreaterThan(299);
    expect(await metricOf(health, 'connections_dropped_total{port="webhook"}')).toBe(dropped);
    expect(slow.filter(({ closed }) => !closed)).toHaveLength(2);
  });

  test('the health port responds despite 150 idle connections', async () => {
    const { healthPort, health } = await start();
    for (let i = 0; i < 150; i++) {
      (await openTcp(healthPort)).on('error', () => {});
    }
    for (let i = 0; i < 3; i++) {
      // Like the kubelet: a connection for each probe.
      const code = await new Promise((resolve, reject) => {
        get(`${health}/healthz`, { agent: false, timeout: 4_000 }, (response) => {
          response.resume();
          resolve(response.statusCode);
        }).on('error', reject);
      });
      expect(code).toBe(200);
    }
    expect(await metricOf(health, 'connections_evicted_total{port="health"}')).toBeGreaterThan(80);
  });
});

test('the health port closes no connection on which it still responds to make room', async () => {
  const rendered = Promise.withResolvers<string>();
  const started = Promise.withResolvers<void>();
  const { port, stop } = await startHealthServer({
    address: { host: '127.0.0.1', port: 0 },
    readiness: () => ({ checks: [], reason: undefined }),
    metrics: {
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      metrics() {
        started.resolve();
        return rendered.promise;
      },
    },
    log: collectingLog().log,
  });
  onTestFinished(stop);
  const scrape = fetch(`http://127.0.0.1:${port}/metrics`);
  scrape.catch(() => {});
  await started.promise;
  for (let i = 0; i < 100; i++) {
    (await openTcp(port)).on('error', () => {});
  }
  rendered.resolve('late 1\n');
  expect(await (await scrape).text()).toBe('late 1\n');
});

const onLinux = needs('Linux', process.platform === 'linux');

test('connections from one port to two addresses of the server are told apart', onLinux, async () => {
  const { webhookPort } = await start({ webhook: { host: '0.0.0.0', port: 0 } });
  const openFrom = async (host: string, localPort: number) => {
    const socket = connect({ host, port: webhookPort, localAddress: '127.0.0.1', localPort });
    opened.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  /** Both connections name a port that was free a moment ago: the system then lets them share it. */
  async function openPair(attempts: number): Promise<[Socket, Socket]> {
    const probe = await openTcp(webhookPort);
    const localPort = probe.localPort as number;
    await once(probe.resetAndDestroy(), 'close');
    try {
      return [await openFrom('127.0.0.1', localPort), await openFrom('127.0.0.2', localPort)];
    } catch (error) {
      // Another process may take the port in the meantime.
      if (attempts > 1 && /^EADDR/.test(String((error as NodeJS.ErrnoException).code))) {
        return openPair(attempts - 1);
      }
      throw error;
    }
  }
  const [first, other] = await openPair(10);
  other.destroy();
  await pause(50);
  const socket = await openTls(webhookPort, { socket: first });
  const answered = readAll(socket);
  const body = review('x');
  socket.write(`${head}connection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  expect(await answered).toMatch(/^HTTP\/1.1 200 /);
});

test('connections of the health port are closed after a response', async () => {
  const { health } = await start();
  for (const path of ['/healthz', '/readyz', '/metrics', '/nothing']) {
    expect((await fetch(`${health}${path}`)).headers.get('connection')).toBe('close');
  }
});

test('an idle connection is closed after the keep-alive timeout', async () => {
  const { webhookPort, health } = await start({ limits: { keepAliveTimeoutMs: 100, timeoutCheckMs: 20 } });
  const socket = await idleAfterReview(webhookPort);
  await new Promise((resolve) => socket.once('close', resolve));
  expect(await metricOf(health, 'connections')).toBe(0);
});

test('an unknown expectation does not keep a connection open beyond its timeout', async () => {
  const { webhookPort, health } = await start({ limits: { keepAliveTimeoutMs: 100, timeoutCheckMs: 20 } });
  const socket = await openTls(webhookPort);
  opened.push(socket);
  const received = readAll(socket);
  socket.write(`${head}expect: the-unexpected\r\ncontent-length: ${review('x').length}\r\n\r\n${review('x')}`);
  expect(await received).toMatch(/^HTTP\/1.1 417 /);
  expect(await metricOf(health, 'connections')).toBe(0);
});

describe('responses that are not read', () => {
  const answerBytes = 8 * 1024 * 1024;
  const bigAnswer = 'x'.repeat(answerBytes);
  const limits = { requestTimeoutMs: 250, responseTimeoutMs: 250, timeoutCheckMs: 20 };
  const convert = () => ({
    review: {
      apiVersion: 'apiextensions.k8s.io/v1' as const,
      kind: 'ConversionReview' as const,
      response: { uid: 'x', convertedObjects: [{ bigAnswer }], result: { status: 'Success' as const } },
    },
  });
  const request = `POST /convert HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`;

  test('are abandoned after a time, and use no more memory', async () => {
    const { webhookPort, health } = await start({ limits, convert });
    const sockets = await Promise.all([openTls(webhookPort), openTls(webhookPort)]);
    for (const socket of sockets) {
      opened.push(socket);
      socket.on('error', () => {});
      socket.pause();
      socket.write(request);
    }
    await until(
      async () => (await metricOf(health, 'answers_dropped_total{port="webhook"}')) === 2,
      'both answers are dropped',
    );
    await until(async () => (await metricOf(health, 'connections')) === 0, 'no connection is left');
    expect(await metricOf(health, 'in_flight_bytes')).toBe(0);
    expect(await metricOf(health, 'requests_in_flight')).toBe(0);
  });

  test('but a large response that is read arrives completely', async () => {
    const { webhookPort, health } = await start({ convert });
    const answer = await send(webhookPort, '/convert', '{}');
    expect(answer.body).toContain(bigAnswer);
    expect(await metricOf(health, 'in_flight_bytes')).toBe(0);
  });

  test('pipelined requests of a client that disconnects leave nothing behind', async () => {
    const { webhookPort, health } = await start({ convert });
    const socket = await openTls(webhookPort);
    socket.pause();
    socket.write(request.repeat(3));
    await until(async () => (await metricOf(health, 'in_flight_bytes')) > answerBytes, 'answers wait');
    socket.destroy();
    await until(async () => (await metricOf(health, 'requests_in_flight')) === 0, 'none is in flight');
    expect(await metricOf(health, 'in_flight_bytes')).toBe(0);
  });
});

describe('bytes in flight', () => {
  const limits = { maxInFlightBytes: 1024 * 1024, stallTimeoutMs: 60_000 };
  /** All of a body but its last byte. */
  const most = (bytes: number) => `${head}content-length: ${bytes + 1}\r\n\r\n${' '.repeat(bytes)}`;
  const padded = (bytes: number) => review('x') + ' '.repeat(bytes - review('x').length);

  async function holding(port: number, health: string, bytes: number): Promise<TLSSocket> {
    const socket = await openTls(port);
    opened.push(socket);
    socket.on('error', () => {});
    socket.write(most(bytes));
    await until(async () => (await metricOf(health, 'in_flight_bytes')) >= bytes, 'the body is taken into account');
    return socket;
  }

  test.each([
    ['declared', {}],
    ['sent in chunks', { 'transfer-encoding': 'chunked' }],
  ])('beyond the limit a body that is %s gets a 503 with Retry-After', async (_name, headers) => {
    const { webhookPort, health } = await start({ limits });
    await holding(webhookPort, health, 900_000);
    const answer = await send(webhookPort, mutate, padded(200_000), { headers });
    expect(answer.code).toBe(503);
    expect(answer.headers['retry-after']).toBe('1');
    expect(answer.json()).toMatchObject({ kind: 'Status', status: 'Failure', reason: 'ServiceUnavailable', code: 503 });
    expect(await metricOf(health, 'http_refusals_total{code="503"}')).toBe(1);
    // The bytes reserved for it are free again.
    await until(async () => (await metricOf(health, 'in_flight_bytes')) === 900_000, 'only the first is held');
    // Large reviews do not crowd out ordinary ones.
    expect((await send(webhookPort, validate, review('x'))).code).toBe(200);
  });

  test.each([
    {},
    { 'transfer-encoding': 'chunked' },
  ])('a single request of any legal size is accepted %j', async (headers) => {
    const { webhookPort } = await start({ limits });
    expect((await send(webhookPort, validate, padded(1_200_000), { headers })).code).toBe(200);
  });

  test('bytes that a client only announces take no room from others', async () => {
    const { webhookPort, health } = await start({ limits });
    const slow = await openTls(webhookPort);
    opened.push(slow);
    slow.write(`${head}content-length: 1000000\r\n\r\n{`);
    await until(async () => (await metricOf(health, 'requests_in_flight')) === 1, 'it is being read');
    expect(await metricOf(health, 'in_flight_bytes')).toBe(1);
    expect((await send(webhookPort, validate, padded(900_000))).code).toBe(200);
  });

  test('a body in chunks of one byte is assembled', async () => {
    const { webhookPort } = await start();
    const socket = await openTls(webhookPort);
    const received = readAll(socket);
    const pieces = [...review('pieces')].map((byte) => `1\r\n${byte}\r\n`).join('');
    socket.write(`${head}connection: close\r\ntransfer-encoding: chunked\r\n\r\n${pieces}0\r\nx-trailer: y\r\n\r\n`);
    expect(await received).toMatch(/^HTTP\/1.1 200 .*"uid":"uid-of-pieces"/s);
  });
});

describe('a refused request', () => {
  const refusedHead = `PUT ${validate} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`;

  test('is answered before its body, which is then read to its end', async () => {
    const { webhookPort } = await start();
    const socket = await openTls(webhookPort);
    const received = readAll(socket);
    const answered = new Promise((resolve) => socket.once('data', resolve));
    socket.write(refusedHead);
    await answered;
    expect(socket.closed).toBe(false);
    socket.write('3\r\nabc\r\n0\r\n\r\n');
    expect(await received).toMatch(/^HTTP\/1.1 405 .*allow: POST.*connection: close/s);
  });

  test('is not read on for ever', async () => {
    const { webhookPort } = await start();
    const socket = await openTls(webhookPort);
    const received = readAll(socket);
    socket.write(refusedHead);
    const writing = setInterval(() => socket.writable && socket.write('1\r\nx\r\n'), 50);
    expect(await received).toMatch(/^HTTP\/1.1 405 /);
    clearInterval(writing);
  });
});

describe('HTTP', () => {
  test('CONNECT is refused with a reason, and counted', async () => {
    const { webhookPort, health } = await start();
    const socket = await openTls(webhookPort);
    const received = readAll(socket);
    socket.write('CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n');
    expect(await received).toMatch(/^HTTP\/1.1 405 .*allow: POST.*CONNECT is not supported here/s);
    expect(await metricOf(health, 'http_refusals_total{code="405"}')).toBe(1);
    expect((await send(webhookPort, validate, review('x'))).code).toBe(200);
  });

  test('a transfer coding that is not undone is refused', async () => {
    const { webhookPort } = await start();
    const socket = await openTls(webhookPort);
    const received = readAll(socket);
    socket.write(`${head}transfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`);
    expect(await received).toMatch(/^HTTP\/1.1 501 .*the only Transfer-Encoding supported is chunked/s);
  });

  test.each([
    ['a whole URL', `http://localhost${validate}`],
    ['a URL that is none', 'http://['],
    ['an asterisk', '*'],
  ])('a target that is %s is refused', async (_name, target) => {
    const { webhookPort } = await start();
    const socket = await openTls(webhookPort);
    const received = readAll(socket);
    socket.write(`OPTIONS ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    expect(await received).toMatch(/^HTTP\/1.1 400 .*the target of the request must be a path/s);
  });

  test.each([
    ['two lengths', 'content-length: 2\r\ncontent-length: 3\r\n\r\n{}'],
    ['a length and chunks', 'content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}'],
    ['a length that is not a number', 'content-length: 2x\r\n\r\n{}'],
  ])('%s are rejected', async (_name, rest) => {
    const { webhookPort } = await start();
    const socket = await openTls(webhookPort);
    const received = readAll(socket);
    socket.write(head + rest);
    expect(await received).toMatch(/^HTTP\/1.1 400 /);
  });

  test('a connection can carry any number of requests', async () => {
    const { webhookPort, health } = await start();
    const agent = keepAliveAgent();
    for (let i = 0; i < 120; i++) {
      expect((await send(webhookPort, validate, review('x'), { agent })).code).toBe(200);
    }
    expect(await metricOf(health, 'connections')).toBe(1);
    agent.destroy();
  });
});
