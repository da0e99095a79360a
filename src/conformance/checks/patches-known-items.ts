import type { Check } from '../check.ts';
import { reviewPatches } from '../review-patches.ts';

export const check: Check = {
  id: 'patches-known-items',
  group: 'Patches',
  level: 'must',
  asks: 'Patches name the uid of an item of the request.',
  why: 'Cluster API fails with "unable to find corresponding request item for patch"; uids are new in each reconcile.',
  remedy: 'copy the uid of the item, and remember none',
  run: (trial, report) => reviewPatches(trial, report, 'unknown'),
};
