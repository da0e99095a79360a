import type { Check } from '../check.ts';
import { reviewPatches } from '../review-patches.ts';

export const check: Check = {
  id: 'patches-taken',
  group: 'Patches',
  level: 'should',
  asks: 'Patches change only what Cluster API accepts: the spec, and in templates also labels and annotations.',
  why: 'All other changes are silently ignored or undone.',
  remedy:
    'do not change status, names or fields that Cluster API sets itself (version, replicas, machine template references)',
  run: (trial, report) => reviewPatches(trial, report, 'ignored'),
};
