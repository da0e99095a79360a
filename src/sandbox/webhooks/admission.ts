import { randomUUID } from 'node:crypto';
import { type MatchCondition, matchesConditions, UndecidedConditions } from '../../kubernetes/cel/index.ts';
import {
  applyOperations,
  copyOf,
  isJsonObject,
  isOperation,
  isSame,
  itemsAt,
  type Json,
  type JsonObject,
  type LabelSelector,
  type Operation,
  objectAt,
  type PatchOperation,
  parseJson,
  type Status,
  selectsLabels,
  textAt,
} from '../../kubernetes/index.ts';
import { forbidden, internalError, RequestError } from '../resources/errors.ts';
import type { Registry } from '../resources/registry.ts';
import {
  labelsOf,
  namespaceStorage,
  type Resource,
  type ResourceRequest,
  sandboxUser,
  type WebhookClientConfig,
} from '../resources/resource.ts';
import { type Store, storageKey } from '../storage/store.ts';
import { convert } from './conversion.ts';
import type { WebhookCaller } from './webhook-call.ts';

/** One webhook of a configuration, with the server's defaults applied. */
interface Webhook {
  name: string;
  clientConfig: WebhookClientConfig;
  rules?: { operations: string[]; apiGroups: string[]; apiVersions: string[]; resources: string[]; scope: string }[];
  matchPolicy: 'Equivalent' | 'Exact';
  failurePolicy: 'Fail' | 'Ignore';
  timeoutSeconds: number;
  namespaceSelector: LabelSelector;
  objectSelector: LabelSelector;
  reinvocationPolicy?: 'Never' | 'IfNeeded';
  matchConditions?: MatchCondition[] | null;
}

/** A write that admission webhooks decide on. Objects are in the request's version. */
export interface AdmissionAttempt extends ResourceRequest {
  operation: Operation;
  object: JsonObject | undefined;
  oldObject: JsonObject | undefined;
  dryRun: boolean;
  options: JsonObject;
  /** Brings an object that a webhook has changed into the form of the request's version. @throws when it has another. */
  complete(object: Json): JsonObject;
}

export interface AdmissionEvent {
  event: 'denied' | 'failed-open' | 'audit';
  webhook: string;
  resource: string;
  name: string;
  message?: string;
  annotations?: JsonObject;
}

/** What requests and controllers share. */
export interface ApiContext {
  store: Store;
  registry: Registry;
  caller: WebhookCaller;
  log(event: AdmissionEvent): void;
  /** The current time as metav1.Time is serialized. */
  now(): string;
}

type Kind = 'mutating' | 'validating';

/** A webhook that is called, and the resource in the version that it is called with. */
interface Match {
  webhook: Webhook;
  version: Resource;
}

/** Webhook configurations themselves are exempt, since a broken one could never be repaired otherwise. */
const exemptGroup = 'admissionregistration.k8s.io';

function includes(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}

function ruleMatches(webhook: Webhook, resource: Resource, { operation, subresource }: AdmissionAttempt): boolean {
  return (webhook.rules ?? []).some(
    (rule) =>
      includes(rule.operations, operation) &&
      includes(rule.apiGroups, resource.group) &&
      includes(rule.apiVersions, resource.version) &&
      rule.resources.some((pattern) => {
        const [plural, wanted = ''] = pattern.split('/');
        return (plural === '*' || plural === resource.plural) && (wanted === '*' || wanted === subresource);
      }) &&
      (rule.scope === '*' || rule.scope === (resource.namespaced ? 'Namespaced' : 'Cluster')),
  );
}

/** The webhook with the version that it is called with; undefined if its rules or selectors do not match. */
function matchOf(context: ApiContext, webhook: Webhook, attempt: AdmissionAttempt): Match | undefined {
  const { resource } = attempt;
  const equivalent = webhook.matchPolicy === 'Exact' ? [] : context.registry.ofStorage(resource.storage);
  const version = [resource, ...equivalent].find((one) => ruleMatches(webhook, one, attempt));
  return version && isSelected(context, webhook, attempt) ? { webhook, version } : undefined;
}

