import { describe, expect, test } from 'vitest';
import { ByteBudget } from '../../../src/server/connections/byte-budget.ts';

describe('a budget of 1 MiB', () => {
  const mib = 1024 * 1024;
  const kib = 1024;

  test.each([
    ['nothing is held: any size', 0, 10 * mib, 0, true],
    ['all that is held is its own: any size', 7, 10 * mib, 7, true],
    ['up to the maximum', mib - 100 * kib, 100 * kib, 0, true],
    ['a byte more', mib - 100 * kib, 100 * kib + 1, 0, false],
    ['small, from the reserve', mib, 64 * kib, 0, true],
    ['a byte over small', mib, 64 * kib + 1, 0, false],
    ['small, but not with what it already holds', mib, 60 * kib, 5 * kib, false],
    ['small, to the end of the reserve', 1.25 * mib - 10, 10, 0, true],
    ['small, beyond the reserve', 1.25 * mib - 10, 11, 0, false],
  ])('%s', (_, held, bytes, own, fits) => {
    const budget = new ByteBudget(mib);
    budget.held = held;
    expect(budget.fits(bytes, own)).toBe(fits);
  });
});
