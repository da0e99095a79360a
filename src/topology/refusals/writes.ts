import { didYouMean } from '../../base/index.ts';
import {
  customResourceCauses,
  type ReadObject,
  readCustomResource,
  unknownFieldTexts,
} from '../../kubernetes/custom-resources/index.ts';
import {
  fieldAt,
  groupOf,
  invalid,
  isSame,
  type JsonObject,
  nameOf,
  namespaceOf,
  objectAt,
  objectsAt,
  objectText,
  type StatusCause,
  textAt,
} from '../../kubernetes/index.ts';
import { DefaultsError, type Schema, type SchemaOf } from '../../kubernetes/schema/index.ts';
import { coreGroup } from '../../runtimehooks/index.ts';
import { byRules, NotKnown } from '../world/not-known.ts';
import { writable } from '../world/objects.ts';
import type { Problem } from '../world/plan-document.ts';
import { denial, type Refusal, webhookOf } from '../world/refusal.ts';
import { withoutEmpty } from '../world/without-empty.ts';
import type { World } from '../world/world.ts';
import { appliedTypeProblem } from './applied-type.ts';
import { ownKindRefusal } from './own-kinds.ts';
import { stored } from './stored.ts';
import { defaultingProblem, hasDefaultingWebhook, validatingProblem } from './webhook-decoding.ts';

function read(object: JsonObject, schema: Schema): ReadObject {
  try {
    return readCustomResource(object, schema);
  } catch (error) {
    throw error instanceof DefaultsError
      ? new NotKnown(`whether ${objectText(object)} is valid is not known: ${error.message}`)
      : error;
  }
}

const notDecoded = (object: JsonObject, webhook: 'default' | 'validation', problem: string | undefined) =>
  problem === undefined
    ? undefined
    : { code: 400, reason: '', message: denial(webhookOf(object, webhook), problem), causes: [] };

/**
 * Why an object cannot be read, in the words of the API server or of the webhook for its defaults: unknown fields
 * (`fieldValidation=Strict`), and fields of the wrong type. Undefined if it can, or if there is no schema of its kind.
 *
 * @throws {NotKnown} when its defaults exceed 8 MiB.
 */
export function decodingRefusal(object: JsonObject, schemaOf: SchemaOf): Refusal | undefined {
  const schema = schemaOf(object);
  if (schema === undefined) {
    return undefined;
  }
  const { malformed, unknown } = read(object, schema);
  const problem =
    malformed ?? (unknown.length > 0 ? `strict decoding error: ${unknownFieldTexts(unknown).join(', ')}` : undefined);
  if (problem === undefined) {
    return notDecoded(object, 'default', defaultingProblem(object, schema));
  }
  const kind = textAt(object, 'kind');
  const version = textAt(object, 'apiVersion').split('/').at(-1);
  const message = `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${problem}`;
  const remedies = unknown.map(({ name, known }) => didYouMean(name, known, ''));
  const remedy = remedies.filter((text) => text !== '').join(' ');
  return { code: 400, reason: 'BadRequest', message, causes: [], ...(remedy !== '' && { remedy }) };
}

/** An object that can be read, as it would be stored: the status is not written with the rest. */
function asStored(object: JsonObject, schema: Schema, old?: JsonObject): JsonObject {
  const { status: _status, ...whole } = stored(read(object, schema).object, () => undefined, old);
  const metadata = objectAt(whole, 'metadata');
  const prefix = textAt(metadata, 'generateName');
  return nameOf(whole) === '' && prefix !== ''
    ? { ...whole, metadata: { ...metadata, name: `${prefix}00000` } }
    : whole;
}

const isMissing = ({ reason }: StatusCause) => reason === 'FieldValueRequired';

/** What the schema of its kind, and the rules in it, say of an object that can be read. */
function causesOf(object: JsonObject, old: JsonObject | undefined, schema: Schema): StatusCause[] {
  // Providers' webhooks for defaults fill in missing fields, and Go's types write required ones: only of one that a
  // change removes it is said that it is required.
  if (groupOf(object) !== coreGroup && !textAt(object, 'kind').startsWith('Kubeadm')) {
    const causes = customResourceCauses(object, old, schema);
    if (!causes.some(isMissing)) {
      return causes;
    }
    const before = old && new Set(customResourceCauses(old, undefined, schema).map(({ field }) => field));
    return causes.filter((cause) => (isMissing(cause) ? before?.has(cause.field) === false : cause.field !== '<nil>'));
  }
  if (!textAt(object, 'apiVersion').endsWith('/v1beta1') || !hasDefaultingWebhook(object)) {
    return customResourceCauses(object, old, schema);
  }
  // The webhook for defaults has v1beta1 converted, and its answer converted back: Go's types drop empty fields there, and
  // write others that were missing.
  const causes = customResourceCauses(withoutEmpty(object) as JsonObject, old, schema);
  return causes.filter((cause) => !isMissing(cause) && cause.field !== '<nil>');
}

