import { expect } from 'vitest';
import { cpuTimeMs } from './cpu-time.ts';

/** How often linear work may seem not to be linear, because other work of the process was measured with it. */
const attempts = 3;
/** How much longer than in proportion to its size work may take; quadratic work takes `times` as long as that. */
const maxGrowth = 1.75;
/** Noise of the clock and the garbage collector, in milliseconds. */
const noiseMs = 20;

/**
 * Asserts that work takes CPU time in proportion to its size: sixteen times the size must not take 256 times as long.
 * That shows on any machine, at sizes that take some hundredths of a second, and beside more linear work.
 *
 * @param size the largest; each run does all of its work for the size that it is given.
 * @param times how much larger it is than the other size. More shows less quadratic work beside work that is linear,
 *   but also takes what does not depend on the size for linear work.
 */
export async function expectLinear(size: number, work: (size: number) => Promise<unknown>, times = 16): Promise<void> {
  const timeOf = async (part: number) => {
    const start = cpuTimeMs();
    await work(part);
    return cpuTimeMs() - start;
  };
  // Warms up the compiler.
  await work(size / times);
  const ratios: number[] = [];
  for (let attempt = 0; attempt < attempts; attempt++) {
    // The small size second: before, slow code would be measured that the compiler has not optimized yet.
    const large = await timeOf(size);
    const small = await timeOf(size / times);
    ratios.push((large - noiseMs) / small);
    if (large <= maxGrowth * times * small + noiseMs) {
      return;
    }
  }
  expect.fail(`${times} times the size took ${ratios.map((ratio) => ratio.toFixed(1)).join(', ')} times as long`);
}
