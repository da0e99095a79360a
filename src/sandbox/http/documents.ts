import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '../../kubernetes/index.ts';
import type { Aggregator } from '../aggregation/aggregator.ts';
import type { OpenApi } from '../openapi/open-api.ts';
import type { Registry } from '../resources/registry.ts';
import { aggregatedDiscovery, coreVersions, groupDocument, groupList, resourceList } from './discovery.ts';
import { sendJson, sendUnknownPath } from './http.ts';
import { sendOpenApiDocument } from './openapi-response.ts';

/** The dependencies of discovery and OpenAPI documents. */
export interface DocumentContext {
  registry: Registry;
  aggregator: Aggregator;
  openapi: OpenApi;
  /** Host and port of the server. */
  address: string;
}

const discoveryType =
  /application\/json;(?=[^,]*g=apidiscovery\.k8s\.io)(?=[^,]*v=v2(?:;|,|$))[^,]*as=APIGroupDiscoveryList/;

/** The response of /version. */
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

/** Handles requests for discovery and OpenAPI documents. @returns false for any other path. */
export function answerDocument(
  context: DocumentContext,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): boolean {
  const { registry, openapi } = context;
  if (url.pathname === '/openapi/v2') {
    sendOpenApiDocument(openapi.v2(context.aggregator.v2Documents()), request, response, url);
    return true;
  }
  const parts = url.pathname.split('/').filter((part) => part !== '');
  if (parts[0] === 'openapi' && parts[1] === 'v3') {
    const match = /^\/openapi\/v3\/(?:api|apis\/([^/]+))\/([^/]+)$/.exec(url.pathname);
    const published = match === null ? undefined : openapi.document(match[1] ?? '', match[2] as string);
    if (parts.length === 2) {
      sendJson(response, 200, openApiList(context));
    } else if (published === undefined) {
      sendUnknownPath(response);
    } else {
      sendOpenApiDocument(published, request, response, url);
    }
    return true;
  }
  const isRoot = parts.length === 1 && (parts[0] === 'api' || parts[0] === 'apis');
  if (isRoot && discoveryType.test(request.headers.accept ?? '')) {
    const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    sendJson(response, 200, aggregatedDiscovery(registry, context.aggregator, parts[0] === 'api'), false, type);
    return true;
  }
  let document: JsonObject | undefined;
  if (isRoot) {
    document = parts[0] === 'api' ? coreVersions(context.address) : groupList(registry, context.aggregator);
  } else if (parts[0] === 'api' && parts.length === 2) {
    document = resourceList(registry, '', parts[1] as string);
  } else if (parts[0] === 'apis' && parts.length === 2) {
    document = groupDocument(registry, context.aggregator, parts[1] as string);
  } else if (parts[0] === 'apis' && parts.length === 3) {
    document = resourceList(registry, parts[1] as string, parts[2] as string);
  }
  if (document === undefined) {
    return false;
  }
  sendJson(response, 200, document);
  return true;
}
