import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type Cluster, connect, loadKubeConfig } from '../../src/cluster/index.ts';
import { transportFor } from '../../src/cluster/transport.ts';
import { ApiServer } from './api-server.ts';

const hasty = { retries: 0, minTimeoutMs: 1, maxTimeoutMs: 1, deadlineMs: 20_000 };
const api = await new ApiServer().start();
const kubeconfig = api.kubeconfig();

/** A client of a server that answers as the test says. */
async function clientOf(
  answer: (request: IncomingMessage, response: ServerResponse, count: number) => void,
  patience = hasty,
): Promise<{ cluster: Cluster; requests: () => number; url: string; config: ReturnType<typeof loadKubeConfig> }> {
  let count = 0;
  const listener: RequestListener = (request, response) => answer(request, response, ++count);
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = loadKubeConfig({ kubeconfig });
  config.clusters = [{ ...config.getCurrentCluster()!, server: url }];
  return { cluster: connect(config, new AbortController().signal, patience), requests: () => count, url, config };
}

const json = (response: ServerResponse, code: number, value: unknown, headers = {}) =>
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
const status = (code: number, message: string, details = {}) => ({ kind: 'Status', code, message, details });

/** Writes for ever, as fast as the other side reads. */
function flood(response: ServerResponse): { sent: () => number } {
  let sent = 0;
  const chunk = Buffer.alloc(1024 * 1024, ' ');
  const write = () => {
    while (!response.destroyed && sent < 1.5 * 1024 ** 3) {
      sent += chunk.length;
      if (!response.write(chunk)) {
        response.once('drain', write);
        return;
      }
    }
    response.end();
  };
  write();
  return { sent: () => sent };
}

test.each([200, 500])('an answer of 1.5 GB with code %i ends in an error, with memory flat', async (code) => {
  const floods: { sent: () => number }[] = [];
  const { cluster, requests } = await clientOf((_request, response) => {
    response.writeHead(code, { 'content-type': 'application/json' });
    floods.push(flood(response));
  });
  const before = process.memoryUsage().rss;
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage().rss);
  }, 10);
  const message = code === 200 ? 'is longer than 16 MiB' : 'answered 500 to GET /api/v1/x without a reason';
  await expect(cluster.request('GET', '/api/v1/x')).rejects.toThrow(message);
  clearInterval(timer);
  expect(requests()).toBe(1);
  expect(floods[0]!.sent()).toBeLessThan(100 * 1024 ** 2);
  expect(peak - before).toBeLessThan(200 * 1024 ** 2);
});

test('a watch refuses a line without an end', async () => {
  const { cluster } = await clientOf((_request, response) => {
    response.writeHead(200);
    flood(response);
  });
  const watching = cluster.watch('/api/v1/x', {
    watchMs: 20_000,
    graceMs: 0,
    onOpen: () => {},
    onEvent: () => {},
  });
  await expect(watching).rejects.toThrow('a line of more than 4194304 bytes');
});

