import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Aggregator } from '../aggregation/aggregator.ts';
import { sendUnavailable } from '../aggregation/proxy.ts';
import { PublishedDocument } from '../openapi-documents/index.ts';
import type { UserInfo } from '../resources/resource.ts';
import { sendOpenApiDocument } from './openapi-response.ts';

/** `/apis/GROUP/VERSION` and everything below, and its OpenAPI document. */
const ownPath = /^\/apis\/([^/]+)\/([^/]+)(?:\/|$)/;
const documentPath = /^\/openapi\/v3\/apis\/([^/]+)\/([^/]+)$/;

/**
 * Handles requests for aggregated API servers by passing them on, except for OpenAPI documents that are converted here.
 *
 * @returns false if the path does not belong to an aggregated server.
 * @throws {RequestError} 429 when a server has too many requests in flight.
 */
export function answerAggregated(
  { aggregator }: { aggregator: Aggregator },
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  user: UserInfo,
): boolean {
  const document = documentPath.exec(url.pathname);
  const [, group = '', version = ''] = document ?? ownPath.exec(url.pathname) ?? [];
  const remote = version === '' ? undefined : aggregator.find(group, version);
  if (remote === undefined) {
    return false;
  }
  const published = remote.openapi?.v3;
  if (document !== null && published === undefined) {
    return false;
  }
  if (document !== null && published instanceof PublishedDocument) {
    // Served from the cache, as long as the APIService exists.
    sendOpenApiDocument(published, request, response, url);
  } else if (remote.isAvailable) {
    remote.proxy.pass(request, response, url, user);
  } else {
    sendUnavailable(response);
  }
  return true;
}
