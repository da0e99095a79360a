import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  type CertificateEvent,
  type CertificatePair,
  ListenError,
  type ServerOptions,
  startServer,
} from '../../src/server/index.ts';
import { localhost, makeCertificate, testCa } from '../base/x509/certificates.ts';
import { metricAt } from '../support/metrics.ts';
import { needs } from '../support/needs.ts';
import { freePorts, isOpen } from '../support/ports.ts';
import {
  type Answering,
  answering,
  collectingLog,
  keepAliveAgent,
  openTls,
  pairOf,
  readAll,
  send,
  until,
} from './running.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

const pair = pairOf(localhost);

/** A server whose application responds with `hello`, with the test's certificates. */
async function serving(
  options: Partial<ServerOptions> = {},
  first: CertificateEvent | undefined = { kind: 'pair', pair },
) {
  const { log, lines } = collectingLog();
  let tell: (event: CertificateEvent) => void = () => {};
  let isStopped = false;
  const server = await startServer({
    application: answering(({ path, body }, response, { inFlight }) =>
      inFlight.send(response, { code: 200, text: JSON.stringify({ hello: path, bytes: body.length }) }),
    ),
    name: 'main',
    metricsPrefix: 'x_',
    async certificates(onEvent) {
      tell = onEvent;
      if (first !== undefined) {
        onEvent(first);
      }
      return () => {
        isStopped = true;
      };
    },
    main: { host: '127.0.0.1', port: 0 },
    health: { host: '127.0.0.1', port: 0 },
    log,
    version: '1',
    processMetrics: false,
    now: () => new Date('2030-01-01T00:00:00Z'),
    ...options,
  });
  stops.push(() => server.stop({ graceMs: 0, timeoutMs: 100 }));
  const health = `http://127.0.0.1:${server.healthPort}`;
  return {
    ...server,
    lines,
    health,
    tell: (event: CertificateEvent) => tell(event),
    isSourceStopped: () => isStopped,
    readiness: async () => (await fetch(`${health}/readyz`)).text(),
    metric: (name: string) => metricAt(health, `x_${name}`),
  };
}

describe('the log', () => {
  test('contains the certificate, the ports and the end', async () => {
    const { port, healthPort, lines, stop } = await serving();
    await stop({ graceMs: 0, timeoutMs: 100 });
    const { notBefore, notAfter, fingerprint, subjectAltName } = pair;
    expect(lines).toEqual([
      {
        level: 30,
        notBefore: notBefore.toISOString(),
        notAfter: notAfter.toISOString(),
        fingerprint,
        subjectAltName,
        msg: 'serving certificate loaded',
      },
      { level: 30, mainPort: port, healthPort, host: '127.0.0.1', msg: 'listening' },
      { level: 30, inFlight: 0, connections: 0, msg: 'stopping' },
      { level: 30, connectionsCut: 0, msg: 'stopped' },
    ]);
  });

  test('contains refusals with their reason and the address of the client, at most 20 of them a minute', async () => {
    const { port, lines } = await serving({ limits: { maxBodyBytes: 3 } });
    for (let call = 0; call < 21; call++) {
      await send(port, '/', 'long');
    }
    const refused = lines.filter(({ msg }) => msg === 'request refused');
    expect(refused[0]).toEqual({
      level: 30,
      code: 413,
      reason: 'the body must not be larger than 3 bytes',
      client: '127.0.0.1',
      msg: 'request refused',
    });
    expect(refused).toHaveLength(20);
  });

  test('says every minute that the certificate in use has expired', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    onTestFinished(() => mock.timers.reset());
    let now = new Date('2030-01-01T00:00:00Z');
    const { lines } = await serving({ now: () => now });
    const expired = () => lines.filter(({ msg }) => msg === 'the serving certificate has expired');
    mock.timers.tick(60_000);
    expect(expired()).toEqual([]);
    now = pair.notAfter;
    mock.timers.tick(60_000);
    expect(expired()).toEqual([
      { level: 50, notAfter: pair.notAfter.toISOString(), msg: 'the serving certificate has expired' },
    ]);
  });

  test('says at once that the certificate has expired before', async () => {
    const { lines } = await serving({ now: () => pair.notAfter });
    expect(lines.filter(({ level }) => Number(level) >= 50)).toEqual([
      { level: 50, notAfter: pair.notAfter.toISOString(), msg: 'the serving certificate has expired' },
    ]);
  });

  test('says where it listens on all interfaces, and has IPv4 addresses of clients as such', async () => {
    const { port, lines } = await serving({ main: { port: 0 }, limits: { maxBodyBytes: 3 } });
    expect(lines.at(-1)).toMatchObject({ msg: 'listening', host: 'all interfaces' });
    await send(port, '/', 'long');
    expect(lines.at(-1)).toMatchObject({ msg: 'request refused', client: '127.0.0.1' });
  });

  test('contains failed handshakes, which are also counted', async () => {
    const { port, lines, metric } = await serving();
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await expect(openTls(port, old)).rejects.toThrow();
    await until(() => lines.some(({ msg }) => msg === 'TLS handshake failed'), 'it is logged');
    expect(lines.at(-1)).toEqual({
      level: 30,
      reason: expect.stringMatching(/^ERR_SSL_/),
      client: '127.0.0.1',
      msg: 'TLS handshake failed',
    });
    expect(await metric('tls_handshake_failures_total')).toBe(1);
  });
});

