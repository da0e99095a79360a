import { Buffer } from 'node:buffer';
import { refusal } from '../../kubernetes/index.ts';
import type { TrackedRequest, TrackedResponse } from '../connections/tracked.ts';
import type { Foundation } from './application.ts';
import { type BodyRefusal, collectBody, headerRefusal, type Wanted } from './body.ts';
import { refuseUnread, sendJson } from './response.ts';

/** Headers that some refusals need, by HTTP status code. */
const refusalHeaders: ReadonlyMap<number, Readonly<Record<string, string>>> = new Map([
  [405, { allow: 'POST' }],
  [503, { 'retry-after': '1' }],
]);

/** Sends a JSON response, which counts against the limits until the client has read it. */
export type Respond = (response: TrackedResponse, code: number, text: string) => void;

/**
 * Creates the function with which an application responds. While the server drains, each response closes its
 * connection.
 */
export function createRespond({ connections, isDraining }: Pick<Foundation, 'connections' | 'isDraining'>): Respond {
  return (response, code, text) => {
    const bytes = Buffer.byteLength(text);
    connections.holdResponse(response, bytes);
    const close = isDraining();
    sendJson(response, code, text, bytes, close, refusalHeaders.get(code));
    if (close) {
      connections.leave(response);
    }
  };
}

/**
 * Reads a body within the limits and passes it on. A request beyond them is refused here, and counted.
 *
 * @param wording makes the response to a refusal; by default, or when it returns undefined, a Status with its HTTP
 *   code.
 */
export function receiveBody(
  { metrics, maxBodyBytes, connections }: Pick<Foundation, 'metrics' | 'maxBodyBytes' | 'connections'>,
  wanted: Wanted,
  request: TrackedRequest,
  response: TrackedResponse,
  onBody: (bytes: Buffer) => void,
  wording?: (refusal: BodyRefusal) => { code: number; text: string } | undefined,
): void {
  const refuse = (refused: BodyRefusal) => {
    const { code, message } = refused;
    metrics.refused(code);
    // The part of the body that was read is not kept.
    connections.holdResponse(response, 0);
    refuseUnread(
      request,
      response,
      wording?.(refused) ?? refusal(code, message),
      maxBodyBytes,
      refusalHeaders.get(code) ?? {},
    );
  };
  const refused = headerRefusal(request, maxBodyBytes, wanted);
  if (refused !== undefined) {
    refuse(refused);
    return;
  }
  if (request.headers.expect !== undefined) {
    response.writeContinue();
  }
  collectBody(request, maxBodyBytes, (bytes) => connections.holdBody(response, bytes), onBody, refuse);
}
