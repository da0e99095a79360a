import type { Check } from '../check.ts';
import { reviewPatches } from '../review-patches.ts';

export const check: Check = {
  id: 'patches-apply',
  group: 'Patches',
  level: 'must',
  asks: 'Patches apply to their objects, in order, and keep kind and apiVersion.',
  why: 'A patch that does not apply stops the topology reconcile of every Cluster of the class.',
  remedy: 'compute patches from the object in the request; add parents before their fields',
  run: (trial, report) => reviewPatches(trial, report, 'inapplicable'),
};
