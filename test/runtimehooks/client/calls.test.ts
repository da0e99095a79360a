import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Writable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { Registry as MetricsRegistry } from 'prom-client';
import { afterAll, aroundEach, describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Client, type ClientOptions, createClient } from '../../../src/runtimehooks/client/index.ts';
import { clusterApiHooks, type HookDefinition, hooks, hooksGroup } from '../../../src/runtimehooks/index.ts';
import { localhost, makeCertificate, testCa } from '../../base/x509/certificates.ts';
import { ending, endWith } from '../../support/ends.ts';
import { recordedCalls } from '../messages/recorded.ts';
import {
  type Answering,
  caBundle,
  type ExtensionServer,
  extensionConfig,
  SharedServers,
  startExtension,
  storedHandler,
} from './extension-server.ts';
import { requestOf } from './sample-request.ts';

aroundEach(ending);

const shared = new SharedServers();
afterAll(() => shared.close());

async function server(answer: Answering, options?: object): Promise<ExtensionServer> {
  const started = await (options === undefined ? shared.start(answer) : startExtension(answer, options));
  endWith(() => started.close());
  return started;
}

function client(options: ClientOptions = {}): Client {
  const created = createClient({ extensions: [], ...options });
  endWith(() => created.close());
  return created;
}

const object = { namespace: 'default', name: 'lab', uid: 'uid-1' };
const success = { status: 'Success', message: '', retryAfterSeconds: 0 };
const upgrade = hooks.BeforeClusterUpgrade;

/** A client with one handler of BeforeClusterUpgrade on a server. */
async function single(
  answer: Answering,
  {
    handler = {},
    options = {},
    serverOptions,
    url,
  }: {
    handler?: object;
    options?: ClientOptions;
    serverOptions?: object;
    url?: (server: ExtensionServer) => string;
  } = {},
) {
  const extension = await server(answer, serverOptions);
  const caller = client(options);
  const config = extensionConfig('one', { url: url?.(extension) ?? extension.url, caBundle }, [
    storedHandler('upgrade.one', 'BeforeClusterUpgrade', { timeoutSeconds: 1, ...handler }),
  ]);
  expect(caller.registry.add(config)).toBeUndefined();
  const call = (more: object = {}) =>
    caller.callExtension(upgrade, { handler: 'upgrade.one', object, request: requestOf(upgrade), ...more });
  return { extension, caller, call, config };
}

describe('requests that Cluster API sent', () => {
  test.each(
    recordedCalls.map((call) => [call.file, call] as const),
  )('%s is sent in the same way', async (_file, recorded) => {
    const hook = clusterApiHooks.find(({ request }) => request.kind === recorded.body.kind) as HookDefinition;
    const extension = await server(() => recorded.answer);
    const caller = client();
    const { apiVersion: _a, kind: _k, settings, ...request } = recorded.body as JsonObject;
    const timeoutSeconds = Number(/timeout=(\d+)s/.exec(recorded.url)?.[1]);
    if (hook.singleton) {
      await caller.discover(extensionConfig('lab', { url: extension.url, caBundle }));
    } else {
      const name = `${recorded.url.split('?')[0]?.split('/').at(-1)}.lab`;
      const config = extensionConfig(
        'lab',
        { url: extension.url, caBundle },
        [storedHandler(name, hook.name, { timeoutSeconds })],
        // The ClusterClass's settings take precedence over the ExtensionConfig's.
        { spec: { settings: { flavor: 'small', ...(settings as object) } } },
      );
      caller.registry.add(config);
      const result = await caller.callExtension(hook, { handler: name, object, request });
      expect(result).toMatchObject({ ok: true, response: recorded.answer });
    }
    const [sent] = extension.received;
    expect({ method: sent?.method, url: sent?.url, body: JSON.parse(sent?.body ?? '') }).toEqual({
      method: recorded.method,
      url: recorded.url,
      body: recorded.body,
    });
    expect(sent?.headers['content-type']).toBe(hook.singleton ? undefined : 'application/json');
  });
});

