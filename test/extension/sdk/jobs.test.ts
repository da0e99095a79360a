import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createJobs, HandlerFailure, type Job, type JobsOptions } from '../../../src/extension/index.ts';
import { createLifetime } from '../../../src/extension/sdk/calls/lifetime.ts';
import { collectingLog } from '../../server/running.ts';

const answers = {
  done: () => 'done',
  fail: (message: string) => `failed: ${message}`,
  retry: (seconds: number, message: string) => `wait ${seconds}: ${message}`,
} as never;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Jobs by their keys; each ends when its test says so. */
function jobsOf(options: JobsOptions = {}) {
  const jobs = createJobs(options);
  const started: string[] = [];
  const ends = new Map<string, { resolve: () => void; reject: (error: unknown) => void; signal: AbortSignal }>();
  const { log, lines } = collectingLog();
  const lifetime = createLifetime();
  const ask = (key: string, more: Partial<Job> = {}, subject = 'of c') =>
    jobs.answer(
      { answer: answers, log, subject, ...lifetime },
      {
        key,
        message: 'it runs',
        run: (signal) => {
          started.push(key);
          const { promise, resolve, reject } = Promise.withResolvers<void>();
          ends.set(key, { resolve, reject, signal });
          return promise;
        },
        ...more,
      },
    ) as unknown as string;
  async function end(key: string, error?: unknown): Promise<void> {
    await settled();
    if (error === undefined) {
      ends.get(key)?.resolve();
    } else {
      ends.get(key)?.reject(error);
    }
    await settled();
  }
  return { started, ends, ask, end, lines, lifetime };
}

describe('options', () => {
  test.each<[JobsOptions, string]>([
    [{ retryAfterSeconds: 0 }, 'retryAfterSeconds: 0 is not a whole number of at least 1'],
    [{ retryAfterSeconds: 1.5 }, 'retryAfterSeconds: 1.5 is not a whole number of at least 1'],
    [{ retryAfterSeconds: -1 }, 'retryAfterSeconds: -1 is not a whole number of at least 1'],
    [{ maxSeconds: 0 }, 'maxSeconds: 0 is not a number from 0.001 to 2000000'],
    [{ maxSeconds: 2_000_001 }, 'maxSeconds: 2000001 is not a number from 0.001 to 2000000'],
    [{ maxSeconds: Number.NaN }, 'maxSeconds: NaN is not a number from 0.001 to 2000000'],
    [{ maxSeconds: '5' as never }, "maxSeconds: '5' is not a number from 0.001 to 2000000"],
    [{ rememberSeconds: '5' as never }, "rememberSeconds: '5' is not a whole number of at least 1"],
    [{ rememberSeconds: 0 }, 'rememberSeconds: 0 is not a whole number of at least 1'],
  ])('%j are rejected', (options, message) => {
    expect(() => createJobs(options)).toThrow(new RangeError(message));
  });

  test('at their minimum and maximum are accepted', () => {
    expect(() => createJobs({ retryAfterSeconds: 1, maxSeconds: 2_000_000, rememberSeconds: 1 })).not.toThrow();
  });
});

test('a caller is told to retry after ten seconds until the work is done', async () => {
  const { ask, end, started, lines } = jobsOf();
  expect([ask('a'), started]).toEqual(['wait 10: it runs', []]);
  await settled();
  expect([ask('a'), ask('a', { message: 'other' }), started]).toEqual(['wait 10: it runs', 'wait 10: other', ['a']]);
  await end('a');
  expect([ask('a'), ask('a'), started]).toEqual(['done', 'done', ['a']]);
  expect(lines).toEqual([{ level: 30, job: 'of c a', msg: 'job done' }]);
});

test('a completed job is remembered for an hour after its last call', async () => {
  let now = 1000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  onTestFinished(() => vi.mocked(performance.now).mockRestore());
  const advance = (seconds: number) => {
    now += seconds * 1000;
  };
  const { ask, end, started } = jobsOf();
  ask('a');
  await end('a');
  advance(7200);
  // Until then no call has received the result, and each call begins the hour anew.
  expect(ask('a')).toBe('done');
  advance(3599.999);
  expect(ask('a')).toBe('done');
  advance(3599.999);
  expect(ask('a')).toBe('done');
  advance(3601);
  expect(ask('a')).toBe('wait 10: it runs');
  await settled();
  expect(started).toEqual(['a', 'a']);
});

