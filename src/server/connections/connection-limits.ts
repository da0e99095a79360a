import type { TrackedRequest, TrackedResponse } from './tracked.ts';

/** Limits on the connections of one server. */
export interface ConnectionLimits {
  /** Maximum number of open connections, including those in their TLS handshake. */
  maxConnections: number;
  /** How long a connection may stay open without a request, in milliseconds. */
  keepAliveTimeoutMs: number;
  /**
   * How long an HTTP/2 connection may stay open before its first request, in milliseconds. For HTTP/1.1, Node enforces
   * this.
   */
  headersTimeoutMs: number;
  /** How long a whole request may take to arrive, in milliseconds. */
  requestTimeoutMs: number;
  /**
   * How long a handshake, request or response may make no progress before its connection may be closed to make room for
   * others, in milliseconds. A rush of well-behaved clients must not get any of them cut off halfway.
   */
  stallTimeoutMs: number;
  /** How long the client may take to read a response, in milliseconds. */
  responseTimeoutMs: number;
  /** Maximum number of bytes of bodies and responses in memory. */
  maxInFlightBytes: number;
  /** How often the timeouts are checked, in milliseconds; a timeout may fire this much late. */
  timeoutCheckMs: number;
}

/** Events of connections, for metrics. */
export interface ConnectionEvents {
  /** A connection was closed to make room for another. */
  evicted(): void;
  /** A new connection was closed on arrival: the server was full, and no other connection could be closed for it. */
  dropped(): void;
  /** A response was abandoned because the client did not read it in time. */
  responseDropped(): void;
  /** A request over HTTP/2 did not arrive in time. For HTTP/1.1, Node reports it. */
  requestLate(request: TrackedRequest, response: TrackedResponse): void;
}