test("Cluster API's own server, as recorded, is discovered and called", async () => {
  const answers = JSON.parse(
    readFileSync(new URL('../../support/fixtures/runtime-sdk/server-answers.json', import.meta.url), 'utf8'),
  ) as { request: { path: string; method: string; body?: string }; response: { status: number; body: string } }[];
  const extension = await server(({ url }, response) => {
    const [path] = url.split('?');
    const found = answers.findLast(({ request, response: { status } }) => request.path === path && status === 200);
    const discovery = answers[0];
    const one = path?.endsWith('/discovery') ? discovery : found;
    response.writeHead(one?.response.status ?? 404, { 'content-type': 'text/plain; charset=utf-8' });
    response.write((one?.response.body ?? '404 page not found\n').slice(0, 5));
    response.end((one?.response.body ?? '404 page not found\n').slice(5));
    return undefined;
  });
  const caller = client();
  const config = extensionConfig('lab', { url: extension.url, caBundle });
  const found = await caller.discover(config);
  expect(found).toMatchObject({ ok: true });
  const handlers = found.handlers;
  expect(handlers).toHaveLength(16);
  expect(handlers[0]).toEqual({
    name: 'after-workers-upgrade.lab',
    requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook: 'AfterWorkersUpgrade' },
    timeoutSeconds: 10,
    failurePolicy: 'Fail',
  });
  caller.registry.add({ ...config, status: { handlers: handlers as never } });
  const plan = await caller.callExtension(hooks.GenerateUpgradePlan, {
    handler: 'generate-upgrade-plan.lab',
    object,
    request: requestOf(hooks.GenerateUpgradePlan),
  });
  expect(plan).toMatchObject({ ok: true, response: { controlPlaneUpgrades: [{ version: 'v1.31.0' }] } });
  const update = await caller.callExtension(hooks.CanUpdateMachine, {
    handler: 'can-update-machine.lab',
    object,
    request: requestOf(hooks.CanUpdateMachine),
  });
  expect(update).toMatchObject({
    ok: false,
    error: {
      step: 'status',
      message:
        "failed to call extension handler \"can-update-machine.lab\": got failure response with message: Object 'Kind' is missing in ''",
    },
  });
});

type Hostile = [name: string, answer: Answering, step: string, message: string | RegExp];

const write =
  (code: number, body: string | Buffer, headers = {}): Answering =>
  (_received, response) => {
    response.writeHead(code, headers);
    response.end(body);
    return undefined;
  };

/** The longest answer that is read. */
const maxAnswerBytes = 20 * 1024 * 1024;

/** Writes as long as the client reads. */
function endless(response: ServerResponse, character = ' '): void {
  const chunk = Buffer.alloc(256 * 1024, character);
  const more = () => {
    while (!response.destroyed && response.write(chunk)) {
      // Until the client is slow.
    }
  };
  response.on('drain', more);
  if (!response.headersSent) {
    response.writeHead(200);
  }
  more();
}

const hostile: Hostile[] = [
  ['500', write(500, 'it\u001b[31m broke\n'), 'http', 'status code 500 != 200: response : "it\\x1b[31m broke\\n"'],
  ['a redirect', write(302, '', { location: 'https://localhost:1/' }), 'http', 'status code 302 != 200'],
  [
    'an error that is cut off',
    (_received, response) => {
      response.writeHead(503, { 'content-length': '100' });
      response.write('no backend', () => response.destroy());
      return undefined;
    },
    'http',
    'status code 503 != 200: response : "no backend"',
  ],
  [
    'no JSON',
    write(200, 'hello'),
    'decode',
    "failed to decode response: invalid character 'h' looking for beginning of value",
  ],
  [
    'gzip without end',
    write(200, Buffer.from('1f8b08', 'hex'), { 'content-encoding': 'gzip' }),
    'decode',
    'failed to decode response: EOF',
  ],
  [
    'gzip that ends within the JSON',
    write(200, gzipSync('{"status":"Success"}').subarray(0, -14), { 'content-encoding': 'gzip' }),
    'decode',
    'failed to decode response: unexpected EOF',
  ],
  [
    'gzip that is none',
    write(200, '{"status":"Success"}', { 'content-encoding': 'gzip' }),
    'decode',
    'failed to decode response: gzip: incorrect header check',
  ],
  [
    'gzip that unpacks to more than the limit',
    write(200, gzipSync(Buffer.alloc(maxAnswerBytes + 1, ' ')), { 'content-encoding': 'gzip' }),
    'size',
    'larger than 20 MiB',
  ],
  [
    'an error in gzip',
    write(500, gzipSync('it broke'), { 'content-encoding': 'gzip' }),
    'http',
    'response : "it broke"',
  ],
  ['silence', () => undefined, 'timeout', 'http request timeout expired'],
  [
    'a slow answer',
    (_received, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(timer));
      return undefined;
    },
    'timeout',
    'http call failed: failed to decode response: http request timeout expired',
  ],
  [
    'a connection that ends',
    (_received, response) => {
      response.destroy();
      return undefined;
    },
    'connect',
    'http call failed: Post "https://localhost:',
  ],
  [
    'less than promised',
    (_received, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{"status":"Success"');
      setTimeout(() => response.destroy(), 20);
      return undefined;
    },
    'decode',
    'http call failed: failed to decode response: unexpected EOF: the server closed the connection',
  ],
  [
    'a chunk without a size',
    (_received, response) => {
      response.socket?.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n');
      return undefined;
    },
    'decode',
    'http call failed: failed to decode response: Response does not match the HTTP/1.1 protocol',
  ],
  [
    'headers without end',
    (_received, response) => {
      response.writeHead(200, { 'x-long': 'x'.repeat(100_000) });
      response.end('{}');
      return undefined;
    },
    'connect',
    'the headers of the answer are too large',
  ],
  [
    'something else than HTTP',
    (_received, response) => {
      response.socket?.end('SMTP ready\r\n');
      return undefined;
    },
    'connect',
    '',
  ],
];

