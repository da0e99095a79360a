import { Buffer } from 'node:buffer';
import { type BodyRefusal, collectBody, headerRefusal, type Wanted } from './body.ts';
import type { Foundation } from './options.ts';
import { refusal, refuseUnread, sendJson } from './response.ts';
import type { TrackedRequest, TrackedResponse } from './tracked.ts';

/** Headers that some refusals need besides their text, by HTTP status code. */
const refusalHeaders: ReadonlyMap<number, Readonly<Record<string, string>>> = new Map([
  [405, { allow: 'POST' }],
  [503, { 'retry-after': '1' }],
]);

/** Sends a JSON response, which counts against the limits until it has been read. */
export type Respond = (response: TrackedResponse, code: number, text: string) => void;

/** Creates the function by which an application responds; while the server drains, the connection ends with the response. */
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
 * Reads a body within the limits and passes it on; a request beyond them is refused here, and counted.
 *
 * @param wording makes the response to a refusal; undefined for its Status and HTTP code, the default.
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
