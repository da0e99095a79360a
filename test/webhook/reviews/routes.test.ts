import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import fc from 'fast-check';
import supertest from 'supertest';
import { afterEach, describe, expect, test } from 'vitest';
import { type ConversionReviewResponse, maxJsonDepth } from '../../../src/kubernetes/index.ts';
import { Http1Response } from '../../../src/server/connections/tracked.ts';
import { createMetrics } from '../../../src/server/health/metrics.ts';
import { createDecide, knownFeatureGates } from '../../../src/webhook/index.ts';
import { createApplication } from '../../../src/webhook/reviews/application.ts';
import { createReviewMetrics, metricsPrefix } from '../../../src/webhook/reviews/metrics.ts';
import { capturedCalls, collectingLog, mutate, review, testAdmission, validate } from '../../server/running.ts';

const maxBodyBytes = 64 * 1024;
const { log, lines } = collectingLog();
const metrics = createMetrics(
  { version: '1.2.3', prefix: metricsPrefix, port: 'webhook' },
  { inFlight: () => 0, inFlightBytes: () => 0, connections: () => 0 },
  false,
);
let clock = 0;

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

const application = createApplication({
  webhooks: ['mutate', 'validate', 'convert'],
  decide: createDecide(testAdmission, (body) =>
    typeof body === 'object'
      ? {
          review: conversionReview((body as { fail?: boolean }).fail === true, (body as { reason?: string }).reason),
        }
      : { problem: 'no ConversionReview' },
  ),
  metrics,
  reviews: createReviewMetrics(metrics.registry, knownFeatureGates),
  log,
  maxBodyBytes,
  connections: { holdBody: () => true, holdDecision: () => {}, holdResponse: () => {}, leave: () => {} },
  monotonicNow: () => (clock += 2),
  isDraining: () => false,
});
const http = supertest(createServer({ ServerResponse: Http1Response }, application));

function post(path: string, body: string | Buffer, type = 'application/json') {
  // Sent as bytes, since superagent would encode a string again as JSON.
  return http
    .post(path)
    .set('content-type', type)
    .serialize((value) => value as unknown as string)
    .send(body as string);
}

afterEach(() => {
  lines.length = 0;
});

/** Returns a function that tells by how much each metric, given by its name without the prefix, has increased since. */
async function countsOf(names: readonly string[]): Promise<() => Promise<number[]>> {
  const read = async () => {
    const all = (await metrics.render()).split('\n');
    return names.map((name) => {
      const start = `${metricsPrefix}${name} `;
      return Number(all.find((line) => line.startsWith(start))?.slice(start.length) ?? 0);
    });
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
  const answer = await http.post(`${path}?timeout=10s`).set(sent).send(body);
  expect(answer.status).toBe(200);
  expect(answer.type).toBe('application/json');
  expect(answer.body).toMatchObject({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: body.request.uid, allowed: true },
  });
});

test('a patch is sent as JSONPatch', async () => {
  const answer = await post(mutate, review('x'));
  expect(answer.body.response).toMatchObject({ allowed: true, patchType: 'JSONPatch' });
  expect(JSON.parse(Buffer.from(answer.body.response.patch, 'base64').toString())).toEqual([
    { op: 'add', path: '/spec/namespaceSelector', value: {} },
  ]);
});

test('/convert returns the result of the conversion', async () => {
  expect((await post('/convert', '{}')).body).toEqual(conversionReview(false));
  const refused = await post('/convert', '7');
  expect(refused.status).toBe(400);
  expect(refused.body).toMatchObject({ kind: 'Status', message: 'no ConversionReview' });
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
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ kind: 'Status', status: 'Failure', reason: 'BadRequest', code: 400 });
    expect(answer.body.message).toMatch(message);
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
  expect(answer.status).toBe(200);
  expect(answer.body.response).toMatchObject({ uid: 'u', allowed: false, status: { code: 400, reason: 'BadRequest' } });
  expect(lines).toMatchObject([{ uid: 'u', msg: 'malformed review' }]);
});

