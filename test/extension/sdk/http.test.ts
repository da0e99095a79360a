import { readFileSync, writeFileSync } from 'node:fs';
import { aroundEach, describe, expect, test } from 'vitest';
import { HandlerFailure, handler } from '../../../src/extension/index.ts';
import { createClient } from '../../../src/runtimehooks/client/index.ts';
import { hooks, hooksGroup } from '../../../src/runtimehooks/index.ts';
import { sampleRequest } from '../../../src/runtimehooks/messages/index.ts';
import { makeCertificate, testCa } from '../../base/x509/certificates.ts';
import { until } from '../../server/running.ts';
import { ending } from '../../support/ends.ts';
import { certificateFolder, post, startExtension } from './running.ts';

aroundEach(ending);

const root = `/${hooksGroup}/v1alpha1`;
const path = `${root}/beforeclustercreate/create`;
const body = JSON.stringify(sampleRequest(hooks.BeforeClusterCreate));

const create = handler('BeforeClusterCreate', {
  name: 'create',
  handle: ({ cluster }, { answer, settings }) =>
    settings.wait === undefined
      ? answer.done({ message: `hello ${cluster.metadata?.name}` })
      : answer.retry(Number(settings.wait), 'not yet'),
});

const withSettings = (settings: Record<string, string>) =>
  JSON.stringify({ ...sampleRequest(hooks.BeforeClusterCreate), settings });

const answers = JSON.parse(
  readFileSync(new URL('../../support/fixtures/runtime-sdk/server-answers.json', import.meta.url), 'utf8'),
) as { request: { method: string; path: string; body?: string }; response: { status: number; body: string } }[];

test('invalid requests get the same response as from the Go server: the same status, a Failure in the same words', async () => {
  const { port } = await startExtension([create]);
  const bad = answers.slice(1, 5);
  expect(bad.map(({ request }) => request.method)).toEqual(['GET', 'POST', 'POST', 'POST']);
  for (const { request, response } of bad) {
    const answer = await post(port, request.path, request.body ?? '', { method: request.method });
    expect([request.path, answer.code]).toEqual([request.path, response.status]);
    if (response.status === 200) {
      const { status, message } = answer.json();
      expect([status, message]).toEqual(['Failure', expect.stringMatching(/^error unmarshalling request: /)]);
      expect(JSON.parse(response.body).message).toMatch(/^error unmarshalling request: /);
    } else {
      expect(answer.body).toContain('page not found');
    }
  }
});