function isSelected({ store }: ApiContext, webhook: Webhook, attempt: AdmissionAttempt): boolean {
  const { resource, object, oldObject } = attempt;
  const isNamespace = resource.storage === namespaceStorage;
  if (resource.namespaced || isNamespace) {
    const namespace = isNamespace
      ? (object ?? oldObject)
      : store.collection(namespaceStorage).get(storageKey('', attempt.namespace));
    if (namespace === undefined || !selectsLabels(webhook.namespaceSelector, labelsOf(namespace))) {
      return false;
    }
  }
  // Either state of the object may match, so that a webhook also sees objects that leave its selection.
  return [object, oldObject].some((state) => state && selectsLabels(webhook.objectSelector, labelsOf(state)));
}

/** The name of the object; empty while it is created with a generated one. */
const nameOf = ({ object, oldObject }: AdmissionAttempt) => textAt(object ?? oldObject, 'metadata', 'name');

function reviewOf(attempt: AdmissionAttempt, version: Resource, uid: string): JsonObject {
  const { resource, object = null, oldObject = null, namespace, subresource, operation, dryRun, options } = attempt;
  const name = nameOf(attempt);
  const gvk = ({ group, version, kind }: Resource) => ({ group, version, kind });
  const gvr = ({ group, version, plural }: Resource) => ({ group, version, resource: plural });
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid,
      kind: gvk(version),
      resource: gvr(version),
      ...(subresource === '' ? {} : { subResource: subresource }),
      requestKind: gvk(resource),
      requestResource: gvr(resource),
      ...(subresource === '' ? {} : { requestSubResource: subresource }),
      ...(name === '' ? {} : { name }),
      ...(namespace === '' ? {} : { namespace }),
      operation,
      userInfo: { ...sandboxUser },
      object,
      oldObject,
      dryRun,
      options,
    },
  };
}

/** The error for the client of a denied request, worded as by the real API server. */
function denial(webhook: Webhook, answer: Json | undefined): RequestError {
  const status = objectAt(answer);
  const deniedBy = `admission webhook ${JSON.stringify(webhook.name)} denied the request`;
  const why = [status.message, status.reason].find((text) => typeof text === 'string' && text !== '');
  const code = Number(status.code);
  return new RequestError({
    ...(status as Partial<Status>),
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: why === undefined ? `${deniedBy} without explanation` : `${deniedBy}: ${String(why)}`,
    // A webhook must not choose a code that HTTP lacks, or one of success.
    code: Number.isInteger(code) && code >= 400 && code <= 599 ? code : 400,
  });
}

/** Returns the object as patched, in the request's version; undefined without a patch. @throws {RequestError} as failurePolicy says. */
async function ask(
  context: ApiContext,
  kind: Kind,
  match: Match,
  attempt: AdmissionAttempt,
): Promise<JsonObject | undefined> {
  const { webhook } = match;
  const about = { webhook: webhook.name, resource: match.version.storage, name: nameOf(attempt) };
  try {
    const { object, patch } = await callWebhook(context, match, attempt, (annotations) =>
      context.log({ event: 'audit', ...about, annotations }),
    );
    if (typeof patch !== 'string' || patch === '') {
      return undefined;
    }
    if (kind === 'validating') {
      throw new Error('a validating webhook must not return a patch');
    }
    if (object === undefined) {
      const why = 'attempted to modify the object, which is not supported for this operation';
      throw internalError(`admission webhook ${JSON.stringify(webhook.name)} ${why}`);
    }
    const { resource, complete } = attempt;
    const [back] = await convert(context, resource, [patchedObject(object, patch)], resource.version);
    try {
      return complete(copyOf(back as JsonObject));
    } catch (error) {
      throw new Error(`its patch results in an invalid object: ${(error as Error).message}`);
    }
  } catch (error) {
    if (error instanceof RequestError) {
      context.log({ event: 'denied', ...about, message: error.message });
      throw error;
    }
    const isUndecided = error instanceof UndecidedConditions;
    const { message } = error as Error;
    const why = isUndecided ? message : `failed calling webhook ${JSON.stringify(webhook.name)}: ${message}`;
    if (webhook.failurePolicy === 'Ignore') {
      context.log({ event: 'failed-open', ...about, message: why });
      return undefined;
    }
    throw isUndecided ? forbidden(attempt.resource, about.name, why) : internalError(why);
  }
}

