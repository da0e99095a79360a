import { readFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { webhookPaths } from '../../src/webhook/index.ts';

const { mutate, validate } = webhookPaths;

interface Review {
  request: { name: string; object: { metadata: { name: string }; spec: Record<string, unknown> } };
}

function captured(name: string): Review {
  const file = new URL(`../support/fixtures/webhook-calls/${name}.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { body: Review }).body;
}

const good = JSON.stringify(captured('create-validate'));
const toDefault = JSON.stringify(captured('create-mutate'));
const bad = captured('create-validate');
bad.request.object.spec = {
  clientConfig: { url: 'http://user:password@example.com/?a=b' },
  settings: { password: 'x' },
};

/** One request with its response. */
export interface Call {
  path: string;
  body: string | Buffer;
  headers?: Record<string, string>;
  /** What the response must be: a verdict, or a rejection with a status below 500. */
  expected: 'allowed' | 'denied' | 'refused';
}

/** Requests as API servers send them. */
export const ordinaryCalls: Call[] = [
  { path: validate, body: good, expected: 'allowed' },
  { path: mutate, body: toDefault, expected: 'allowed' },
  { path: validate, body: JSON.stringify(bad), expected: 'denied' },
];

const deep = 100_000;

/** A body that is decided in the side thread. */
export const largeCall: Call = {
  path: validate,
  body: `{"request":{"uid":"u","object":"${'z'.repeat(200_000)}"}}`,
  expected: 'refused',
};

/** Requests that no API server sends. */
export const hostileCalls: Call[] = [
  { path: validate, body: '{', expected: 'refused' },
  { path: validate, body: '', expected: 'refused' },
  { path: validate, body: 'null', expected: 'refused' },
  { path: validate, body: '['.repeat(deep) + ']'.repeat(deep), expected: 'refused' },
  { path: mutate, body: `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`, expected: 'refused' },
  { path: mutate, body: Buffer.from([0x7b, 0xff, 0xfe, 0x00]), expected: 'refused' },
  { path: validate, body: good, headers: { 'content-type': 'text/plain' }, expected: 'refused' },
  { path: `/${'x'.repeat(9_000)}`, body: good, expected: 'refused' },
  { path: '/metrics', body: good, expected: 'refused' },
  { path: validate, body: good, headers: { 'x-long': 'y'.repeat(15_000) }, expected: 'allowed' },
  { path: validate, body: good.replace('{', '{"__proto__":{"polluted":true},'), expected: 'allowed' },
  largeCall,
];

/** A body beyond the limit of 7 MiB. */
export const hugeCall: Call = { path: validate, body: Buffer.alloc(8 * 1024 * 1024, ' '), expected: 'refused' };

interface Answer {
  status: number;
  close: boolean;
  text: string;
}

/** Sends one request, and resolves with the response. */
export function send(port: number, { path, body, headers }: Call, agent: Agent | false): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        port,
        path,
        method: 'POST',
        agent,
        // The certificate changes under load; that it is trusted is tested elsewhere.
        rejectUnauthorized: false,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            close: response.headers.connection === 'close',
            text: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** Why a response is not the expected one, or undefined. */
function problemOf({ status, text }: Answer, { path, body, expected }: Call): string | undefined {
  const verdict =
    status === 200
      ? (JSON.parse(text) as { response: { allowed: boolean } }).response.allowed
        ? 'allowed'
        : 'denied'
      : 'refused';
  // A review that cannot be read is rejected with a review if it has a uid. A large body, decided in the side thread,
  // may wait behind slower ones until its time is up.
  const mayBeLate = Buffer.byteLength(body) > 128 * 1024 && status === 503;
  const fits = expected === 'refused' ? (status < 500 || mayBeLate) && verdict !== 'allowed' : verdict === expected;
  return fits ? undefined : `POST ${path.slice(0, 60)} expected ${expected}, got ${status} ${text.slice(0, 200)}`;
}

/** Counts of a load. */
export interface Tally {
  answered: number;
  /** Milliseconds of each response to an ordinary caller. */
  latencies: number[];
  hostile: number;
  problems: string[];
}

/** Load that continues until it is stopped. */
export interface Load {
  tally: Tally;
  stop(): Promise<Tally>;
}

/** One caller: keeps its connection, and honours `Connection: close`. `port` is called before each connection. */
async function call(
  port: () => number,
  calls: readonly Call[],
  isOver: () => boolean,
  tally: Tally,
  pauseMs: number,
): Promise<void> {
  let agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let target = port();
  for (let i = 0; !isOver(); i++) {
    const next = calls[i % calls.length]!;
    try {
      const sentAt = performance.now();
      const answer = await send(target, next, agent);
      tally.latencies.push(performance.now() - sentAt);
      tally.answered++;
      const problem = problemOf(answer, next);
      if (problem !== undefined) {
        tally.problems.push(problem);
      }
      if (answer.close) {
        agent.destroy();
        agent = new Agent({ keepAlive: true, maxSockets: 1 });
        target = port();
      }
    } catch (error) {
      tally.problems.push(`${next.path}: ${(error as Error).message}`);
    }
    if (pauseMs > 0) {
      await sleep(pauseMs);
    }
  }
  agent.destroy();
}

function settle(attach: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => attach(() => resolve()));
}

/** Callers that disconnect: each resolves when its connection has ended. */
const ruffians: ((port: number) => Promise<void>)[] = [
  // No TLS at all.
  (port) =>
    settle((done) => {
      const socket = connectTcp(port, '127.0.0.1', () => socket.end('GET / HTTP/1.1\r\n\r\n'));
      socket
        .resume()
        .on('error', () => {})
        .on('close', done);
    }),
  // Half a request, then a reset.
  (port) =>
    settle((done) => {
      const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
        socket.write(
          `POST ${validate} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{`,
          () => socket.destroy(),
        );
      });
      socket.on('error', () => {}).on('close', done);
    }),
  // Not HTTP inside of TLS.
  (port) =>
    settle((done) => {
      const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () =>
        socket.end('\0\x01\x02garbage\r\n\r\n'),
      );
      socket
        .resume()
        .on('error', () => {})
        .on('close', done);
    }),
  // Does not wait for the response.
  (port) =>
    settle((done) => {
      const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
        const head = `POST ${validate} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(good)}\r\n\r\n`;
        socket.write(head + good, () => socket.destroy());
      });
      socket.on('error', () => {}).on('close', done);
    }),
];

async function harass(port: () => number, isOver: () => boolean, tally: Tally, pauseMs: number): Promise<void> {
  let sent = 0;
  for (let i = 0; !isOver(); i++) {
    if (i % 4 === 0) {
      await ruffians[(i / 4) % ruffians.length]!(port());
    } else {
      // Rejected bodies may be cut off while they are still being sent: a broken connection counts as a response, too.
      const next = i % 40 === 1 ? hugeCall : hostileCalls[sent++ % hostileCalls.length]!;
      try {
        const problem = problemOf(await send(port(), next, false), next);
        if (problem !== undefined) {
          tally.problems.push(problem);
        }
      } catch (error) {
        if (!['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')) {
          tally.problems.push(`${next.path.slice(0, 60)}: ${(error as Error).message}`);
        }
      }
    }
    tally.hostile++;
    if (pauseMs > 0) {
      await sleep(pauseMs);
    }
  }
}

/**
 * Starts callers that send ordinary reviews one after the other, and others that send hostile requests.
 *
 * @param options.pauseMs pause after each response, in ms. Default: none.
 */
export function startLoad(
  port: () => number,
  { callers, hostile = 0, pauseMs = 0 }: { callers: number; hostile?: number; pauseMs?: number },
): Load {
  const tally: Tally = { answered: 0, latencies: [], hostile: 0, problems: [] };
  let over = false;
  const running = Promise.all([
    ...Array.from({ length: callers }, (_, i) =>
      call(port, [...ordinaryCalls.slice(i % 3), ...ordinaryCalls.slice(0, i % 3)], () => over, tally, pauseMs),
    ),
    ...Array.from({ length: hostile }, () => harass(port, () => over, tally, pauseMs)),
  ]);
  return {
    tally,
    async stop() {
      over = true;
      await running;
      return tally;
    },
  };
}
