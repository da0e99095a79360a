import type { JsonObject } from '../../../kubernetes/index.ts';
import { quotable } from '../../../runtimehooks/client/index.ts';
import type { GenerateUpgradePlanRequest } from '../../../runtimehooks/index.ts';
import { type UpgradePlan, upgradePlanProblems } from '../../../runtimehooks/messages/index.ts';
import type { Check } from '../check.ts';
import { describe, isSuccess } from '../heard.ts';

/** Upgrades for which a plan is requested: versions of the control plane and the workers, and the target. */
const upgrades: readonly { control: string; workers?: string; to: string }[] = [
  { control: 'v1.32.0', workers: 'v1.32.0', to: 'v1.33.0' },
  { control: 'v1.30.0', workers: 'v1.30.0', to: 'v1.33.0' },
  { control: 'v1.30.0', to: 'v1.32.0' },
  { control: 'v1.33.0', workers: 'v1.31.0', to: 'v1.33.0' },
];

export const check: Check = {
  id: 'plans-valid',
  group: 'Upgrade plans',
  level: 'must',
  asks: 'Upgrade plans ascend without skipping a minor and end with the target; a control plane at the target has no steps.',
  why: "Any other plan is an error in the Cluster's condition, and the Cluster is not upgraded.",
  remedy:
    'return at least one version for each minor, with the target last; leave the workers empty unless they need a different path',
  async run({ answering, call }, report) {
    const handlers = (await answering()).filter(({ hook }) => hook.name === 'GenerateUpgradePlan');
    if (handlers.length === 0) {
      return { because: 'no handler of GenerateUpgradePlan answers' };
    }
    for (const handler of handlers) {
      const { fromWorkersKubernetesVersion: _, ...request } = handler.request;
      for (const { control, workers, to } of upgrades) {
        const body: JsonObject = {
          ...request,
          fromControlPlaneKubernetesVersion: control,
          toKubernetesVersion: to,
          ...(workers === undefined ? {} : { fromWorkersKubernetesVersion: workers }),
        };
        const where = `from ${control} (workers ${workers ?? 'none'}) to ${to}`;
        const heard = await call(handler, { body });
        if (heard.kind !== 'answer') {
          report({ handler: handler.name, message: `${where}: it ${describe(heard)}` });
        } else if (isSuccess(heard)) {
          const problems = upgradePlanProblems(
            body as unknown as GenerateUpgradePlanRequest,
            heard.response as UpgradePlan,
          );
          for (const problem of problems.slice(0, 3)) {
            report({ handler: handler.name, message: `${where}: ${quotable(problem, 200)}` });
          }
        }
      }
    }
    return undefined;
  },
};
