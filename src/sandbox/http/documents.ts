import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '../../kubernetes/index.ts';
import type { OpenApi } from '../openapi/open-api.ts';
import type { Registry } from '../resources/registry.ts';
import { aggregatedDiscovery, coreVersions, groupDocument, groupList, resourceList } from './discovery.ts';
import { jsonReply, noCache, type Reply, unknownPath } from './http.ts';

export interface DocumentContext {
  registry: Registry;
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

/**
 * An OpenAPI v2 document without definitions, in protobuf: the field `swagger` with 2.0. kubectl reads it before it applies a
 * List, and leaves the validation of kinds that it does not find there to the server.
 */
const emptyV2: Reply = {
  code: 200,
  headers: {
    'Cache-Control': noCache,
    'Content-Type': 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  },
  body: Buffer.from('\x0a\x032.0'),
};

/** The OpenAPI v3 document of a group and version. With its hash in the URL, it may be cached forever. */
function openApiReply(openapi: OpenApi, { pathname, searchParams }: URL): Reply {
  const [, group = '', version = ''] = /^\/openapi\/v3\/(?:api|apis\/([^/]+))\/([^/]+)$/.exec(pathname) ?? [];
  const document = openapi.document(group, version);
  if (document === undefined) {
    return unknownPath;
  }
  const isCurrent = searchParams.get('hash') === document.hash;
  return {
    code: 200,
    headers: {
      'Cache-Control': isCurrent ? 'public, immutable' : noCache,
      'Content-Type': 'application/json',
      Etag: `"${document.hash}"`,
      ...(isCurrent ? { Expires: new Date(Date.now() + 365 * 24 * 60 * 60 * 1000).toUTCString() } : {}),
    },
    body: document.json,
  };
}

/** The response to a request for discovery or OpenAPI documents; undefined for any other path. */
export function answerDocument(
  { registry, openapi }: DocumentContext,
  request: IncomingMessage,
  url: URL,
): Reply | undefined {
  const [root, group = '', version = '', ...rest] = url.pathname.split('/').filter((part) => part !== '');
  if (root === 'openapi' && group === 'v2' && version === '') {
    return emptyV2;
  }
  if (root === 'openapi' && group === 'v3') {
    return version === '' ? jsonReply(200, openapi.root()) : openApiReply(openapi, url);
  }
  const isCore = root === 'api';
  if ((!isCore && root !== 'apis') || rest.length > 0) {
    return undefined;
  }
  if (group === '' && discoveryType.test(request.headers.accept ?? '')) {
    const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    return jsonReply(200, aggregatedDiscovery(registry, isCore), type);
  }
  let document: JsonObject | undefined;
  if (group === '') {
    document = isCore ? coreVersions(request.headers.host ?? '') : groupList(registry);
  } else if (version === '') {
    document = isCore ? resourceList(registry, '', group) : groupDocument(registry, group);
  } else if (!isCore) {
    document = resourceList(registry, group, version);
  }
  return document && jsonReply(200, document);
}
