import type { GenerateUpgradePlanRequest } from '../../runtimehooks/index.ts';
import { type UpgradePlan, upgradePlanProblems } from '../../runtimehooks/messages/index.ts';
import { HandlerFailure } from './handlers/handler.ts';

/**
 * Returns the plan, for `answer.done(checkedUpgradePlan(request, plan))`.
 *
 * @throws {HandlerFailure} when Cluster API would reject it, with the reason for users.
 */
export function checkedUpgradePlan<P extends UpgradePlan>(request: GenerateUpgradePlanRequest, plan: P): P {
  const problems = upgradePlanProblems(request, plan);
  if (problems.length > 0) {
    throw new HandlerFailure(`the upgrade plan is not valid: ${problems.slice(0, 5).join('; ')}`);
  }
  return plan;
}
