import type { JsonObject } from '../../kubernetes/index.ts';
import { badRequest, notFound, tooLargeVersion } from '../resources/errors.ts';
import { apiVersionOf, metadataOf, type Resource } from '../resources/resource.ts';
import { parseFieldSelector, parseLabelSelector, type Selector } from '../storage/selectors.ts';
import { type Store, storageKey } from '../storage/store.ts';
import type { VersionConverter } from '../webhooks/conversion.ts';
import { metadataOnly, tableOf, type View } from './tables.ts';

export interface ReadContext {
  store: Store;
  converter: VersionConverter;
  now(): string;
}

/** A read of one object or of a collection; an empty namespace means all namespaces. */
export interface ReadRequest {
  resource: Resource;
  namespace: string;
  name: string;
  query: URLSearchParams;
  view: View;
}

/**
 * Whether a query parameter is set as a flag: any value counts except `false` and `0` (apimachinery,
 * Convert_Slice_string_To_bool). Python clients write `True`.
 */
export function isOn(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== '0' && value.toLowerCase() !== 'false';
}

/** Without signs, exponents and prefixes, and small enough to be exact. */
const decimal = /^\d{1,15}$/;

/** The number in a query parameter; 0 if it is not set. @throws {RequestError} 400. */
export function numberOf(query: URLSearchParams, name: string): number {
  const text = query.get(name) || '0';
  if (!decimal.test(text)) {
    throw badRequest(`${name}: Invalid value: ${JSON.stringify(text)}: must be a non-negative integer`);
  }
  return Number(text);
}

export async function get(context: ReadContext, { resource, namespace, name, view }: ReadRequest): Promise<JsonObject> {
  const key = storageKey(namespace, name);
  const stored = context.store.collection(resource.storage).get(key);
  if (stored === undefined) {
    throw notFound(resource, name);
  }
  return shownAlone(context, resource, await context.converter.present(resource, stored), view);
}

/** One object in a view, which a write answers with, too. */
export function shownAlone(context: ReadContext, resource: Resource, object: JsonObject, view: View): JsonObject {
  const { resourceVersion = '' } = metadataOf(object);
  return shown(context, resource, [object], { resourceVersion }, view, true)[0] as JsonObject;
}

/** Objects in a view: one table with all objects, otherwise one result per object. */
export function shown(
  context: ReadContext,
  resource: Resource,
  objects: readonly JsonObject[],
  metadata: JsonObject,
  view: View,
  columns: boolean,
): JsonObject[] {
  switch (view.as) {
    case 'table':
      return [tableOf(resource, objects, metadata, { include: view.include, now: Date.parse(context.now()), columns })];
    case 'metadata':
      return objects.map(metadataOnly);
    case 'object':
      return [...objects];
  }
}

/** Whether a request selects an object, by namespace, name, labels and fields. @throws {RequestError} 400. */
export function selectorOf({ resource, namespace, name, query }: ReadRequest): Selector {
  const labels = parseLabelSelector(query.get('labelSelector') ?? '');
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '', resource);
  return (object) =>
    (!resource.namespaced || namespace === '' || metadataOf(object).namespace === namespace) &&
    (name === '' || metadataOf(object).name === name) &&
    labels(object) &&
    fields(object);
}

/** The resource version of a request, or undefined if it leaves the choice to the server. */
export function versionOf({ store }: ReadContext, query: URLSearchParams): number | undefined {
  const version = numberOf(query, 'resourceVersion');
  if (version > store.version) {
    throw tooLargeVersion(version, store.version);
  }
  return version || undefined;
}

function parseContinue(token: string, newest: number): { version: number; after: string } {
  try {
    const [version, after] = JSON.parse(Buffer.from(token, 'base64url').toString()) as [unknown, unknown];
    if (Number.isInteger(version) && (version as number) <= newest && typeof after === 'string') {
      return { version: version as number, after };
    }
  } catch {
    // Reported below.
  }
  throw badRequest('continue key is not valid: pass the token of the previous response unchanged');
}

/**
 * The stored objects that a request selects, with the resource version and the continue token. A continued list has the
 * version of its first page, so that a watch from there misses nothing that was written in the meantime.
 */
function select(context: ReadContext, request: ReadRequest) {
  const { resource, query } = request;
  const collection = context.store.collection(resource.storage);
  const token = query.get('continue') ?? '';
  const limit = numberOf(query, 'limit');
  versionOf(context, query);
  const from = token === '' ? undefined : parseContinue(token, context.store.version);
  const version = from?.version ?? context.store.version;
  const selects = selectorOf(request);
  const matching = collection
    .list()
    .filter(([key, object]) => (from === undefined || key > from.after) && selects(object));
  const page = limit > 0 ? matching.slice(0, limit) : matching;
  const left = matching.length - page.length;
  const next = left > 0 ? Buffer.from(JSON.stringify([version, page.at(-1)?.[0]])).toString('base64url') : '';
  return { objects: page.map(([, object]) => object), version, next, left };
}

/** A list, a table or a list of metadata. @throws {RequestError} */
export async function list(context: ReadContext, request: ReadRequest): Promise<JsonObject> {
  const { resource, view } = request;
  const { objects, version, next, left } = select(context, request);
  const presented = await context.converter.presentAll(resource, objects);
  const metadata: JsonObject = {
    ...(next === '' && view.as === 'table' ? {} : { continue: next }),
    ...(left > 0 ? { remainingItemCount: left } : {}),
    resourceVersion: String(version),
  };
  if (view.as === 'table') {
    return shown(context, resource, presented, metadata, view, true)[0] as JsonObject;
  }
  return {
    apiVersion: view.as === 'metadata' ? 'meta.k8s.io/v1' : apiVersionOf(resource),
    items: shown(context, resource, presented, {}, view, true),
    kind: view.as === 'metadata' ? 'PartialObjectMetadataList' : resource.listKind,
    metadata,
  };
}