test(
  'a client written in Go that does not trust the certificate is counted, and named by readyz',
  needs('kubectl'),
  async () => {
    let now = new Date('2030-01-01T00:00:00Z');
    const { port, health, metric } = await serving({ now: () => now });
    const kubectl = spawn(
      'kubectl',
      ['--kubeconfig=/dev/null', `--server=https://127.0.0.1:${port}`, 'get', '--raw=/'],
      {
        stdio: 'ignore',
      },
    );
    await once(kubectl, 'exit');
    await until(async () => (await metric('certificate_rejections_total')) > 0, 'it is counted');
    const verbose = async () => (await fetch(`${health}/readyz?verbose`)).text();
    expect(await verbose()).toMatch(/^\[!\]trust degraded: 127\.0\.0\.1 did not trust /m);
    now = new Date('2030-01-01T00:10:01Z');
    expect(await verbose()).toContain('[+]trust ok\n');
  },
);

describe('updates of the certificate', () => {
  const broken: CertificateEvent = { kind: 'broken', reason: 'no PEM' };
  const absent: CertificateEvent = { kind: 'absent', reason: 'not there' };

  test('before the first one: waiting is not a failure, a broken certificate is', async () => {
    const { tell, lines, readiness, metric } = await serving({}, absent);
    expect(lines[0]).toEqual({ level: 40, reason: 'not there', msg: 'waiting for a serving certificate' });
    expect([await readiness(), await metric('certificate_reloads_total{result="failure"}')]).toEqual([
      'no serving certificate: not there\n',
      0,
    ]);
    tell(broken);
    expect(lines.at(-1)).toEqual({ level: 50, reason: 'no PEM', msg: 'no usable serving certificate yet' });
    expect([await readiness(), await metric('certificate_reloads_total{result="failure"}')]).toEqual([
      'no serving certificate: no PEM\n',
      1,
    ]);
    tell({ kind: 'pair', pair });
    expect(await readiness()).toBe('ok\n');
  });

  test.each([
    ['broken', broken, 'no PEM'],
    ['gone', absent, 'not there'],
  ])('afterwards: a new one that is %s leaves the current one in use', async (_, event, reason) => {
    const { tell, lines, health, metric, port } = await serving();
    tell(event);
    expect(lines.at(-1)).toEqual({
      level: 50,
      reason,
      msg: 'new serving certificate is unusable; the old one stays in use',
    });
    expect(await metric('certificate_reloads_total{result="failure"}')).toBe(1);
    const verbose = async () => (await fetch(`${health}/readyz?verbose`)).text();
    expect(await verbose()).toContain(`the previous certificate is still served: ${reason}`);
    expect((await send(port, '/x', '')).code).toBe(200);
    tell({ kind: 'pair', pair });
    expect(await verbose()).toContain('[+]serving-certificate ok');
  });

  test('as long as there is none, the log says once a minute what is missing', async () => {
    mock.timers.enable({ apis: ['setInterval'] });
    onTestFinished(() => mock.timers.reset());
    const { tell, lines } = await serving({}, absent);
    const reminders = () => lines.filter(({ msg }) => msg === 'still waiting for a serving certificate');
    mock.timers.tick(59_999);
    expect(reminders()).toEqual([]);
    mock.timers.tick(60_001);
    const reminder = { level: 40, reason: 'not there', msg: 'still waiting for a serving certificate' };
    expect(reminders()).toEqual([reminder, reminder]);
    tell({ kind: 'pair', pair });
    mock.timers.tick(600_000);
    expect(reminders()).toHaveLength(2);
    const stopped = await serving({}, absent);
    await stopped.stop({ graceMs: 0, timeoutMs: 100 });
    mock.timers.tick(600_000);
    expect(stopped.lines.at(-1)).toMatchObject({ msg: 'stopped' });
  });

  test('an expired certificate does not replace a valid one', async () => {
    const { tell, lines, port } = await serving();
    const expired = pairOf(
      makeCertificate({
        commonName: 'expired',
        dnsNames: ['localhost'],
        issuer: testCa,
        notAfter: new Date('2029-12-31T23:59:59Z'),
      }),
    );
    tell({ kind: 'pair', pair: expired });
    expect(lines.at(-1)).toEqual({
      level: 50,
      reason: 'the new certificate expired at 2029-12-31T23:59:59.000Z',
      msg: 'new serving certificate is unusable; the old one stays in use',
    });
    const socket = await openTls(port);
    expect(socket.getPeerCertificate().subject.CN).toBe('localhost');
    socket.destroy();
  });

  const loaded = (time: Date) => ({ notBefore: time.toISOString(), msg: 'serving certificate loaded' });

  test('a certificate that is not valid yet is used once it is, without another change', async () => {
    let now = new Date('2029-12-31T23:58:30Z');
    const { tell, lines } = await serving({ now: () => now });
    mock.timers.enable({ apis: ['setTimeout'] });
    onTestFinished(() => mock.timers.reset());
    const from = (time: string): CertificatePair => ({ ...pair, notBefore: new Date(time) });
    const next = from('2030-01-01T00:00:00Z');
    tell({ kind: 'pair', pair: next });
    const refused = {
      level: 50,
      reason: 'the new certificate is not valid before 2030-01-01T00:00:00.000Z: check the clocks',
      msg: 'new serving certificate is unusable; the old one stays in use',
    };
    expect(lines.at(-1)).toEqual(refused);
    // News about the source do not end the wait.
    tell({ kind: 'source', problem: undefined });
    now = new Date('2029-12-31T23:59:30Z');
    mock.timers.tick(60_000);
    expect(lines.at(-1)).toEqual(refused);
    now = next.notBefore;
    mock.timers.tick(30_000);
    expect(lines.at(-1)).toMatchObject(loaded(next.notBefore));
    // The clock may be set while it waits.
    const later = from('2030-01-02T00:00:00Z');
    tell({ kind: 'pair', pair: later });
    now = later.notBefore;
    mock.timers.tick(60_000);
    expect(lines.at(-1)).toMatchObject(loaded(later.notBefore));
    // A later certificate ends the wait for an earlier one.
    tell({ kind: 'pair', pair: from('2030-01-03T00:00:00Z') });
    tell({ kind: 'pair', pair });
    now = new Date('2030-01-06T00:00:00Z');
    mock.timers.tick(3 * 86_400_000);
    expect(lines.at(-1)).toMatchObject(loaded(pair.notBefore));
  });

  test('a certificate that is not valid yet is used when the current one expires', async () => {
    const short = { ...pair, notAfter: new Date('2030-01-01T00:00:30Z') };
    let now = new Date('2030-01-01T00:00:00Z');
    const { tell, lines } = await serving({ now: () => now }, { kind: 'pair', pair: short });
    mock.timers.enable({ apis: ['setTimeout'] });
    onTestFinished(() => mock.timers.reset());
    const next = { ...pair, notBefore: new Date('2031-01-01T00:00:00Z') };
    tell({ kind: 'pair', pair: next });
    now = short.notAfter;
    mock.timers.tick(30_000);
    expect(lines.at(-1)).toMatchObject(loaded(next.notBefore));
  });

  test('from the source are logged once each', async () => {
    const { tell, lines, metric } = await serving();
    const before = lines.length;
    for (const problem of ['forbidden', 'forbidden', 'out of reach', undefined, undefined]) {
      tell({ kind: 'source', problem });
    }
    expect(lines.slice(before)).toEqual([
      { level: 50, reason: 'forbidden', msg: 'the source of certificates fails; new ones may be picked up late' },
      { level: 50, reason: 'out of reach', msg: 'the source of certificates fails; new ones may be picked up late' },
      { level: 30, msg: 'the source of certificates works again' },
    ]);
    expect([await metric('certificate_source_failures_total'), await metric('certificate_source_up')]).toEqual([2, 1]);
  });
});

