import { fieldAt, type JsonObject, readLabelSelector } from '../../kubernetes/index.ts';
import { badRequest, failed, notFound } from '../resources/errors.ts';
import {
  apiVersionOf,
  labelsOf,
  metadataOf,
  type Resource,
  type ResourceRequest,
  type View,
} from '../resources/resource.ts';
import { storageKey } from '../storage/store.ts';
import type { ApiContext } from '../webhooks/admission.ts';
import { present, presentAll } from '../webhooks/conversion.ts';
import { metadataOnly, tableOf } from './tables.ts';

/** Whether a query has a flag (apimachinery, Convert_Slice_string_To_bool). Python clients write `True`. */
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

/** One object in the view of its request. @throws {RequestError} 404, and 500 when it cannot be converted. */
export async function get(context: ApiContext, request: ResourceRequest): Promise<JsonObject> {
  const { resource, namespace, name, view } = request;
  const stored = context.store.collection(resource.storage).get(storageKey(namespace, name));
  if (stored === undefined) {
    throw notFound(resource, name);
  }
  return shownAlone(context, resource, await present(context, resource, stored), view);
}

/** One object in a view; a table of it has no columns if `hasColumns` is false. */
export function shownAlone(
  { now }: ApiContext,
  resource: Resource,
  object: JsonObject,
  view: View,
  hasColumns = true,
): JsonObject {
  if (view.as === 'table') {
    const { resourceVersion = '' } = metadataOf(object);
    return tableOf(resource, [object], { resourceVersion }, view, now(), hasColumns);
  }
  return view.as === 'metadata' ? metadataOnly(object) : object;
}

type Selector = (object: JsonObject) => boolean;

/** Parses the `labelSelector` query parameter. @throws {RequestError} 400 when it is malformed. */
function parseLabelSelector(text: string): Selector {
  if (text.trim() === '') {
    return () => true;
  }
  const selector = readLabelSelector(text);
  if (typeof selector === 'function') {
    return (object) => selector(labelsOf(object));
  }
  throw badRequest(`unable to parse requirement in selector ${JSON.stringify(text)}: ${selector.problem}`);
}

/** Parses the `fieldSelector` query parameter. @throws {RequestError} 400, also for a field that the resource lacks. */
function parseFieldSelector(text: string, resource: Resource): Selector {
  if (text.trim() === '') {
    return () => true;
  }
  const terms = text.split(',').map((part) => {
    const match = /^([^=!]+)(==|=|!=)(.*)$/.exec(part.trim());
    if (match === null) {
      throw badRequest(`invalid field selector: ${JSON.stringify(part)}; write FIELD=VALUE or FIELD!=VALUE`);
    }
    const field = match[1] as string;
    const known = ['metadata.name', 'metadata.namespace', ...resource.selectableFields];
    if (!known.includes(field)) {
      throw badRequest(`field label not supported: ${field}`);
    }
    return { path: field.split('.'), wants: match[2] !== '!=', value: match[3] as string };
  });
  return (object) =>
    terms.every(({ path, wants, value }) => (String(fieldAt(object, ...path) ?? '') === value) === wants);
}

/** Whether a request selects an object, by namespace, name, labels and fields. @throws {RequestError} 400. */
export function selectorOf({ resource, namespace, name, query }: ResourceRequest): Selector {
  const labels = parseLabelSelector(query.get('labelSelector') ?? '');
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '', resource);
  return (object) =>
    (!resource.namespaced || namespace === '' || metadataOf(object).namespace === namespace) &&
    (name === '' || metadataOf(object).name === name) &&
    labels(object) &&
    fields(object);
}

/** The resource version of a request, or undefined if it leaves the choice to the server. */
export function versionOf({ store }: ApiContext, query: URLSearchParams): number | undefined {
  const version = numberOf(query, 'resourceVersion');
  if (version > store.version) {
    const message = `Timeout: Too large resource version: ${version}, current: ${store.version}`;
    const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
    throw failed(504, 'Timeout', message, { causes, retryAfterSeconds: 1 });
  }
  return version || undefined;
}

function parseContinue(token: string, newest: number): { version: number; after: string } {
  try {
    const [version, after] = JSON.parse(Buffer.from(token, 'base64url').toString()) as [unknown, unknown];
    if (Number.isInteger(version) && (version as number) <= newest && typeof after === 'string') {
      return { version: version as number, after };
    }
  } catch {}
  throw badRequest('continue key is not valid: pass the token of the previous response unchanged');
}

/** A continued list has the version of its first page, so that a watch from there misses nothing. @throws {RequestError} */
export async function list(context: ApiContext, request: ResourceRequest): Promise<JsonObject> {
  const { resource, query, view } = request;
  const { store } = context;
  const token = query.get('continue') ?? '';
  const limit = numberOf(query, 'limit');
  versionOf(context, query);
  const from = token === '' ? undefined : parseContinue(token, store.version);
  const version = from?.version ?? store.version;
  const selects = selectorOf(request);
  const matching = store
    .collection(resource.storage)
    .list()
    .filter(([key, object]) => (from === undefined || key > from.after) && selects(object));
  const page = limit > 0 ? matching.slice(0, limit) : matching;
  const left = matching.length - page.length;
  const next = left > 0 ? Buffer.from(JSON.stringify([version, page.at(-1)?.[0]])).toString('base64url') : '';
  const objects = page.map(([, object]) => object);
  const items = await presentAll(context, resource, objects);
  const metadata: JsonObject = {
    ...(next === '' && view.as === 'table' ? {} : { continue: next }),
    ...(left > 0 ? { remainingItemCount: left } : {}),
    resourceVersion: String(version),
  };
  switch (view.as) {
    case 'table':
      return tableOf(resource, items, metadata, view, context.now());
    case 'metadata': {
      const about = { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadataList' };
      return { ...about, items: items.map(metadataOnly), metadata };
    }
    case 'object':
      return { apiVersion: apiVersionOf(resource), items, kind: resource.listKind, metadata };
  }
}
