import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import supertest from 'supertest';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type ConversionReviewResponse, maxJsonDepth } from '../../../src/kubernetes/index.ts';
import { createRefuse, defaultLimits, InFlight } from '../../../src/server/index.ts';
import { createReviewApplication, knownFeatureGates } from '../../../src/webhook/index.ts';
import { capturedCalls, collectingLog, mutate, review, testAdmission, validate } from '../../server/running.ts';

const maxBodyBytes = 64 * 1024;
function conversionReview(fails: boolean, reason = ''): ConversionReviewResponse {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'ConversionReview',
    response: {
      uid: 'uid-c',
      convertedObjects: [],
      result: fails
        ? { status: 'Failure', message: `ExtensionConfig objects[0] "x": spec: wrong${reason}` }
        : { status: 'Success' },
    },
  };
}

const registry = new Registry();
const { log, lines } = collectingLog();
/** Codes of refusals. */
const refused: number[] = [];
const inFlight = new InFlight(defaultLimits.maxInFlightBytes);
const application = createReviewApplication(
  {
    featureGates: knownFeatureGates,
    admission: testAdmission,
    convert: (body) =>
      typeof body === 'object'
        ? {
            review: conversionReview((body as { fail?: boolean }).fail === true, (body as { reason?: string }).reason),
          }
        : { problem: 'no ConversionReview' },
    impact: async ({ uid }) => ({
      response: { uid, allowed: true, warnings: ['replaces Machines'] },
      verdict: 'warned',
      deniedBy: [],
      warnedBy: ['impact'],
    }),
  },
  {
    inFlight,
    limits: { ...defaultLimits, maxBodyBytes },
    refuse: createRefuse(log, ({ code }) => refused.push(code)),
    metrics: { registry },
    log,
  },
);
const server = createServer(application);
beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => void server.close(resolve)));
afterEach(() => {
  expect(inFlight.bytes).toBe(0);
  lines.length = 0;
  refused.length = 0;
});

interface SendOptions {
  method?: 'post' | 'put' | 'get' | 'options';
  headers?: Record<string, string>;
}

/** Sends a request on a connection that may stay open. */
async function send(path: string, body: string | Buffer, { method = 'post', headers = {} }: SendOptions = {}) {
  const answer = await supertest(server)
    [method](path)
    .set({ connection: 'keep-alive', ...headers })
    // Bytes are sent as they are, whatever their type.
    .serialize((bytes) => bytes as string)
    .send(body.length === 0 ? undefined : body);
  return { code: answer.status, headers: answer.headers, json: answer.body };
}

const post = (path: string, body: string | Buffer, type = 'application/json', { headers, ...more }: SendOptions = {}) =>
  send(path, body, { ...more, headers: { 'content-type': type, ...headers } });

/** Returns a function that tells by how much each metric, given by its name without the prefix, has increased since. */
async function countsOf(names: readonly string[]): Promise<() => Promise<number[]>> {
  const read = async () => {
    const samples = (await registry.metrics()).split('\n').map((line) => line.split(/ (?=[^ ]*$)/));
    return names.map((name) =>
      Number(samples.find(([sample]) => sample === `extensionconfig_webhook_${name}`)?.[1] ?? 0),
    );
  };
  const before = await read();
  return async () => (await read()).map((value, index) => value - (before[index] ?? 0));
}

const admissionCalls = capturedCalls.filter((call) => call.body.kind === 'AdmissionReview');

test('captured calls exist', () => {
  expect(admissionCalls.map((call) => call.name)).toContain('create-validate.json');
});

test.each(admissionCalls)('answers the captured call $name', async ({ url, headers, body }) => {
  const path = url.startsWith('/mutate') ? mutate : validate;
  const { 'content-length': _length, host: _host, ...sent } = headers;
  const answer = await send(`${path}?timeout=10s`, JSON.stringify(body), { headers: sent });
  expect([answer.code, answer.headers['content-type']]).toEqual([200, 'application/json']);
  expect(answer.json).toMatchObject({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: body.request.uid, allowed: true },
  });
});