describe('a response to a client that has gone', () => {
  /** A server whose handler responds when the client has gone. */
  async function late() {
    const responded = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const server = await serving({
      application: answering(async (_request, response, { inFlight }) => {
        started.resolve();
        await once(response, 'close');
        inFlight.send(response, { code: 200, text: 'x'.repeat(1_000_000) });
        responded.resolve();
      }),
    });
    return { ...server, started: started.promise, responded: responded.promise };
  }

  test('does not count as bytes in flight', async () => {
    const { port, metric, started, responded } = await late();
    const socket = await openTls(port);
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}');
    await started;
    socket.destroy();
    await responded;
    expect(await metric('in_flight_bytes')).toBe(0);
  });
});

test('each metric exists from the start', async () => {
  const { health } = await serving();
  const lines = (await (await fetch(`${health}/metrics`)).text()).split('\n');
  const ports = (name: string) => ['main', 'health'].map((port) => `x_${name}{port="${port}"} 0`);
  expect(lines.filter((line) => line !== '' && !line.startsWith('#')).toSorted()).toEqual(
    [
      ...[400, 403, 404, 405, 408, 413, 415, 431, 500, 501, 503].map(
        (code) => `x_http_refusals_total{code="${code}"} 0`,
      ),
      `x_certificate_not_after_timestamp_seconds ${pair.notAfter.getTime() / 1000}`,
      'x_certificate_reloads_total{result="success"} 1',
      'x_certificate_reloads_total{result="failure"} 0',
      'x_certificate_source_failures_total 0',
      'x_certificate_source_up 1',
      ...ports('connections_evicted_total'),
      ...ports('connections_dropped_total'),
      ...ports('answers_dropped_total'),
      'x_tls_handshake_failures_total 0',
      'x_certificate_rejections_total 0',
      'x_requests_in_flight 0',
      'x_in_flight_bytes 0',
      'x_connections 0',
      `x_build_info{version="1",node_version="${process.version}"} 1`,
    ].toSorted(),
  );
});

