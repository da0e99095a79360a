import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '../../kubernetes/index.ts';
import type { Aggregator, Remote } from '../aggregation/aggregator.ts';
import type { OpenApi } from '../openapi/open-api.ts';
import { PublishedDocument } from '../openapi-documents/index.ts';
import type { Registry } from '../resources/registry.ts';
import { aggregatedDiscovery, coreVersions, groupDocument, groupList, resourceList } from './discovery.ts';
import { jsonReply, type Reply, unknownPath } from './http.ts';
import { openApiReply } from './openapi-response.ts';

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