describe('the wire', () => {
  test.each([
    ['without a content type', path, 'POST', {}],
    ['any content type', path, 'POST', { 'content-type': 'text/plain' }],
    ['any method', path, 'PUT', {}],
    ['other query parameters before the timeout', `${path}?a=b&timeout=1m0s`, 'POST', {}],
    ['an invalid timeout', `${path}?timeout=soon`, 'POST', {}],
  ])('%s', async (_name, url, method, headers) => {
    const { port } = await startExtension([create]);
    const answer = await post(port, url, body, { method, headers: headers as Record<string, string> });
    expect([answer.code, answer.json()]).toEqual([
      200,
      {
        apiVersion: `${hooksGroup}/v1alpha1`,
        kind: 'BeforeClusterCreateResponse',
        status: 'Success',
        message: 'hello example',
        retryAfterSeconds: 0,
      },
    ]);
  });

  test.each([
    ['a group in another case', path.replace('hooks', 'Hooks')],
    ['another version', path.replace('v1alpha1', 'v1')],
    ['more path after the handler', `${path}/more`],
    ['a handler of another hook', `${root}/beforeclusterdelete/create`],
    ['no handler', `${root}/beforeclustercreate`],
  ])('404: %s', async (_name, url) => {
    const { port } = await startExtension([create]);
    expect((await post(port, url, body)).code).toBe(404);
  });

  test('Discovery lists each handler with its properties, and nothing else', async () => {
    const { port } = await startExtension([
      handler('BeforeClusterCreate', { name: 'b', timeoutSeconds: 5, handle: (_, { answer }) => answer.done() }),
      handler('AfterControlPlaneInitialized', {
        name: 'a',
        failurePolicy: 'Fail',
        handle: (_, { answer }) => answer.done(),
      }),
    ]);
    const apiVersion = `${hooksGroup}/v1alpha1`;
    expect((await post(port, `${root}/discovery`, '{}')).json()).toEqual({
      apiVersion,
      kind: 'DiscoveryResponse',
      status: 'Success',
      handlers: [
        { name: 'b', requestHook: { apiVersion, hook: 'BeforeClusterCreate' }, timeoutSeconds: 5 },
        { name: 'a', requestHook: { apiVersion, hook: 'AfterControlPlaneInitialized' }, failurePolicy: 'Fail' },
      ],
    });
  });

  test('serves paths below a prefix, and nowhere else', async () => {
    const { port } = await startExtension([create], { path: '/extensions/lab/' });
    expect((await post(port, `/extensions/lab${path}`, body)).code).toBe(200);
    expect((await post(port, path, body)).code).toBe(404);
    expect((await post(port, `/extensions/lab${root}/discovery`, '{}')).json()).toMatchObject({
      status: 'Success',
      handlers: [{ name: 'create' }],
    });
  });

  test('a body over the limit, declared or not, or compressed: a Failure, which failurePolicy does not ignore', async () => {
    const { port } = await startExtension([create], { limits: { maxBodyBytes: 4096 } });
    const large = withSettings({ text: 'x'.repeat(5000) });
    const tooLarge = {
      apiVersion: `${hooksGroup}/v1alpha1`,
      kind: 'BeforeClusterCreateResponse',
      status: 'Failure',
      message: 'error reading request: the body must not be larger than 4096 bytes',
      retryAfterSeconds: 0,
    };
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }] as Record<string, string>[]) {
      const answer = await post(port, path, large, { headers });
      expect([answer.code, answer.json()]).toEqual([200, tooLarge]);
    }
    const compressed = await post(port, path, body, { headers: { 'content-encoding': 'gzip' } });
    expect([compressed.code, compressed.json().status, compressed.json().message]).toEqual([
      200,
      'Failure',
      expect.stringMatching(/^error reading request: the body must not be compressed/),
    ]);
    expect((await post(port, `${root}/discovery`, large)).json()).toMatchObject({
      status: 'Failure',
      message: tooLarge.message,
    });
    expect((await post(port, path, body)).code).toBe(200);
  });

  test('a request that lacks a required field of its hook, or has one of a wrong type, never reaches the handler', async () => {
    const { port } = await startExtension([create]);
    const { status, message } = (await post(port, path, '{}')).json();
    expect([status, message]).toEqual([
      'Failure',
      `the request is not one of ${hooksGroup}/v1alpha1, Hook=BeforeClusterCreate: cluster must be set`,
    ]);
    expect((await post(port, path, '{"cluster":{"spec":7}}')).json().message).toMatch(
      /cluster\.spec must be of type object, not number/,
    );
  });

  test.each([
    ['white space', `\n ${body}\n\t `, 200, 'Success'],
    ['another value', `${body}{"cluster":7}`, 200, 'Success'],
    ['bytes that are not text', Buffer.concat([Buffer.from(body), Buffer.from([0xff, 0x00])]), 200, 'Success'],
    ['a value that is cut off', body.slice(0, -1), 200, 'Failure'],
    ['no value before them', `garbage ${body}`, 200, 'Failure'],
  ])('after the body: %s', async (_name, sent, code, status) => {
    const { port } = await startExtension([create]);
    const answer = await post(port, path, sent);
    expect([answer.code, answer.json().status]).toEqual([code, status]);
  });

  test('accepts field names in any case, null for absent fields, and fields of a newer release', async () => {
    const { port } = await startExtension([create]);
    const odd = '{"Cluster":{"metadata":{"name":"odd"},"spec":null,"newer":{"a":1}},"settings":null,"more":[]}';
    expect((await post(port, path, odd)).json().message).toBe('hello odd');
  });
});

