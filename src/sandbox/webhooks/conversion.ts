import { randomUUID } from 'node:crypto';
import { copyOf, isJsonObject, type JsonObject, objectAt, objectsAt } from '../../kubernetes/index.ts';
import { applyDefaults, hasDefaults } from '../../kubernetes/schema/index.ts';
import { internalError } from '../resources/errors.ts';
import { apiVersionOf, type Resource, type WebhookClientConfig } from '../resources/resource.ts';
import type { WebhookCaller } from './webhook-call.ts';

interface Converting {
  caller: WebhookCaller;
}

/** Timeout of a conversion, in seconds (fixed in the real API server; definitions cannot change it). */
const timeoutSeconds = 30;

/** How a converted object differs from the original in its identity; undefined if it does not. */
function differenceOf(converted: JsonObject, original: JsonObject): string | undefined {
  if (converted.kind !== original.kind) {
    return `must have the same kind: ${String(original.kind)} != ${String(converted.kind)}`;
  }
  const [before, after] = [objectAt(original, 'metadata'), objectAt(converted, 'metadata')];
  const field = ['name', 'namespace', 'uid'].find((key) => (before[key] ?? '') !== (after[key] ?? ''));
  return field && `must have the same ${field}: ${String(before[field] ?? '')} != ${String(after[field] ?? '')}`;
}

/** A converted object with the original's metadata: a webhook may change only labels and annotations. */
function withOriginalMetadata(converted: JsonObject, original: JsonObject): JsonObject {
  const { labels, annotations } = objectAt(converted, 'metadata');
  const { labels: _labels, annotations: _annotations, ...metadata } = objectAt(original, 'metadata');
  const changed = Object.entries({ labels, annotations }).filter(([, value]) => isJsonObject(value));
  return { ...converted, metadata: { ...metadata, ...(Object.fromEntries(changed) as JsonObject) } };
}

async function callWebhook(
  { caller }: Converting,
  { group, storageVersion, kind }: Resource,
  client: WebhookClientConfig,
  objects: JsonObject[],
  desiredAPIVersion: string,
): Promise<JsonObject[]> {
  const uid = randomUUID();
  const review: JsonObject = {
    kind: 'ConversionReview',
    apiVersion: 'apiextensions.k8s.io/v1',
    request: { uid, desiredAPIVersion, objects },
    // The real API server also sends the empty response of its Go struct, which webhooks must ignore.
    response: { uid: '', convertedObjects: null, result: { metadata: {} } },
  };
  try {
    const response = objectAt(await caller.call(client, timeoutSeconds, review), 'response');
    const result = objectAt(response, 'result');
    if (response.uid !== uid) {
      throw new Error('the response has a different uid than the request');
    }
    if (result.status !== 'Success') {
      throw new Error(String(result.message ?? 'it reported a failure without a message'));
    }
    const converted = objectsAt(response, 'convertedObjects');
    if (converted.length !== objects.length) {
      throw new Error(`it returned ${converted.length} objects for ${objects.length}`);
    }
    return converted.map((object, index) => {
      if (object.apiVersion !== desiredAPIVersion) {
        throw new Error(`it returned ${String(object.apiVersion)} instead of ${desiredAPIVersion}`);
      }
      const original = objects[index] as JsonObject;
      const difference = differenceOf(object, original);
      if (difference !== undefined) {
        throw new Error(`it returned an invalid object at index ${index}: ${difference}`);
      }
      return withOriginalMetadata(object, original);
    });
  } catch (error) {
    const about = `conversion webhook for ${group}/${storageVersion}, Kind=${kind}`;
    throw internalError(`${about} failed: ${(error as Error).message}`);
  }
}

/** Objects of a resource in another version; those that are in it already stay. @throws {RequestError} 500 when the webhook fails. */
export async function convert(
  context: Converting,
  resource: Resource,
  objects: readonly JsonObject[],
  version: string,
): Promise<JsonObject[]> {
  const { conversion, group } = resource;
  const apiVersion = apiVersionOf({ group, version });
  const different = objects.filter((object) => object.apiVersion !== apiVersion);
  const converted =
    conversion === undefined || different.length === 0
      ? different.map((object) => ({ ...object, apiVersion }))
      : await callWebhook(context, resource, conversion, different, apiVersion);
  return objects.map((object) => (object.apiVersion === apiVersion ? object : (converted.shift() as JsonObject)));
}

/** Converts an object to the stored version. @throws {RequestError} 500 when the webhook fails. */
export async function encode(context: Converting, resource: Resource, object: JsonObject): Promise<JsonObject> {
  return (await convert(context, resource, [object], resource.storageVersion))[0] as JsonObject;
}

/** Stored objects in a version, with its defaults and its definition's kind, which may have changed. They must not be modified. */
export async function presentAll(
  context: Converting,
  resource: Resource,
  stored: readonly JsonObject[],
): Promise<JsonObject[]> {
  const { kind, isCustom, schema, version } = resource;
  return (await convert(context, resource, stored, version)).map((converted) => {
    if (!isCustom || (converted.kind === kind && !hasDefaults(schema))) {
      return converted;
    }
    const shown = { ...copyOf(converted), kind };
    applyDefaults(shown, schema);
    return shown;
  });
}

/** As `presentAll`, for one object. */
export async function present(context: Converting, resource: Resource, stored: JsonObject): Promise<JsonObject> {
  return (await presentAll(context, resource, [stored]))[0] as JsonObject;
}
