import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, aroundEach, describe, expect, test } from 'vitest';
import { handler } from '../../../src/extension/index.ts';
import { requestFor } from '../../../src/extension/sdk/testing/testing.ts';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import { makeCertificate, testCa } from '../../base/x509/certificates.ts';
import { openTls, until } from '../../server/running.ts';
import { ending, endWith } from '../../support/ends.ts';
import { metricAt } from '../../support/metrics.ts';
import { needs } from '../../support/needs.ts';
import { sendPadding } from './padding.ts';
import { certificateFolder, post, startExtension } from './running.ts';

aroundEach(ending);

const path = `/${hooksGroup}/v1alpha1/beforeclustercreate/create`;

/** Completes the calls that wait for it, in the order in which they came. */
const held: (() => void)[] = [];
afterEach(() => {
  held.length = 0;
});

/** Waits for the milliseconds in the setting `wait`, or with `hold` for the test, and reports the setting `name`. */
let aborted = 0;
const create = handler('BeforeClusterCreate', {
  name: 'create',
  handle: async (_request, { answer, settings, signal }) => {
    if (settings.wait !== undefined || settings.hold !== undefined) {
      await new Promise<void>((resolve) => {
        held.push(resolve);
        const timer = setTimeout(resolve, Number(settings.wait ?? 20_000));
        signal.addEventListener('abort', () => {
          aborted++;
          clearTimeout(timer);
          resolve();
        });
      });
    }
    return answer.done({ message: `hello ${settings.name ?? ''}${'x'.repeat(Number(settings.length ?? 0))}` });
  },
});

const bodyWith = (settings: Record<string, string>) => JSON.stringify(requestFor('BeforeClusterCreate', { settings }));

function open(
  port: number,
  settings: { initialWindowSize?: number } = {},
  more: { cert?: string; key?: string } = {},
): ClientHttp2Session {
  const session = connect(`https://localhost:${port}`, {
    lookup: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }] as never, 4),
    ca: testCa.cert,
    settings,
    ...more,
  });
  session.on('error', () => {});
  endWith(async () => session.destroy());
  return session;
}

interface Answer {
  code: number;
  headers: Record<string, unknown>;
  json: () => Record<string, unknown>;
}

const answerOf = (stream: ClientHttp2Stream): Promise<Answer> =>
  new Promise((resolve, reject) => {
    let text = '';
    let headers: Record<string, unknown> = {};
    stream.on('response', (received) => {
      headers = received;
    });
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    stream.on('error', reject);
    stream.on('close', () =>
      headers[':status'] === undefined
        ? reject(new Error(`closed without an answer: ${stream.rstCode}`))
        : resolve({ code: Number(headers[':status']), headers, json: () => JSON.parse(text) }),
    );
  });

function call(session: ClientHttp2Session, body: string | Buffer, url = path, headers = {}): Promise<Answer> {
  const stream = session.request({ ':method': 'POST', ':path': url, ...headers });
  const answer = answerOf(stream);
  stream.end(body);
  return answer;
}

/** The value of a metric; 0 when absent. */
async function metricOf(health: string, name: string): Promise<number> {
  return (await metricAt(health, `runtime_extension_${name}`)) || 0;
}

test('calls over HTTP/2 on one connection, concurrent and out of order, each get their own answer', async () => {
  const { port, health } = await startExtension([create]);
  const session = open(port);
  const answers = Array.from({ length: 32 }, (_, index) =>
    call(session, bodyWith({ name: String(index), ...(index === 0 && { hold: '' }) })),
  );
  await Promise.all(answers.slice(1));
  expect(held).toHaveLength(1);
  held[0]?.();
  expect((await Promise.all(answers)).map(({ code, json }) => [code, json().message])).toEqual(
    answers.map((_, index) => [200, `hello ${index}`]),
  );
  expect(session.alpnProtocol).toBe('h2');
  expect(await metricOf(health, 'connections')).toBe(1);
});

test.each([
  ['chooses h2 before http/1.1', ['h2', 'http/1.1'], 'h2'],
  ['speaks HTTP/1.1 only', ['http/1.1'], 'http/1.1'],
  ['names no protocol', undefined, false],
])('a client that %s', async (_name, ALPNProtocols, chosen) => {
  const { port } = await startExtension([create]);
  const socket = await openTls(port, { ...(ALPNProtocols !== undefined && { ALPNProtocols }) });
  expect(socket.alpnProtocol).toBe(chosen);
  socket.destroy();
  expect((await post(port, path, bodyWith({ name: 'one' }))).json().message).toBe('hello one');
});