describe('answers', () => {
  test('can block, and invalid ones become Failures', async () => {
    const { port, lines } = await startExtension([create]);
    expect((await post(port, path, withSettings({ wait: '30' }))).json()).toMatchObject({
      status: 'Success',
      retryAfterSeconds: 30,
      message: 'not yet',
    });
    for (const [wait, problem] of [
      ['1.5', 'answer.retry takes a whole number above 0, not 1.5'],
      ['-1', 'answer.retry takes a whole number above 0, not -1'],
    ] as const) {
      lines.length = 0;
      const answer = (await post(port, path, withSettings({ wait }))).json();
      expect(answer).toMatchObject({
        status: 'Failure',
        retryAfterSeconds: 0,
        message: 'handler create failed: see the log of the extension',
      });
      expect(lines.find(({ level }) => level === 50)?.message).toContain(problem);
    }
  });

  test('that throw are logged, and the response is the same each time', async () => {
    let count = 0;
    const throwing = handler('BeforeClusterCreate', {
      name: 'create',
      handle: ({ cluster }) => {
        if (cluster.metadata?.name === 'odd') {
          throw new HandlerFailure('the Cluster must have an owner');
        }
        throw new Error(`attempt ${count++} at https://user:hunter2@backup failed`);
      },
    });
    const { port, lines } = await startExtension([throwing]);
    const first = await post(port, path, body);
    expect(first.body).toBe((await post(port, path, body)).body);
    expect([first.code, first.json().message]).toEqual([200, 'handler create failed: see the log of the extension']);
    expect(lines.filter(({ msg }) => msg === 'the handler failed')).toEqual([
      expect.objectContaining({
        hook: 'BeforeClusterCreate',
        handler: 'create',
        cluster: 'default/example',
        message: expect.stringContaining('attempt 0'),
        stack: expect.stringContaining('http.test.ts'),
      }),
      expect.objectContaining({ message: expect.stringContaining('attempt 1') }),
    ]);
    expect((await post(port, path, '{"cluster":{"metadata":{"name":"odd"}}}')).json()).toMatchObject({
      status: 'Failure',
      message: 'the Cluster must have an owner',
    });
  });

  test("are aborted with the caller's timeout, which results in a 504 instead of a Failure, and when the caller disconnects", async () => {
    const reasons: string[] = [];
    let running = 0;
    const slow = handler('BeforeClusterCreate', {
      name: 'create',
      handle: (_, { signal }) => {
        running++;
        signal.addEventListener('abort', () => reasons.push((signal.reason as Error).name));
        return new Promise(() => {});
      },
    });
    const { port } = await startExtension([slow]);
    const late = await post(port, `${path}?timeout=200ms`, body);
    expect([late.code, late.json().message]).toEqual([504, 'handler create did not answer within 0.2 s']);
    const going = new AbortController();
    const gone = post(port, `${path}?timeout=20s`, body, { signal: going.signal }).catch(() => 'gone');
    await until(() => running === 2, 'the second call arrives');
    going.abort();
    expect(await gone).toBe('gone');
    await until(() => reasons.length === 2, 'both aborted');
    expect(reasons).toEqual(['TimeoutError', 'AbortError']);
  });

  test('given just after the signal was aborted still count', async () => {
    const giving = handler('BeforeClusterCreate', {
      name: 'create',
      handle: (_, { answer, signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(answer.retry(5, 'not yet')));
        }),
    });
    const { port } = await startExtension([giving]);
    expect((await post(port, `${path}?timeout=100ms`, body)).json()).toMatchObject({ retryAfterSeconds: 5 });
  });

  test('are counted and logged, one line each', async () => {
    const { port, health, lines } = await startExtension([create]);
    await post(port, `${root}/discovery`, '{}');
    await post(port, path, body);
    await post(port, path, withSettings({ wait: '30' }));
    await post(port, path, '{}');
    const text = await (await fetch(`${health}/metrics`)).text();
    for (const result of ['success', 'blocking', 'invalid request']) {
      expect(text).toContain(
        `runtime_extension_calls_total{hook="BeforeClusterCreate",handler="create",result="${result}"} 1\n`,
      );
    }
    expect(text).toContain('runtime_extension_call_duration_seconds_count{hook="Discovery",handler=""} 1\n');
    expect(lines.filter(({ msg }) => msg === 'call answered')).toHaveLength(4);
    expect(await (await fetch(`${health}/readyz`)).text()).toBe('ok\n');
  });
});

test('can require the client certificate that Cluster API sends since 1.11', async () => {
  const folder = certificateFolder();
  writeFileSync(`${folder}/clients.crt`, testCa.cert);
  const { port } = await startExtension([create], {
    clients: { caFile: `${folder}/clients.crt`, allowedNames: ['capi'] },
  });
  const { cert, key } = makeCertificate({ commonName: 'capi', issuer: testCa });
  expect((await post(port, path, body)).code).toBe(403);
  expect((await post(port, path, body, { cert, key } as object)).code).toBe(200);
});

test('a call in flight is answered when the server stops', async () => {
  let release: () => void = () => {};
  const slow = handler('BeforeClusterCreate', {
    name: 'create',
    handle: (_, { answer }) =>
      new Promise((resolve) => {
        release = () => resolve(answer.done());
      }),
  });
  const extension = await startExtension([slow]);
  const first = release;
  const answer = post(extension.port, path, body);
  await until(() => release !== first, 'the call arrives');
  const stopped = extension.stop({ graceMs: 0, timeoutMs: 10_000 });
  release();
  expect((await answer).json().status).toBe('Success');
  await stopped;
});

test("this project's client discovers and calls it", async () => {
  const { port } = await startExtension([create]);
  const client = createClient();
  try {
    const caBundle = Buffer.from(testCa.cert).toString('base64');
    const config = {
      apiVersion: 'runtime.cluster.x-k8s.io/v1beta2' as const,
      kind: 'ExtensionConfig' as const,
      metadata: { name: 'lab' },
      spec: {
        clientConfig: { url: `https://localhost:${port}`, caBundle },
        namespaceSelector: {},
        settings: { wait: '7' },
      },
    };
    const discovered = await client.discover(config);
    expect(discovered).toMatchObject({ ok: true, handlers: [{ name: 'create.lab' }] });
    client.registry.add({
      ...config,
      status: { handlers: discovered.handlers },
    } as never);
    const { apiVersion: _a, kind: _k, settings: _s, ...request } = sampleRequest(hooks.BeforeClusterCreate);
    expect(
      await client.callAllExtensions(hooks.BeforeClusterCreate, {
        object: { namespace: 'default', name: 'lab' },
        request: request as never,
      }),
    ).toMatchObject({ ok: true, response: { retryAfterSeconds: 7, message: 'not yet' } });
  } finally {
    await client.close();
  }
});
