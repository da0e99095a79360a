import type { Check } from '../check.ts';
import { reviewPatches } from '../review-patches.ts';

export const check: Check = {
  id: 'patches-apply',
  group: 'Patches',
  level: 'must',
  asks: 'Patches apply to their objects, in their order, and keep kind and apiVersion.',
  why: 'One that does not apply stops the topology of every Cluster of the class.',
  remedy: 'compute patches from the object in the request; add parents before their fields',
  run: (trial, report) => reviewPatches(trial, report, 'inapplicable'),
};
