import { setImmediate as nextTurn } from 'node:timers/promises';
import { isJsonObject, type JsonObject, parseJson } from '../../kubernetes/index.ts';
import type { ApiService } from '../kinds/api-service.ts';
import { convertV2ToV3, documentList, ofGroupVersion, PublishedDocument } from '../openapi-documents/index.ts';
import type { UserInfo } from '../resources/resource.ts';
import { pathOf } from './availability.ts';
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

/** The state of the OpenAPI document of an APIService. */
export type OpenApiEntry =
  /** The server publishes it with this hash; requests for it are passed on. */
  | { from: 'v3'; hash: string | undefined }
  /** Converted from the server's OpenAPI v2, which has this ETag. */
  | { from: 'v2'; document: PublishedDocument; etag: string | undefined };

/** Hashes are used in URLs without escaping. */
const hashFormat = /^[\w=.-]{1,200}$/;

/**
 * The documents that a server publishes about its group and version. In its list of documents, only the entry of the
 * APIService counts: a server speaks only for itself.
 *
 * @param last the previous result, which is returned again if it is still valid.
 * @returns undefined if the server publishes nothing.
 * @throws when the server cannot be reached, or its response cannot be used.
 */
export async function readOpenApi(
  apiService: ApiService,
  backend: Backend,
  last: OpenApiEntry | undefined,
  now: Date,
  signal: AbortSignal,
): Promise<OpenApiEntry | undefined> {
  const list = await backend.get('/openapi/v3', user, {}, maxListBytes, signal);
  if (list.status === 200) {
    const entry = documentList(parseJson(list.body))?.find(({ name }) => `/${name}` === pathOf(apiService));
    return entry === undefined
      ? undefined
      : { from: 'v3', hash: entry.hash !== undefined && hashFormat.test(entry.hash) ? entry.hash : undefined };
  }
  if (list.status !== 404) {
    throw new Error(`GET /openapi/v3 was answered with ${list.status}`);
  }
  const known = last?.from === 'v2' ? last : undefined;
  const headers = {
    accept: 'application/json',
    ...(known?.etag === undefined ? {} : { 'if-none-match': known.etag }),
  };
  const answer = await backend.get('/openapi/v2', user, headers, maxV2Bytes, signal);
  if (answer.status === 304 && known !== undefined) {
    return known;
  }
  if (answer.status === 404) {
    return undefined;
  }
  const v2 = answer.status === 200 ? parseJson(answer.body) : null;
  if (!isJsonObject(v2)) {
    throw new Error(`GET /openapi/v2 was answered with ${answer.status} and no document`);
  }
  const { group = '', version } = apiService.spec;
  // Converting a large document takes long: yield between the steps.
  await nextTurn(undefined, { signal });
  const v3 = convertV2ToV3(v2, { maxCopied });
  await nextTurn(undefined, { signal });
  const part = ofGroupVersion(v3, group, version);
  await nextTurn(undefined, { signal });
  const document = new PublishedDocument(part, now);
  const isNew = document.hash !== known?.document.hash;
  return { from: 'v2', document: isNew ? document : known.document, etag: answer.headers.etag };
}

/** The entry of a document in the list at `/openapi/v3`. */
export function listEntry(path: string, hash: string | undefined): JsonObject {
  return { serverRelativeURL: hash === undefined ? `/openapi/v3${path}` : `/openapi/v3${path}?hash=${hash}` };
}