test('a patch is sent as JSONPatch', async () => {
  const answer = await post(mutate, review('x'));
  expect(answer.json.response).toMatchObject({ allowed: true, patchType: 'JSONPatch' });
  expect(JSON.parse(Buffer.from(String(answer.json.response.patch), 'base64').toString())).toEqual([
    { op: 'add', path: '/spec/namespaceSelector', value: {} },
  ]);
});

test('/impact sends its warnings', async () => {
  const count = await countsOf([
    'reviews_total{webhook="impact",operation="CREATE",verdict="warned"}',
    'rule_warnings_total{rule="impact"}',
    'request_duration_seconds_count{webhook="impact"}',
  ]);
  const answer = await post('/impact', review('x'));
  expect(answer.json.response).toEqual({ uid: 'uid-of-x', allowed: true, warnings: ['replaces Machines'] });
  expect(lines).toMatchObject([{ webhook: 'impact', msg: 'allowed with warnings', warnedBy: ['impact'] }]);
  expect(await count()).toEqual([1, 1, 1]);
});

test('an answer has no unnecessary headers', async () => {
  const { headers } = await post(validate, review('x'));
  expect(Object.keys(headers).sort()).toEqual(['connection', 'content-length', 'content-type', 'date', 'keep-alive']);
});

test('/convert returns the result of the conversion', async () => {
  expect((await post('/convert', '{}')).json).toEqual(conversionReview(false));
  const other = await post('/convert', '7');
  expect(other.code).toBe(400);
  expect(other.json).toMatchObject({ kind: 'Status', message: 'no ConversionReview' });
});

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const withRequest = (text: string) => `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":${text}}`;

describe('bodies that are not a review get a metav1.Status', () => {
  test.each<[string, string | Buffer, RegExp]>([
    ['empty', Buffer.alloc(0), /not valid JSON/],
    ['truncated', review('x').slice(0, -5), /not valid JSON/],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22]), /UTF-8/],
    ['UTF-16', Buffer.from(review('x'), 'utf16le'), /UTF-8|JSON/],
    ['nested too deeply', deep(maxJsonDepth + 1), /nests deeper/],
    ['nested to the limit, but not a review', deep(maxJsonDepth), /AdmissionReview/],
    ['only opening brackets', '['.repeat(50_000), /not valid JSON/],
    ['nested twenty thousand deep', `${'['.repeat(20_000)}${']'.repeat(20_000)}`, /nests deeper/],
    ['a number', '1e999', /AdmissionReview/],
    ['null', 'null', /AdmissionReview/],
    ['another kind', '{"apiVersion":"v1","kind":"Pod"}', /got apiVersion "v1" and kind "Pod"/],
    ['v1beta1 of the review', review('x').replace('admission.k8s.io/v1', 'admission.k8s.io/v1beta1'), /v1beta1/],
    ['no request', withRequest('null'), /request must be an object/],
    ['no uid', withRequest('{"operation":"CREATE"}'), /request.uid/],
    [
      '__proto__ as the review',
      '{"__proto__":{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}}',
      /kind none/,
    ],
    ['a uid only under __proto__', withRequest('{"__proto__":{"uid":"u"}}'), /request.uid/],
  ])('%s', async (_name, body, message) => {
    const answer = await post(validate, body);
    expect(answer.code).toBe(400);
    expect(answer.json).toMatchObject({ kind: 'Status', status: 'Failure', reason: 'BadRequest', code: 400 });
    expect(answer.json.message).toMatch(message);
  });
});

test.each([
  ['no kind', '{"uid":"u"}'],
  ['an unknown operation', '{"uid":"u","kind":{"version":"v1","kind":"K"},"operation":"PATCH"}'],
  [
    'an object that is not an object',
    '{"uid":"u","kind":{"version":"v1","kind":"K"},"operation":"CREATE","object":[]}',
  ],
])('a malformed review with a uid gets a review as response: %s', async (_name, request) => {
  const answer = await post(validate, withRequest(request));
  expect(answer.code).toBe(200);
  expect(answer.json.response).toMatchObject({
    uid: 'u',
    allowed: false,
    status: { code: 400, reason: 'BadRequest' },
  });
  expect(lines).toMatchObject([{ uid: 'u', msg: 'malformed review', reason: expect.stringMatching(/^request\./) }]);
});

