import { matchConditionCauses } from '../../kubernetes/cel/index.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  type StatusCause,
} from '../../kubernetes/index.ts';
import { duplicate, invalid, notSupported, required } from '../../kubernetes/schema/index.ts';
import type { KindStrategy } from '../resources/resource.ts';

function prepare(object: JsonObject): void {
  for (const webhook of objectsAt(object, 'webhooks')) {
    webhook.failurePolicy ??= 'Fail';
    webhook.matchPolicy ??= 'Equivalent';
    webhook.namespaceSelector ??= {};
    webhook.objectSelector ??= {};
    webhook.timeoutSeconds ??= 10;
    if (object.kind === 'MutatingWebhookConfiguration') {
      webhook.reinvocationPolicy ??= 'Never';
    }
    for (const rule of objectsAt(webhook, 'rules')) {
      rule.scope ??= '*';
    }
    const service = isJsonObject(webhook.clientConfig) ? webhook.clientConfig.service : undefined;
    if (isJsonObject(service)) {
      service.port ??= 443;
    }
  }
}

function oneOf(field: string, value: Json | undefined, allowed: readonly string[]): StatusCause[] {
  if (typeof value === 'string' && allowed.includes(value)) {
    return [];
  }
  return [
    value === undefined
      ? required(field, `must specify one of ${allowed.join(', ')}`)
      : notSupported(field, value, allowed),
  ];
}

function validateWebhook(webhook: JsonObject, field: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const report = (path: string, value: Json | undefined, message: string) =>
    causes.push(invalid(`${field}.${path}`, value, message));
  if (typeof webhook.name !== 'string' || webhook.name.split('.').filter((part) => part !== '').length < 3) {
    report('name', webhook.name, 'should be a domain with at least three segments separated by dots');
  }
  causes.push(...oneOf(`${field}.sideEffects`, webhook.sideEffects, ['None', 'NoneOnDryRun']));
  causes.push(...oneOf(`${field}.failurePolicy`, webhook.failurePolicy, ['Fail', 'Ignore']));
  causes.push(...oneOf(`${field}.matchPolicy`, webhook.matchPolicy, ['Equivalent', 'Exact']));
  if (!Array.isArray(webhook.admissionReviewVersions) || !webhook.admissionReviewVersions.includes('v1')) {
    report('admissionReviewVersions', webhook.admissionReviewVersions, 'must include at least one of v1, v1beta1');
  }
  const timeout = webhook.timeoutSeconds;
  if (typeof timeout !== 'number' || timeout < 1 || timeout > 30) {
    report('timeoutSeconds', timeout, 'the timeout value must be between 1 and 30 seconds');
  }
  const client = objectAt(webhook, 'clientConfig');
  if ((client.url === undefined) === (client.service === undefined)) {
    causes.push(required(`${field}.clientConfig`, 'exactly one of url or service is required'));
  }
  if (typeof client.url === 'string' && !client.url.startsWith('https://')) {
    report('clientConfig.url', client.url, '"https" is the only allowed URL scheme');
  }
  for (const [index, rule] of objectsAt(webhook, 'rules').entries()) {
    for (const key of ['operations', 'apiGroups', 'apiVersions', 'resources'] as const) {
      if (!Array.isArray(rule[key]) || rule[key].length === 0) {
        causes.push(required(`${field}.rules[${index}].${key}`));
      }
    }
  }
  causes.push(...matchConditionCauses(webhook.matchConditions, `${field}.matchConditions`));
  return causes;
}

function validate(object: JsonObject): StatusCause[] {
  const webhooks = objectsAt(object, 'webhooks');
  const names = new Set<Json | undefined>();
  return webhooks.flatMap((webhook, index) => {
    const causes = validateWebhook(webhook, `webhooks[${index}]`);
    if (names.has(webhook.name)) {
      causes.push(duplicate(`webhooks[${index}].name`, webhook.name));
    }
    names.add(webhook.name);
    return causes;
  });
}

/** The features that distinguish the two kinds of webhook configurations from plain objects. */
export const webhookConfigurationStrategy: KindStrategy = { prepare, validate };
