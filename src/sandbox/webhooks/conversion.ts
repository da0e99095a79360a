import { randomUUID } from 'node:crypto';
import { copyOf, isJsonObject, type JsonObject, objectAt, objectsAt } from '../../kubernetes/index.ts';
import { applyDefaults, hasDefaults } from '../../kubernetes/schema/index.ts';
import { internalError } from '../resources/errors.ts';
import { apiVersionOf, type Resource } from '../resources/resource.ts';
import type { WebhookCaller } from './webhook-call.ts';

/** Timeout of a conversion, in seconds (fixed in the real API server; definitions cannot change it). */
const timeoutSeconds = 30;

function failed(resource: Resource, why: string) {
  return internalError(
    `conversion webhook for ${resource.group}/${resource.storageVersion}, Kind=${resource.kind} failed: ${why}`,
  );
}

/** How a converted object differs from the original in its identity; undefined if it does not. */
function differenceOf(converted: JsonObject, original: JsonObject): string | undefined {
  if (converted.kind !== original.kind) {
    return `must have the same kind: ${String(original.kind)} != ${String(converted.kind)}`;
  }
  const before = original.metadata as JsonObject;
  const after = objectAt(converted, 'metadata');
  const field = (['name', 'namespace', 'uid'] as const).find((key) => (before[key] ?? '') !== (after[key] ?? ''));
  return field === undefined
    ? undefined
    : `must have the same ${field}: ${String(before[field] ?? '')} != ${String(after[field] ?? '')}`;
}

/** A converted object with the original's metadata: a webhook may change only labels and annotations. */
function withOriginalMetadata(converted: JsonObject, original: JsonObject): JsonObject {
  const metadata = { ...(original.metadata as JsonObject) };
  const convertedMetadata = objectAt(converted, 'metadata');
  for (const key of ['labels', 'annotations'] as const) {
    if (isJsonObject(convertedMetadata[key])) {
      metadata[key] = convertedMetadata[key];
    } else {
      delete metadata[key];
    }
  }
  return { ...converted, metadata };
}

/** An object in another version, without a webhook. */
function convertedHere(object: JsonObject, apiVersion: string): JsonObject {
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

/** A converted object with its defaults, and with the kind of its definition, whose name may have changed since. */
function completed({ kind, isCustom, schema }: Resource, converted: JsonObject): JsonObject {
  if (!isCustom || (converted.kind === kind && !hasDefaults(schema))) {
    return converted;
  }
  const shown = { ...copyOf(converted), kind };
  applyDefaults(shown, schema);
  return shown;
}

/** Converts objects of one resource between its versions. */
export class VersionConverter {
  readonly #caller: WebhookCaller;

  constructor(caller: WebhookCaller) {
    this.#caller = caller;
  }

  /**
   * Converts objects to another version. Objects that are already in that version are returned unchanged.
   *
   * @throws {RequestError} 500 when the webhook fails.
   */
  async convert(resource: Resource, objects: readonly JsonObject[], version: string): Promise<JsonObject[]> {
    const { conversion, group } = resource;
    const desiredAPIVersion = apiVersionOf({ group, version });
    const different = objects.filter(({ apiVersion }) => apiVersion !== desiredAPIVersion);
    if (conversion === undefined || different.length === 0) {
      return objects.map((object) => convertedHere(object, desiredAPIVersion));
    }
    const converted = await this.#callWebhook(resource, conversion, different, desiredAPIVersion);
    return objects.map((object) =>
      object.apiVersion === desiredAPIVersion ? object : (converted.shift() as JsonObject),
    );
  }

  /** Converts an object to the stored version. @throws {RequestError} 500 when the webhook fails. */
  async encode(resource: Resource, object: JsonObject): Promise<JsonObject> {
    return (await this.convert(resource, [object], resource.storageVersion))[0] as JsonObject;
  }

  async #callWebhook(
    resource: Resource,
    client: NonNullable<Resource['conversion']>,
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
    let answer: JsonObject;
    try {
      answer = await this.#caller.call(client, timeoutSeconds, review);
    } catch (error) {
      throw failed(resource, (error as Error).message);
    }
    const response = objectAt(answer, 'response');
    const result = objectAt(response, 'result');
    if (response.uid !== uid) {
      throw failed(resource, 'the response has a different uid than the request');
    }
    if (result.status !== 'Success') {
      throw failed(resource, String(result.message ?? 'it reported a failure without a message'));
    }
    const converted = objectsAt(response, 'convertedObjects');
    if (converted.length !== objects.length) {
      throw failed(resource, `it returned ${converted.length} objects for ${objects.length}`);
    }
    return converted.map((object, index) => {
      if (object.apiVersion !== desiredAPIVersion) {
        throw failed(resource, `it returned ${String(object.apiVersion)} instead of ${desiredAPIVersion}`);
      }
      const original = objects[index] as JsonObject;
      const difference = differenceOf(object, original);
      if (difference !== undefined) {
        throw failed(resource, `it returned an invalid object at index ${index}: ${difference}`);
      }
      return withOriginalMetadata(object, original);
    });
  }

  /** A stored object in the version of a resource, with its defaults. The result may be the stored object, and must not be modified. */
  async present(resource: Resource, stored: JsonObject): Promise<JsonObject> {
    return (await this.presentAll(resource, [stored]))[0] as JsonObject;
  }

  /** As `present`, for many objects, with at most one call of the webhook. */
  async presentAll(resource: Resource, stored: readonly JsonObject[]): Promise<JsonObject[]> {
    const converted = await this.convert(resource, stored, resource.version);
    return converted.map((object) => completed(resource, object));
  }
}
