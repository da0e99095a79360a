import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Handler, handler } from '../../../../src/extension/index.ts';
import { createHostedExtension } from '../../../../src/extension/sample/index.ts';
import { requestFor } from '../../../../src/extension/sdk/testing/index.ts';
import { createClient } from '../../../../src/runtimehooks/client/index.ts';
import { hooks, hooksGroup } from '../../../../src/runtimehooks/index.ts';
import { fixedCertificate } from '../../../../src/server/index.ts';
import { localhost, testCa } from '../../../base/x509/certificates.ts';
import { collectingLog, exchange, pairOf, until } from '../../../server/running.ts';

const root = `/${hooksGroup}/v1alpha1`;
const path = `${root}/beforeclustercreate/create`;
const body = JSON.stringify(requestFor('BeforeClusterCreate'));
const envelope = { apiVersion: `${hooksGroup}/v1alpha1`, kind: 'BeforeClusterCreateResponse' };
const create = handler('BeforeClusterCreate', { name: 'create', handle: (_, { answer }) => answer.done() });

/** The same, which answers when `resolve` is called. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let called = false;
  const one = handler('BeforeClusterCreate', {
    name: 'create',
    async handle(_, { answer }) {
      called = true;
      await promise;
      return answer.done();
    },
  });
  return { one, isCalled: () => called, resolve };
}

interface PostOptions {
  headers?: Record<string, string>;
  method?: string;
}

/** Serves handlers over HTTPS. */
async function serving(
  handlers: readonly Handler[],
  { level, limits, ...more }: Partial<Parameters<typeof createHostedExtension>[0]> & { level?: string } = {},
) {
  const { log, lines } = collectingLog(level);
  const extension = createHostedExtension({
    handlers,
    certificates: fixedCertificate(pairOf(localhost)),
    host: '127.0.0.1',
    port: 0,
    healthHost: '127.0.0.1',
    healthPort: 0,
    limits: { maxBodyBytes: 100_000, ...limits },
    log,
    processMetrics: false,
    ...more,
  });
  const server = await extension.start();
  onTestFinished(() => server.stop({ graceMs: 0, timeoutMs: 100 }));
  // What the server says about itself.
  lines.length = 0;
  function begin(url: string, text: string, headers: Record<string, string> = {}) {
    const length = { 'content-length': String(Buffer.byteLength(text)) };
    const options = { port: server.port, host: '127.0.0.1', servername: 'localhost', ca: testCa.cert, agent: false };
    const client = request({ ...options, path: url, method: 'POST', headers: { ...length, ...headers } });
    client.on('error', () => {});
    client.end(text);
    return client;
  }
  /** Posts a body as Cluster API does: without Content-Type. */
  async function post(url: string, text: string | Buffer, { headers = {}, method = 'POST' }: PostOptions = {}) {
    const isChunked = headers['transfer-encoding'] !== undefined;
    const length = isChunked ? {} : { 'content-length': String(Buffer.byteLength(text)) };
    const answer = await exchange(server.port, url, text, { method, headers: { ...length, ...headers } });
    return { code: answer.code, headers: answer.headers, json: answer.json() };
  }
  const metrics = async () => (await fetch(`http://127.0.0.1:${server.healthPort}/metrics`)).text();
  /** Metrics of calls, without comments and buckets. */
  async function counted(): Promise<string[]> {
    const all = (await metrics()).split('\n');
    return all.filter((line) => /^runtime_extension_call(s_total|_duration_seconds_(sum|count))/.test(line));
  }
  return { server, post, begin, lines, counted, metrics };
}

const labels = 'hook="BeforeClusterCreate",handler="create"';