describe('a handler that throws an error', () => {
  const failing = (fails: Answering) =>
    answering((request, response, context) =>
      request.path === '/'
        ? context.inFlight.send(response, { code: 200, text: '{}' })
        : fails(request, response, context),
    );

  test.each<[string, Answering]>([
    [
      'at once',
      () => {
        throw new TypeError('the object held: hunter2');
      },
    ],
    [
      'later',
      async () => {
        await setImmediate();
        throw new TypeError('the object held: hunter2');
      },
    ],
  ])('%s: a 500 without details, counted and logged; the server goes on', async (_, fails) => {
    const { port, lines, metric } = await serving({ application: failing(fails) });
    const { code, json } = await send(port, '/fails', '{}');
    expect([code, json()]).toEqual([500, expect.objectContaining({ kind: 'Status', code: 500 })]);
    expect(json().message).toBe('internal error; see the log of the server');
    expect(await metric('http_refusals_total{code="500"}')).toBe(1);
    expect(lines.at(-1)).toEqual({
      level: 50,
      path: '/fails',
      error: 'TypeError',
      stack: expect.arrayContaining([expect.stringMatching(/^ +at .*server\.test\.ts/)]),
      msg: 'the handler of a request failed',
    });
    expect(JSON.stringify(lines)).not.toContain('hunter2');
    expect((await send(port, '/', '{}')).code).toBe(200);
  });

  test('whose request has arrived keeps its connection', async () => {
    const application = failing(() => {
      throw new Error('no');
    });
    const { port, metric } = await serving({ application });
    const agent = keepAliveAgent();
    onTestFinished(() => agent.destroy());
    for (const [path, expected] of [
      ['/fails', 500],
      ['/', 200],
    ] as const) {
      const { code, headers } = await send(port, path, '{}', { agent });
      expect([code, headers.connection]).toEqual([expected, 'keep-alive']);
    }
    expect(await metric('connections')).toBe(1);
  });

  test('after its response is only logged, with the beginning of its path', async () => {
    const application = failing(async (_request, response, { inFlight }) => {
      inFlight.send(response, { code: 200, text: '{}' });
      throw new Error('no');
    });
    const { port, lines, metric } = await serving({ application });
    expect((await send(port, `/fails/${'x'.repeat(1_000)}`, '{}')).code).toBe(200);
    expect(lines.at(-1)).toMatchObject({ level: 50, error: 'Error', msg: 'the handler of a request failed' });
    expect(lines.at(-1)?.path).toBe(`/fails/${'x'.repeat(505)}`);
    expect(await metric('http_refusals_total{code="500"}')).toBe(0);
  });
});

