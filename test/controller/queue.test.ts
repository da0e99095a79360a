import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createQueue, type RunResult } from '../../src/controller/queue.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const pace = { minIntervalMs: 1_000, backoffMs: 1_000, backoffStepMs: 5, maxBackoffMs: 1_000_000 };

/** A queue that records the order of runs; a run ends at once, or when told to. */
function queueOf(outcome: (key: string, run: number) => RunResult | Promise<RunResult>, concurrency = 10) {
  const runs: string[] = [];
  const counts = new Map<string, number>();
  const began = performance.now();
  let atOnce = 0;
  let mostAtOnce = 0;
  const queue = createQueue(
    async (key) => {
      runs.push(`${key}@${Math.round(performance.now() - began)}`);
      mostAtOnce = Math.max(mostAtOnce, ++atOnce);
      try {
        const count = (counts.get(key) ?? 0) + 1;
        counts.set(key, count);
        return await outcome(key, count);
      } finally {
        atOnce--;
      }
    },
    concurrency,
    pace,
  );
  return { queue, runs, mostAtOnce: () => mostAtOnce };
}

const done: RunResult = { result: 'done' };
const failed: RunResult = { result: 'failed' };
const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test('the wait after a failure grows as upstream: 1 s + 5 ms × 2^n; a success resets it', async () => {
  const { queue, runs } = queueOf((_, run) => (run <= 4 ? failed : done));
  queue.add('a');
  await advance(60_000);
  expect(runs).toEqual(['a@0', 'a@1005', 'a@2015', 'a@3035', 'a@4075']);
  queue.add('a');
  await advance(0);
  expect(runs.at(-1)).toBe('a@60000');
});

test('the wait is at most 1,000 s', async () => {
  const { queue, runs } = queueOf(() => failed);
  queue.add('a');
  await advance(6_000_000);
  const times = runs.map((run) => Number(run.slice(2)));
  const waits = times.slice(1).map((time, index) => time - (times[index] as number));
  expect(Math.max(...waits)).toBe(1_000_000);
  expect(waits.at(-1)).toBe(1_000_000);
});

test('a new event ends the wait, but no key runs more than once a second', async () => {
  const { queue, runs } = queueOf((_, run) => (run === 1 ? failed : done));
  queue.add('a');
  await advance(200);
  queue.add('a');
  queue.add('a');
  await advance(10_000);
  expect(runs).toEqual(['a@0', 'a@1000']);
});

test('starting afresh resets the failures', async () => {
  const { queue, runs } = queueOf(() => failed);
  queue.add('a');
  await advance(4_500);
  queue.add('a', true);
  await advance(2_100);
  expect(runs.slice(-3)).toEqual(['a@4075', 'a@5075', 'a@6080']);
});

test('a key that is added during its run, however often, runs once more', async () => {
  const ends: ((outcome: RunResult) => void)[] = [];
  const { queue, runs } = queueOf(() => new Promise<RunResult>((resolve) => ends.push(resolve)));
  queue.add('a');
  await advance(2_000);
  queue.add('a');
  queue.add('a');
  expect(runs).toEqual(['a@0']);
  ends[0]?.(done);
  await advance(0);
  expect(runs).toEqual(['a@0', 'a@2000']);
  ends[1]?.(done);
  await advance(10_000);
  expect(runs).toHaveLength(2);
});

test('a key that is to run again later does so, until it stands for nothing', async () => {
  const { queue, runs } = queueOf((key, run) =>
    key === 'b' && run === 2 ? undefined : { result: 'done', againMs: 5_000 },
  );
  queue.add('a');
  queue.add('b');
  await advance(15_000);
  expect(runs).toEqual(['a@0', 'b@0', 'a@5000', 'b@5000', 'a@10000', 'a@15000']);
});

test('limits concurrent runs, and starts the others in their order', async () => {
  const { queue, runs, mostAtOnce } = queueOf(async () => {
    await new Promise((resolve) => setTimeout(resolve, 100));
    return done;
  });
  for (let count = 0; count < 25; count++) {
    queue.add(`a${count}`);
  }
  await advance(0);
  expect([queue.running, queue.waiting]).toEqual([10, 15]);
  await advance(1_000);
  expect(runs).toEqual(Array.from({ length: 25 }, (_, index) => `a${index}@${Math.floor(index / 10) * 100}`));
  expect(mostAtOnce()).toBe(10);
});

test('stop waits for running work, and starts nothing more', async () => {
  let end = (_outcome: RunResult) => {};
  const { queue, runs } = queueOf(() => new Promise<RunResult>((resolve) => (end = resolve)), 1);
  queue.add('a');
  queue.add('b');
  await advance(0);
  let isStopped = false;
  const stopped = queue.stop().then(() => {
    isStopped = true;
  });
  await advance(1_000);
  expect(isStopped).toBe(false);
  end(done);
  await stopped;
  queue.add('c');
  await advance(10_000);
  expect(runs).toEqual(['a@0']);
});

test('a key that stands for nothing, but is added again during that run, runs once more', async () => {
  const first = Promise.withResolvers<RunResult>();
  const { queue, runs } = queueOf((_, run) => (run === 1 ? first.promise : done));
  queue.add('a');
  await advance(500);
  queue.add('a', true);
  await advance(5_000);
  expect(runs).toEqual(['a@0']);
  first.resolve(undefined);
  await advance(5_000);
  expect(runs).toEqual(['a@0', 'a@5500']);
});
