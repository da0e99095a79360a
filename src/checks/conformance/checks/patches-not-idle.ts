import type { Check } from '../check.ts';
import { reviewPatches } from '../review-patches.ts';

export const check: Check = {
  id: 'patches-not-idle',
  group: 'Patches',
  level: 'should',
  asks: 'Every patch changes something.',
  why: 'A patch without effect costs time in each reconcile, and may hide a missing condition in the handler.',
  remedy: 'leave out patches for objects that are already as they should be',
  run: (trial, report) => reviewPatches(trial, report, 'idle'),
};
