import type { Check } from '../check.ts';
import { reviewPatches } from '../review-patches.ts';

export const check: Check = {
  id: 'patches-not-idle',
  group: 'Patches',
  level: 'should',
  asks: 'Every patch changes something.',
  why: 'A patch without an effect costs time in each reconcile, and hides that a condition is missing.',
  remedy: 'leave a patch out where the object is as it should be already',
  run: (trial, report) => reviewPatches(trial, report, 'idle'),
};