test('of duplicate keys the last one counts, as in the API server', async () => {
  const answer = await post(validate, review('denied').replace('"name":"denied"', '"name":"denied","name":"fine"'));
  expect(answer.body.response.allowed).toBe(true);
});

test.each<[string, string, string, number, RegExp]>([
  ['text', 'POST', 'text/plain', 415, /application\/json/],
  ['a longer type', 'POST', 'application/jsonp', 415, /application\/json/],
  ['a patch type', 'POST', 'application/json-patch+json', 415, /application\/json/],
  ['PUT', 'PUT', 'application/json', 405, /use POST/],
  ['GET', 'GET', 'application/json', 405, /use POST/],
])('the header is checked first: %s', async (_name, method, type, code, message) => {
  const answer = await http[method.toLowerCase() as 'post'](validate).set('content-type', type);
  expect(answer.status).toBe(code);
  expect(answer.body.message).toMatch(message);
  expect(answer.headers.connection).toBe('close');
  expect(answer.headers.allow).toBe(code === 405 ? 'POST' : undefined);
});

test.each([
  'application/json',
  'application/json; charset=utf-8',
  'Application/JSON ;x=y',
])('the type %s is JSON', async (type) => {
  expect((await post(validate, review('x'), type)).status).toBe(200);
});

test('compressed bodies are rejected', async () => {
  const answer = await http.post(validate).set('content-type', 'application/json').set('content-encoding', 'gzip');
  expect(answer.status).toBe(415);
});

test.each([
  [maxBodyBytes, 200],
  [maxBodyBytes + 1, 413],
])('a body of %i bytes gets %i', async (size, code) => {
  const body = review('x');
  const answer = await post(validate, body + ' '.repeat(size - body.length));
  expect(answer.status).toBe(code);
});

test('a bug in the decision results in a 500, and neither response nor log reveal the object', async () => {
  const answer = await post(validate, review('bug'));
  expect(answer.status).toBe(500);
  expect(answer.body.message).toMatch(/internal error/);
  expect(lines).toMatchObject([{ error: 'TypeError', msg: 'the decision failed' }]);
  expect(JSON.stringify([answer.body, lines])).not.toContain('hunter2');
  expect((await post(validate, review('fine'))).status).toBe(200);
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
      durationMs: 2,
      ...expected,
    },
  ]);
});

test('unknown paths get a 404 in JSON', async () => {
  for (const path of ['/', '/mutate', `${validate}/`, validate.toUpperCase(), '//', '/%ff', '/..%2f']) {
    const answer = await http.post(path).send({});
    expect([path, answer.status, answer.body.kind]).toEqual([path, 404, 'Status']);
    expect(answer.body.message).toBe(`no such path; the webhooks are ${mutate}, ${validate}, /convert`);
  }
});