test('a redirect is not followed', async () => {
  let followed = 0;
  const other = createServer((_request, response) => {
    followed++;
    json(response, 200, {});
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/api/v1/x`;
  const { cluster, url } = await clientOf((_request, response) => response.writeHead(307, { location }).end());
  const message = `${url} redirects GET /api/v1/x to "${location}", and redirects are not followed`;
  await expect(cluster.request('GET', '/api/v1/x')).rejects.toThrow(message);
  await expect(cluster.request('POST', '/api/v1/x', {})).rejects.toThrow('redirects are not followed');
  expect(followed).toBe(0);
});

test('control characters in messages of the server are shown escaped', async () => {
  const { cluster } = await clientOf((_request, response) =>
    json(response, 403, status(403, '\u001b[2J\u001b]0;pwned\u0007 all is well\n\u202e')),
  );
  const message = '\\u001b[2J\\u001b]0;pwned\\u0007 all is well\\u000a\\u202e';
  await expect(cluster.request('GET', '/api/v1/x')).rejects.toMatchObject({ code: 403, message });
});

test.each([
  ['text', 'hello', 'is not JSON'],
  ['a list', '[]', 'is not a JSON object'],
  ['nothing', '', 'is not JSON'],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'is not valid UTF-8'],
  ['an object 1,000,000 levels deep', `${'{"a":'.repeat(1e6)}1${'}'.repeat(1e6)}`, 'nests deeper'],
])('a success with %s is an error, and not tried again', async (_what, body, message) => {
  const patience = { ...hasty, retries: 5 };
  const { cluster, requests } = await clientOf((_request, response) => response.writeHead(200).end(body), patience);
  await expect(cluster.request('GET', '/api/v1/x')).rejects.toThrow(message);
  expect(requests()).toBe(1);
});

test.each([
  [429, 3],
  [500, 3],
  [503, 3],
  [400, 1],
  [403, 1],
  [409, 1],
  [422, 1],
])('a %i without Retry-After ends after %i of three attempts', async (code, attempts) => {
  const { cluster, requests } = await clientOf((_request, response) => json(response, code, status(code, 'no')), {
    ...hasty,
    retries: 2,
  });
  await expect(cluster.request('GET', '/api/v1/x')).rejects.toMatchObject({ code });
  expect(requests()).toBe(attempts);
});

/** When requests came, with a server that refuses the first three with `retry`. */
async function timesOf(code: number, retry: { headers?: object; details?: object }, times = 4): Promise<number[]> {
  const came: number[] = [];
  const patience = { retries: 1, minTimeoutMs: 1, maxTimeoutMs: 1, deadlineMs: 20_000 };
  const { cluster } = await clientOf((_request, response, count) => {
    came.push(performance.now());
    const refusal = status(code, 'storage is (re)initializing', retry.details);
    return count < times ? json(response, code, refusal, retry.headers) : json(response, 200, { ok: true });
  }, patience);
  expect(await cluster.request('GET', '/api/v1/x')).toEqual({ ok: true });
  return came;
}

test.each([
  429, 503,
])('a %i that says when to come again is asked again after that time, as often as the server wishes', async (code) => {
  const times = await timesOf(code, { details: { retryAfterSeconds: 0.1 } });
  expect(times).toHaveLength(4);
  for (const [index, time] of times.slice(1).entries()) {
    expect(time - times[index]!).toBeGreaterThan(95);
  }
});

test('the header Retry-After counts before what the body says', async () => {
  const [first = 0, second = 0] = await timesOf(
    429,
    { headers: { 'retry-after': ' 1 ' }, details: { retryAfterSeconds: 0 } },
    2,
  );
  expect(second - first).toBeGreaterThan(990);
});

test.each([
  '86400',
  'Wed, 21 Oct 2099 07:28:00 GMT',
  '-1',
  '1e9',
  '9'.repeat(400),
])('a Retry-After of a day, or one that is not a number, does not hold the client past its deadline: %s', async (value) => {
  const patience = { retries: 1, minTimeoutMs: 1, maxTimeoutMs: 1, deadlineMs: 200 };
  const { cluster } = await clientOf(
    (_request, response) => json(response, 429, status(429, 'slow down'), { 'retry-after': value }),
    patience,
  );
  const began = performance.now();
  await expect(cluster.request('GET', '/api/v1/x')).rejects.toMatchObject({ code: 429, message: 'slow down' });
  expect(performance.now() - began).toBeLessThan(5_000);
});

test.each([
  ['does not begin its answer', (_response: ServerResponse) => {}],
  ['stops in the middle of it', (response: ServerResponse) => void response.writeHead(200).write('{"a":')],
  [
    'sends a byte now and then',
    (response: ServerResponse) => {
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    },
  ],
])('a server that %s is left after the deadline', async (_what, answer) => {
  const patience = { retries: 5, minTimeoutMs: 1, maxTimeoutMs: 1, deadlineMs: 200 };
  const { cluster, url } = await clientOf((_request, response) => answer(response), patience);
  await expect(cluster.request('GET', '/api/v1/x')).rejects.toThrow(
    `no answer from the API server ${url}: nothing came within 0.2 s`,
  );
});

// undici looks at this time once a second.
test('an answer that does not begin in time is said with the time', async () => {
  const { config, url } = await clientOf(() => {});
  const signal = new AbortController().signal;
  const request = { method: 'GET', path: '/api/v1/x', body: undefined, signal, headersTimeoutMs: 100 } as const;
  await expect(transportFor(config).open(request)).rejects.toThrow(
    `no answer from the API server ${url}: nothing came within 0.1 s`,
  );
});

test('a connection that breaks in the middle of an answer is tried again', async () => {
  const patience = { ...hasty, retries: 2 };
  const { cluster, requests } = await clientOf((_request, response, count) => {
    if (count < 3) {
      response.writeHead(200, { 'content-length': '100' }).write('{"a":');
      setTimeout(() => response.destroy(), 10);
    } else {
      json(response, 200, { ok: true });
    }
  }, patience);
  expect(await cluster.request('GET', '/api/v1/x')).toEqual({ ok: true });
  expect(requests()).toBe(3);
});