test('of duplicate keys the last one counts, as in the API server', async () => {
  const answer = await post(validate, review('denied').replace('"name":"denied"', '"name":"denied","name":"fine"'));
  expect(answer.json.response.allowed).toBe(true);
});

describe.each([mutate, validate, '/convert', '/impact'])('%s', (path) => {
  test.each([
    ['text', 'post', 'text/plain', 415, /application\/json/],
    ['a longer type', 'post', 'application/jsonp', 415, /application\/json/],
    ['a patch type', 'post', 'application/json-patch+json', 415, /application\/json/],
    ['PUT', 'put', 'application/json', 405, /use POST/],
    ['GET', 'get', 'application/json', 405, /use POST/],
    ['OPTIONS', 'options', 'application/json', 405, /use POST/],
  ] as const)('takes no %s', async (_name, method, type, code, message) => {
    const answer = await post(path, method === 'post' ? '{}' : '', type, { method });
    expect([answer.code, answer.json.kind, answer.json.code]).toEqual([code, 'Status', code]);
    expect(answer.json.message).toMatch(message);
    expect(answer.headers.allow).toBe(code === 405 ? 'POST' : undefined);
    expect(refused).toEqual([code]);
  });

  test.each([
    ['compressed bodies', '{}', { 'content-encoding': 'gzip' }, 415],
    ['bodies over the limit', ' '.repeat(maxBodyBytes + 1), {}, 413],
    ['what is not JSON', '{', {}, 400],
  ] as const)('takes no %s', async (_name, body, headers, code) => {
    const answer = await post(path, body, 'application/json', { headers });
    expect([answer.code, answer.json.code, refused]).toEqual([code, code, [code]]);
  });
});

test.each([
  'application/json',
  'application/json; charset=utf-8',
  'Application/JSON ;x=y',
])('the type %s is JSON', async (type) => {
  expect((await post(validate, review('x'), type)).code).toBe(200);
});

test.each([
  [maxBodyBytes, 200],
  [maxBodyBytes + 1, 413],
])('a body of %i bytes gets %i', async (size, code) => {
  const body = review('x');
  const answer = await post(validate, body + ' '.repeat(size - body.length));
  expect(answer.code).toBe(code);
});

test('a bug in the decision results in a 500, and neither response nor log reveal the object', async () => {
  const answer = await post(validate, review('bug'));
  expect(answer.code).toBe(500);
  expect(answer.json.message).toMatch(/internal error/);
  expect(lines).toMatchObject([{ error: 'TypeError', msg: 'the handler of a request failed' }]);
  expect(JSON.stringify([answer.json, lines])).not.toContain('hunter2');
  expect((await post(validate, review('fine'))).code).toBe(200);
});

test.each<[string, object]>([
  ['denied', { level: 30, msg: 'denied', deniedBy: ['url-scheme', 'url-host'] }],
  ['warned', { level: 30, msg: 'allowed with warnings', warnedBy: ['ca-soon'] }],
  ['fine', { level: 20, msg: 'allowed' }],
])('logs one line for an object that is %s', async (name, expected) => {
  await post(validate, review(name));
  expect(lines).toEqual([
    {
      webhook: 'validate',
      uid: `uid-of-${name}`,
      operation: 'CREATE',
      name,
      username: 'alice',
      dryRun: false,
      client: '127.0.0.1',
      durationMs: expect.any(Number),
      ...expected,
    },
  ]);
});

test('unknown paths get a 404 in JSON', async () => {
  for (const path of ['/', '/mutate', `${validate}/`, validate.toUpperCase(), '//', '/%ff', '/..%2f']) {
    const answer = await post(path, '{}');
    expect([path, answer.code, answer.json.kind]).toEqual([path, 404, 'Status']);
    expect(answer.json.message).toBe(`no such path; the webhooks are ${mutate}, ${validate}, /convert, /impact`);
  }
});