const endlessAnswer: Hostile = [
  'an endless answer',
  (_received, response) => {
    endless(response);
    return undefined;
  },
  'size',
  'larger than 20 MiB',
];

// A timeout that even a busy machine does not exceed, unless timeouts are tested.
const patience = (step: string) => ({ timeoutSeconds: step === 'timeout' ? 1 : 30 });

const withoutEnd: Answering = (_received, response) => {
  response.writeHead(503);
  response.write('no backend');
  return undefined;
};

// Concurrently, since some wait for a timeout.
test.concurrent('a server that responds with an endless error is reported with its status, not as unresponsive', async ({
  expect,
}) => {
  const { call } = await single(withoutEnd);
  expect(await call()).toMatchObject({
    error: { step: 'http', message: expect.stringMatching(/status code 503 != 200: response : "no backend"$/) },
  });
});

test.concurrent.for([200, 503])('a response %d that is cut off counts under its code in the metrics', async (code, {
  expect,
}) => {
  const metrics = new MetricsRegistry();
  const { call } = await single(
    (_received, response) => {
      response.writeHead(code, { 'content-length': '100' });
      response.write('{"status":', () => response.destroy());
      return undefined;
    },
    { options: { metrics }, handler: patience('http') },
  );
  await call();
  expect(await metrics.metrics()).toMatch(new RegExp(`^capi_runtime_sdk_requests_total\\{code="${code}".* 1$`, 'm'));
});

/** Writes a text to a connection again and again, until it is closed. */
function flood(socket: Writable | null, text: string, count: { bytes: number }): undefined {
  socket?.on('error', () => {});
  const more = () => {
    while (socket?.writable) {
      count.bytes += text.length;
      if (!socket.write(text)) {
        break;
      }
    }
  };
  socket?.on('drain', more);
  more();
  return undefined;
}

const chunked = (code: string) => `HTTP/1.1 ${code}\r\nTransfer-Encoding: chunked\r\n\r\n`;

// SECURITY.md: status, headers, body and time of extension servers are limited.
test.each<[string, head: string, repeated: string, step: string]>([
  [
    'informational answers',
    '',
    `HTTP/1.1 103 Early Hints\r\nlink: <${'a'.repeat(1000)}>\r\n\r\n`.repeat(100),
    'connect',
  ],
  ['chunk extensions', chunked('200 OK'), `1;${'a=b;'.repeat(1000)}c\r\n \r\n`, 'decode'],
  ['an extension of a chunk', `${chunked('200 OK')}1;a=`, 'b'.repeat(10_000), 'decode'],
  ['chunk extensions of an error', `${chunked('500 No')}1;a=`, 'b'.repeat(10_000), 'http'],
])(
  'of a server that answers with %s without end, little is read',
  async (_name, head, repeated, step) => {
    const count = { bytes: 0 };
    const { call } = await single(
      (_request, response) => {
        response.socket?.write(head);
        return flood(response.socket, repeated, count);
      },
      { handler: { timeoutSeconds: 30 } },
    );
    expect(await call()).toMatchObject({ ok: false, error: { step } });
    expect(count.bytes).toBeLessThan(64 * 1024 * 1024);
  },
  60_000,
);

test.concurrent('a caller can abort a call while an error response arrives', async ({ expect }) => {
  const { call } = await single(withoutEnd, { handler: { timeoutSeconds: 10 } });
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 100);
  expect(await call({ signal: stop.signal })).toMatchObject({ error: { step: 'cancelled' } });
});

describe.concurrent.each(hostile)('a server that answers %s', (_name, answer, step, message) => {
  test('is an error under Fail', async ({ expect }) => {
    const { call } = await single(answer, { handler: patience(step), options: { now: () => 0 } });
    const result = await call();
    expect(result).toMatchObject({ ok: false, error: { step } });
    const error = result.ok ? undefined : result.error;
    if (typeof message === 'string') {
      expect(error?.message).toContain(message);
    } else {
      expect(error?.message).toMatch(message);
    }
    expect(error?.message).toMatch(/^failed to call extension handler "upgrade\.one": http call failed: /);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    expect(error?.message).not.toMatch(/[\u0000-\u001f]/);
  });
});