test('curl calls over HTTP/2', needs('curl'), async () => {
  const { port } = await startExtension([create]);
  const folder = certificateFolder();
  writeFileSync(join(folder, 'ca.crt'), testCa.cert);
  const { stdout } = await promisify(execFile)('curl', [
    ...[
      '--http2',
      '--silent',
      '--show-error',
      '--cacert',
      join(folder, 'ca.crt'),
      '--resolve',
      `localhost:${port}:127.0.0.1`,
    ],
    ...['--write-out', '\n%{http_version} %{http_code}', '--data-binary', bodyWith({ name: 'curl' })],
    `https://localhost:${port}${path}?timeout=10s`,
  ]);
  const [answer = '', line] = stdout.split('\n');
  expect([JSON.parse(answer).message, line]).toEqual(['hello curl', '2 200']);
});

describe('limits', () => {
  test('bodies over the limit, declared or not, and unknown paths are rejected, and the connection stays open', async () => {
    const { port } = await startExtension([create], { limits: { maxBodyBytes: 4096 } });
    const session = open(port);
    const large = bodyWith({ name: 'x'.repeat(200_000) });
    const declared = { 'content-length': String(Buffer.byteLength(large)) };
    const tooLarge = 'error reading request: the body must not be larger than 4096 bytes';
    expect((await call(session, large, path, declared)).json().message).toBe(tooLarge);
    expect((await call(session, large)).json().message).toBe(tooLarge);
    expect((await call(session, large, `${path}/more`)).code).toBe(404);
    expect((await call(session, bodyWith({ name: 'then' }))).json().message).toBe('hello then');
  });

  test('a refused request is reset only after the end of its response', async () => {
    const { port } = await startExtension([create]);
    const socket = await openTls(port, { ALPNProtocols: ['h2'] });
    endWith(async () => void socket.destroy());
    const frame = (type: number, flags: number, stream: number, payload: Buffer) => {
      const head = Buffer.alloc(9);
      head.writeUIntBE(payload.length, 0, 3);
      head.set([type, flags], 3);
      head.writeUInt32BE(stream, 5);
      return Buffer.concat([head, payload]);
    };
    const headers = {
      ':method': 'POST',
      ':scheme': 'https',
      ':authority': 'localhost',
      ':path': path,
      'content-length': '99000000',
    };
    const literals = Object.entries(headers).map(([name, value]) =>
      Buffer.from(
        [`\0${String.fromCharCode(name.length)}${name}`, `${String.fromCharCode(value.length)}${value}`].join(''),
      ),
    );
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(Buffer.concat([frame(4, 0, 0, Buffer.alloc(0)), frame(1, 4, 1, Buffer.concat(literals))]));
    const [data, reset] = [0, 3];
    const frames: { type: number; isEnd: boolean }[] = [];
    let received = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 9 && received.length >= 9 + received.readUIntBE(0, 3)) {
        frames.push({ type: received.readUInt8(3), isEnd: (received.readUInt8(4) & 1) === 1 });
        received = received.subarray(9 + received.readUIntBE(0, 3));
      }
    });
    await until(() => frames.some(({ type }) => type === reset), 'the stream is reset');
    const ends = frames.filter(({ type }) => type === data || type === reset).slice(-2);
    expect(ends).toEqual([
      { type: data, isEnd: true },
      { type: reset, isEnd: false },
    ]);
  });

  test('100 Continue is sent only for a body that is accepted', async () => {
    const { port } = await startExtension([create], { limits: { maxBodyBytes: 4096 } });
    const session = open(port);
    const begin = (length: number) => {
      const headers = { ':method': 'POST', ':path': path, expect: '100-continue', 'content-length': String(length) };
      return session.request(headers, { endStream: false });
    };
    const body = bodyWith({ name: 'expected' });
    const wanted = begin(Buffer.byteLength(body));
    await new Promise<void>((resolve) => wanted.once('continue', resolve));
    const answer = answerOf(wanted);
    wanted.end(body);
    expect((await answer).json().message).toBe('hello expected');
    const unwanted = begin(5000);
    let isContinued = false;
    unwanted.once('continue', () => {
      isContinued = true;
    });
    expect((await answerOf(unwanted)).json().status).toBe('Failure');
    expect(isContinued).toBe(false);
  });

  test('large bodies and large responses pass', async () => {
    const { port } = await startExtension([create]);
    const { code, json } = await call(open(port), bodyWith({ pad: 'x'.repeat(5_000_000), length: '8000' }));
    expect([code, String(json().message).length]).toEqual([200, 8006]);
  });

  test('concurrent requests and the size of headers are limited, and the client is told', async () => {
    const { port } = await startExtension([create], { limits: { maxStreams: 3 } });
    const session = open(port);
    await call(session, bodyWith({}));
    expect(session.remoteSettings).toMatchObject({ maxConcurrentStreams: 3, maxHeaderListSize: 16_384 });
    await expect(call(session, bodyWith({}), path, { more: 'x'.repeat(20_000) })).rejects.toThrow();
    expect((await call(open(port), bodyWith({}))).code).toBe(200);
  });

  test('a client that keeps cancelling its requests loses its connection, and others do not', async () => {
    const { port } = await startExtension([create]);
    const [attacker, other] = [open(port), open(port)];
    await call(other, bodyWith({}));
    await call(attacker, bodyWith({}));
    let sent = 0;
    // Fewer than Node's own limit of 1000 at once; 200 are allowed, and 33 more in each second that this takes.
    const most = 600;
    while (!attacker.closed && !attacker.destroyed && sent < most) {
      const streams = Array.from({ length: 20 }, () =>
        attacker.request({ ':method': 'POST', ':path': path }).on('error', () => {}),
      );
      sent += streams.length;
      await new Promise((resolve) => setTimeout(resolve, 1));
      for (const stream of streams) {
        stream.close(constants.NGHTTP2_CANCEL);
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await until(() => attacker.closed || attacker.destroyed, 'the connection ends');
    expect(sent).toBeLessThan(most);
    expect((await call(other, bodyWith({}))).code).toBe(200);
  });

  test('a client that sends little else than padding loses its connection', async () => {
    const { port } = await startExtension([create], { limits: { timeoutCheckMs: 20, requestTimeoutMs: 60_000 } });
    const socket = await openTls(port, { ALPNProtocols: ['h2'] });
    endWith(async () => void socket.destroy());
    socket.on('error', () => {});
    const enough = 16 * 1024 * 1024;
    expect(await sendPadding(socket, path, enough)).toBeLessThan(enough);
  });

  test('a request that does not arrive in time gets a 408, while others on its connection are answered', async () => {
    const { port, health } = await startExtension([create], {
      limits: { headersTimeoutMs: 200, requestTimeoutMs: 200, timeoutCheckMs: 10 },
    });
    const session = open(port);
    const slow = session.request({ ':method': 'POST', ':path': path });
    slow.write('{');
    const answer = answerOf(slow);
    expect((await call(session, bodyWith({ wait: '300' }))).code).toBe(200);
    const { code, json } = await answer;
    expect([code, json().message]).toEqual([408, 'the request did not arrive in time']);
    expect(await metricOf(health, 'http_refusals_total{code="408"}')).toBe(1);
    expect((await call(session, bodyWith({}))).code).toBe(200);
  });

  test('a response that is not read is abandoned, while others on its connection are answered', async () => {
    const { port, health } = await startExtension([create], {
      limits: { responseTimeoutMs: 300, timeoutCheckMs: 10 },
    });
    const session = open(port, { initialWindowSize: 256 });
    const unread = session.request({ ':method': 'POST', ':path': path });
    const closed = new Promise((resolve) => unread.on('close', resolve).on('error', () => {}));
    unread.end(bodyWith({ length: '5000' }));
    await until(async () => (await metricOf(health, 'answers_dropped_total{port="extension"}')) === 1, 'given up');
    unread.resume();
    await closed;
    expect(unread.rstCode).toBe(constants.NGHTTP2_CANCEL);
    expect((await call(session, bodyWith({}))).code).toBe(200);
    await until(async () => (await metricOf(health, 'requests_in_flight')) === 0, 'nothing is left');
  });

  test('a connection without requests makes room for others', async () => {
    const { port, health } = await startExtension([create], { limits: { maxConnections: 2 } });
    const [first, second] = [open(port), open(port)];
    await call(first, bodyWith({}));
    await call(second, bodyWith({}));
    expect((await call(open(port), bodyWith({}))).code).toBe(200);
    await until(() => first.destroyed, 'the one that was idle longest is closed');
    expect([second.destroyed, await metricOf(health, 'connections_evicted_total{port="extension"}')]).toEqual([
      false,
      1,
    ]);
  });

  test('a connection without requests is closed after a while', async () => {
    // A loaded machine takes a while from the handshake to the first request.
    const { port } = await startExtension([create], {
      limits: { keepAliveTimeoutMs: 200, headersTimeoutMs: 1500, timeoutCheckMs: 20 },
    });
    const mute = await openTls(port, { ALPNProtocols: ['h2'] });
    mute.resume();
    const idle = open(port);
    expect((await call(idle, bodyWith({}))).code).toBe(200);
    await until(() => idle.destroyed, 'one that is idle for too long is closed');
    await until(() => mute.closed || mute.readableEnded, 'one that says nothing is closed');
    mute.destroy();
  });
});

