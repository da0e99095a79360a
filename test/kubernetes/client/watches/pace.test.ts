import { expect, test } from 'vitest';
import { waitAfter } from '../../../../src/kubernetes/client/watches/pace.ts';

test('each wait after a failure is twice the previous one, up to the longest', () => {
  expect([1, 2, 3, 4, 5, 100, 5000].map((failures) => waitAfter(failures, 10, 100))).toEqual([
    10, 20, 40, 80, 100, 100, 100,
  ]);
});
