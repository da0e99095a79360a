import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import supertest from 'supertest';
import { describe, expect, test, vi } from 'vitest';
import type { ConversionResponse, Json } from '../../../src/kubernetes/index.ts';
import type { AdmissionOutcome } from '../../../src/policy/index.ts';
import { createRefuse, defaultLimits, InFlight } from '../../../src/server/index.ts';
import { createReviewApplication } from '../../../src/webhook/index.ts';
import { logReview } from '../../../src/webhook/reviews/review.ts';
import { requestFor } from '../../policy/admission/policy.ts';
import { collectingLog, testAdmission } from '../../server/running.ts';

const client = '10.0.0.7';
const request = requestFor({ metadata: { name: 'x' } }, { username: 'alice', dryRun: true });
const outcome = (more: Partial<AdmissionOutcome> = {}): AdmissionOutcome => ({
  response: { uid: 'u', allowed: true },
  verdict: 'allowed',
  deniedBy: [],
  warnedBy: [],
  ...more,
});
const answered = (more: Partial<Parameters<typeof logReview>[1]> = {}): Parameters<typeof logReview>[1] => ({
  webhook: 'mutate',
  request: undefined,
  outcome: outcome(),
  socket: { remoteAddress: client },
  durationMs: 1,
  ...more,
});

/** A log that excludes the line: nothing may be computed for it. */
function quiet() {
  const write = vi.fn();
  const log = { isLevelEnabled: () => false, debug: write, info: write, warn: write } as unknown as Logger;
  return { log, write };
}

describe('the log line of a review', () => {
  const lineOf = (more: Parameters<typeof answered>[0]) => {
    const { log, lines } = collectingLog();
    logReview(log, answered(more));
    return lines;
  };
  const common = { webhook: 'mutate', uid: 'u', client, durationMs: 1 };

  test.each<[string, Partial<AdmissionOutcome>, object]>([
    ['allowed', {}, { level: 20, msg: 'allowed' }],
    [
      'allowed with warnings',
      { verdict: 'warned', warnedBy: ['a'] },
      { level: 30, msg: 'allowed with warnings', warnedBy: ['a'] },
    ],
    ['denied', { verdict: 'denied', deniedBy: ['a', 'b'] }, { level: 30, msg: 'denied', deniedBy: ['a', 'b'] }],
    [
      'malformed, with the reason',
      { verdict: 'malformed', response: { uid: 'u', allowed: false, status: { code: 400, message: 'no kind' } } },
      { level: 30, msg: 'malformed review', reason: 'no kind' },
    ],
  ])('%s', (_, more, expected) => {
    expect(lineOf({ outcome: outcome(more) })).toEqual([{ ...common, ...expected }]);
  });

  test('has the attributes of the request, and the subresource if there is one', () => {
    const attributes = { operation: 'CREATE', name: 'x', username: 'alice', dryRun: true };
    expect(lineOf({ request })).toEqual([{ ...common, ...attributes, level: 20, msg: 'allowed' }]);
    expect(lineOf({ request: { ...request, subResource: 'status' } })[0]).toMatchObject({ subResource: 'status' });
  });

  test.each([
    'username',
    'name',
    'subResource',
  ] as const)('truncates %s after 253 characters, the maximum for names', (key) => {
    const long = `${'a'.repeat(252)}bc`;
    expect(lineOf({ request: { ...request, [key]: long } })[0]?.[key]).toBe(long.slice(0, 253));
  });

  test.each<[string, AdmissionOutcome['knowledge'], object]>([
    ['no facts are asked for', undefined, {}],
    ['all are known', { unknown: [], ageMs: 1001 }, { factsAgeSeconds: 2 }],
    ['none are known', { unknown: ['Secret'], ageMs: undefined }, { factsUnknown: ['Secret'] }],
    ['some are known', { unknown: ['Secret'], ageMs: 0 }, { factsAgeSeconds: 0, factsUnknown: ['Secret'] }],
  ])('where %s', (_, knowledge, expected) => {
    const [line] = lineOf({ outcome: outcome(knowledge && { knowledge }) });
    expect(line).toEqual({ ...common, level: 20, msg: 'allowed', ...expected });
  });

  test('has its duration in milliseconds, to the microsecond', () => {
    expect(lineOf({ durationMs: 1.23456 })[0]?.durationMs).toBe(1.235);
  });

  test('is not created if the log level excludes it', () => {
    const denied = answered({ outcome: outcome({ verdict: 'denied' }) });
    const { log, write } = quiet();
    logReview(log, answered());
    logReview(log, denied);
    expect(write).not.toHaveBeenCalled();
    const { log: informed, lines } = collectingLog('info');
    logReview(informed, answered());
    logReview(informed, denied);
    expect(lines.map(({ msg }) => msg)).toEqual(['denied']);
  });
});

describe('the log line of a conversion', () => {
  const body = { request: { desiredAPIVersion: 'g/v1', objects: [{}, {}] } };
  const success: ConversionResponse = { uid: 'u', convertedObjects: [], result: { status: 'Success' } };
  const failure: ConversionResponse = { ...success, result: { status: 'Failure', message: 'spec: wrong' } };
  const common = { webhook: 'convert', uid: 'u', client: '127.0.0.1', durationMs: expect.any(Number) };

  /** The lines of a conversion of this body, which has this response. */
  async function linesOf(sent: Json, response: ConversionResponse, level?: string) {
    const { log, lines } = collectingLog(level);
    const application = createReviewApplication(
      {
        featureGates: {},
        admission: testAdmission,
        convert: () => ({ review: { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response } }),
      },
      {
        inFlight: new InFlight(defaultLimits.maxInFlightBytes),
        limits: defaultLimits,
        refuse: createRefuse(log),
        metrics: { registry: new Registry() },
        log,
      },
    );
    await supertest(application).post('/convert').type('json').send(JSON.stringify(sent)).expect(200);
    return lines;
  }

  test.each<[string, ConversionResponse, object]>([
    ['that succeeded', success, { level: 20, msg: 'converted' }],
    ['that failed', failure, { level: 40, reason: 'spec: wrong', msg: 'conversion failed' }],
  ])('%s', async (_, one, expected) => {
    const [line, ...more] = await linesOf(body, one);
    expect([line, more]).toEqual([{ ...common, desiredAPIVersion: 'g/v1', objects: 2, ...expected }, []]);
    // To the microsecond.
    expect(String(line?.durationMs)).toMatch(/^\d+(\.\d{1,3})?$/);
  });

  test.each([
    [7],
    [[]],
    [null],
    [{}],
    [{ request: 7 }],
    [{ request: { desiredAPIVersion: 1, objects: {} } }],
  ])('of %j has no attributes', async (other) => {
    expect(await linesOf(other, success)).toEqual([{ ...common, level: 20, msg: 'converted' }]);
  });

  test('is not created if the log level excludes it', async () => {
    expect([await linesOf(body, success, 'info'), await linesOf(body, failure, 'error')]).toEqual([[], []]);
  });
});