describe('a call', () => {
  test('is answered in the envelope of its hook, counted, timed and logged', async () => {
    const { post, lines, counted } = await serving([create]);
    expect(await post(path, body)).toMatchObject({
      code: 200,
      json: { ...envelope, status: 'Success', retryAfterSeconds: 0 },
    });
    expect(lines).toEqual([
      {
        level: 30,
        hook: 'BeforeClusterCreate',
        handler: 'create',
        cluster: 'default/example',
        result: 'success',
        durationMs: expect.any(Number),
        msg: 'call answered',
      },
    ]);
    const [calls, sum, count] = await counted();
    expect([calls, count]).toEqual([
      `runtime_extension_calls_total{${labels},result="success"} 1`,
      `runtime_extension_call_duration_seconds_count{${labels}} 1`,
    ]);
    expect(Number(sum?.split(' ').at(-1))).toBeCloseTo((lines[0]?.durationMs as number) / 1000, 5);
  });

  test('that blocks is logged with its wait, and one that fails without', async () => {
    const blocking = handler('BeforeClusterCreate', {
      name: 'create',
      handle: (_, { answer }) => answer.retry(7, 'wait'),
    });
    const failing = handler('BeforeClusterDelete', { name: 'delete', handle: (_, { answer }) => answer.fail('no') });
    const { post, lines } = await serving([blocking, failing]);
    await post(path, body);
    await post(`${root}/beforeclusterdelete/delete`, JSON.stringify(requestFor('BeforeClusterDelete')));
    expect(lines.map(({ result, retryAfterSeconds }) => [result, retryAfterSeconds])).toEqual([
      ['blocking', 7],
      ['failure', undefined],
    ]);
  });

  test('is not logged at a higher log level, but still counted', async () => {
    const { post, lines, counted } = await serving([create], { level: 'warn' });
    await post(path, body);
    expect(lines.filter(({ level }) => level === 40)).toEqual([]);
    expect((await counted())[0]).toBe(`runtime_extension_calls_total{${labels},result="success"} 1`);
  });
});

test('invalid requests get the same response as from the Go server: the same status, a Failure in the same words', async () => {
  const recorded = JSON.parse(
    readFileSync(new URL('../../../support/fixtures/runtime-sdk/server-answers.json', import.meta.url), 'utf8'),
  ) as { request: { method: string; path: string; body?: string }; response: { status: number; body: string } }[];
  const { post } = await serving([create]);
  const bad = recorded.slice(1, 5);
  expect(bad.map(({ request: { method } }) => method)).toEqual(['GET', 'POST', 'POST', 'POST']);
  for (const { request: sent, response } of bad) {
    const { code, json } = await post(sent.path, sent.body ?? '', { method: sent.method });
    expect([sent.path, code]).toEqual([sent.path, response.status]);
    if (response.status === 200) {
      expect([json.status, json.message]).toEqual(['Failure', expect.stringMatching(/^error unmarshalling request: /)]);
      expect(JSON.parse(response.body).message).toMatch(/^error unmarshalling request: /);
    } else {
      expect(json.message).toContain('page not found');
    }
  }
});

test('a call is answered whatever its method, its content type, and what follows its body', async () => {
  const { post } = await serving([create]);
  const garbage = Buffer.concat([Buffer.from(body), Buffer.from([0xff, 0x00])]);
  const calls: [url: string, text: string | Buffer, options?: PostOptions][] = [
    [path, body, { headers: { 'content-type': 'text/plain' } }],
    [path, body, { method: 'PUT' }],
    [`${path}?a=b&timeout=1m0s`, body],
    [`${path}?timeout=soon`, body],
    [path, `\n ${body}\n\t `],
    [path, `${body}{"cluster":7}`],
    [path, garbage],
  ];
  for (const [url, text, options] of calls) {
    const { code, json } = await post(url, text, options);
    expect([code, json], `${url} ${text}`).toEqual([200, { ...envelope, status: 'Success', retryAfterSeconds: 0 }]);
  }
});

test('Discovery lists each handler with its properties, and nothing else', async () => {
  const { post } = await serving([
    handler('BeforeClusterCreate', { name: 'b', timeoutSeconds: 5, handle: (_, { answer }) => answer.done() }),
    handler('AfterControlPlaneInitialized', {
      name: 'a',
      failurePolicy: 'Fail',
      handle: (_, { answer }) => answer.done(),
    }),
  ]);
  const apiVersion = `${hooksGroup}/v1alpha1`;
  expect((await post(`${root}/discovery`, '{}')).json).toEqual({
    apiVersion,
    kind: 'DiscoveryResponse',
    status: 'Success',
    handlers: [
      { name: 'b', requestHook: { apiVersion, hook: 'BeforeClusterCreate' }, timeoutSeconds: 5 },
      { name: 'a', requestHook: { apiVersion, hook: 'AfterControlPlaneInitialized' }, failurePolicy: 'Fail' },
    ],
  });
});

