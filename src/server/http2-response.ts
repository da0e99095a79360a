import { constants, type Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Connection, TrackedHttp2Response } from './connections/tracked.ts';

/** An HTTP/2 response. Servers without HTTP/2 do not load this file, since `node:http2` is large. */
export class Http2Response extends Http2ServerResponse<Http2ServerRequest> implements TrackedHttp2Response {
  carrier: Connection | undefined = undefined;
  heldBytes = 0;
  isDeciding = false;
  readonly isHttp2 = true;
  readonly since = performance.now();
  respondingSince: number | undefined = undefined;
  isGivenUp = false;
  refuseRest(): void {
    // Only after a whole response (RFC 9113, 8.1), whose last frame is sent in the turn in which the stream finishes:
    // a reset in that turn overtakes it, and clients take the response for cut off, or wait for its end.
    this.stream.once('finish', () => setImmediate(() => this.stream.close(constants.NGHTTP2_NO_ERROR)));
  }
  giveUp(): void {
    this.isGivenUp = true;
    this.stream.close(constants.NGHTTP2_CANCEL);
  }
}
