import { groupOf, type JsonObject, nameOf, textAt } from '../../kubernetes/index.ts';
import { aggregate } from '../../runtimehooks/client/index.ts';

/** The refusal of an object by the webhook of its kind, with all reasons; undefined without any. */
export function refusalOf(object: JsonObject, problems: readonly string[]): string | undefined {
  const [group, kind] = [groupOf(object), textAt(object, 'kind')];
  return problems.length === 0
    ? undefined
    : `admission webhook "validation.${kind.toLowerCase()}.${group}" denied the request: ${kind}.cluster.x-k8s.io ${JSON.stringify(nameOf(object))} is invalid: ${aggregate(problems)}`;
}
