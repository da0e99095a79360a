import type { Check } from '../check.ts';
import { reviewPatches } from '../review-patches.ts';

export const check: Check = {
  id: 'patches-taken',
  group: 'Patches',
  level: 'should',
  asks: 'Patches change only what Cluster API takes: the spec, and of templates also labels and annotations.',
  why: 'All other changes are ignored or undone without a word.',
  remedy: 'leave status, names and what Cluster API sets itself (version, replicas, machine template references) alone',
  run: (trial, report) => reviewPatches(trial, report, 'ignored'),
};
