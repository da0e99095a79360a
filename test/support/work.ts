import { expect } from 'vitest';

/**
 * Whether the CPU time of work is measured: by `npm run bench:linear`, where nothing else runs. In `npm test` the same work
 * is done without a clock, and smaller where its size is known.
 */
const isMeasured = process.env.MEASURE_WORK !== undefined;

/** CPU time of this process so far, in milliseconds, including its other threads. */
function cpuTimeMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function report(result: string): void {
  process.stdout.write(`${expect.getState().currentTestName}: ${result}\n`);
}

/**
 * Limits the work of the block that it is declared in: `using _work = limitWork(2_000);`.
 *
 * @param maxMs CPU time, in milliseconds: several times what the work takes, and much less than what it took before it was
 *   limited.
 */
export function limitWork(maxMs: number): Disposable {
  const start = cpuTimeMs();
  return {
    [Symbol.dispose]() {
      if (isMeasured) {
        const tookMs = Math.round(cpuTimeMs() - start);
        report(`${tookMs} ms of at most ${maxMs}`);
        expect(tookMs, 'CPU time, in milliseconds').toBeLessThan(maxMs);
      }
    },
  };
}

/** The size of work that `limitWork` limits: `full` when it is measured, otherwise a sixteenth. */
export const sized = (full: number): number => (isMeasured ? full : Math.ceil(full / 16));

/** How often linear work may seem not to be linear, because other work of the process was measured with it. */
const attempts = 3;
/** How much longer than in proportion to its size work may take; quadratic work takes `times` as long as that. */
const maxGrowth = 1.75;
/** Noise of the clock and the garbage collector, in milliseconds. */
const noiseMs = 20;

/**
 * Does work, and when it is measured, asserts that it takes CPU time in proportion to its size: sixteen times the size must
 * not take 256 times as long. That shows on any machine, at sizes that take some hundredths of a second, and beside more
 * linear work.
 *
 * @param size the largest; each run does all of its work for the size that it is given.
 * @param times how much larger it is than the other size. More shows less quadratic work beside work that is linear,
 *   but also takes what does not depend on the size for linear work.
 */
export async function expectLinear(size: number, work: (size: number) => Promise<unknown>, times = 16): Promise<void> {
  // When it is measured, this warms up the compiler.
  await work(size / times);
  if (!isMeasured) {
    return;
  }
  const timeOf = async (part: number) => {
    const start = cpuTimeMs();
    await work(part);
    return cpuTimeMs() - start;
  };
  const ratios: string[] = [];
  for (let attempt = 0; attempt < attempts; attempt++) {
    // The small size second: before, slow code would be measured that the compiler has not optimized yet.
    const large = await timeOf(size);
    const small = await timeOf(size / times);
    ratios.push(((large - noiseMs) / small).toFixed(1));
    if (large <= maxGrowth * times * small + noiseMs) {
      report(`${Math.round(large)} ms, ${Math.round(small)} ms for 1/${times}`);
      return;
    }
  }
  expect.fail(`${times} times the size took ${ratios.join(', ')} times as long`);
}
