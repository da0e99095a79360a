import type { Check } from '../check.ts';
import { reviewPatches } from '../review-patches.ts';

export const check: Check = {
  id: 'patches-known-items',
  group: 'Patches',
  level: 'must',
  asks: 'Patches name the uid of an item of the request.',
  why: 'Otherwise Cluster API fails with "unable to find corresponding request item for patch"; uids change with each reconcile.',
  remedy: 'copy the uid of the item; do not cache uids',
  run: (trial, report) => reviewPatches(trial, report, 'unknown'),
};