describe('an invalid request', () => {
  test.each([
    ['not HTTP', 'hello\r\n\r\n', 400, 'Bad Request', 'BadRequest', 'the request is not valid HTTP/1.1'],
    [
      'a header too large',
      `GET / HTTP/1.1\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`,
      431,
      'Request Header Fields Too Large',
      'RequestHeaderFieldsTooLarge',
      'the header of the request is too large',
    ],
    [
      'a header that does not end',
      'GET / HTTP/1.1\r\nx: ',
      408,
      'Request Timeout',
      'Timeout',
      'the request did not arrive in time',
    ],
  ])('%s: is refused, counted, and its connection closed', async (_, bytes, code, phrase, reason, message) => {
    // The handshake and the header have the same timeout.
    const limits = { headersTimeoutMs: 300, requestTimeoutMs: 300, timeoutCheckMs: 20 };
    const { port, metric } = await serving(code === 408 ? { limits } : {});
    const socket = await openTls(port);
    const received = readAll(socket);
    socket.write(bytes);
    const [head = '', text = ''] = (await received).split('\r\n\r\n');
    expect(head.split('\r\n')[0]).toBe(`HTTP/1.1 ${code} ${phrase}`);
    expect(JSON.parse(text)).toMatchObject({ code, reason, message });
    expect(await metric(`http_refusals_total{code="${code}"}`)).toBe(1);
  });

  test('without Host is refused and counted', async () => {
    const { port, metric } = await serving();
    const socket = await openTls(port);
    const received = readAll(socket);
    socket.write('GET / HTTP/1.1\r\n\r\n');
    const [head, text = ''] = (await received).split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(JSON.parse(text)).toMatchObject({ code: 400, message: 'HTTP/1.1 requires the header Host' });
    expect(await metric('http_refusals_total{code="400"}')).toBe(1);
  });

  test('without TLS is a failed handshake, and gets no response', async () => {
    const { port, metric } = await serving();
    const received: string[] = [];
    await new Promise<void>((resolve) => {
      connect(port, '127.0.0.1')
        .on('data', (chunk) => received.push(String(chunk)))
        .on('error', () => {})
        .on('close', () => resolve())
        .end('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    });
    expect(received.join('')).not.toContain('HTTP');
    expect(await metric('tls_handshake_failures_total')).toBe(1);
    expect(await metric('http_refusals_total{code="400"}')).toBe(0);
  });

  test('after a valid one gets no response of its own', async () => {
    const { port, metric } = await serving({
      // More than the client reads, and the socket buffers.
      application: answering((_request, response, { inFlight }) =>
        inFlight.send(response, { code: 200, text: 'x'.repeat(16_000_000) }),
      ),
    });
    const socket = await openTls(port);
    const received = readAll(socket);
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    socket.write('hello\r\n\r\n');
    const text = await received;
    expect(text).toMatch(/^HTTP\/1.1 200 OK.*\r\n\r\nx+$/s);
    expect(await metric('http_refusals_total{code="400"}')).toBe(0);
  });

  test('behind a valid one that is being decided is not answered in its place', async () => {
    const { port, metric } = await serving({ application: answering(() => {}) });
    const socket = await openTls(port);
    const received = readAll(socket);
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\nhello\r\n\r\n');
    expect(await received).toBe('');
    expect(await metric('http_refusals_total{code="400"}')).toBe(0);
  });

  test('whose client does not read the response is cut a second later', async () => {
    const { port, metric } = await serving();
    const socket = await openTls(port, { allowHalfOpen: true } as never);
    socket.on('error', () => {});
    onTestFinished(() => void socket.destroy());
    socket.pause();
    socket.write('hello\r\n\r\n');
    await until(async () => (await metric('http_refusals_total{code="400"}')) === 1, 'it is refused');
    expect(await metric('connections')).toBe(1);
    await until(async () => (await metric('connections')) === 0, 'nothing is left of it');
  });
});

describe('the limits', () => {
  test('are those given, and defaults otherwise', async () => {
    const { port } = await serving({ limits: { maxBodyBytes: 77 } });
    expect((await send(port, '/x', 'x'.repeat(77))).json()).toEqual({ hello: '/x', bytes: 77 });
    expect((await send(port, '/x', 'x'.repeat(78))).code).toBe(413);
    const { port: other } = await serving();
    expect((await send(other, '/x', 'x'.repeat(78))).json()).toEqual({ hello: '/x', bytes: 78 });
  });

  test('undefined is the default', async () => {
    const { port } = await serving({ limits: { maxBodyBytes: undefined } as never });
    expect((await send(port, '/x', 'x'.repeat(78))).json()).toEqual({ hello: '/x', bytes: 78 });
  });

  test('of a request that may take less time than a header are those of the header, too', async () => {
    const { port } = await serving({
      limits: { requestTimeoutMs: 150, headersTimeoutMs: 1_000_000, timeoutCheckMs: 20 },
    });
    const socket = await openTls(port);
    const received = readAll(socket);
    socket.write('POST / HTTP/1.1\r\nx: ');
    expect(await received).toMatch(/^HTTP\/1.1 408 /);
  });

  test('include the size of a header', async () => {
    const { port } = await serving({ limits: { maxHeaderBytes: 2_000 } });
    expect((await send(port, '/x', '', { headers: { a: 'x'.repeat(1_000) } })).code).toBe(200);
    expect((await send(port, '/x', '', { headers: { a: 'x'.repeat(3_000) } })).code).toBe(431);
  });
});

test('a server that nobody probes has no health port', async () => {
  const { port, healthPort } = await serving({ health: undefined });
  expect([(await send(port, '/x', '')).code, healthPort]).toEqual([200, 0]);
});

test('HTTP/2 is not offered', async () => {
  const { port } = await serving();
  const socket = await openTls(port, { ALPNProtocols: ['h2', 'http/1.1'] });
  expect(socket.alpnProtocol).toBe('http/1.1');
  socket.destroy();
});

test('before its main port is open, a server is not ready', async () => {
  const [{ promise: begun, resolve: begin }, { promise: read, resolve: end }] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
  ];
  const [healthPort] = await freePorts();
  const starting = serving({
    async certificates(onEvent) {
      onEvent({ kind: 'pair', pair });
      begin();
      await read;
      return () => {};
    },
    health: { host: '127.0.0.1', port: healthPort },
  });
  await begun;
  const ready = async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).text();
  expect(await ready()).toBe('the main port is not open yet\n');
  end();
  await starting;
  expect(await ready()).toBe('ok\n');
});

describe('shutdown', () => {
  test('is told to clients, stops the source, and closes both ports', async () => {
    const { port, healthPort, stop, isSourceStopped, readiness, lines } = await serving();
    const agent = keepAliveAgent();
    onTestFinished(() => agent.destroy());
    const told = async () => (await send(port, '/x', '', { agent })).headers.connection;
    expect(await told()).toBe('keep-alive');
    const { promise, resolve } = Promise.withResolvers<void>();
    const stopped = stop({ closeAfter: promise, graceMs: 0, timeoutMs: 5_000 });
    expect([await told(), isSourceStopped(), await readiness()]).toEqual(['close', false, 'shutting down\n']);
    resolve();
    await stopped;
    expect([isSourceStopped(), await isOpen(port), await isOpen(healthPort)]).toEqual([true, false, false]);
    expect(lines.at(-1)).toMatchObject({ msg: 'stopped' });
  });

  test('has a default grace period of two seconds for idle connections', async () => {
    const { port, stop } = await serving();
    const socket = await openTls(port);
    const closed = readAll(socket);
    let isStopped = false;
    const stopped = stop({ timeoutMs: 1_000 }).then(() => {
      isStopped = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([isStopped, socket.closed]).toEqual([false, false]);
    await stopped;
    await closed;
    expect(isStopped).toBe(true);
  });
});

test.each([
  'main',
  'health',
] as const)('a %s port that is taken is an error, and leaves nothing open', async (which) => {
  const other = await serving();
  const port = which === 'main' ? other.port : other.healthPort;
  let sources = 0;
  const { log } = collectingLog();
  const starting = startServer({
    application: answering(() => {}),
    name: 'main',
    metricsPrefix: 'x_',
    async certificates() {
      sources++;
      return () => sources--;
    },
    main: { host: '127.0.0.1', port: 0 },
    health: { host: '127.0.0.1', port: 0 },
    [which]: { host: '127.0.0.1', port },
    log,
    version: '1',
    processMetrics: false,
    now: () => new Date(),
  });
  await expect(starting).rejects.toThrow(new ListenError(which, { host: '127.0.0.1', port }, 'EADDRINUSE'));
  expect(sources).toBe(0);
});
