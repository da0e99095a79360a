import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  isJsonObject,
  itemsAt,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  parseJson,
  textAt,
} from '../../kubernetes/index.ts';
import { convertV2ToV3, documentList, PublishedDocument } from '../../kubernetes/openapi/index.ts';
import type { UserInfo } from '../resources/resource.ts';
import type { Backend } from './backend.ts';

/** Maximum bytes of a discovery document, and of resources in a version: Kubernetes' own versions have some dozens. */
const maxDiscoveryBytes = 2 * 1024 * 1024;
const maxResources = 1000;

const textsOf = (value: Json | undefined): string[] => itemsAt(value).filter((item) => typeof item === 'string');

/** An APIResourceList as items of aggregated discovery, without values of unexpected types, which would break clients. */
function resourcesOf(document: Json, { spec }: Backend): JsonObject[] {
  const entries = objectsAt(document, 'resources').slice(0, maxResources);
  const subresources = Map.groupBy(entries, ({ name }) => /^(.*?)\/./.exec(textAt(name))?.[1]);
  const kindAndVerbs = ({ group, version, kind, verbs }: JsonObject) => ({
    responseKind: {
      group: textAt(group) || (spec.group ?? ''),
      version: textAt(version) || spec.version,
      kind: textAt(kind),
    },
    verbs: textsOf(verbs),
  });
  return entries
    .filter(({ name }) => /^[^/]+$/.test(textAt(name)))
    .map((entry) => {
      const resource = textAt(entry.name);
      const lists = {
        shortNames: textsOf(entry.shortNames),
        categories: textsOf(entry.categories),
        subresources: (subresources.get(resource) ?? []).map((item) => ({
          subresource: textAt(item.name).split('/')[1] ?? '',
          ...kindAndVerbs(item),
        })),
      };
      return {
        resource,
        scope: entry.namespaced === true ? 'Namespaced' : 'Cluster',
        singularResource: textAt(entry.singularName),
        ...kindAndVerbs(entry),
        ...Object.fromEntries(Object.entries(lists).filter(([, items]) => items.length > 0)),
      };
    });
}

/** The users as which the API server reads resources and OpenAPI documents. */
const discoveryUser: UserInfo = { username: 'system:kube-aggregator', groups: [] };
const openApiUser: UserInfo = { username: 'system:aggregator', groups: [] };

const inJson = { accept: 'application/json' };

/** The resources of an APIService, as items of aggregated discovery, from the plain list, which all servers have. @throws */
export async function readResources(backend: Backend, signal: AbortSignal): Promise<JsonObject[]> {
  const { path } = backend;
  const { status, body } = await backend.get(path, discoveryUser, inJson, maxDiscoveryBytes, signal);
  if (status !== 200) {
    throw new Error(`GET ${path} was answered with ${status}`);
  }
  return resourcesOf(parseJson(body), backend);
}

/** Maximum number of bytes of a list of documents, and of an OpenAPI v2 document that is converted. */
const maxListBytes = 1024 * 1024;
const maxV2Bytes = 8 * 1024 * 1024;
/** Maximum characters of schemas, counted once for each media type: otherwise one megabyte could become fifty. */
const maxCopied = 8 * 1024 * 1024;

export interface OpenApiEntry {
  /** Of the whole server, as it publishes it. */
  v2: { document: JsonObject; etag: string | undefined } | undefined;
  /** Published by the server with this hash, so that requests are passed on; or converted from v2. */
  v3: { hash: string | undefined } | PublishedDocument | undefined;
}

/** Hashes are used in URLs without escaping. */
const hashFormat = /^[\w=.-]{1,200}$/;

async function readV2(backend: Backend, last: OpenApiEntry['v2'], signal: AbortSignal): Promise<OpenApiEntry['v2']> {
  const headers = { ...inJson, ...(last?.etag === undefined ? {} : { 'if-none-match': last.etag }) };
  const {
    status,
    body,
    headers: answered,
  } = await backend.get('/openapi/v2', openApiUser, headers, maxV2Bytes, signal);
  if (status === 304 || status === 404) {
    return status === 304 ? last : undefined;
  }
  const document = status === 200 ? parseJson(body) : null;
  return isJsonObject(document) ? { document, etag: answered.etag } : last;
}

/** What a server publishes about its own group and version; parts of the last result that are still valid stay. @throws */
export async function readOpenApi(
  backend: Backend,
  last: OpenApiEntry | undefined,
  now: Date,
  signal: AbortSignal,
): Promise<OpenApiEntry> {
  const v2 = await readV2(backend, last?.v2, signal).catch(() => last?.v2);
  const list = await backend.get('/openapi/v3', openApiUser, {}, maxListBytes, signal);
  if (list.status === 200) {
    const entry = documentList(parseJson(list.body))?.find(({ name }) => `/${name}` === backend.path);
    return { v2, v3: entry && { hash: hashFormat.test(entry.hash ?? '') ? entry.hash : undefined } };
  }
  if (list.status !== 404) {
    throw new Error(`GET /openapi/v3 was answered with ${list.status}`);
  }
  const known = last?.v3 instanceof PublishedDocument ? last.v3 : undefined;
  if (v2 === undefined || (v2 === last?.v2 && known !== undefined)) {
    return { v2, v3: v2 && known };
  }
  // Converting a large document takes long: yield between the steps.
  await nextTurn(undefined, { signal });
  const v3 = convertV2ToV3(v2.document, { maxCopied });
  await nextTurn(undefined, { signal });
  // The components are those of the whole server: what no path refers to does no harm.
  const own = Object.entries(objectAt(v3, 'paths')).filter(([path]) => `${path}/`.startsWith(`${backend.path}/`));
  const document = new PublishedDocument({ ...v3, paths: Object.fromEntries(own) }, now);
  return { v2, v3: document.hash === known?.hash ? known : document };
}