/** The patch of a webhook, none if its conditions exclude the request, and the object that it was shown. @throws */
async function callWebhook(
  context: ApiContext,
  { webhook, version }: Match,
  attempt: AdmissionAttempt,
  audit: (annotations: JsonObject) => void,
): Promise<{ object: JsonObject | undefined; patch?: Json | undefined }> {
  const states = [attempt.object, attempt.oldObject].filter((state) => state !== undefined);
  const converted = await convert(context, attempt.resource, states, version.version);
  const object = attempt.object && converted[0];
  const oldObject = attempt.oldObject && converted.at(-1);
  const uid = randomUUID();
  const review = reviewOf({ ...attempt, object, oldObject }, version, uid);
  const conditions = webhook.matchConditions ?? [];
  if (conditions.length > 0 && !matchesConditions(conditions, review.request as JsonObject)) {
    return { object };
  }
  const { response } = await context.caller.call(webhook.clientConfig, webhook.timeoutSeconds, review);
  if (!isJsonObject(response)) {
    throw new Error('received an AdmissionReview without response');
  }
  if (response.uid !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid ?? null)}`);
  }
  for (const warning of itemsAt(response, 'warnings')) {
    attempt.warn(String(warning));
  }
  if (isJsonObject(response.auditAnnotations)) {
    const entries = Object.entries(response.auditAnnotations).map(([key, value]) => [`${webhook.name}/${key}`, value]);
    audit(Object.fromEntries(entries) as JsonObject);
  }
  if (response.allowed !== true) {
    throw denial(webhook, response.status);
  }
  return { object, patch: response.patch };
}

function patchedObject(object: JsonObject, encoded: string): JsonObject {
  const operations = parseJson(Buffer.from(encoded, 'base64'));
  if (!Array.isArray(operations) || !operations.every(isOperation)) {
    throw new Error('its patch is not a JSON patch');
  }
  try {
    const patched = applyOperations(object, operations as unknown as PatchOperation[]);
    if (isJsonObject(patched)) {
      return patched;
    }
  } catch (error) {
    throw new Error(`its patch does not apply: ${(error as Error).message}`);
  }
  throw new Error('its patch results in a value that is not an object');
}

function webhooksFor({ store }: ApiContext, kind: Kind, { resource }: AdmissionAttempt): Webhook[] {
  return resource.group === exemptGroup
    ? []
    : store
        .collection(`${kind}webhookconfigurations.${exemptGroup}`)
        .list()
        .flatMap(([, configuration]) => (configuration.webhooks as unknown as Webhook[] | undefined) ?? []);
}

/**
 * Calls each mutating webhook for the object as earlier ones have changed it; after a change, those before it whose reinvocationPolicy
 * is IfNeeded once more (k8s.io/apiserver, mutating/dispatcher.go). Returns the resulting object. @throws {RequestError} as `ask`.
 */
export async function mutate(context: ApiContext, attempt: AdmissionAttempt): Promise<JsonObject | undefined> {
  let object = attempt.object;
  /** Webhooks that a later change makes eligible for another call. */
  let called = new Set<Webhook>();
  let again = new Set<Webhook>();
  async function callEach(webhooks: Iterable<Webhook>): Promise<void> {
    for (const webhook of webhooks) {
      const current = { ...attempt, object };
      const match = matchOf(context, webhook, current);
      if (match === undefined) {
        continue;
      }
      const patched = await ask(context, 'mutating', match, current);
      if (patched !== undefined && !isSame(patched, object)) {
        object = patched;
        again = new Set([...again, ...called]);
        called = new Set();
      }
      if (webhook.reinvocationPolicy === 'IfNeeded') {
        called.add(webhook);
      }
    }
  }
  const webhooks = webhooksFor(context, 'mutating', attempt);
  await callEach(webhooks);
  await callEach(webhooks.filter((webhook) => again.has(webhook)));
  return object;
}

/** Calls all validating webhooks concurrently. @throws {RequestError} of the first one, in their order, as `ask`. */
export async function validate(context: ApiContext, attempt: AdmissionAttempt): Promise<void> {
  const calls = webhooksFor(context, 'validating', attempt)
    .map((webhook) => matchOf(context, webhook, attempt))
    .filter((match) => match !== undefined)
    .map((match) => {
      const warnings: string[] = [];
      return {
        warnings,
        outcome: ask(context, 'validating', match, { ...attempt, warn: (text) => warnings.push(text) }),
      };
    });
  const outcomes = await Promise.allSettled(calls.map(({ outcome }) => outcome));
  // In the order of the webhooks, whichever responds first.
  calls.flatMap(({ warnings }) => warnings).forEach(attempt.warn);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) {
    throw failed.reason;
  }
}
