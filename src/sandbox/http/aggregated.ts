import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Aggregator, sendUnavailable } from '../aggregation/index.ts';
import type { UserInfo } from '../resources/index.ts';
import { sendOpenApiDocument } from './openapi-answer.ts';

/** `/apis/GROUP/VERSION` and below, and the OpenAPI document of it. */
const ownPath = /^\/apis\/([^/]+)\/([^/]+)(?:\/|$)/;
const documentPath = /^\/openapi\/v3\/apis\/([^/]+)\/([^/]+)$/;

/**
 * Answers what belongs to aggregated API servers: by passing it on, but for the OpenAPI documents that are made here.
 *
 * @returns false when the path is not that of one.
 * @throws {StatusError} 429 when a server has too many requests.
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
  const { openapi } = remote;
  if (document !== null && openapi === undefined) {
    return false;
  }
  if (document !== null && openapi?.from === 'v2') {
    // Of what is known from before, for as long as the APIService is there.
    sendOpenApiDocument(openapi.document, request, response, url);
  } else if (aggregator.isAvailable(remote)) {
    remote.proxy.pass(request, response, url, user);
  } else {
    sendUnavailable(response);
  }
  return true;
}
