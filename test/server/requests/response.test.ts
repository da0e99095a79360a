import { EventEmitter, once } from 'node:events';
import { Agent, createServer, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect, createServer as createHttp2Server, type Http2ServerRequest } from 'node:http2';
import type { AddressInfo, Server } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { refusal } from '../../../src/kubernetes/index.ts';
import { Http1Response } from '../../../src/server/connections/tracked.ts';
import { Http2Response } from '../../../src/server/http2-response.ts';
import { refuseUnread, sendJson } from '../../../src/server/requests/response.ts';

/** Fails a test whose response never arrives. */
const soon = () => AbortSignal.timeout(5_000);

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts an HTTP/1.1 server and sends it the header of a request; the test sends the body. */
async function begun(
  method: 'GET' | 'POST',
  headers: Record<string, string>,
  onRequest: (request: IncomingMessage, response: Http1Response) => void,
) {
  const server = createServer<typeof IncomingMessage, typeof Http1Response>(
    { ServerResponse: Http1Response },
    onRequest,
  );
  const url = await listening(server);
  onTestFinished(() => server.closeAllConnections());
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const client = httpRequest(url, { method, headers, agent });
  const response = once(client, 'response', { signal: soon() }).then(([one]) => one as IncomingMessage);
  // A test that disconnects does not await the response.
  response.catch(() => {});
  client.on('error', () => {});
  client.flushHeaders();
  return { client, response };
}

/** The header of a response without what Node adds, and its text. */
async function read(response: IncomingMessage) {
  const { date: _, 'keep-alive': _keepAlive, ...headers } = response.headers as IncomingHttpHeaders;
  const texts: string[] = [];
  response.setEncoding('utf8').on('data', (text: string) => texts.push(text));
  await once(response, 'end', { signal: soon() });
  return { code: response.statusCode, headers, text: texts.join('') };
}

const text = '{"a":"ä"}';
const json = { 'content-type': 'application/json', 'content-length': '10' };

describe('a response over HTTP/1.1', () => {
  test.each([
    ['leaves the connection open', false, undefined, { connection: 'keep-alive' }],
    ['ends the connection', true, undefined, { connection: 'close' }],
    ['has more headers', false, { allow: 'POST', 'x-a': 'b' }, { connection: 'keep-alive', allow: 'POST', 'x-a': 'b' }],
  ] as const)('%s', async (_, close, more, headers) => {
    const { client, response } = await begun('GET', {}, (_request, to) => sendJson(to, 203, text, 10, close, more));
    client.end();
    expect(await read(await response)).toEqual({ code: 203, headers: { ...json, ...headers }, text });
  });
});

describe('a refusal over HTTP/1.1', () => {
  test('is a Status, has the given headers, and closes the connection', async () => {
    const status = refusal(405, 'use ä');
    const { client, response } = await begun('GET', {}, (from, to) =>
      refuseUnread(from, to, status, 10, { allow: 'POST' }),
    );
    client.end();
    const { headers, text: said, code } = await read(await response);
    expect(code).toBe(405);
    expect(JSON.parse(said)).toEqual(status);
    expect(headers).toEqual({
      allow: 'POST',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(said)),
      connection: 'close',
    });
  });

  test('of a request that was read completely is complete at once, with any JSON', async () => {
    let isEnded: boolean | undefined;
    const { client, response } = await begun('POST', { 'content-length': '3' }, (from, to) => {
      from.resume().once('end', () => {
        refuseUnread(from, to, { code: 200, text }, 10);
        isEnded = to.writableEnded;
      });
    });
    client.end('abc');
    expect(await read(await response)).toEqual({ code: 200, headers: { ...json, connection: 'close' }, text });
    expect(isEnded).toBe(true);
  });

  /** Rejects a request after its header, discards at most 4 bytes, and records when the response has ended. */
  async function refused(length: number) {
    const seen: [event: string, isEnded: boolean][] = [];
    const waiting = new Map<string, () => void>();
    const { client, response } = await begun('POST', { 'content-length': String(length) }, (from, to) => {
      refuseUnread(from, to, { code: 413, text }, 4);
      seen.push(['header', to.writableEnded]);
      for (const event of ['data', 'end', 'error']) {
        from.on(event, () => {
          seen.push([event, to.writableEnded]);
          waiting.get(event)?.();
        });
      }
    });
    /** Does something and waits until the server notices the effect. */
    async function until(event: 'data' | 'end' | 'error', act: () => void): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      waiting.set(event, resolve);
      soon().addEventListener('abort', () => reject(new Error(`no ${event} came`)));
      act();
      await promise;
    }
    return { client, incoming: await response, seen, until };
  }

  test('is sent before the body, which is discarded to its end', async () => {
    const { client, incoming, seen, until } = await refused(4);
    await until('data', () => client.write('abc'));
    await until('end', () => client.end('d'));
    expect(seen).toEqual([
      ['header', false],
      ['data', false],
      ['data', false],
      ['end', true],
    ]);
    expect(await read(incoming)).toEqual({ code: 413, headers: { ...json, connection: 'close' }, text });
  });

  test('ends when more arrives than is to be discarded', async () => {
    const { client, incoming, seen, until } = await refused(100);
    await until('data', () => client.write('ab'));
    await until('data', () => client.write('cd'));
    await until('data', () => client.write('e'));
    expect(seen).toEqual([
      ['header', false],
      ['data', false],
      ['data', false],
      ['data', true],
    ]);
    expect((await read(incoming)).text).toBe(text);
  });

  test('ends when the rest arrives in thousands of small pieces, and no more is read', () => {
    const request = Object.assign(new EventEmitter(), { complete: false, pause: () => done.push('paused') });
    const done: string[] = [];
    const response = { isHttp2: false, writeHead() {}, write() {}, end: () => done.push('ended') };
    refuseUnread(request as never, response as never, { code: 413, text }, 1_000_000);
    const emit = (pieces: number) => {
      for (let index = 0; index < pieces; index++) {
        request.emit('data', Buffer.from('x'));
      }
    };
    emit(4_096);
    expect(done).toEqual([]);
    emit(100);
    expect(done.slice(0, 2)).toEqual(['paused', 'ended']);
  });

  test('ends when the client disconnects', async () => {
    const { client, seen, until } = await refused(100);
    await until('error', () => client.destroy());
    expect(seen).toEqual([
      ['header', false],
      ['error', true],
    ]);
  });
});

