import { fieldAt, type JsonObject, textAt } from '../../kubernetes/index.ts';
import type { GroupChange } from '../world/groups.ts';
import type { GroupPlan } from '../world/plan-document.ts';
import { replicasOf } from './machines.ts';

/** A number of a status: under `v1beta2`, an object in v1beta1 has the newer fields. */
function numberIn(object: JsonObject, ...names: readonly string[]): number | undefined {
  const values = names.flatMap((name) => [fieldAt(object, 'status', 'v1beta2', name), fieldAt(object, 'status', name)]);
  return values.find((value) => typeof value === 'number');
}

/** How far a group is now, as the status of its object says: none of an object without a status. */
export function presentState({ before }: GroupChange): Pick<GroupPlan, 'now'> {
  const object = before?.object;
  if (object === undefined || fieldAt(object, 'status') === undefined) {
    return {};
  }
  const version =
    textAt(object, 'status', 'version') ||
    textAt(object, 'spec', 'version') ||
    textAt(object, 'spec', 'template', 'spec', 'version');
  const ready = numberIn(object, 'readyReplicas');
  const upToDate = numberIn(object, 'upToDateReplicas', 'updatedReplicas');
  return {
    now: {
      wanted: replicasOf(object),
      ...(version !== '' && { version }),
      ...(ready !== undefined && { ready }),
      ...(upToDate !== undefined && { upToDate }),
    },
  };
}