test('a failed conversion is logged without any value of an object, and counted', async () => {
  const request = {
    uid: 'uid-c',
    desiredAPIVersion: 'runtime.cluster.x-k8s.io/v1beta2',
    objects: [{ secret: 'hunter2' }],
  };
  const count = await countsOf(['conversions_total{result="failure"}']);
  expect((await post('/convert', JSON.stringify({ fail: true, request }))).status).toBe(200);
  expect(await count()).toEqual([1]);
  expect(lines).toEqual([
    {
      level: 40,
      webhook: 'convert',
      uid: 'uid-c',
      desiredAPIVersion: 'runtime.cluster.x-k8s.io/v1beta2',
      objects: 1,
      reason: 'ExtensionConfig objects[0] "x": spec: wrong',
      durationMs: 2,
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
  await post('/convert', '{}');
  await post('/convert', '{}');
  await post('/convert', '{"fail":true}');
  // Each takes two milliseconds by the test's clock.
  expect(await count()).toEqual([2, 1, 3, expect.closeTo(0.006)]);
});

test('what the log takes from a request is truncated', async () => {
  await post('/convert', JSON.stringify({ fail: true, reason: 'x'.repeat(10_000), request: { uid: 'u' } }));
  expect(String(lines[0]?.reason)).toHaveLength(1024);
});

test('metrics count reviews, rules and refusals', async () => {
  const count = await countsOf([
    'reviews_total{webhook="validate",operation="CREATE",verdict="denied"}',
    'reviews_total{webhook="validate",operation="CREATE",verdict="warned"}',
    'reviews_total{webhook="validate",operation="CREATE",verdict="allowed"}',
    'reviews_total{webhook="mutate",operation="CREATE",verdict="allowed"}',
    'reviews_total{webhook="validate",operation="UNKNOWN",verdict="malformed"}',
    'rule_denials_total{rule="url-scheme"}',
    'rule_denials_total{rule="url-host"}',
    'rule_warnings_total{rule="ca-soon"}',
    'http_refusals_total{code="400"}',
    'http_refusals_total{code="404"}',
    'http_refusals_total{code="415"}',
    'http_refusals_total{code="500"}',
    'request_duration_seconds_count{webhook="validate"}',
    'request_duration_seconds_sum{webhook="validate"}',
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
  const [seconds = 0, ...counts] = (await count()).reverse();
  expect(counts.reverse()).toEqual([2, 1, 3, 1, 1, 2, 2, 1, 2, 1, 1, 1, 7]);
  // Each takes two milliseconds by the test's clock.
  expect(seconds).toBeCloseTo(0.014);
  expect(await metrics.render()).not.toMatch(/certificate_not_after_timestamp_seconds \d/);
});

test('every metric exists from the start, at 0', async () => {
  const fresh = createMetrics(
    { version: '1.2.3', prefix: metricsPrefix, port: 'webhook' },
    { inFlight: () => 0, inFlightBytes: () => 0, connections: () => 0 },
    false,
  );
  const reviews = createReviewMetrics(fresh.registry, knownFeatureGates);
  const before = await fresh.render();
  for (const line of [
    'conversions_total{result="success"} 0',
    'conversions_total{result="failure"} 0',
    ...['answered', 'refused', 'timeout', 'failed', 'abandoned'].map(
      (result) => `large_bodies_total{result="${result}"} 0`,
    ),
  ]) {
    expect(before).toContain(`extensionconfig_webhook_${line}\n`);
  }
  reviews.largeBody('timeout');
  expect(await fresh.render()).toContain('large_bodies_total{result="timeout"} 1\n');
  for (const unknown of [['Cluster', 'Secret'], ['Secret'], []] as const) {
    const knowledge = { unknown, ageMs: undefined };
    reviews.review('validate', 'CREATE', { verdict: 'allowed', deniedBy: [], warnedBy: [], knowledge }, 0);
  }
  const text = await fresh.render();
  expect(text).toContain('reviews_without_facts_total{kind="Cluster"} 1\n');
  expect(text).toContain('reviews_without_facts_total{kind="Secret"} 2\n');
});

test('no body makes the server respond with 5xx or stop', async () => {
  const server = createServer({ ServerResponse: Http1Response }, application).listen(0, '127.0.0.1');
  const sample = readFileSync(new URL('../../support/fixtures/webhook-calls/create-validate.json', import.meta.url));
  const body = Buffer.from(JSON.stringify(JSON.parse(sample.toString()).body));
  const agent = supertest.agent(server);
  try {
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
          const answer = await agent
            .post(path)
            .set('content-type', 'application/json')
            .serialize((value) => value as unknown as string)
            .send(bytes as unknown as string);
          expect([200, 400]).toContain(answer.status);
        },
      ),
      { numRuns: 100 },
    );
  } finally {
    server.close();
  }
});
