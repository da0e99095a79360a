import type { Check } from '../check.ts';
import { reviewPatches } from '../review-patches.ts';

export const check: Check = {
  id: 'patches-readable',
  group: 'Patches',
  level: 'must',
  asks: 'Patches are of type JSONPatch or JSONMergePatch, in standard base64, and hold such a patch.',
  why: 'A patch that cannot be decoded stops the topology of every Cluster of the class. The examples of the book show plain JSON; on the wire it is base64.',
  remedy: 'send base64 of the JSON of the patch, and its patchType',
  run: (trial, report) => reviewPatches(trial, report, 'unreadable'),
};
