import { expect } from 'vitest';
import { cpuTimeMs } from './cpu-time.ts';

/** How often linear work may seem not to be linear, because other work of the process was measured with it. */
const attempts = 3;
/** How much longer than in proportion to its size work may take; quadratic work takes `times` as long as that. */
const maxGrowth = 1.75;
/** Noise of the clock and the garbage collector, in milliseconds. */
const noiseMs = 5;

/**
 * Asserts that work takes CPU time in proportion to its size: four times the size must not take sixteen times as long.
 * That shows on any machine, and at sizes that take some hundredths of a second.
 *
 * @param size the largest; each run does all of its work for the size that it is given.
 * @param times how much larger it is than the other size. More than 4 shows quadratic work beside more linear work.
 */
export async function expectLinear(size: number, work: (size: number) => Promise<unknown>, times = 4): Promise<void> {
  const timeOf = async (part: number) => {
    const start = cpuTimeMs();
    await work(part);
    return cpuTimeMs() - start;
  };
  // Warms up the compiler.
  await work(size / times);
  const ratios: number[] = [];
  for (let attempt = 0; attempt < attempts; attempt++) {
    const [small, large] = [await timeOf(size / times), await timeOf(size)];
    ratios.push((large + noiseMs) / (small + noiseMs));
    if (ratios.at(-1)! <= maxGrowth * times) {
      return;
    }
  }
  expect.fail(`${times} times the size took ${ratios.map((ratio) => ratio.toFixed(1)).join(', ')} times as long`);
}
