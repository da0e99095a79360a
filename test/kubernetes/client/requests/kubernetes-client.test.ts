import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, aroundEach, expect, test } from 'vitest';
import {
  ConnectionError,
  connect,
  type KubernetesClient,
  loadKubeConfig,
  ResponseError,
  StatusError,
} from '../../../../src/kubernetes/client/index.ts';
import { transportFor } from '../../../../src/kubernetes/client/requests/transport.ts';
import { ending, endWith } from '../../../support/ends.ts';
import { ApiServer } from '../api-server.ts';

aroundEach(ending);

const hasty = { retries: 0, minTimeoutMs: 1, maxTimeoutMs: 1, deadlineMs: 20_000 };
const api = await new ApiServer().start();
const kubeconfig = api.kubeconfig();
afterAll(() => api.stop());

/** A client of a server that answers as the test says. */
async function clientOf(
  answer: (request: IncomingMessage, response: ServerResponse, count: number) => void,
  retryOptions = hasty,
): Promise<{
  cluster: KubernetesClient;
  requests: () => number;
  url: string;
  config: Awaited<ReturnType<typeof loadKubeConfig>>;
}> {
  let count = 0;
  const listener: RequestListener = (request, response) => answer(request, response, ++count);
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  endWith(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = await loadKubeConfig({ kubeconfig });
  config.clusters = [{ ...config.getCurrentCluster()!, server: url }];
  return { cluster: connect(config, new AbortController().signal, retryOptions), requests: () => count, url, config };
}

const json = (response: ServerResponse, code: number, value: unknown, headers = {}) =>
  response.writeHead(code, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
const status = (code: number, message: string, details = {}) => ({ kind: 'Status', code, message, details });

test('requests one after the other share a connection, also after a refusal', async () => {
  const ports = new Set<number | undefined>();
  const { cluster, requests } = await clientOf(({ socket }, response, count) => {
    ports.add(socket.remotePort);
    json(response, count % 2 === 0 ? 404 : 200, count % 2 === 0 ? status(404, 'secrets "a" not found') : { count });
  });
  for (let count = 1; count <= 6; count++) {
    const answer = cluster.request('GET', '/api/v1/namespaces/a/secrets/a').catch((error: StatusError) => error.code);
    expect(await answer).toEqual(count % 2 === 0 ? 404 : { count });
  }
  expect([requests(), ports.size]).toEqual([6, 1]);
});

/** Writes without end, as fast as the client reads. */
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

test.each([200, 500])('a response of 1.5 GB with code %i ends in an error, without growing memory', async (code) => {
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
  const message = code === 200 ? 'is longer than 16 MiB' : 'answered GET /api/v1/x with 500 and no reason';
  await expect(cluster.request('GET', '/api/v1/x')).rejects.toThrow(message);
  clearInterval(timer);
  expect(requests()).toBe(1);
  expect(floods[0]!.sent()).toBeLessThan(100 * 1024 ** 2);
  expect(peak - before).toBeLessThan(200 * 1024 ** 2);
});

test('a watch rejects an endless line', async () => {
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

test('the clock of the server is compared with that of this machine, if its responses have a time', async () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  const { cluster } = await clientOf((_request, response, count) =>
    json(response, 200, {}, { date: count === 2 ? date : 'soon' }),
  );
  await cluster.request('GET', '/version');
  expect(cluster.clockOffsetMs?.()).toBeUndefined();
  await cluster.request('GET', '/version');
  expect(cluster.clockOffsetMs?.()).toBeGreaterThan(3_590_000);
  await cluster.request('GET', '/version');
  expect(cluster.clockOffsetMs?.()).toBeLessThan(3_610_000);
});

test('redirects are not followed', async () => {
  let followed = 0;
  const other = createServer((_request, response) => {
    followed++;
    json(response, 200, {});
  }).listen(0, '127.0.0.1');
  await once(other, 'listening');
  endWith(() => other.close());
  const location = `http://127.0.0.1:${(other.address() as AddressInfo).port}/api/v1/x`;
  const { cluster, url } = await clientOf((_request, response) => response.writeHead(307, { location }).end());
  const message = `${url} redirects GET /api/v1/x to "${location}", and redirects are not followed`;
  await expect(cluster.request('GET', '/api/v1/x')).rejects.toThrow(message);
  await expect(cluster.request('POST', '/api/v1/x', {})).rejects.toThrow('redirects are not followed');
  expect(followed).toBe(0);
});

test('control characters in messages of the server are escaped', async () => {
  const { cluster } = await clientOf((_request, response) =>
    json(response, 403, status(403, '\u001b[2J\u001b]0;pwned\u0007 all is well\n\u202e')),
  );
  const message = '\\u001b[2J\\u001b]0;pwned\\u0007 all is well\\u000a\\u202e';
  await expect(cluster.request('GET', '/api/v1/x')).rejects.toMatchObject({ code: 403, message });
});

test.each([
  ['text', 'hello', 'is not JSON'],
  ['a list', '[]', 'is not a JSON object'],
  ['an empty body', '', 'is not JSON'],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'is not valid UTF-8'],
  ['an object 1,000,000 levels deep', `${'{"a":'.repeat(1e6)}1${'}'.repeat(1e6)}`, 'nests deeper'],
])('a success with %s is an error, and not retried', async (_what, body, message) => {
  const retryOptions = { ...hasty, retries: 5 };
  const { cluster, requests } = await clientOf((_request, response) => response.writeHead(200).end(body), retryOptions);
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
])('a %i without Retry-After fails after %i of three attempts', async (code, attempts) => {
  const { cluster, requests } = await clientOf((_request, response) => json(response, code, status(code, 'no')), {
    ...hasty,
    retries: 2,
  });
  await expect(cluster.request('GET', '/api/v1/x')).rejects.toMatchObject({ code });
  expect(requests()).toBe(attempts);
});

/** The times of requests to a server that rejects the first three. */
async function timesOf(code: number, headers: object): Promise<number[]> {
  const came: number[] = [];
  const retryOptions = { retries: 1, minTimeoutMs: 1, maxTimeoutMs: 1, deadlineMs: 20_000 };
  const { cluster } = await clientOf((_request, response, count) => {
    came.push(performance.now());
    const refusal = status(code, 'storage is (re)initializing');
    return count < 4 ? json(response, code, refusal, headers) : json(response, 200, { ok: true });
  }, retryOptions);
  expect(await cluster.request('GET', '/api/v1/x')).toEqual({ ok: true });
  return came;
}

test('a server that asks for no wait is not retried without one until the deadline', async () => {
  const { cluster, requests } = await clientOf(
    (_request, response) => json(response, 503, status(503, 'no'), { 'retry-after': '0' }),
    { ...hasty, retries: 2 },
  );
  await expect(cluster.request('GET', '/api/v1/x')).rejects.toMatchObject({ code: 503, message: 'no' });
  expect(requests()).toBe(3);
});

// From here on, tests that wait run concurrently.
test.concurrent('a Retry-After of a day, or one that is not a number, does not exceed the deadline', async ({
  expect,
}) => {
  const retryOptions = { retries: 1, minTimeoutMs: 1, maxTimeoutMs: 1, deadlineMs: 1000 };
  const hold = async (value: string) => {
    const { cluster } = await clientOf(
      (_request, response) => json(response, 429, status(429, 'slow down'), { 'retry-after': value }),
      retryOptions,
    );
    const began = performance.now();
    await expect(cluster.request('GET', '/api/v1/x')).rejects.toMatchObject({ code: 429, message: 'slow down' });
    expect(performance.now() - began).toBeLessThan(60_000);
  };
  await Promise.all(['86400', 'Wed, 21 Oct 2099 07:28:00 GMT', '-1', '1e9', '9'.repeat(400)].map(hold));
});

test.concurrent.for([
  429, 503,
])('a %i with Retry-After is retried after that time, as often as the server asks', async (code, { expect }) => {
  const times = await timesOf(code, { 'retry-after': '1' });
  expect(times).toHaveLength(4);
  for (const [index, time] of times.slice(1).entries()) {
    expect(time - times[index]!).toBeGreaterThan(995);
  }
});

test.concurrent.for<[string, (response: ServerResponse) => void]>([
  ['does not begin its response', () => {}],
  ['stops in the middle of it', (response) => void response.writeHead(200).write('{"a":')],
  [
    'sends a byte now and then',
    (response) => {
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    },
  ],
])('a server that %s is given up at the deadline', async ([, answer], { expect }) => {
  const retryOptions = { retries: 5, minTimeoutMs: 1, maxTimeoutMs: 1, deadlineMs: 200 };
  const { cluster, url } = await clientOf((_request, response) => answer(response), retryOptions);
  await expect(cluster.request('GET', '/api/v1/x')).rejects.toThrow(
    `no answer from the API server ${url}: no data came within 0.2 s`,
  );
});

// undici checks this timeout once per second.
test.concurrent('a response that does not begin in time is an error that names the time', async ({ expect }) => {
  const { config, url } = await clientOf(() => {});
  const signal = new AbortController().signal;
  const request = { method: 'GET', path: '/api/v1/x', body: undefined, signal, headersTimeoutMs: 100 } as const;
  await expect(transportFor(config).open(request)).rejects.toThrow(
    `no answer from the API server ${url}: no data came within 0.1 s`,
  );
});

test.concurrent('a watch whose connection breaks reports it; a watch that does not end counts as dead', async ({
  expect,
}) => {
  const broken = await watched((_request, response) => {
    response.write(event('ADDED', {}));
    setTimeout(() => response.destroy(), 5);
  });
  expect(broken.error).toBeInstanceOf(ConnectionError);
  expect(broken.error?.message).toMatch(/^no answer from the API server http:\S+: (UND_ERR_SOCKET|ECONNRESET)$/);
  for (const answer of [() => {}, (_request: unknown, response: ServerResponse) => response.flushHeaders()]) {
    const dead = await watched(answer, { watchMs: 100, graceMs: 20 });
    expect(dead.error).toEqual(
      new ConnectionError(dead.url, 'a watch of 0.1 s had not ended after 0.12 s: the connection is dead'),
    );
  }
});

test.concurrent('a watch waits for its end as long as requested plus a grace period; handling bookmarks is optional', async ({
  expect,
}) => {
  const { cluster } = await clientOf((_request, response) => {
    response.write(event('BOOKMARK', { metadata: { resourceVersion: '5' } }));
  });
  const began = performance.now();
  const watching = cluster.watch('/', { watchMs: 100, graceMs: 150, onOpen: () => {}, onEvent: () => {} });
  await expect(watching).rejects.toThrow('the connection is dead');
  expect(performance.now() - began).toBeGreaterThan(245);
});

test('a connection that breaks in the middle of a response is retried', async () => {
  const retryOptions = { ...hasty, retries: 2 };
  const { cluster, requests } = await clientOf((_request, response, count) => {
    if (count < 3) {
      response.writeHead(200, { 'content-length': '100' }).write('{"a":');
      setTimeout(() => response.destroy(), 10);
    } else {
      json(response, 200, { ok: true });
    }
  }, retryOptions);
  expect(await cluster.request('GET', '/api/v1/x')).toEqual({ ok: true });
  expect(requests()).toBe(3);
});

test('a request is sent with the right method and content type', async () => {
  const sent: unknown[] = [];
  const { cluster } = await clientOf(async (request, response) => {
    let text = '';
    for await (const chunk of request) {
      text += String(chunk);
    }
    sent.push([request.method, request.url, request.headers['content-type'], text]);
    json(response, 200, { kind: 'X' });
  });
  expect(await cluster.request('GET', '/a?b=c')).toEqual({ kind: 'X' });
  await cluster.request('POST', '/a', { b: 1 });
  await cluster.request('PUT', '/a', { b: 2 });
  await cluster.request('PATCH', '/a', [{ op: 'remove', path: '/x' }]);
  await cluster.request('PATCH', '/a', { b: null });
  expect(sent).toEqual([
    ['GET', '/a?b=c', undefined, ''],
    ['POST', '/a', 'application/json', '{"b":1}'],
    ['PUT', '/a', 'application/json', '{"b":2}'],
    ['PATCH', '/a', 'application/json-patch+json', '[{"op":"remove","path":"/x"}]'],
    ['PATCH', '/a', 'application/merge-patch+json', '{"b":null}'],
  ]);
});

test.each<[string, number, string, Record<string, string>, number | undefined, string]>([
  ['an API server that does not know the path', 404, '404 page not found\n', {}, 404, 'URL does not serve /api/v1/x'],
  [
    'something else that does not',
    404,
    '<html>',
    {},
    undefined,
    'URL answered GET /api/v1/x with 404 and no reason: is it an API server?',
  ],
  ['a proxy', 403, '<html>', {}, 403, 'URL answered GET /api/v1/x with 403 and no reason: is it an API server?'],
  [
    'JSON that is not a Status',
    400,
    '{"kind":"X","message":"m"}',
    {},
    400,
    'URL answered GET /api/v1/x with 400 and no reason: is it an API server?',
  ],
  [
    'a Status without a message',
    400,
    '{"kind":"Status","message":1}',
    {},
    400,
    'URL answered GET /api/v1/x with 400 and no reason: is it an API server?',
  ],
  ['a Status', 404, '{"kind":"Status","message":"x not found"}', {}, 404, 'x not found'],
  [
    'a redirect to nowhere',
    300,
    '',
    {},
    300,
    'URL redirects GET /api/v1/x, and redirects are not followed: correct the server in the kubeconfig',
  ],
  [
    'a redirect to a long place',
    399,
    '',
    { location: `/${'x'.repeat(1000)}` },
    399,
    `URL redirects GET /api/v1/x to "/${'x'.repeat(299)}", and redirects are not followed: correct the server in the kubeconfig`,
  ],
])('the message for %s', async (_what, code, body, headers, expected, message) => {
  const { cluster, url, requests } = await clientOf(
    (_request, response) => response.writeHead(code, headers).end(body),
    { ...hasty, retries: 2 },
  );
  const error = await cluster.request('GET', '/api/v1/x').catch((reason: StatusError) => reason);
  expect([error.code, error.message]).toEqual([expected, message.replace('URL', url)]);
  // None of them would change with a retry.
  expect(requests()).toBe(1);
});

test.each<[number, object, number]>([
  [429, { 'retry-after': '3' }, 3000],
  [503, { 'retry-after': ' 1 ' }, 1000],
  [500, {}, 0],
  [429, { 'retry-after': '0' }, 0],
  [499, { 'retry-after': '3' }, 0],
  [429, { 'retry-after': '86400' }, 30_000],
  [429, { 'retry-after': '3s' }, 0],
  [429, { 'retry-after': '1234567890' }, 0],
])('the wait requested by a %i with %j: %s ms', async (code, headers, retryAfterMs) => {
  const { cluster } = await clientOf((_request, response) => json(response, code, status(code, 'no'), headers));
  const error = await cluster.request('GET', '/api/v1/x').catch((thrown: StatusError) => thrown);
  expect(error).toMatchObject({ code, message: 'no' });
  expect((error as StatusError).retryAfterMs).toBe(retryAfterMs);
});

test('an unreachable server is retried, then reported', async () => {
  const { url, config } = await clientOf((_request, response) => response.destroy());
  const {
    cluster,
    requests,
    url: breaking,
  } = await clientOf((_request, response) => response.destroy(), { ...hasty, retries: 2 });
  await expect(cluster.request('GET', '/')).rejects.toThrow(
    /^no answer from the API server http:\S+: (UND_ERR_SOCKET|ECONNRESET)$/,
  );
  expect(requests()).toBe(3);
  expect(breaking).not.toBe(url);
  const stopped = AbortSignal.abort(new Error('stopped'));
  await expect(connect(config, stopped).request('GET', '/')).rejects.toThrow('stopped');
});

test('a request that is stopped while it waits for a retry ends at once', async () => {
  const stop = new AbortController();
  const { config } = await clientOf((_request, response) => {
    json(response, 503, status(503, 'no', { retryAfterSeconds: 1_000 }));
    setTimeout(() => stop.abort(new Error('stopped')), 20);
  });
  const began = performance.now();
  await expect(connect(config, stop.signal).request('GET', '/')).rejects.toThrow('stopped');
  expect(performance.now() - began).toBeLessThan(60_000);
});

/** What a watch reports, and how it ends, when it is answered as told. */
async function watched(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  { path = '/api/v1/x', watchMs = 20_000, graceMs = 0 } = {},
) {
  const { cluster, url, config } = await clientOf(answer);
  const reports: string[] = [];
  const error = await cluster
    .watch(path, {
      watchMs,
      graceMs,
      onOpen: () => reports.push('open'),
      onEvent: ({ type, object }) => reports.push(`${type} ${JSON.stringify(object)}`),
    })
    .catch((thrown: Error) => thrown);
  return { reports, error, url, config };
}
const event = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

test.each([
  ['/api/v1/x', 20_000, '/api/v1/x?watch=true&allowWatchBookmarks=true&timeoutSeconds=20'],
  ['/api/v1/x?a=b', 1_001, '/api/v1/x?a=b&watch=true&allowWatchBookmarks=true&timeoutSeconds=2'],
])('a watch of %s for %i ms requests %s, and reports events in order', async (path, watchMs, expected) => {
  const asked: unknown[] = [];
  const { reports, error } = await watched(
    ({ url, method }, response) => {
      asked.push(method, url);
      response.write(event('ADDED', { a: 1 }) + event('BOOKMARK', {}));
      response.end(event('MODIFIED', { a: 2 }) + event('DELETED', { a: 3 }));
    },
    { path, watchMs },
  );
  expect(asked).toEqual(['GET', expected]);
  expect(reports).toEqual(['open', 'ADDED {"a":1}', 'BOOKMARK {}', 'MODIFIED {"a":2}', 'DELETED {"a":3}']);
  expect(error).toBeUndefined();
});

test.each<[string, string, string, number | undefined]>([
  ['a line that is not JSON', 'surprise\n', 'a watch sent a line that is not an event', undefined],
  ['a line that is not an object', '1\n', 'a watch sent a line that is not an event', undefined],
  ['an event without an object', '{"type":"ADDED"}\n', 'a watch sent a line that is not an event', undefined],
  ['an event of an unknown type', event('SURPRISE', {}), 'a watch sent a line that is not an event', undefined],
  ['an error', event('ERROR', { code: 410, message: 'too old\u001b' }), 'too old\\u001b', 410],
  ['an error without details', event('ERROR', {}), 'the watch failed without a reason', 500],
])('a watch that receives %s ends', async (_what, text, message, code) => {
  const { reports, error } = await watched((_request, response) => {
    response.write(event('ADDED', {}));
    response.write(text);
  });
  expect(reports).toEqual(['open', 'ADDED {}']);
  expect(error).toMatchObject({ message, ...(code === undefined ? {} : { code }) });
  expect(error).toBeInstanceOf(code === undefined ? ResponseError : StatusError);
});

test('a watch that is rejected is not reported as open', async () => {
  const { reports, error } = await watched((_request, response) => json(response, 403, status(403, 'no')));
  expect(reports).toEqual([]);
  expect(error).toMatchObject({ code: 403, message: 'no' });
  const odd = await watched((_request, response) => response.writeHead(403).end());
  expect(odd.error).toMatchObject({
    code: 403,
    message: expect.stringMatching(/GET \/api\/v1\/x\?watch=true\S+ with 403 and no/),
  });
});

test('a watch that is stopped rejects with the reason', async () => {
  const stop = new AbortController();
  const { config } = await clientOf((_request, response) => response.flushHeaders());
  const watching = connect(config, stop.signal).watch('/', {
    watchMs: 20_000,
    graceMs: 0,
    onOpen: () => stop.abort(new Error('stopped')),
    onEvent: () => {},
  });
  await expect(watching).rejects.toThrow(new Error('stopped'));
});

test('a flood of events does not block the event loop', async () => {
  const { cluster } = await clientOf((_request, response) => void response.end(event('ADDED', {}).repeat(1000)));
  let turns = 0;
  const seen = new Set<number>();
  let isWatching = true;
  const turn = () => {
    turns++;
    if (isWatching) {
      setImmediate(turn);
    }
  };
  turn();
  await cluster.watch('/', { watchMs: 20_000, graceMs: 0, onOpen: () => {}, onEvent: () => seen.add(turns) });
  isWatching = false;
  expect(seen.size).toBeGreaterThan(10);
  // Not after each event, which would be slow.
  expect(seen.size).toBeLessThan(100);
});

test.each([200, 201, 299])('every 2xx code is a success: %i', async (code) => {
  const { cluster } = await clientOf((_request, response) => json(response, code, { a: 1 }));
  expect(await cluster.request('GET', '/')).toEqual({ a: 1 });
});
