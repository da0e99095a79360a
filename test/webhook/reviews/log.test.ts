import type { Logger } from 'pino';
import { describe, expect, test, vi } from 'vitest';
import type { ConversionNote, ReviewNote } from '../../../src/webhook/reviews/decide.ts';
import { logConversion, logReview } from '../../../src/webhook/reviews/log.ts';
import { collectingLog } from '../../server/running.ts';

const request = { operation: 'CREATE', subResource: '', name: 'x', username: 'alice', dryRun: true } as const;
const note = (more: Partial<ReviewNote> = {}): ReviewNote => ({
  kind: 'review',
  uid: 'u',
  verdict: 'allowed',
  deniedBy: [],
  warnedBy: [],
  ...more,
});

/** A log that excludes the line: nothing may be computed for it. */
function quiet() {
  const write = vi.fn();
  const log = { isLevelEnabled: () => false, debug: write, info: write, warn: write } as unknown as Logger;
  return { log, write };
}

describe('the log line of a review', () => {
  const lineOf = (one: ReviewNote, durationMs = 1) => {
    const { log, lines } = collectingLog();
    logReview(log, 'mutate', one, durationMs);
    return lines;
  };
  const common = { webhook: 'mutate', uid: 'u', durationMs: 1 };

  test.each<[string, Partial<ReviewNote>, object]>([
    ['allowed', {}, { level: 20, msg: 'allowed' }],
    [
      'allowed with warnings',
      { verdict: 'warned', warnedBy: ['a'] },
      { level: 30, msg: 'allowed with warnings', warnedBy: ['a'] },
    ],
    ['denied', { verdict: 'denied', deniedBy: ['a', 'b'] }, { level: 30, msg: 'denied', deniedBy: ['a', 'b'] }],
    ['malformed', { verdict: 'malformed' }, { level: 30, msg: 'malformed review' }],
  ])('%s', (_, more, expected) => {
    expect(lineOf(note(more))).toEqual([{ ...common, ...expected }]);
  });

  test('has the attributes of the request, and the subresource if there is one', () => {
    const { subResource: _, ...attributes } = request;
    expect(lineOf(note({ request }))).toEqual([{ ...common, ...attributes, level: 20, msg: 'allowed' }]);
    expect(lineOf(note({ request: { ...request, subResource: 'status' } }))[0]).toMatchObject({
      subResource: 'status',
    });
  });

  test.each<[string, ReviewNote['knowledge'], object]>([
    ['no facts are asked for', undefined, {}],
    ['all are known', { unknown: [], ageMs: 1001 }, { factsAgeSeconds: 2 }],
    ['none are known', { unknown: ['Secret'], ageMs: undefined }, { factsUnknown: ['Secret'] }],
    ['some are known', { unknown: ['Secret'], ageMs: 0 }, { factsAgeSeconds: 0, factsUnknown: ['Secret'] }],
  ])('where %s', (_, knowledge, expected) => {
    const [line] = lineOf(note(knowledge && { knowledge }));
    expect(line).toEqual({ ...common, level: 20, msg: 'allowed', ...expected });
  });

  test('has its duration in milliseconds, to the microsecond', () => {
    expect(lineOf(note(), 1.23456)[0]?.durationMs).toBe(1.235);
  });

  test('is not created if the log level excludes it', () => {
    const { log, write } = quiet();
    logReview(log, 'mutate', note(), 1);
    logReview(log, 'mutate', note({ verdict: 'denied' }), 1);
    expect(write).not.toHaveBeenCalled();
    const { log: informed, lines } = collectingLog('info');
    logReview(informed, 'mutate', note(), 1);
    logReview(informed, 'mutate', note({ verdict: 'denied' }), 1);
    expect(lines.map(({ msg }) => msg)).toEqual(['denied']);
  });
});

describe('the log line of a conversion', () => {
  const success: ConversionNote = {
    kind: 'conversion',
    uid: 'u',
    result: 'Success',
    desiredAPIVersion: 'g/v1',
    objects: 2,
  };
  const failure: ConversionNote = { kind: 'conversion', uid: 'u', result: 'Failure', reason: 'spec: wrong' };

  test.each<[string, ConversionNote, object]>([
    ['that succeeded', success, { level: 20, desiredAPIVersion: 'g/v1', objects: 2, msg: 'converted' }],
    ['that failed', failure, { level: 40, reason: 'spec: wrong', msg: 'conversion failed' }],
  ])('%s', (_, one, expected) => {
    const { log, lines } = collectingLog();
    logConversion(log, one, 0.1234);
    expect(lines).toEqual([{ webhook: 'convert', uid: 'u', durationMs: 0.123, ...expected }]);
  });

  test('is not created if the log level excludes it', () => {
    const { log, write } = quiet();
    logConversion(log, success, 1);
    logConversion(log, failure, 1);
    expect(write).not.toHaveBeenCalled();
    const { log: informed, lines } = collectingLog('info');
    logConversion(informed, success, 1);
    logConversion(informed, failure, 1);
    expect(lines.map(({ msg }) => msg)).toEqual(['conversion failed']);
  });
});
