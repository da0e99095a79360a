import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '../../kubernetes/index.ts';
import { type OpenApiVersion, PublishedDocument } from '../../kubernetes/openapi/index.ts';
import type { Aggregator, Remote } from '../aggregation/aggregator.ts';
import type { OpenApi } from '../openapi/open-api.ts';
import type { Registry } from '../resources/registry.ts';
import { aggregatedDiscovery, coreVersions, groupDocument, groupList, resourceList } from './discovery.ts';
import { jsonReply, noCache, type Reply, unknownPath } from './http.ts';

export interface DocumentContext {
  registry: Registry;
  aggregator: Aggregator;
  openapi: OpenApi;
}

const discoveryType =
  /application\/json;(?=[^,]*g=apidiscovery\.k8s\.io)(?=[^,]*v=v2(?:;|,|$))[^,]*as=APIGroupDiscoveryList/;

export const version = {
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
  gitVersion: 'v1.36.0-extensionconfig-webhook-sandbox',
  gitCommit: '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: `${process.platform}/${process.arch}`,
};

/** The response to `GET /openapi/v3`: the documents of this server and of aggregated ones, sorted by path. */
function openApiList({ openapi, aggregator }: DocumentContext): JsonObject {
  const entries = [...Object.entries(openapi.root().paths), ...aggregator.openApiEntries()];
  return { paths: Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

/** Below `/apis/GROUP/VERSION`, and the OpenAPI document of a group and version. */
const apiPath = /^\/apis\/([^/]+)\/([^/]+)(?:\/|$)/;
const openApiPath = /^\/openapi\/v3\/(?:api|apis\/([^/]+))\/([^/]+)$/;

/** The aggregated server that a request has to be passed on to. What was converted from OpenAPI v2 is published here. */
export function remoteFor({ aggregator }: DocumentContext, { pathname }: URL): Remote | undefined {
  const [, group, version = ''] = apiPath.exec(pathname) ?? openApiPath.exec(pathname) ?? [];
  const remote = group === undefined ? undefined : aggregator.find(group, version);
  const { v3 } = remote?.openapi ?? {};
  return pathname.startsWith('/apis/') || (v3 !== undefined && !(v3 instanceof PublishedDocument)) ? remote : undefined;
}

function openApiDocument({ openapi, aggregator }: DocumentContext, pathname: string): PublishedDocument | undefined {
  const [, group = '', version = ''] = openApiPath.exec(pathname) ?? [];
  const converted = aggregator.find(group, version)?.openapi?.v3;
  return openapi.document(group, version) ?? (converted instanceof PublishedDocument ? converted : undefined);
}

/**
 * The media type that an Accept header asks for: the first of its types that is served.
 *
 * @returns undefined if it accepts only others.
 */
function negotiatedType(accept: string | undefined, version: OpenApiVersion): string | undefined {
  const protobufType = `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`;
  for (const clause of (accept || '*/*').split(',')) {
    // The name of protobuf with `@` is older.
    const type = clause.split(';')[0]?.trim().replace('@', '.') ?? '';
    if (type === protobufType) {
      return type;
    }
    if (['application/json', 'application/*', '*/*'].includes(type)) {
      return 'application/json';
    }
  }
  return undefined;
}

/**
 * An OpenAPI document in the requested representation. With its hash in the URL, it may be cached forever; with another
 * hash, the response is a redirect; without one, the ETag applies.
 */
function openApiReply(document: PublishedDocument, request: IncomingMessage, url: URL): Reply {
  const headers: Reply['headers'] = { Vary: 'Accept', 'Cache-Control': noCache };
  const type = negotiatedType(request.headers.accept, document.version);
  if (type === undefined) {
    return { code: 406, headers: { ...headers, 'Content-Length': 0 } };
  }
  const etag = `"${document.hash}"`;
  headers.Etag = etag;
  const hash = url.searchParams.get('hash');
  if (hash !== null && hash !== '' && hash !== document.hash) {
    const location = { Location: `${url.pathname}?hash=${document.hash}`, 'Content-Type': type, 'Content-Length': 0 };
    return { code: 301, headers: { ...headers, ...location } };
  }
  if (hash === document.hash) {
    headers['Cache-Control'] = 'public, immutable';
    headers.Expires = new Date(Date.now() + 365 * 24 * 60 * 60 * 1000).toUTCString();
  }
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.some((tag) => tag === etag || tag === '*')) {
    return { code: 304, headers };
  }
  const body = document.as(type === 'application/json' ? 'json' : 'protobuf');
  const about = { 'Content-Type': type, 'Content-Length': body.length, 'Accept-Ranges': 'bytes' };
  return { code: 200, headers: { ...headers, ...about, 'Last-Modified': document.lastModified.toUTCString() }, body };
}

/** The response to a request for discovery or OpenAPI documents; undefined for any other path. */
export function answerDocument(context: DocumentContext, request: IncomingMessage, url: URL): Reply | undefined {
  const { registry, openapi, aggregator } = context;
  const [root, group = '', version = '', ...rest] = url.pathname.split('/').filter((part) => part !== '');
  if (root === 'openapi' && group === 'v2' && version === '') {
    return openApiReply(openapi.v2(aggregator.v2Documents()), request, url);
  }
  if (root === 'openapi' && group === 'v3') {
    if (version === '') {
      return jsonReply(200, openApiList(context));
    }
    const document = openApiDocument(context, url.pathname);
    return document === undefined ? unknownPath : openApiReply(document, request, url);
  }
  const isCore = root === 'api';
  if ((!isCore && root !== 'apis') || rest.length > 0) {
    return undefined;
  }
  if (group === '' && discoveryType.test(request.headers.accept ?? '')) {
    const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    return jsonReply(200, aggregatedDiscovery(registry, aggregator, isCore), type);
  }
  let document: JsonObject | undefined;
  if (group === '') {
    document = isCore ? coreVersions(request.headers.host ?? '') : groupList(registry, aggregator);
  } else if (version === '') {
    document = isCore ? resourceList(registry, '', group) : groupDocument(registry, aggregator, group);
  } else if (!isCore) {
    document = resourceList(registry, group, version);
  }
  return document && jsonReply(200, document);
}
