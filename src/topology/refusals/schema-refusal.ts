import { didYouMean } from '../../base/index.ts';
import {
  customResourceCauses,
  type ReadObject,
  readCustomResource,
  unknownFieldTexts,
} from '../../kubernetes/custom-resources/index.ts';
import {
  groupOf,
  type JsonObject,
  nameOf,
  objectAt,
  objectText,
  type StatusCause,
  textAt,
} from '../../kubernetes/index.ts';
import { DefaultsError, type Schema, type SchemaOf } from '../../kubernetes/schema/index.ts';
import { coreGroup } from '../../runtimehooks/index.ts';
import { byRules, NotKnown } from '../world/not-known.ts';
import { denial, webhookOf } from '../world/webhook-refusal.ts';
import { withoutEmpty } from '../world/without-empty.ts';
import { invalidFields, type Refusal } from './refusal.ts';
import { stored } from './stored.ts';
import { defaultingProblem, hasDefaultingWebhook, validatingProblem } from './webhook-decoding.ts';

const notDecoded = (object: JsonObject, webhook: 'default' | 'validation', problem: string): Refusal => ({
  ...{ code: 400, reason: '', causes: [] },
  message: denial(webhookOf(object, webhook), problem),
});

/** @throws {NotKnown} when the defaults of an object exceed the limit of what is computed here. */
function read(object: JsonObject, schema: Schema): ReadObject {
  try {
    return readCustomResource(object, schema);
  } catch (error) {
    throw error instanceof DefaultsError
      ? new NotKnown(`whether ${objectText(object)} is valid is not known: ${error.message}`)
      : error;
  }
}

/** Why the webhook for an object's defaults cannot read it, in its words; undefined if it can, or if there is none. */
export function webhookRefusal(object: JsonObject, schemaOf: SchemaOf): Refusal | undefined {
  const schema = schemaOf(object);
  const problem = schema && defaultingProblem(object, schema);
  return problem === undefined ? undefined : notDecoded(object, 'default', problem);
}

/**
 * Why an object cannot be read, in the words of the API server or of the webhook for its defaults: unknown fields
 * (`fieldValidation=Strict`), metadata of the wrong type, and any field of the wrong type if its kind has such a webhook.
 *
 * @returns undefined if it can, or if there is no schema of its kind.
 * @throws {NotKnown} when its defaults exceed 8 MiB, or a rule cannot be evaluated.
 */
export function decodingRefusal(object: JsonObject, schemaOf: SchemaOf): Refusal | undefined {
  const schema = schemaOf(object);
  const { malformed, unknown } = schema === undefined ? { malformed: undefined, unknown: [] } : read(object, schema);
  const problem =
    malformed ?? (unknown.length > 0 ? `strict decoding error: ${unknownFieldTexts(unknown).join(', ')}` : undefined);
  if (problem === undefined) {
    return webhookRefusal(object, schemaOf);
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

/**
 * The webhook for defaults has v1beta1 converted, and what it returns converted back: Go's types drop empty fields there,
 * and write others that were missing.
 */
function convertedCauses(object: JsonObject, old: JsonObject | undefined, schema: Schema): StatusCause[] {
  const causes = customResourceCauses(withoutEmpty(object) as JsonObject, old, schema);
  return causes.filter(({ reason, field }) => reason !== 'FieldValueRequired' && field !== '<nil>');
}

/**
 * Of providers' kinds: a webhook for defaults fills in fields that are missing, and Go's types write those that are required.
 * Only of one that a change removes it is said that it is required.
 */
function providerCauses(object: JsonObject, old: JsonObject | undefined, schema: Schema): StatusCause[] {
  const isMissing = ({ reason }: StatusCause) => reason === 'FieldValueRequired';
  const causes = customResourceCauses(object, old, schema);
  if (!causes.some(isMissing)) {
    return causes;
  }
  const missingBefore = old && new Set(customResourceCauses(old, undefined, schema).map(({ field }) => field));
  return causes.filter((cause) =>
    isMissing(cause) ? missingBefore?.has(cause.field) === false : cause.field !== '<nil>',
  );
}

function causesFor(object: JsonObject): typeof customResourceCauses {
  if (groupOf(object) !== coreGroup && !textAt(object, 'kind').startsWith('Kubeadm')) {
    return providerCauses;
  }
  const isConverted = textAt(object, 'apiVersion').endsWith('/v1beta1') && hasDefaultingWebhook(object);
  return isConverted ? convertedCauses : customResourceCauses;
}

/**
 * Why an API server does not store an object that can be read, in its words: what the schema of its kind says, and its
 * rules. What an update leaves as it was is not judged.
 *
 * @param old the object that it replaces; undefined for a creation. One in another version of its API does not count.
 * @returns undefined if it stores the object, or if there is no schema of its kind.
 * @throws {NotKnown} when its defaults exceed 8 MiB.
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
  const causes = byRules(() => causesFor(object)(asStored(object, schema, before), before, schema));
  if (causes.length > 0) {
    return invalidFields(object, causes);
  }
  const undecodable = validatingProblem(object, schema);
  return undecodable === undefined ? undefined : notDecoded(object, 'validation', undecodable);
}