test.each<[string, unknown, string, object]>([
  [
    'an error',
    new Error('hunter2'),
    'the work failed: see the log of the extension',
    { error: 'Error', message: 'hunter2', stack: expect.any(String) },
  ],
  ['a text', 'hunter2', 'the work failed: see the log of the extension', { error: 'string', message: 'hunter2' }],
  [
    'a failure for users',
    new HandlerFailure('full'),
    'full',
    { error: 'Error', message: 'full', stack: expect.any(String) },
  ],
  [
    'something without a text',
    Object.create(null),
    'the work failed: see the log of the extension',
    { error: 'object', message: '[Object: null prototype] {}' },
  ],
])('a job that fails with %s fails once, and is run again', async (_, error, message, logged) => {
  const { ask, end, started, lines } = jobsOf();
  ask('a');
  await end('a', error);
  expect([ask('a'), started]).toEqual([`failed: ${message}`, ['a']]);
  expect(lines).toEqual([{ level: 50, job: 'of c a', msg: 'job failed', ...logged }]);
  expect(ask('a')).toBe('wait 10: it runs');
  await settled();
  expect(started).toEqual(['a', 'a']);
});

test('sixteen run concurrently; the others begin when there is room', async () => {
  const { ask, end, started } = jobsOf();
  const keys = Array.from({ length: 18 }, (_, index) => `k${index}`);
  expect(new Set(keys.map((key) => ask(key)))).toEqual(new Set(['wait 10: it runs']));
  await settled();
  expect(started).toEqual(keys.slice(0, 16));
  await end('k0');
  expect(ask('k17')).toBe('wait 10: it runs');
  await settled();
  expect(started.slice(16)).toEqual(['k17']);
});

test('a job that exceeds its time fails, has its signal aborted, and is not started twice while it goes on', async () => {
  const { ask, end, ends, lines, started } = jobsOf({ maxSeconds: 0.01, retryAfterSeconds: 3 });
  expect(ask('a')).toBe('wait 3: it runs');
  await settled();
  const signal = ends.get('a')?.signal;
  while (signal?.aborted !== true) {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  expect(signal.reason).toMatchObject({ name: 'TimeoutError', message: 'the work took longer than 0.01 s' });
  expect(ask('a')).toBe('failed: the work took longer than 0.01 s');
  expect(lines).toMatchObject([{ level: 50, job: 'of c a', message: 'the work took longer than 0.01 s' }]);
  expect([ask('a'), started]).toEqual(['wait 3: it runs', ['a']]);
  await end('a', signal.reason);
  expect([ask('a'), lines.length]).toEqual(['wait 3: it runs', 1]);
  await settled();
  expect(started).toEqual(['a', 'a']);
});

test('keys are those of a handler for a Cluster: another Cluster has work of its own', async () => {
  const { ask, end, started } = jobsOf();
  ask('v1.34.0', {}, 'BeforeClusterUpgrade backup default/a');
  await end('v1.34.0');
  expect(ask('v1.34.0', {}, 'BeforeClusterUpgrade backup default/a')).toBe('done');
  expect(ask('v1.34.0', {}, 'BeforeClusterUpgrade backup default/b')).toBe('wait 10: it runs');
  await settled();
  expect(started).toEqual(['v1.34.0', 'v1.34.0']);
});

test.for([
  undefined,
  '',
  ['uid', 'v1.33.0'],
  7,
])('the key %j is refused: each call would begin the work again', (key) => {
  const { ask, started } = jobsOf();
  expect(() => ask(key as string)).toThrow(/^key: .* is not a text that identifies the work$/);
  expect(started).toEqual([]);
});

test('when the server stops, running jobs are aborted, it waits for them, and none of that is a failure', async () => {
  const { ask, ends, lifetime, lines, started } = jobsOf();
  ask('a');
  await settled();
  const stopped = lifetime.end(10_000);
  expect(ends.get('a')?.signal.reason).toMatchObject({ name: 'AbortError', message: 'the extension stops' });
  setTimeout(() => ends.get('a')?.reject(new Error('aborted')), 10);
  expect(await stopped).toEqual([]);
  expect(lines).toEqual([{ level: 40, job: 'of c a', msg: 'job interrupted: the extension stops' }]);
  // The next process does it.
  expect([ask('a'), ask('b'), started]).toEqual(['wait 10: it runs', 'wait 10: it runs', ['a']]);
});

test('a job that does not observe its signal does not hold up the stop, which names it', async () => {
  const { ask, lifetime } = jobsOf();
  ask('a');
  await settled();
  expect(await lifetime.end(5)).toEqual(['of c a']);
});