describe('over HTTP/2', () => {
  /** Sends a request, whose body the test controls, and a second one after the response to the first. */
  async function exchanged(body: 'whole' | 'begun', respond: (from: Http2ServerRequest, to: Http2Response) => void) {
    const calls: unknown[][] = [];
    const server = createHttp2Server<typeof IncomingMessage, never, typeof Http2ServerRequest, typeof Http2Response>(
      { Http2ServerResponse: Http2Response },
      (from, to) => {
        if (from.url === '/second') {
          to.end('still here');
          return;
        }
        for (const name of ['writeHead', 'end', 'refuseRest'] as const) {
          const spy = vi.spyOn(to, name) as unknown as { mock: { calls: unknown[][] } };
          to.once('close', () => calls.push(...spy.mock.calls.map((call) => [name, ...call])));
        }
        respond(from, to);
      },
    );
    const session = connect(await listening(server));
    session.on('error', () => {});
    onTestFinished(() => session.destroy());
    const readAll = async (stream: ReturnType<typeof session.request>) => {
      const texts: string[] = [];
      stream.setEncoding('utf8').on('data', (piece: string) => texts.push(piece));
      await once(stream, 'close', { signal: soon() });
      return texts.join('');
    };
    const stream = session.request({ ':path': '/', ':method': 'POST' });
    if (body === 'whole') {
      stream.end('abc');
    } else {
      stream.write('abc');
    }
    const said = await readAll(stream);
    return { said, calls, rstCode: stream.rstCode, second: await readAll(session.request({ ':path': '/second' })) };
  }
  const head = ['content-type', 'application/json', 'content-length', '10'];

  test('a response has no connection header, and the connection stays open', async () => {
    const { said, calls, second } = await exchanged('whole', (from, to) => {
      from.resume().once('end', () => sendJson(to, 200, text, 10, true, { 'x-a': 'b' }));
    });
    expect([said, second]).toEqual([text, 'still here']);
    expect(calls).toEqual([
      ['writeHead', 200, [...head, 'x-a', 'b']],
      ['end', text],
    ]);
  });

  test('a refusal of a request that was read completely does not reset the stream', async () => {
    const { said, calls, second } = await exchanged('whole', (from, to) => {
      from.resume().once('end', () => refuseUnread(from, to, { code: 413, text }, 4, { 'x-a': 'b' }));
    });
    expect([said, second]).toEqual([text, 'still here']);
    expect(calls).toEqual([
      ['writeHead', 413, ['x-a', 'b', ...head]],
      ['end', text],
    ]);
  });

  test('a refusal of a request that is still arriving tells the client to stop, and the connection stays open', async () => {
    const { said, calls, second, rstCode } = await exchanged('begun', (from, to) => {
      refuseUnread(from, to, { code: 413, text }, 4);
    });
    expect([said, second, rstCode]).toEqual([text, 'still here', 0]);
    expect(calls).toEqual([['writeHead', 413, head], ['end', text], ['refuseRest']]);
  });
});