test('cancelling a call aborts only the handler of this call', async () => {
  const { port, health } = await startExtension([create]);
  const session = open(port);
  aborted = 0;
  const stream = session.request({ ':method': 'POST', ':path': path });
  stream.on('error', () => {}).end(bodyWith({ hold: '' }));
  await until(() => held.length === 1, 'it is with the handler');
  const other = call(session, bodyWith({ hold: '' }));
  await until(() => held.length === 2, 'so is the other');
  stream.close(constants.NGHTTP2_CANCEL);
  await until(() => aborted === 1, 'the handler is told');
  await until(async () => (await metricOf(health, 'requests_in_flight')) === 1, 'one is left');
  held[1]?.();
  expect((await other).code).toBe(200);
  expect(aborted).toBe(1);
});

test('only clients with a certificate are answered; others get a 403 that says why', async () => {
  const caFile = join(certificateFolder(), 'ca.crt');
  writeFileSync(caFile, testCa.cert);
  const { port } = await startExtension([create], { clients: { caFile } });
  const refused = await call(open(port), bodyWith({}));
  expect([refused.code, refused.json().message]).toEqual([403, 'a client certificate is required']);
  const { cert, key } = makeCertificate({ commonName: 'capi', issuer: testCa });
  expect((await call(open(port, {}, { cert, key }), bodyWith({}))).code).toBe(200);
});