describe('a body that is not a request', () => {
  test('gets a Failure that is counted and logged, worded as by Go', async () => {
    const { post, lines, counted } = await serving([create]);
    const problems = {
      '': 'the body is empty',
      '[]': 'the body is not a JSON object',
      null: 'the body is not a JSON object',
      x: 'the body is not valid JSON',
      [`garbage ${body}`]: 'the body is not valid JSON',
    };
    for (const [text, problem] of Object.entries(problems)) {
      lines.length = 0;
      const failure = { status: 'Failure', message: `error unmarshalling request: ${problem}` };
      expect(await post(path, text)).toMatchObject({
        code: 200,
        json: { ...envelope, ...failure, retryAfterSeconds: 0 },
      });
      expect((await post(`${root}/discovery`, text)).json).toMatchObject(failure);
      expect(lines.map(({ hook, handler: name, result, msg }) => [hook, name, result, msg])).toEqual([
        ['BeforeClusterCreate', 'create', 'invalid request', 'call answered'],
        ['Discovery', undefined, 'invalid request', 'call answered'],
      ]);
    }
    expect((await counted()).filter((line) => line.endsWith(' 5')).slice(0, 2)).toEqual([
      `runtime_extension_calls_total{${labels},result="invalid request"} 5`,
      'runtime_extension_calls_total{hook="Discovery",handler="",result="invalid request"} 5',
    ]);
  });

  test('because it is too large, whether it says so or not, gets a Failure that is counted and logged', async () => {
    const { post, lines, counted } = await serving([create], { limits: { maxBodyBytes: 4096 } });
    const problem = 'the body must not be larger than 4096 bytes';
    const failure = { status: 'Failure', message: `error reading request: ${problem}` };
    const large = ' '.repeat(5000);
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }] as Record<string, string>[]) {
      const { code, json } = await post(path, large, { headers });
      expect([code, json]).toEqual([200, { ...envelope, ...failure, retryAfterSeconds: 0 }]);
    }
    const refused = { level: 40, hook: 'BeforeClusterCreate', handler: 'create', problem, msg: 'request refused' };
    expect(lines.filter(({ level }) => level === 40)).toEqual([refused, refused]);
    expect((await counted())[0]).toBe(`runtime_extension_calls_total{${labels},result="invalid request"} 2`);
    expect((await post(`${root}/discovery`, large)).json).toMatchObject(failure);
    expect((await post(path, body)).code).toBe(200);
  });

  test('because it is compressed gets a Failure, which failurePolicy does not ignore', async () => {
    const { post } = await serving([create]);
    const { code, json } = await post(path, body, { headers: { 'content-encoding': 'gzip' } });
    expect([code, json.status, json.message]).toEqual([
      200,
      'Failure',
      expect.stringMatching(/^error reading request: the body must not be compressed/),
    ]);
  });

  test('for which there is no room gets a 503, as from an unreachable server', async () => {
    const { post, begin, lines, counted, metrics } = await serving([create], { limits: { maxInFlightBytes: 100 } });
    begin(path, ' '.repeat(1_000), { 'content-length': '1001' });
    await until(
      async () => (await metrics()).includes('runtime_extension_in_flight_bytes 1000\n'),
      'another is in flight',
    );
    const { code, json, headers } = await post(path, body);
    expect([code, json.kind, json.reason, headers['retry-after']]).toEqual([503, 'Status', 'ServiceUnavailable', '1']);
    expect(lines.filter(({ level }) => level === 40)).toEqual([]);
    expect((await counted()).filter((line) => line.includes('calls_total'))).toEqual([]);
    expect(await metrics()).toContain('runtime_extension_http_refusals_total{code="503"} 1\n');
  });
});