// One for each of the steps that failurePolicy Ignore applies to.
test.concurrent.each([
  ...new Map([...hostile, endlessAnswer].map((row) => [row[2], row])).values(),
])('a server that answers %s is suppressed under Ignore', async (_name, answer, step) => {
  const handler = { ...patience(step), failurePolicy: 'Ignore' };
  const { call } = await single(answer, { handler });
  expect(await call()).toMatchObject({ ok: true, from: 'ignore', swallowed: { step }, response: success });
});

describe('failures that Ignore does not suppress', () => {
  const ignore = { failurePolicy: 'Ignore' as const };
  test.each<[string, JsonObject, string]>([
    [
      'Failure',
      { status: 'Failure', message: 'no quota', retryAfterSeconds: 5 },
      'got failure response with message: no quota',
    ],
    ['an unknown status', { status: 'Maybe', message: 'x' }, 'got unknown response status "Maybe" with message: x'],
    [
      'a message with control characters, truncated',
      { status: 'Failure', message: `\u001b[2J${'x'.repeat(10_000)}` },
      `got failure response with message: \ufffd[2J${'x'.repeat(4092)}`,
    ],
    ['no status', {}, 'got unknown response status "" with message: '],
  ])('%s', async (_name, answer, message) => {
    const { call } = await single(() => answer, { handler: ignore });
    expect(await call()).toEqual({
      ok: false,
      error: { step: 'status', message: `failed to call extension handler "upgrade.one": ${message}` },
    });
  });

  test('an invalid request, before anything is sent', async () => {
    const { call, extension } = await single(() => success, { handler: ignore });
    expect(await call({ request: { cluster: {} } })).toMatchObject({
      ok: false,
      error: { step: 'request', message: expect.stringContaining('fromKubernetesVersion must be set') },
    });
    expect(extension.received).toEqual([]);
  });

  test.each<[string, object, string, string]>([
    ['an invalid URL', { url: 'http://localhost' }, 'url', 'expected https scheme'],
    [
      'an invalid caBundle',
      { url: 'https://localhost', caBundle: 'YWJj' },
      'tls-config',
      'unable to load root certificates',
    ],
    [
      // Cluster API cannot read it either.
      'a caBundle behind a byte order mark',
      { url: 'https://localhost', caBundle: Buffer.from(`\ufeff${testCa.cert}`).toString('base64') },
      'tls-config',
      'unable to load root certificates',
    ],
    [
      'a caBundle that is not a certificate',
      {
        url: 'https://localhost',
        caBundle: Buffer.from('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n').toString('base64'),
      },
      'tls-config',
      'failed to get http client: failed to create tls config',
    ],
  ])('%s', async (_name, clientConfig, step, message) => {
    const caller = client();
    caller.registry.add(
      extensionConfig('one', clientConfig, [storedHandler('upgrade.one', 'BeforeClusterUpgrade', ignore)]),
    );
    expect(
      await caller.callExtension(upgrade, { handler: 'upgrade.one', object, request: requestOf(upgrade) }),
    ).toMatchObject({ ok: false, error: { step, message: expect.stringContaining(message) } });
  });

  test('an unknown version', async () => {
    const { call } = await single(() => success, {
      handler: { ...ignore, requestHook: { apiVersion: `${hooksGroup}/v1beta9`, hook: 'BeforeClusterUpgrade' } },
    });
    expect(await call()).toMatchObject({
      ok: false,
      error: {
        step: 'convert',
        message: `failed to call extension handler "upgrade.one": failed to convert request: ${hooksGroup}/v1beta9, Hook=BeforeClusterUpgrade is not in the Runtime SDK catalog`,
      },
    });
  });
});

