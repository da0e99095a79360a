import { groupOf, type JsonObject, nameOf, textAt } from '../../kubernetes/index.ts';
import { aggregate } from '../../runtimehooks/client/index.ts';

/**
 * The refusal of an object by the webhook of its kind, with all reasons; undefined without any.
 *
 * @param by the webhook, and the group that it names. Default: as Cluster API's own do. Without a webhook, the API server
 *   refuses by the schema.
 */
export function refusalOf(
  object: JsonObject,
  problems: readonly string[],
  by: { webhook: string | undefined; group: string } = {
    webhook: `validation.${textAt(object, 'kind').toLowerCase()}.${groupOf(object)}`,
    group: 'cluster.x-k8s.io',
  },
): string | undefined {
  const denied = by.webhook === undefined ? '' : `admission webhook ${JSON.stringify(by.webhook)} denied the request: `;
  return problems.length === 0
    ? undefined
    : `${denied}${textAt(object, 'kind')}.${by.group} ${JSON.stringify(nameOf(object))} is invalid: ${aggregate(problems)}`;
}
