import { afterEach, describe, expect, test, vi } from 'vitest';
import { defaultLimits, limitsWith } from '../../../src/server/index.ts';
import { mutate, openTls, readAll, review, send, start, stopAll, until, validate } from '../running.ts';

afterEach(stopAll);

const head = `POST ${validate} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;

describe('bodies', () => {
  test('of 7 MiB are accepted', async () => {
    const { webhookPort } = await start();
    expect(defaultLimits.maxBodyBytes).toBe(7 * 1024 * 1024);
    const body = review('x');
    const padded = body + ' '.repeat(7 * 1024 * 1024 - body.length);
    expect((await send(webhookPort, validate, padded)).code).toBe(200);
  });

  test('of one byte more than the limit get a 413, which the client can read even though it sends the whole body', async () => {
    const { webhookPort } = await start({ limits: { maxBodyBytes: 2 * 1024 * 1024 } });
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const answer = await send(webhookPort, mutate, Buffer.alloc(2 * 1024 * 1024 + 1, 0x20), { headers });
      expect(answer.code).toBe(413);
      expect(answer.headers.connection).toBe('close');
      expect(answer.json()).toMatchObject({ kind: 'Status', reason: 'RequestEntityTooLarge' });
    }
  });

  test('that are endless are cut off', async () => {
    const { webhookPort } = await start({ limits: { maxBodyBytes: 4096 } });
    const socket = await openTls(webhookPort);
    const received = readAll(socket);
    socket.write(`${head}transfer-encoding: chunked\r\n\r\n`);
    const piece = `1000\r\n${' '.repeat(4096)}\r\n`;
    const writing = setInterval(() => socket.writable && socket.write(piece), 1);
    const text = await received;
    clearInterval(writing);
    expect(text).toMatch(/^HTTP\/1.1 413 /);
  });
});

test.each<[object, string]>([
  [{ requestTimeoutMs: -1 }, 'limits.requestTimeoutMs: -1 must be a whole number from 1 to 2147483647'],
  [{ headersTimeoutMs: 0.5 }, 'limits.headersTimeoutMs: 0.5 must be a whole number from 1 to'],
  [{ stallTimeoutMs: Number('x') }, 'limits.stallTimeoutMs: NaN must be a whole number from 1 to'],
  [{ maxConnections: 0 }, 'limits.maxConnections: 0 must be a whole number from 1 to'],
  [{ maxBody: 1 }, 'limits.maxBody is not a limit; it must be one of maxBodyBytes, maxConnections, '],
  [{ maxBodyBytes: '1Mi' }, 'limits.maxBodyBytes: 1Mi must be a whole number from 1 to'],
  [{ keepAliveTimeoutMs: 2 ** 31 }, 'limits.keepAliveTimeoutMs: 2147483648 must be a whole number from 1 to'],
])('the limits %j are none', (changes, message) => {
  expect(() => limitsWith(defaultLimits, changes)).toThrow(TypeError);
  expect(() => limitsWith(defaultLimits, changes)).toThrow(message);
});

test('a header may take no longer than its request', () => {
  expect(limitsWith(defaultLimits, { requestTimeoutMs: 1 }).headersTimeoutMs).toBe(1);
});

describe('time', () => {
  const limits = { headersTimeoutMs: 150, requestTimeoutMs: 150, timeoutCheckMs: 20 };

  test.each([
    ['a header that does not end', 'POST / HTTP/1.1\r\nx: '],
    ['a body that does not come', `${head}content-length: 100\r\n\r\n`],
    ['a body that stops half-way', `${head}content-length: 100\r\n\r\n{"kind":`],
    ['a rejected body that stops half-way', `PUT ${validate} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{`],
  ])('%s ends the connection', async (_name, bytes) => {
    const { webhookPort, health } = await start({ limits });
    // A busy machine may take longer than the limits to read what has arrived: then there is no response.
    await vi.waitFor(async () => {
      const socket = await openTls(webhookPort);
      const received = readAll(socket);
      socket.write(bytes);
      expect(await received).toMatch(
        bytes.startsWith('PUT') ? /^HTTP\/1.1 405 / : /^HTTP\/1.1 408 .*connection: close.*"code":408/s,
      );
    }, 100_000);
    await until(
      async () => /connections 0\n/.test(await (await fetch(`${health}/metrics`)).text()),
      'no connection left',
    );
  });

  test('single bytes do not extend it (slowloris)', async () => {
    const { webhookPort } = await start({ limits });
    // A byte for a closed connection resets it, and a response that has not been read by then is lost.
    await vi.waitFor(async () => {
      const slow = await openTls(webhookPort);
      const received = readAll(slow);
      slow.write(`${head}content-length: 1000000\r\n\r\n`);
      const dripping = setInterval(() => slow.writable && slow.write(' '), 5);
      const text = await received;
      clearInterval(dripping);
      expect(text).toMatch(/^HTTP\/1.1 408 /);
    }, 100_000);
  });

  test('a TLS handshake that does not begin is cut off', async () => {
    const { webhookPort } = await start({ limits });
    const { connect } = await import('node:net');
    const socket = connect(webhookPort, '127.0.0.1');
    await new Promise((resolve) => socket.resume().once('close', resolve));
    expect(socket.bytesRead).toBe(0);
  });

  test('a client that disconnects halfway leaves nothing behind', async () => {
    const { webhookPort, health } = await start();
    const inFlight = async (n: number) =>
      new RegExp(`in_flight ${n}\n`).test(await (await fetch(`${health}/metrics`)).text());
    const socket = await openTls(webhookPort);
    socket.write(`${head}content-length: 100\r\n\r\n{`);
    await until(() => inFlight(1), 'one request in flight');
    socket.destroy();
    await until(() => inFlight(0), 'none in flight');
    expect(await (await fetch(`${health}/metrics`)).text()).toContain('in_flight_bytes 0\n');
  });
});

describe('connections', () => {
  test.each([
    ['not HTTP', 'hello\r\n\r\n', /^HTTP\/1.1 400 .*"code":400/s],
    ['a header too large', `${head}x: ${'a'.repeat(20_000)}\r\n\r\n`, /^HTTP\/1.1 431 .*"code":431/s],
    ['two lengths', `${head}content-length: 1\r\ncontent-length: 2\r\n\r\n{}`, /^HTTP\/1.1 400 /],
    ['length and chunked', `${head}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n`, /^HTTP\/1.1 400 /],
  ])('that send %s get a response and are closed', async (_name, bytes, expected) => {
    const { webhookPort } = await start();
    const socket = await openTls(webhookPort);
    const received = readAll(socket);
    socket.write(bytes);
    expect(await received).toMatch(expected);
    expect((await send(webhookPort, validate, review('x'))).code).toBe(200);
  });

  test('use TLS 1.2 or newer', async () => {
    const { webhookPort } = await start();
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await openTls(webhookPort, { minVersion: version, maxVersion: version });
      expect(socket.getProtocol()).toBe(version);
      socket.destroy();
    }
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await expect(openTls(webhookPort, old)).rejects.toThrow(/protocol|version/i);
  });

  test('answer pipelined requests in order', async () => {
    const { webhookPort } = await start();
    const socket = await openTls(webhookPort);
    const received = readAll(socket);
    const one = (name: string, more = '') =>
      `${head}${more}content-length: ${review(name).length}\r\n\r\n${review(name)}`;
    socket.write(one('a') + one('b') + one('c', 'connection: close\r\n'));
    const uids = [...(await received).matchAll(/"uid":"([^"]+)"/g)].map((match) => match[1]);
    expect(uids).toEqual(['uid-of-a', 'uid-of-b', 'uid-of-c']);
  });
});
