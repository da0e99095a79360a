import { groupOf, type JsonObject, nameOf, textAt } from '../../kubernetes/index.ts';
import { aggregate } from '../../runtimehooks/client/index.ts';

/** What an API server says of a write that a webhook denies. */
export const denial = (webhook: string, text: string): string =>
  `admission webhook ${JSON.stringify(webhook)} denied the request: ${text}`;

/** The name of Cluster API's webhook for an object. */
export const webhookOf = (object: JsonObject, webhook: 'default' | 'validation'): string =>
  `${webhook}.${textAt(object, 'kind').toLowerCase()}.${groupOf(object)}`;

/** `Cluster.cluster.x-k8s.io "f1" is invalid: …`. `group`: the one that a webhook writes, where that is not the object's. */
export const invalidText = (object: JsonObject, problems: readonly string[], group = groupOf(object)): string =>
  `${textAt(object, 'kind')}.${group} ${JSON.stringify(nameOf(object))} is invalid: ${aggregate(problems)}`;
