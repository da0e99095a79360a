import { setImmediate as nextTurn } from 'node:timers/promises';
import { isJsonObject, type JsonObject, objectAt, parseJson } from '../../kubernetes/index.ts';
import { convertV2ToV3, documentList, PublishedDocument } from '../openapi-documents/index.ts';
import type { UserInfo } from '../resources/resource.ts';
import type { Backend } from './backend.ts';

/** The user as which the API server reads OpenAPI documents. */
const user: UserInfo = { username: 'system:aggregator', groups: [] };
/** Maximum number of bytes of a list of documents, and of an OpenAPI v2 document that is converted. */
const maxListBytes = 1024 * 1024;
const maxV2Bytes = 8 * 1024 * 1024;
/**
 * Maximum number of characters of schemas, counted once for each media type: otherwise one megabyte could become fifty,
 * and take seconds.
 */
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
  const headers = { accept: 'application/json', ...(last?.etag === undefined ? {} : { 'if-none-match': last.etag }) };
  const { status, body, headers: answered } = await backend.get('/openapi/v2', user, headers, maxV2Bytes, signal);
  if (status === 304 || status === 404) {
    return status === 304 ? last : undefined;
  }
  const document = status === 200 ? parseJson(body) : null;
  if (!isJsonObject(document)) {
    throw new Error(`GET /openapi/v2 was answered with ${status} and no document`);
  }
  return { document, etag: answered.etag };
}

/**
 * The documents that a server publishes about its group and version. In its list of documents, only the entry of the
 * APIService counts: a server speaks only for itself.
 *
 * @param last the previous result, whose parts are returned again if they are still valid.
 * @throws when the server cannot be reached, or its response cannot be used.
 */
export async function readOpenApi(
  backend: Backend,
  last: OpenApiEntry | undefined,
  now: Date,
  signal: AbortSignal,
): Promise<OpenApiEntry> {
  const v2 = await readV2(backend, last?.v2, signal).catch(() => last?.v2);
  const list = await backend.get('/openapi/v3', user, {}, maxListBytes, signal);
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
