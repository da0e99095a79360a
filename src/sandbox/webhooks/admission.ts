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
import { badRequest, forbidden, internalError, RequestError } from '../resources/errors.ts';
import type { Registry } from '../resources/registry.ts';
import { namespaceStorage, type Resource, sandboxUser, type WebhookClientConfig } from '../resources/resource.ts';
import { labelsOf } from '../storage/selectors.ts';
import { type Store, storageKey } from '../storage/store.ts';
import type { VersionConverter } from './conversion.ts';
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

/** A write of one object, or of a subresource of it. */
export interface WriteRequest {
  resource: Resource;
  namespace: string;
  /** Empty for a creation. */
  name: string;
  /** `status` or empty. */
  subresource: string;
  query: URLSearchParams;
  mediaType: string | undefined;
  body: Uint8Array;
  warn(text: string): void;
}

/** A write that admission webhooks decide on. Objects are in the request's version. */
export interface AdmissionAttempt extends WriteRequest {
  operation: Operation;
  object: JsonObject | undefined;
  oldObject: JsonObject | undefined;
  dryRun: boolean;
  options: JsonObject;
  /** Brings an object that a webhook has changed into the form of the request's version. @throws when it has another. */
  complete(object: Json): JsonObject;
}

/** A step of admission, for the sandbox's log. */
export interface AdmissionEvent {
  event: 'denied' | 'failed-open' | 'audit';
  webhook: string;
  resource: string;
  name: string;
  message?: string;
  annotations?: JsonObject;
}

export interface AdmissionContext {
  store: Store;
  registry: Registry;
  converter: VersionConverter;
  caller: WebhookCaller;
  log(event: AdmissionEvent): void;
  /** The current time as metav1.Time is serialized. */
  now(): string;
}

type Kind = 'mutating' | 'validating';

/** Webhook configurations themselves are exempt, since a broken one could never be repaired otherwise. */
const exemptGroup = 'admissionregistration.k8s.io';

function includes(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}

function resourceMatches(patterns: readonly string[], plural: string, subresource: string): boolean {
  return patterns.some((pattern) => {
    const [wanted, wantedSub = ''] = pattern.split('/');
    return (wanted === '*' || wanted === plural) && (wantedSub === '*' || wantedSub === subresource);
  });
}

function ruleMatches(webhook: Webhook, resource: Resource, attempt: AdmissionAttempt): boolean {
  return (webhook.rules ?? []).some(
    (rule) =>
      includes(rule.operations, attempt.operation) &&
      includes(rule.apiGroups, resource.group) &&
      includes(rule.apiVersions, resource.version) &&
      resourceMatches(rule.resources, resource.plural, attempt.subresource) &&
      (rule.scope === '*' || rule.scope === (resource.namespaced ? 'Namespaced' : 'Cluster')),
  );
}

/** The resource in the version that a webhook is called with; undefined if its rules or selectors do not match. */
function matchedResource(context: AdmissionContext, webhook: Webhook, attempt: AdmissionAttempt): Resource | undefined {
  const { resource } = attempt;
  const equivalent = webhook.matchPolicy === 'Exact' ? [] : context.registry.ofStorage(resource.storage);
  const matched = [resource, ...equivalent].find((version) => ruleMatches(webhook, version, attempt));
  return matched !== undefined && isSelected(context, webhook, attempt) ? matched : undefined;
}

function isSelected(context: AdmissionContext, webhook: Webhook, attempt: AdmissionAttempt): boolean {
  const { resource, object, oldObject } = attempt;
  const isNamespace = resource.storage === namespaceStorage;
  if (resource.namespaced || isNamespace) {
    const namespace = isNamespace
      ? (object ?? oldObject)
      : context.store.collection(namespaceStorage).get(storageKey('', attempt.namespace));
    if (namespace === undefined || !selectsLabels(webhook.namespaceSelector, labelsOf(namespace))) {
      return false;
    }
  }
  // Either state of the object may match, so that a webhook also sees objects that leave its selection.
  return [object, oldObject].some(
    (state) => state !== undefined && selectsLabels(webhook.objectSelector, labelsOf(state)),
  );
}

/** The name of the object; empty while it is created with a generated one. */
const nameOf = ({ object, oldObject }: AdmissionAttempt) => textAt(object ?? oldObject, 'metadata', 'name');

