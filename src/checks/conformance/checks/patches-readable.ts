import type { Check } from '../check.ts';
import { reviewPatches } from '../review-patches.ts';

export const check: Check = {
  id: 'patches-readable',
  group: 'Patches',
  level: 'must',
  asks: 'Patches have the type JSONPatch or JSONMergePatch and contain such a patch in standard base64.',
  why: "A patch that cannot be decoded stops the topology reconcile of every Cluster of the class. The book's examples show plain JSON, but on the wire it is base64.",
  remedy: 'send the patch as base64-encoded JSON, with its patchType',
  run: (trial, report) => reviewPatches(trial, report, 'unreadable'),
};