test('a call whose handler takes long is not cut to make room, in either version of HTTP', async () => {
  const { port } = await startExtension([create], {
    limits: { maxConnections: 2, stallTimeoutMs: 20, timeoutCheckMs: 10 },
  });
  const slow = [call(open(port), bodyWith({ hold: '' })), post(port, path, bodyWith({ hold: '' }))];
  await until(() => held.length === 2, 'both are with the handler');
  await new Promise((resolve) => setTimeout(resolve, 100));
  await expect(post(port, path, bodyWith({}))).rejects.toThrow();
  for (const release of held) {
    release();
  }
  expect((await Promise.all(slow)).map(({ code }) => code)).toEqual([200, 200]);
});

describe('shutdown', () => {
  test('answers calls in flight, and tells clients to send later ones elsewhere', async () => {
    const { port, stop } = await startExtension([create]);
    const session = open(port);
    const goaway = new Promise((resolve) => session.once('goaway', (code, last) => resolve([code, last])));
    const calls = [call(session, bodyWith({ wait: '20' })), call(session, bodyWith({ wait: '300' }))];
    // Its response comes after the server has received the calls.
    await new Promise((resolve) => session.once('connect', resolve));
    await new Promise((resolve) => session.ping(resolve));
    const startedMs = performance.now();
    const stopped = stop({ graceMs: 0, timeoutMs: 60_000 });
    expect((await Promise.all(calls)).map(({ code }) => code)).toEqual([200, 200]);
    expect(await goaway).toEqual([constants.NGHTTP2_NO_ERROR, 3]);
    await stopped;
    expect(performance.now() - startedMs).toBeLessThan(20_000);
  });

  test('is not delayed by a client that ignores this', async () => {
    const { port, stop } = await startExtension([create]);
    const socket = await openTls(port, { ALPNProtocols: ['h2'], allowHalfOpen: true } as never);
    socket.on('error', () => {});
    // The preface and empty settings; nothing is read afterwards.
    socket.write(
      Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.from('000000040000000000', 'hex')]),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    const startedMs = performance.now();
    await stop({ graceMs: 50, timeoutMs: 60_000 });
    expect(performance.now() - startedMs).toBeLessThan(20_000);
    socket.destroy();
  });

  test('loses no call under load, while connections are still accepted', async () => {
    const { port, stop } = await startExtension([create]);
    let answered = 0;
    let ended = 0;
    /** As HTTP/2 defines it: requests that the server says it did not process are retried on a new connection. */
    async function caller(): Promise<void> {
      let session = open(port);
      for (;;) {
        const isOver = await call(session, bodyWith({ wait: '1' })).then(
          ({ code }) => {
            expect(code).toBe(200);
            answered++;
            return false;
          },
          (error: NodeJS.ErrnoException & { message: string }) => {
            if (
              !/REFUSED_STREAM|ERR_HTTP2_GOAWAY_SESSION|ERR_HTTP2_INVALID_SESSION/.test(
                `${error.code} ${error.message}`,
              )
            ) {
              throw error;
            }
            return true;
          },
        );
        if (isOver || session.closed || session.destroyed) {
          ended++;
          if (ended >= 16) {
            return;
          }
          session = open(port);
        }
      }
    }
    const callers = Promise.all(Array.from({ length: 8 }, caller));
    await until(() => answered > 40, 'load');
    const stopped = stop({ closeAfter: callers, graceMs: 0, timeoutMs: 20_000 });
    await callers;
    await stopped;
    expect(answered).toBeGreaterThan(40);
  });
});