function reviewOf(attempt: AdmissionAttempt, resource: Resource, uid: string): JsonObject {
  const { object = null, oldObject = null, namespace, subresource, operation, dryRun } = attempt;
  const name = nameOf(attempt);
  const gvk = ({ group, version, kind }: Resource) => ({ group, version, kind });
  const gvr = ({ group, version, plural }: Resource) => ({ group, version, resource: plural });
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid,
      kind: gvk(resource),
      resource: gvr(resource),
      ...(subresource === '' ? {} : { subResource: subresource }),
      requestKind: gvk(attempt.resource),
      requestResource: gvr(attempt.resource),
      ...(subresource === '' ? {} : { requestSubResource: subresource }),
      ...(name === '' ? {} : { name }),
      ...(namespace === '' ? {} : { namespace }),
      operation,
      userInfo: { ...sandboxUser },
      object,
      oldObject,
      dryRun,
      options: attempt.options,
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

/**
 * Calls one webhook.
 *
 * @returns the object as the webhook has patched it, in the request's version; undefined without a patch.
 * @throws {RequestError} when it denies the request, or fails and its failurePolicy is Fail.
 */
async function ask(
  context: AdmissionContext,
  kind: Kind,
  webhook: Webhook,
  resource: Resource,
  attempt: AdmissionAttempt,
): Promise<JsonObject | undefined> {
  const about = { webhook: webhook.name, resource: resource.storage, name: nameOf(attempt) };
  try {
    return await askStrictly(context, kind, webhook, resource, attempt, about);
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
    throw isUndecided ? forbidden(attempt.resource, nameOf(attempt), why) : internalError(why);
  }
}

async function askStrictly(
  context: AdmissionContext,
  kind: Kind,
  webhook: Webhook,
  resource: Resource,
  attempt: AdmissionAttempt,
  about: { webhook: string; resource: string; name: string },
): Promise<JsonObject | undefined> {
  const { converter, caller } = context;
  const states = [attempt.object, attempt.oldObject].filter((state) => state !== undefined);
  const converted = await converter.convert(attempt.resource, states, resource.version);
  const object = attempt.object && converted[0];
  const oldObject = attempt.oldObject && converted.at(-1);
  const uid = randomUUID();
  const review = reviewOf({ ...attempt, object, oldObject }, resource, uid);
  const conditions = webhook.matchConditions ?? [];
  if (conditions.length > 0 && !matchesConditions(conditions, review.request as JsonObject)) {
    return undefined;
  }
  const answer = await caller.call(webhook.clientConfig, webhook.timeoutSeconds, review);
  const response = answer.response;
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
    context.log({ event: 'audit', ...about, annotations: Object.fromEntries(entries) as JsonObject });
  }
  if (response.allowed !== true) {
    throw denial(webhook, response.status);
  }
  if (typeof response.patch !== 'string' || response.patch === '') {
    return undefined;
  }
  if (kind === 'validating') {
    throw new Error('a validating webhook must not return a patch');
  }
  if (object === undefined) {
    const why = 'attempted to modify the object, which is not supported for this operation';
    throw internalError(`admission webhook ${JSON.stringify(webhook.name)} ${why}`);
  }
  const patched = patchedObject(object, response.patch);
  const [back] = await converter.convert(attempt.resource, [patched], attempt.resource.version);
  try {
    return attempt.complete(copyOf(back as JsonObject));
  } catch (error) {
    throw new Error(`its patch results in an invalid object: ${(error as Error).message}`);
  }
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

/** The webhooks of a kind, in the order in which they are called. */
function webhooksFor(context: AdmissionContext, kind: Kind, { resource }: AdmissionAttempt): Webhook[] {
  if (resource.group === exemptGroup) {
    return [];
  }
  return context.store
    .collection(`${kind}webhookconfigurations.${exemptGroup}`)
    .list()
    .flatMap(([, configuration]) => (configuration.webhooks as unknown as Webhook[] | undefined) ?? []);
}

/**
 * Calls the mutating webhooks one after the other, in the order of their configurations' names. Whether a webhook is
 * called depends on the object as earlier ones have changed it. After a change, earlier webhooks whose reinvocationPolicy
 * is IfNeeded are called once more, if they still match (k8s.io/apiserver, mutating/dispatcher.go).
 *
 * @returns the resulting object (the attempt's own if none changes it).
 * @throws {RequestError} when one denies the request, or fails and its failurePolicy is Fail.
 */
export async function mutate(context: AdmissionContext, attempt: AdmissionAttempt): Promise<JsonObject | undefined> {
  let object = attempt.object;
  /** Webhooks that a later change makes eligible for another call. */
  let called = new Set<Webhook>();
  const again = new Set<Webhook>();
  async function callEach(webhooks: Iterable<Webhook>): Promise<void> {
    for (const webhook of webhooks) {
      const current = { ...attempt, object };
      const resource = matchedResource(context, webhook, current);
      if (resource === undefined) {
        continue;
      }
      const patched = await ask(context, 'mutating', webhook, resource, current);
      if (patched !== undefined && !isSame(patched, object)) {
        object = patched;
        for (const earlier of called) {
          again.add(earlier);
        }
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

/**
 * Calls all validating webhooks concurrently.
 *
 * @throws {RequestError} of the first one, in the order of their configurations, that denies the request, or fails and
 *   has failurePolicy Fail.
 */
export async function validate(context: AdmissionContext, attempt: AdmissionAttempt): Promise<void> {
  const matching = webhooksFor(context, 'validating', attempt).flatMap((webhook) => {
    const resource = matchedResource(context, webhook, attempt);
    return resource === undefined ? [] : [{ webhook, resource }];
  });
  // Warnings in the order of the webhooks, whichever responds first.
  const warnings = matching.map((): string[] => []);
  const outcomes = await Promise.allSettled(
    matching.map(({ webhook, resource }, index) =>
      ask(context, 'validating', webhook, resource, { ...attempt, warn: (text) => warnings[index]?.push(text) }),
    ),
  );
  for (const text of warnings.flat()) {
    attempt.warn(text);
  }
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) {
    throw failed.reason;
  }
}

/** The options object for the review of a request; patches count as updates. */
export function optionsOf(kind: 'CreateOptions' | 'UpdateOptions', query: URLSearchParams): JsonObject {
  const fieldManager = query.get('fieldManager');
  const fieldValidation = query.get('fieldValidation');
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(query.has('dryRun') ? { dryRun: query.getAll('dryRun') } : {}),
    ...(fieldManager ? { fieldManager } : {}),
    ...(fieldValidation ? { fieldValidation } : {}),
  };
}

/** Whether the query of a write, or the body of a deletion, asks for a dry run. @throws {RequestError} 400. */
export function isDryRun(query: URLSearchParams, body: JsonObject = {}): boolean {
  const dryRun = [...query.getAll('dryRun'), ...itemsAt(body, 'dryRun')].filter((value) => value !== '');
  if (dryRun.some((value) => value !== 'All')) {
    throw badRequest('dryRun can only be "All"');
  }
  return dryRun.length > 0;
}
