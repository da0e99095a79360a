import { expect } from 'vitest';
import { cpuTimeMs } from './cpu-time.ts';

/** How often linear work may seem not to be linear, because other work of the process was measured with it. */
const attempts = 3;
/** Between 4, for linear work, and 16, for quadratic work. */
const maxRatio = 7;
/** Noise of the clock and the garbage collector, in milliseconds. */
const noiseMs = 5;

/**
 * Asserts that work takes CPU time in proportion to its size: four times the size must not take sixteen times as long.
 * That shows on any machine, and at sizes that take some hundredths of a second.
 *
 * @param size the largest; each run does all of its work for the size that it is given.
 */
export async function expectLinear(size: number, work: (size: number) => Promise<unknown>): Promise<void> {
  const timeOf = async (part: number) => {
    const start = cpuTimeMs();
    await work(part);
    return cpuTimeMs() - start;
  };
  // Warms up the compiler.
  await work(size / 4);
  const ratios: number[] = [];
  for (let attempt = 0; attempt < attempts; attempt++) {
    const [small, large] = [await timeOf(size / 4), await timeOf(size)];
    ratios.push((large + noiseMs) / (small + noiseMs));
    if (ratios.at(-1)! <= maxRatio) {
      return;
    }
  }
  expect.fail(`four times the size took ${ratios.map((ratio) => ratio.toFixed(1)).join(', ')} times as long`);
}
