import type { JsonObject } from '../../../kubernetes/index.ts';
import { quotable } from '../../../runtimehooks/client/index.ts';
import { type GenerateUpgradePlanRequest, type UpgradePlan, upgradePlanProblem } from '../../../runtimehooks/index.ts';
import { type Check, ofHook } from '../check.ts';
import { describe, isSuccess } from '../outcome.ts';

/** Upgrades for which a plan is requested: versions of the control plane and the workers, and the target. */
const upgrades: readonly { control: string; workers?: string; to: string }[] = [
  { control: 'v1.32.0', workers: 'v1.32.0', to: 'v1.33.0' },
  { control: 'v1.30.0', workers: 'v1.30.0', to: 'v1.33.0' },
  { control: 'v1.30.0', to: 'v1.32.0' },
  { control: 'v1.33.0', workers: 'v1.31.0', to: 'v1.33.0' },
];

/** The checks of upgrade plans. */
export const planChecks: readonly Check[] = [
  {
    id: 'plans-valid',
    level: 'must',
    requirement:
      'Upgrade plans ascend without skipping a minor and end with the target; a control plane at the target has no steps.',
    reason: "Any other plan is an error in the Cluster's condition, and the Cluster is not upgraded.",
    remedy:
      'return at least one version for each minor, with the target last; leave the workers empty unless they need a different path',
    run: ofHook('GenerateUpgradePlan', async (handler, report) => {
      const { fromWorkersKubernetesVersion: _, ...request } = handler.request;
      for (const { control, workers, to } of upgrades) {
        const body: JsonObject = {
          ...request,
          fromControlPlaneKubernetesVersion: control,
          toKubernetesVersion: to,
          ...(workers === undefined ? {} : { fromWorkersKubernetesVersion: workers }),
        };
        const where = `from ${control} (workers ${workers ?? 'none'}) to ${to}`;
        const outcome = await handler.call({ body });
        if (outcome.error !== undefined) {
          report(`${where}: it ${describe(outcome)}`);
        } else if (isSuccess(outcome)) {
          const request = body as unknown as GenerateUpgradePlanRequest;
          const problem = upgradePlanProblem(request, outcome.response as UpgradePlan);
          if (problem !== undefined) {
            report(`${where}: ${quotable(problem, 200)}`);
          }
        }
      }
    }),
  },
];