test('a failed conversion is logged without any value of an object, and counted', async () => {
  const request = {
    uid: 'uid-c',
    desiredAPIVersion: 'runtime.cluster.x-k8s.io/v1beta2',
    objects: [{ secret: 'hunter2' }],
  };
  const count = await countsOf(['conversions_total{result="failure"}']);
  expect((await post('/convert', JSON.stringify({ fail: true, request }))).code).toBe(200);
  expect(await count()).toEqual([1]);
  expect(lines).toEqual([
    {
      level: 40,
      webhook: 'convert',
      uid: 'uid-c',
      desiredAPIVersion: 'runtime.cluster.x-k8s.io/v1beta2',
      objects: 1,
      reason: 'ExtensionConfig objects[0] "x": spec: wrong',
      client: '127.0.0.1',
      durationMs: expect.any(Number),
      msg: 'conversion failed',
    },
  ]);
});

test('conversions are counted and timed by result', async () => {
  const count = await countsOf([
    'conversions_total{result="success"}',
    'conversions_total{result="failure"}',
    'request_duration_seconds_count{webhook="convert"}',
    'request_duration_seconds_sum{webhook="convert"}',
  ]);
  const startedMs = performance.now();
  await post('/convert', '{}');
  await post('/convert', '{}');
  await post('/convert', '{"fail":true}');
  const [succeeded, failed, timed, seconds = 0] = await count();
  expect([succeeded, failed, timed]).toEqual([2, 1, 3]);
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThan((performance.now() - startedMs) / 1000);
});

test('what the log takes from a request is truncated', async () => {
  await post('/convert', JSON.stringify({ fail: true, reason: 'x'.repeat(10_000), request: { uid: 'u' } }));
  expect(String(lines[0]?.reason)).toHaveLength(1024);
});

test('metrics count reviews and rules, and refusals are reported', async () => {
  const count = await countsOf([
    'reviews_total{webhook="validate",operation="CREATE",verdict="denied"}',
    'reviews_total{webhook="validate",operation="CREATE",verdict="warned"}',
    'reviews_total{webhook="validate",operation="CREATE",verdict="allowed"}',
    'reviews_total{webhook="mutate",operation="CREATE",verdict="allowed"}',
    'reviews_total{webhook="validate",operation="UNKNOWN",verdict="malformed"}',
    'rule_denials_total{rule="url-scheme"}',
    'rule_denials_total{rule="url-host"}',
    'rule_warnings_total{rule="ca-soon"}',
    'request_duration_seconds_count{webhook="validate"}',
  ]);
  for (const name of ['denied', 'denied', 'warned', 'fine', 'fine', 'fine', 'bug']) {
    await post(validate, review(name));
  }
  await post(mutate, review('x'));
  await post(validate, withRequest('{"uid":"u"}'));
  await post(validate, 'null');
  await post(validate, '7');
  await post('/', '{}');
  await post(validate, '{}', 'text/plain');
  expect(await count()).toEqual([2, 1, 3, 1, 1, 2, 2, 1, 7]);
  expect(refused).toEqual([500, 400, 400, 404, 415]);
});

test('no body makes the server respond with 5xx or stop', async () => {
  const sample = readFileSync(new URL('../../support/fixtures/webhook-calls/create-validate.json', import.meta.url));
  const body = Buffer.from(JSON.stringify(JSON.parse(sample.toString()).body));
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
        fc.json().map((text) => Buffer.from(text)),
        fc.json().map((text) => Buffer.from(withRequest(text))),
        // A real review with some bytes changed.
        fc.array(fc.tuple(fc.nat(body.length - 1), fc.nat(255)), { maxLength: 5 }).map((changes) => {
          const changed = Buffer.from(body);
          for (const [at, byte] of changes) {
            changed[at] = byte;
          }
          return changed;
        }),
      ),
      fc.constantFrom(mutate, validate),
      async (bytes, path) => {
        const answer = await post(path, bytes);
        expect([200, 400]).toContain(answer.code);
      },
    ),
    { numRuns: 100 },
  );
});
