import type { TrackedRequest, TrackedResponse } from './tracked.ts';

/** The limits of the connections of one server. */
export interface ConnectionLimits {
  /** Maximum number of connections at a time, those in their TLS handshake included. */
  maxConnections: number;
  /** How long a connection may stay open without a request, in milliseconds. */
  keepAliveTimeoutMs: number;
  /**
   * How long a connection of HTTP/2 may stay open before its first request, in milliseconds; for HTTP/1.1 Node does
   * that.
   */
  headersTimeoutMs: number;
  /** Longest time for a whole request to arrive, in milliseconds. */
  requestTimeoutMs: number;
  /**
   * How long a handshake, request or response may make no progress before its connection may be closed in favour of
   * others, in milliseconds. A rush of well-behaved clients must not get any of them cut off halfway.
   */
  patienceMs: number;
  /** How long the client may take to read a response, in milliseconds. */
  responseTimeoutMs: number;
  /** Maximum number of bytes of bodies and responses at a time. */
  maxInFlightBytes: number;
  /** How often the timeouts are checked, in milliseconds; they may be this late. */
  timeoutCheckMs: number;
}

/** Events of connections, for metrics. */
export interface ConnectionEvents {
  /** One was closed to make room. */
  evicted(): void;
  /** A new one was closed on arrival: there was no room and no other could be closed for it. */
  dropped(): void;
  /** A response was given up because it was not read in time. */
  responseDropped(): void;
  /** A request of HTTP/2 did not arrive in time; for HTTP/1.1 Node reports it. */
  requestLate(request: TrackedRequest, response: TrackedResponse): void;
}