describe('TLS', () => {
  test.each<[string, object, string]>([
    [
      'a certificate for another name',
      { certificate: makeCertificate({ commonName: 'x', dnsNames: ['other'], issuer: testCa }) },
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    [
      'a certificate with the name as common name alone, as Go does',
      { certificate: makeCertificate({ commonName: 'localhost', dnsNames: [], issuer: testCa }) },
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ],
    [
      'a self-signed certificate',
      { certificate: makeCertificate({ commonName: 'x', dnsNames: ['localhost'] }) },
      'DEPTH_ZERO_SELF_SIGNED_CERT',
    ],
    [
      'an expired certificate',
      {
        certificate: makeCertificate({
          commonName: 'x',
          dnsNames: ['localhost'],
          issuer: testCa,
          notAfter: new Date('2021-01-01'),
        }),
      },
      'CERT_HAS_EXPIRED',
    ],
  ])('rejects %s', async (_name, serverOptions, code) => {
    const { call, extension } = await single(() => success, { serverOptions });
    const answer = await call();
    expect(answer).toMatchObject({ ok: false, error: { step: 'tls', message: expect.stringContaining(code) } });
    // The advice that Node.js adds would not help, since only the caBundle matters.
    expect(JSON.stringify(answer)).not.toMatch(/system-ca/);
    expect(extension.received).toEqual([]);
  });

  test('without a caBundle the system roots are trusted', async () => {
    const extension = await server(() => success);
    const caller = client();
    expect(await caller.discover(extensionConfig('one', { url: extension.url }))).toMatchObject({
      ok: false,
      error: { step: 'tls', message: expect.not.stringContaining('system-ca') },
    });
  });

  test('a client certificate is presented, and a renewed one from the next connection on', async () => {
    const [first, second] = ['first', 'second'].map((commonName) =>
      makeCertificate({ commonName, dnsNames: [commonName], issuer: testCa }),
    );
    const seen: string[] = [];
    let certificate = first;
    const { call } = await single(
      (_received, _response, request) => {
        const { subject } = (request.socket as import('node:tls').TLSSocket).getPeerCertificate();
        seen.push(String(subject.CN));
        return success;
      },
      { options: { clientCertificate: () => certificate }, serverOptions: { requestCert: true, ca: testCa.cert } },
    );
    await call();
    certificate = second;
    await call();
    await call();
    expect(seen).toEqual(['first', 'second', 'second']);
  });

  test('a service is called at another address under its own name', async () => {
    const certificate = makeCertificate({ commonName: 'x', dnsNames: ['svc.ns.svc'], issuer: testCa });
    const extension = await server(() => success, { certificate });
    const caller = client({
      resolve: (host) => (host === 'svc.ns.svc:443' ? { host: 'localhost', port: extension.port } : undefined),
    });
    const config = extensionConfig('one', { service: { name: 'svc', namespace: 'ns', port: 443 }, caBundle });
    expect(await caller.discover(config)).toMatchObject({ ok: true, handlers: [] });
    expect(extension.received[0]?.headers.host).toBe('svc.ns.svc:443');
  });
});

describe('all handlers', () => {
  /** Two extensions with handlers of a hook; the path tells which one is called. */
  async function several(answer: (handler: string) => JsonObject, options: ClientOptions = {}) {
    const extension = await server(({ url }) => answer(url.split('?')[0]?.split('/').at(-1) ?? ''));
    const caller = client(options);
    const add = (name: string, handlers: string[], spec: object = {}) =>
      caller.registry.add(
        extensionConfig(
          name,
          { url: extension.url, caBundle },
          handlers.map((handler) => storedHandler(`${handler}.${name}`, 'BeforeClusterUpgrade')),
          { spec },
        ),
      );
    const call = (more: object = {}) =>
      caller.callAllExtensions(upgrade, { object, request: requestOf(upgrade), ...more });
    const asked = () => extension.received.map(({ url }) => url.split('?')[0]?.split('/').at(-1));
    return { extension, caller, add, call, asked };
  }

  test('are called in the order of their names; messages are joined, the lowest wait counts', async () => {
    const answers: Record<string, JsonObject> = {
      a: { status: 'Success', message: 'first', retryAfterSeconds: 30 },
      b: { status: 'Success', retryAfterSeconds: 0 },
      c: { status: 'Success', message: 'third', retryAfterSeconds: 5 },
    };
    const { add, call, asked } = await several((handler) => answers[handler] as JsonObject);
    add('zeta', ['c', 'a']);
    add('alpha', ['b']);
    expect(await call()).toMatchObject({
      ok: true,
      response: { status: 'Success', message: 'first, third', retryAfterSeconds: 5 },
    });
    expect(asked()).toEqual(['a', 'b', 'c']);
  });

  test('stop at the first error', async () => {
    const { add, call, asked } = await several((handler) =>
      handler === 'b' ? { status: 'Failure', message: 'no' } : success,
    );
    add('one', ['a', 'b', 'c']);
    expect(await call()).toMatchObject({
      ok: false,
      error: {
        message: `failed to call extension handlers for hook "BeforeClusterUpgrade.${hooksGroup}": failed to call extension handler "b.one": got failure response with message: no`,
      },
    });
    expect(asked()).toEqual(['a', 'b']);
  });

  test('that do not exist are a success', async () => {
    const { call } = await several(() => success);
    expect(await call()).toEqual({ ok: true, response: success, calls: [] });
  });

  test('are selected by namespaceSelector', async () => {
    const looked: string[] = [];
    const { add, call, asked, caller } = await several(() => success, {
      namespaceLabels: async (namespace) => {
        looked.push(namespace);
        return namespace === 'default' ? { team: 'a' } : undefined;
      },
    });
    add('all', ['all']);
    await call();
    expect(looked).toEqual([]);
    add('mine', ['mine'], { namespaceSelector: { matchLabels: { team: 'a' } } });
    add('yours', ['yours'], { namespaceSelector: { matchLabels: { team: 'b' } } });
    add('nobody', ['nobody'], { namespaceSelector: undefined });
    await call();
    expect(asked()).toEqual(['all', 'all', 'mine']);
    // One that is called by name and does not match is an error.
    const request = requestOf(upgrade);
    expect(await caller.callExtension(upgrade, { handler: 'yours.yours', object, request })).toMatchObject({
      error: {
        step: 'selector',
        message: expect.stringMatching(/namespaceSelector did not match object default\/lab$/),
      },
    });
    expect(await call({ object: { ...object, namespace: 'gone' } })).toMatchObject({
      error: {
        step: 'selector',
        message: expect.stringMatching(
          /failed to match namespace: failed to get namespace gone: Namespace "gone" not found$/,
        ),
      },
    });
  });

  test('are not waited for once the call is aborted, although the lookup of the namespace never ends', async () => {
    const stop = new AbortController();
    const { add, call, asked, caller } = await several(() => success, {
      namespaceLabels: () => {
        stop.abort();
        return new Promise(() => {});
      },
    });
    add('mine', ['mine'], { namespaceSelector: { matchLabels: { team: 'a' } } });
    const cancelled = {
      ok: false,
      error: {
        step: 'cancelled',
        message: expect.stringMatching(/failed to get namespace default: context canceled$/),
      },
    };
    expect(await call({ signal: stop.signal })).toMatchObject(cancelled);
    const request = requestOf(upgrade);
    const one = { handler: 'mine.mine', object, request, signal: stop.signal };
    expect(await caller.callExtension(upgrade, one)).toMatchObject(cancelled);
    expect(asked()).toEqual([]);
  });

  test.each([
    [new Error('no access'), 'no access'],
    ['no access', 'no access'],
  ])('are unknown if the lookup of the namespace throws %o', async (thrown, problem) => {
    const { add, call } = await several(() => success, { namespaceLabels: () => Promise.reject(thrown) });
    add('mine', ['mine'], { namespaceSelector: { matchLabels: { team: 'a' } } });
    expect(await call()).toMatchObject({
      error: { step: 'selector', message: expect.stringMatching(`failed to get namespace default: ${problem}$`) },
    });
  });

  test('of 1,000 registered ones, only the 50 that match are called', async () => {
    let lookups = 0;
    const namespaceLabels = async () => {
      lookups++;
      return { team: 'a' };
    };
    const { add, call, asked } = await several(() => success, { namespaceLabels });
    for (let at = 0; at < 20; at++) {
      const names = Array.from({ length: 50 }, (_, index) => `h${String(index).padStart(2, '0')}`);
      add(`e${at}`, names, { namespaceSelector: { matchLabels: { team: at === 7 ? 'a' : 'b' } } });
    }
    expect(await call()).toMatchObject({ ok: true });
    expect(asked()).toHaveLength(50);
    expect(lookups).toBe(1);
  });
});

test('gzip is requested and decompressed, as by Go', async () => {
  const { call, extension } = await single((received, response, request) => {
    expect(received.headers['accept-encoding']).toBe('gzip');
    return write(200, gzipSync(JSON.stringify({ ...success, message: 'packed' })), { 'content-encoding': 'GZIP' })(
      received,
      response,
      request,
    );
  });
  expect(await call()).toMatchObject({ ok: true, response: { message: 'packed' } });
  expect(await call()).toMatchObject({ ok: true });
  expect(extension.connections()).toBe(1);
});

test.each<[string, (packed: Buffer) => Buffer]>([
  ['half a checksum', (packed) => packed.subarray(0, -4)],
  ['no checksum', (packed) => packed.subarray(0, -8)],
])('gzip with %s after the value is accepted, as by Go', async (_, change) => {
  const packed = gzipSync(JSON.stringify({ ...success, message: 'x'.repeat(1000) }));
  const { call } = await single((_received, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    response.end(change(packed));
    return undefined;
  });
  expect(await call()).toMatchObject({ ok: true, response: { message: 'x'.repeat(1000) } });
});

test('an answer with the fields of an error is still an answer', async () => {
  const { call, caller, config } = await single(() => ({ ...success, step: 'url', message: 'fine' }));
  expect(await call()).toMatchObject({ ok: true, response: { message: 'fine' } });
  expect(await caller.discover(config)).toMatchObject({ ok: true });
});

describe('the cache', () => {
  test('keeps a wait: the hook is not called before it expires, whatever the request', async () => {
    let now = 1;
    let retry = 30;
    const { call, extension } = await single(() => ({ status: 'Success', message: 'wait', retryAfterSeconds: retry }), {
      options: { now: () => now },
    });
    expect(await call({ cache: true })).toMatchObject({ from: 'extension', response: { retryAfterSeconds: 30 } });
    now = 20_501;
    expect(await call({ cache: true })).toMatchObject({
      from: 'wait',
      response: { status: 'Success', message: 'wait', retryAfterSeconds: 10 },
    });
    // For another object, or one created again with the same name, the hook is called.
    expect(await call({ cache: true, object: { ...object, uid: 'uid-2' } })).toMatchObject({ from: 'extension' });
    now = 30_002;
    retry = 0;
    expect(await call({ cache: true })).toMatchObject({ from: 'extension', response: { retryAfterSeconds: 0 } });
    expect(await call({ cache: true })).toMatchObject({ from: 'extension' });
    expect(extension.received).toHaveLength(4);
  });

  test('keeps variables for ten minutes, by ExtensionConfig and settings in any order', async () => {
    let now = 1;
    const extension = await server(() => ({ status: 'Success', variables: [] }));
    const caller = client({ now: () => now });
    const add = (uid: string) =>
      caller.registry.add(
        extensionConfig('one', { url: extension.url, caBundle }, [storedHandler('v.one', 'DiscoverVariables')], {
          uid,
        }),
      );
    add('uid-1');
    const call = (settings: Record<string, string>) =>
      caller.callExtension(hooks.DiscoverVariables, { handler: 'v.one', object, request: { settings }, cache: true });
    expect(await call({ a: '1', b: '2' })).toMatchObject({ from: 'extension' });
    expect(await call({ b: '2', a: '1' })).toMatchObject({ from: 'cache' });
    expect(await call({ a: '2' })).toMatchObject({ from: 'extension' });
    now = 600_002;
    expect(await call({ a: '1', b: '2' })).toMatchObject({ from: 'extension' });
    add('uid-2');
    expect(await call({ a: '1', b: '2' })).toMatchObject({ from: 'extension' });
  });

  test('never keeps a failure', async () => {
    const { call, extension } = await single(() => ({ status: 'Failure', message: 'no', retryAfterSeconds: 30 }));
    await call({ cache: true });
    await call({ cache: true });
    expect(extension.received).toHaveLength(2);
  });
});

describe('an extension that is down', () => {
  test('is called at growing intervals, and normally after a success', async () => {
    let now = 0;
    let isDown = true;
    const { call, extension } = await single(
      (received, response, request) => (isDown ? write(500, 'down')(received, response, request) : success),
      { options: { now: () => now } },
    );
    const outcome = async () => {
      const result = await call();
      return result.ok ? 'ok' : result.error.step;
    };
    expect(await outcome()).toBe('http');
    expect(await outcome()).toBe('backoff');
    now = 1000;
    expect(await outcome()).toBe('http');
    now = 2900;
    expect(await outcome()).toBe('backoff');
    const held = await call();
    expect(held).toMatchObject({
      error: {
        message: expect.stringMatching(
          /is not called for another 1s: it failed 2 times in a row, last with: http call failed: .*500/,
        ),
      },
    });
    now = 3000;
    isDown = false;
    expect(await outcome()).toBe('ok');
    isDown = true;
    expect(await outcome()).toBe('http');
    now = 4000;
    expect(await outcome()).toBe('http');
    expect(extension.received).toHaveLength(5);
  });

  test('does not pass its backoff on to another one that was created with the same name', async () => {
    const { call, caller, config } = await single(write(500, 'down'), { options: { now: () => 0 } });
    await call();
    expect(await call()).toMatchObject({ error: { step: 'backoff' } });
    caller.registry.add({ ...config, metadata: { ...config.metadata, uid: 'new' } as never });
    expect(await call()).toMatchObject({ error: { step: 'http' } });
  });

  test('is not one that answers with Failure', async () => {
    const { call } = await single(() => ({ status: 'Failure', message: 'no' }));
    await call();
    expect(await call()).toMatchObject({ error: { step: 'status' } });
  });

  test('is still discovered on request', async () => {
    const { caller, config, extension } = await single(write(503, 'down'), { options: { now: () => 0 } });
    await caller.discover(config);
    expect(await caller.discover(config)).toMatchObject({ error: { step: 'http' } });
    expect(extension.received).toHaveLength(2);
  });
});

test('connections are reused, and concurrent calls are limited', async () => {
  const { call, extension } = await single(
    (_received, response) => {
      setTimeout(() => response.end(JSON.stringify(success)), 20);
      return undefined;
    },
    { handler: { timeoutSeconds: 10 } },
  );
  const results = await Promise.all(Array.from({ length: 30 }, () => call()));
  expect(results.every(({ ok }) => ok)).toBe(true);
  expect(extension.mostAtOnce()).toBe(10);
  expect(extension.connections()).toBeLessThanOrEqual(10);
});

test('a caller can abort a call', async () => {
  const stop = new AbortController();
  const { call } = await single(
    () => {
      setTimeout(() => stop.abort(), 20);
      return undefined;
    },
    { handler: { timeoutSeconds: 10 } },
  );
  expect(await call({ signal: stop.signal })).toMatchObject({ error: { step: 'cancelled' } });
});

test("metrics have Cluster API's names and labels, and our own report backoff", async () => {
  const metrics = new MetricsRegistry();
  let answer: Answering = () => ({ status: 'Success' });
  const { call, extension } = await single((...args) => answer(...args), { options: { metrics, now: () => 0 } });
  await call();
  answer = () => ({ status: 'Failure' });
  await call();
  answer = write(500, '');
  await call();
  await call();
  const text = await metrics.metrics();
  const labels = (code: string, status: string) =>
    `{code="${code}",host="localhost:${extension.port}",group="${hooksGroup}",version="v1alpha1",hook="BeforeClusterUpgrade",status="${status}"}`;
  expect(text).toContain(`capi_runtime_sdk_requests_total${labels('200', 'Success')} 1`);
  expect(text).toContain(`capi_runtime_sdk_requests_total${labels('200', 'Failure')} 1`);
  expect(text).toContain(`capi_runtime_sdk_requests_total${labels('500', 'Unknown')} 1`);
  expect(text).toMatch(/capi_runtime_sdk_request_duration_seconds_count\{.*\} 3/);
  expect(text).toContain('extensionconfig_extension_calls_held_back_total{extension="one"} 1');
  const recorded = readFileSync(new URL('../../support/fixtures/runtime-sdk/metrics.txt', import.meta.url), 'utf8');
  const names = (lines: string) =>
    new Set(
      lines
        .split('\n')
        .filter((line) => line.startsWith('capi_'))
        .map((line) => `${line.split('{')[0]} ${[...line.matchAll(/(\w+)="/g)].map(([, label]) => label).sort()}`),
    );
  expect([...names(text)].sort()).toEqual([...names(recorded)].sort());
  const limits = (lines: string) => new Set([...lines.matchAll(/le="([^"]+)"/g)].map(([, limit]) => limit));
  expect(limits(text)).toEqual(limits(recorded));
});

test('an address without a server, and a name that does not resolve, are errors', async () => {
  // Another server may get the port of one that has stopped.
  const url = 'https://localhost:1';
  const caller = client();
  expect(await caller.discover(extensionConfig('one', { url, caBundle }))).toMatchObject({
    ok: false,
    error: {
      step: 'connect',
      message: expect.stringMatching(
        new RegExp(
          `^failed to discover extension "one": http call failed: Post "${url}/hooks\\.runtime\\.cluster\\.x-k8s\\.io/v1alpha1/discovery\\?timeout=10s": dial tcp (127\\.0\\.0\\.1|::1):1: connect: connection refused$`,
        ),
      ),
    },
  });
  expect(await caller.discover(extensionConfig('one', { url: 'https://nobody.invalid', caBundle }))).toMatchObject({
    error: { step: 'connect', message: expect.stringContaining('no such host') },
  });
});

test('calls use HTTP/1.1, even if the server offers HTTP/2', async () => {
  const versions: string[] = [];
  const server = createSecureServer({ ...localhost, allowHTTP1: true }, (request, response) => {
    versions.push(request.httpVersion);
    request.resume().on('end', () => response.end(JSON.stringify({ status: 'Success', handlers: [] })));
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  onTestFinished(() => {
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const config = extensionConfig('one', { url: `https://localhost:${port}`, caBundle });
  expect(await client().discover(config)).toMatchObject({ ok: true });
  expect(versions).toEqual(['1.1']);
});
