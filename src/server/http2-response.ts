import { constants, type Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Connection, TrackedHttp2Response } from './tracked.ts';

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
    this.stream.close(constants.NGHTTP2_NO_ERROR);
  }
  giveUp(): void {
    this.isGivenUp = true;
    this.stream.close(constants.NGHTTP2_CANCEL);
  }
}
