import { repeated } from '../../base/index.ts';
import { matchConditionCauses } from '../../kubernetes/cel/index.ts';
import {
  fieldAt,
  formatFieldPath,
  itemsAt,
  type Json,
  type JsonObject,
  type LabelSelector,
  labelSelectorProblems,
  objectAt,
  objectsAt,
  type StatusCause,
} from '../../kubernetes/index.ts';
import { duplicate, invalid, required } from '../../kubernetes/schema/index.ts';
import type { KindStrategy } from '../resources/resource.ts';

function prepare(object: JsonObject): void {
  for (const webhook of objectsAt(object, 'webhooks')) {
    webhook.namespaceSelector ??= {};
    webhook.objectSelector ??= {};
  }
}

/** The problems of a label selector that its schema does not find; none for one that is absent. */
function selectorCauses(selector: Json | undefined, field: string): StatusCause[] {
  const requirements = objectsAt(selector, 'matchExpressions');
  return requirements.some(({ key, operator }) => key === undefined || operator === undefined)
    ? []
    : labelSelectorProblems((selector ?? {}) as LabelSelector, 10).map(({ path, message }) =>
        invalid(`${field}.${formatFieldPath(path)}`, fieldAt(selector, ...path), message),
      );
}

const alone: Readonly<Record<string, string>> = {
  operations: "if '*' is present, must not specify other operations",
  apiGroups: "if '*' is present, must not specify other API groups",
  apiVersions: "if '*' is present, must not specify other API versions",
};

/** The problems of a webhook that its schema does not find (kubernetes, pkg/apis/admissionregistration/validation). */
function* validateWebhook(webhook: JsonObject, field: string): Generator<StatusCause> {
  const wrong = (path: string, value: Json | undefined, message: string) => invalid(`${field}.${path}`, value, message);
  const { name, admissionReviewVersions, clientConfig } = webhook;
  if (typeof name === 'string' && name.split('.').filter((part) => part !== '').length < 3) {
    yield wrong('name', name, 'should be a domain with at least three segments separated by dots');
  }
  if (admissionReviewVersions !== undefined && !itemsAt(admissionReviewVersions).includes('v1')) {
    yield wrong('admissionReviewVersions', admissionReviewVersions, 'must include at least one of v1, v1beta1');
  }
  const { url, service } = objectAt(clientConfig);
  if (clientConfig !== undefined && (url === undefined) === (service === undefined)) {
    yield required(`${field}.clientConfig`, 'exactly one of url or service is required');
  }
  if (typeof url === 'string' && !url.startsWith('https://')) {
    yield wrong('clientConfig.url', url, '"https" is the only allowed URL scheme');
  }
  const { path } = objectAt(service);
  if (typeof path === 'string' && !path.startsWith('/')) {
    yield wrong('clientConfig.service.path', path, "must start with a '/'");
  }
  for (const [index, rule] of objectsAt(webhook, 'rules').entries()) {
    for (const [list, why] of Object.entries(alone)) {
      const values = itemsAt(rule, list);
      if (values.length > 1 && values.includes('*')) {
        yield wrong(`rules[${index}].${list}`, values, why);
      }
    }
  }
  yield* selectorCauses(webhook.namespaceSelector, `${field}.namespaceSelector`);
  yield* selectorCauses(webhook.objectSelector, `${field}.objectSelector`);
  yield* matchConditionCauses(webhook.matchConditions, `${field}.matchConditions`);
}

function* validate(object: JsonObject): Generator<StatusCause> {
  const webhooks = objectsAt(object, 'webhooks');
  for (const [index, webhook] of webhooks.entries()) {
    yield* validateWebhook(webhook, `webhooks[${index}]`);
  }
  const named = webhooks.entries().filter(([, { name }]) => name !== undefined);
  for (const [index, { name }] of repeated(named, ([, webhook]) => webhook.name)) {
    yield duplicate(`webhooks[${index}].name`, name);
  }
}

export const webhookConfigurationStrategy: KindStrategy = { prepare, validate };
