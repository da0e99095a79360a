import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import type { Http2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { ServerResponse } from './node-http.ts';

/** One connection of a server. */
export interface Connection {
  /** The TCP socket; with TLS, the one underneath. */
  readonly transport: Socket;
  /** The TLS socket on it, once there is one. */
  secure: TLSSocket | undefined;
  /** The HTTP/2 session; undefined for HTTP/1.1. */
  session: Http2Session | undefined;
  /** When its present state began. */
  since: number;
  /** Requests being read or answered on it: several when pipelined, or over HTTP/2. */
  requests: number;
  /** HTTP/2 streams, each with its own timeouts; the oldest first. */
  readonly streams: Set<TrackedHttp2Response>;
  /** Bytes in memory for its requests. */
  bytes: number;
  /** Number of requests that are being decided. */
  deciding: number;
  /** Whether a response has not been read completely. */
  responding: boolean;
  /** The progress of its request or response at the last check, and when that was. */
  mark: { bytes: number; at: number } | undefined;
  /**
   * When GOAWAY was sent (HTTP/2). If the connection has no requests and is still open some time later, it is closed.
   */
  leavingSince: number | undefined;
  /** The set of the table that contains it. */
  state: Set<Connection>;
}

/** A request as applications see it, in any HTTP version. */
export interface TrackedRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Whether all of it has arrived. */
  readonly complete: boolean;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  once(event: 'end' | 'error', listener: () => void): unknown;
  off(event: 'data', listener: (chunk: Buffer) => void): unknown;
  off(event: 'end', listener: () => void): unknown;
  /** Stops reading, also from the connection over HTTP/1.1. */
  pause(): unknown;
}

/** A response that knows its connection, in any HTTP version. */
export interface TrackedResponse {
  carrier: Connection | undefined;
  heldBytes: number;
  isDeciding: boolean;
  /**
   * Whether its connection carries other requests at the same time, in which case `connection: close` means nothing.
   */
  readonly isHttp2: boolean;
  writeHead(code: number, headers: string[]): unknown;
  write(text: string): unknown;
  end(): unknown;
  end(text: string): unknown;
  writeContinue(): void;
  on(event: 'close', listener: () => void): unknown;
  once(event: 'close', listener: () => void): unknown;
  /** HTTP/2: tells the client to stop sending the request. To be called after `end`. */
  refuseRest(): void;
}

/** An HTTP/1.1 response: the `ServerResponse` class of servers with tracked connections. */
export class Http1Response extends ServerResponse<IncomingMessage> implements TrackedResponse {
  carrier: Connection | undefined = undefined;
  heldBytes = 0;
  isDeciding = false;
  readonly isHttp2 = false;
  refuseRest(): void {}
}

/** An HTTP/2 response, which is abandoned without its connection. */
export interface TrackedHttp2Response extends TrackedResponse {
  readonly req: TrackedRequest;
  /** When its request arrived, when its response began to be sent, and whether it was abandoned. */
  readonly since: number;
  respondingSince: number | undefined;
  readonly isGivenUp: boolean;
  /** Abandons the request: resets its stream. */
  giveUp(): void;
}

/** Whether a response goes over HTTP/2. */
export function isHttp2Response(response: TrackedResponse): response is TrackedHttp2Response {
  return response.isHttp2;
}

/** A server with tracked connections, over TLS or not. */
export type TrackedServer = Server<typeof IncomingMessage, typeof Http1Response>;
