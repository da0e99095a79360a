import { isJsonObject } from '../../../kubernetes/index.ts';
import type { Check } from '../check.ts';
import { compareVariation } from '../compare.ts';

export const check: Check = {
  id: 'cluster-without-type',
  group: 'Calls',
  level: 'must',
  asks: 'A Cluster without apiVersion and kind gets the same answer.',
  why: "Cluster API's controllers read Clusters from a cache, where both may be missing.",
  remedy: 'do not require apiVersion and kind of the Cluster: its type follows from the hook',
  run: (trial, report) =>
    compareVariation(trial, report, 'given a Cluster without apiVersion and kind', ({ request }) => {
      if (!isJsonObject(request.cluster)) {
        return undefined;
      }
      const { apiVersion: _a, kind: _k, ...cluster } = request.cluster;
      return { ...request, cluster };
    }),
};