/**
 * Why an API server does not store an object that can be read, in its words: by the schema of its kind, and its rules. What an
 * update leaves as it was is not judged. Undefined if it stores the object, or if there is no schema of its kind.
 *
 * @param old the object that it replaces; undefined for a creation. One in another version of its API does not count.
 * @throws {NotKnown} when its defaults exceed 8 MiB, or a rule cannot be evaluated.
 */
export function schemaRefusal(
  object: JsonObject,
  old: JsonObject | undefined,
  schemaOf: SchemaOf,
): Refusal | undefined {
  const schema = schemaOf(object);
  if (schema === undefined) {
    return undefined;
  }
  const before = old !== undefined && old.apiVersion === object.apiVersion ? asStored(old, schema) : undefined;
  const causes = byRules(() => causesOf(asStored(object, schema, before), before, schema));
  if (causes.length === 0) {
    return notDecoded(object, 'validation', validatingProblem(object, schema));
  }
  const { code, message = '' } = invalid(groupOf(object), textAt(object, 'kind'), nameOf(object), causes);
  return { code, reason: 'Invalid', message, causes };
}

/**
 * Why an API server does not take what a controller applies, in its words; undefined if it does, or without a schema.
 *
 * @param result what the intent makes of the object.
 * @param current the object that exists; undefined if it is created.
 * @throws {NotKnown} as `schemaRefusal`.
 */
export function applyRefusal(
  intent: JsonObject,
  result: JsonObject,
  current: JsonObject | undefined,
  schemaOf: SchemaOf,
): Refusal | undefined {
  const [schema, ofResult] = [schemaOf(intent), schemaOf(result)];
  const message = schema && appliedTypeProblem(intent, schema);
  if (message !== undefined) {
    return { code: 500, reason: '', message, causes: [] };
  }
  return (
    notDecoded(result, 'default', ofResult && defaultingProblem(result, ofResult)) ??
    schemaRefusal(result, current, schemaOf) ??
    ownKindRefusal(result, current)
  );
}

/** Whether a class gives its Clusters variables that they do not set. An extension may define any. */
const addsVariables = (clusterClass: JsonObject | undefined): boolean =>
  clusterClass === undefined ||
  objectsAt(clusterClass, 'spec', 'variables').some(
    (variable) => fieldAt(variable, 'schema', 'openAPIV3Schema', 'default') !== undefined,
  ) ||
  objectsAt(clusterClass, 'spec', 'patches').some(({ external }) => external !== undefined);

/** A Cluster without an empty list of variables, if the webhook for its defaults fills it from its class. */
function withVariables(object: JsonObject, world: World): JsonObject {
  const topology = objectAt(object, 'spec', 'topology');
  const { variables, ...others } = topology;
  if (object.kind !== 'Cluster' || !Array.isArray(variables) || variables.length > 0) {
    return object;
  }
  const { name = '', namespace = namespaceOf(object) } = objectAt(topology, 'classRef');
  const ofClass = { group: coreGroup, kind: 'ClusterClass', namespace: String(namespace), name: String(name) };
  return addsVariables(world.find(ofClass))
    ? { ...object, spec: { ...objectAt(object, 'spec'), topology: others } }
    : object;
}

/** An API server's answers about writes, by the objects that are written. */
export type WriteAnswers = ReadonlyMap<JsonObject, { refusal?: Problem }>;

/** Whether somebody writes an object; not known of one that is new only because the objects of its kind could not be read. */
export const isWritten = (object: JsonObject, old: JsonObject | undefined, before: World): boolean =>
  old === undefined
    ? before.isRead(groupOf(object), textAt(object, 'kind'))
    : old !== object && !isSame(writable(old), writable(object));

/**
 * Why an API server does not take a user's write, by the schema of its kind or the webhooks of Cluster API's own kinds;
 * undefined if it does, as far as that is known. `old` is in the version in which it is given.
 */
export function writeProblem(
  object: JsonObject,
  old: JsonObject | undefined,
  after: World,
  schemaOf: SchemaOf,
): Problem | undefined {
  try {
    const refusal =
      decodingRefusal(object, schemaOf) ??
      schemaRefusal(withVariables(object, after), old, schemaOf) ??
      ownKindRefusal(object, old);
    const { message, remedy } = refusal ?? {};
    const text = `the API server refuses ${objectText(object)}: ${message}`;
    return refusal && { text, ...(remedy !== undefined && { remedy }) };
  } catch (error) {
    // Too many defaults: what Cluster API makes of the object is not known either, and that is said.
    if (!(error instanceof NotKnown)) {
      throw error;
    }
    return undefined;
  }
}