describe('a path', () => {
  test('without a handler gets a 404, counted and logged without its query', async () => {
    const { post, lines, metrics } = await serving([create], { path: '/lab' });
    const { code, json } = await post(`${path}?timeout=1s`, body);
    expect([code, json.reason, json.message]).toEqual([
      404,
      'NotFound',
      `page not found: no handler has this path; /lab${root}/discovery lists them`,
    ]);
    await post(`/${'x'.repeat(600)}`, body);
    expect(lines.filter(({ level }) => level === 40)).toEqual([
      { level: 40, path, msg: 'call to a path that no handler has' },
      { level: 40, path: `/${'x'.repeat(511)}`, msg: 'call to a path that no handler has' },
    ]);
    expect(await metrics()).toContain('runtime_extension_http_refusals_total{code="404"} 2\n');
  });

  test('is below the prefix, and nowhere else', async () => {
    const { post } = await serving([create], { path: '/extensions/lab/' });
    expect((await post(`/extensions/lab${path}`, body)).code).toBe(200);
    expect((await post(path, body)).code).toBe(404);
    expect((await post(`/extensions/lab${root}/discovery`, '{}')).json.handlers).toMatchObject([{ name: 'create' }]);
  });

  test('is that of a handler to the letter', async () => {
    const { post } = await serving([create]);
    for (const url of [
      `${root}/BeforeClusterCreate/create`,
      `${path}/`,
      `${path}/more`,
      path.replace('hooks', 'Hooks'),
      path.replace('v1alpha1', 'v1'),
      `${root}/beforeclusterdelete/create`,
      `${root}/beforeclustercreate`,
      `${root.toUpperCase()}/beforeclustercreate/create`,
      `/lab${path}`,
      '/',
    ]) {
      expect((await post(url, body)).code, url).toBe(404);
    }
  });
});

describe('the timeout of a call', () => {
  /** A handler that keeps its signal, and never responds. */
  function silent(more: Partial<Handler> = {}) {
    const signals: AbortSignal[] = [];
    const one: Handler = {
      name: 'create',
      hook: hooks.BeforeClusterCreate,
      handle: (_, { signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
      ...more,
    };
    return { one, signals };
  }

  test('aborts the signal when it expires, and after a grace period the client gets a 504', async () => {
    const { one, signals } = silent();
    const { post, lines, counted } = await serving([one]);
    const startedMs = performance.now();
    const answer = await post(`${path}?a=b&timeout=50ms&c=d`, body);
    expect(performance.now() - startedMs).toBeGreaterThan(530);
    expect([answer.code, answer.json]).toEqual([
      504,
      { ...envelope, status: 'Failure', message: 'handler create did not answer within 0.05 s', retryAfterSeconds: 0 },
    ]);
    expect(signals[0]?.reason).toMatchObject({ name: 'TimeoutError', message: 'the caller waits only 0.05 s' });
    expect(lines).toMatchObject([
      {
        level: 50,
        hook: 'BeforeClusterCreate',
        handler: 'create',
        timeoutMs: 50,
        durationMs: expect.any(Number),
        msg: 'the handler did not answer in time: answer within milliseconds, and let createJobs do long work',
      },
      { level: 30, result: 'error', msg: 'call answered' },
    ]);
    expect((await counted())[0]).toBe(`runtime_extension_calls_total{${labels},result="error"} 1`);
  });

  const names = { hook: 'BeforeClusterCreate', handler: 'create' };

  test('applies to a handler that answers at once, but too late', async () => {
    const one = handler('BeforeClusterCreate', {
      name: 'create',
      handle: (_, { answer }) => {
        for (const start = performance.now(); performance.now() - start < 80; ) {}
        return answer.done();
      },
    });
    const { post, lines } = await serving([one]);
    expect((await post(`${path}?timeout=50ms`, body)).code).toBe(504);
    expect(lines).toMatchObject([
      { level: 50, ...names, timeoutMs: 50, msg: expect.stringMatching(/^the handler did not answer in time/) },
      { level: 30, result: 'error', msg: 'call answered' },
    ]);
  });

  test('a handler that ends too late says so', async () => {
    const one = handler('BeforeClusterCreate', {
      name: 'create',
      handle: async (_, { answer, signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        await new Promise((resolve) => setTimeout(resolve, 600));
        return answer.done();
      },
    });
    const { post, lines } = await serving([one]);
    expect((await post(`${path}?timeout=500ms`, body)).code).toBe(504);
    await until(() => lines.length >= 3, 'it has ended');
    expect(lines.map(({ msg }) => String(msg).slice(0, 26)).toSorted()).toEqual([
      'call answered',
      'the handler did not answer',
      'the handler ended, too lat',
    ]);
    expect(lines.find(({ msg }) => String(msg).startsWith('the handler ended'))).toMatchObject({ level: 40, ...names });
  });

  test('is determined by each query', async () => {
    const { one, signals } = silent();
    const { begin } = await serving([one]);
    begin(`${path}?timeout=20s`, body);
    await until(() => signals.length === 1, 'the first has come');
    begin(`${path}?timeout=10ms`, body);
    await until(() => signals[1]?.aborted === true, 'the second is over');
    expect(signals[0]?.aborted).toBe(false);
  });

  test('aborts the signal also when the client disconnects, and nothing is sent', async () => {
    const { one, signals } = silent();
    const { begin, lines, counted } = await serving([one]);
    const client = begin(path, body);
    await until(() => signals.length === 1, 'it has come');
    client.destroy();
    await until(() => signals[0]?.aborted === true, 'the handler is told');
    expect(signals[0]?.reason).toMatchObject({ name: 'AbortError', message: 'the caller disconnected' });
    expect(lines).toEqual([
      {
        level: 40,
        hook: 'BeforeClusterCreate',
        handler: 'create',
        timeoutMs: 10_000,
        durationMs: expect.any(Number),
        msg: expect.stringMatching(
          /^the caller disconnected before its answer: answer within milliseconds, and let create/,
        ),
      },
    ]);
    expect((await counted())[0]).toBe(`runtime_extension_calls_total{${labels},result="error"} 1`);
  });

  test('a handler that ends after its caller has gone, as Cluster API does at its timeout: the log says how long it took', async () => {
    const { one, isCalled, resolve } = held();
    const { begin, lines } = await serving([one]);
    const client = begin(path, body);
    await until(isCalled, 'it has come');
    client.destroy();
    await until(() => lines.length === 1, 'it is logged');
    resolve();
    await until(() => lines.length === 2, 'its end is logged');
    expect(lines[1]).toMatchObject({ durationMs: expect.any(Number), msg: 'the handler ended, too late' });
  });

  test('ends with the answer: the signal is not aborted when the connection closes', async () => {
    let seen: AbortSignal | undefined;
    const one: Handler = {
      ...create,
      handle: (_, { answer, signal }) => {
        seen = signal;
        return answer.done();
      },
    };
    const { post, lines } = await serving([one]);
    await post(`${path}?timeout=500ms`, body);
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(seen?.aborted).toBe(false);
    expect(lines).toHaveLength(1);
  });

  test('does not end a call at once: an answer given just after the signal was aborted counts', async () => {
    const one = handler('BeforeClusterCreate', {
      name: 'create',
      handle: (_, { answer, signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(answer.retry(5, 'not yet')));
        }),
    });
    const { post } = await serving([one]);
    expect((await post(`${path}?timeout=50ms`, body)).json.retryAfterSeconds).toBe(5);
  });
});

test('a call in flight is answered when the server stops', async () => {
  const { one, isCalled, resolve } = held();
  const { server, post } = await serving([one]);
  const answer = post(path, body);
  await until(isCalled, 'the call arrives');
  const stopped = server.stop({ graceMs: 0, timeoutMs: 10_000 });
  resolve();
  expect((await answer).json.status).toBe('Success');
  await stopped;
});

test("this project's client discovers and calls it", async () => {
  const one = handler('BeforeClusterCreate', {
    name: 'create',
    handle: (_, { answer, settings }) => answer.retry(Number(settings.wait), 'not yet'),
  });
  const { server } = await serving([one]);
  const client = createClient();
  onTestFinished(() => client.close());
  const caBundle = Buffer.from(testCa.cert).toString('base64');
  const config = {
    apiVersion: 'runtime.cluster.x-k8s.io/v1beta2' as const,
    kind: 'ExtensionConfig' as const,
    metadata: { name: 'lab' },
    spec: {
      clientConfig: { url: `https://localhost:${server.port}`, caBundle },
      namespaceSelector: {},
      settings: { wait: '7' },
    },
  };
  const discovered = await client.discover(config);
  expect(discovered).toMatchObject({ ok: true, handlers: [{ name: 'create.lab' }] });
  client.registry.add({ ...config, status: { handlers: discovered.handlers } } as never);
  const { apiVersion: _a, kind: _k, settings: _s, ...sample } = requestFor('BeforeClusterCreate');
  expect(
    await client.callAllExtensions(hooks.BeforeClusterCreate, {
      object: { namespace: 'default', name: 'lab' },
      request: sample,
    }),
  ).toMatchObject({ ok: true, response: { retryAfterSeconds: 7, message: 'not yet' } });
});
