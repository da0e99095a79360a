/** What the server grants to callers. */
export interface Limits {
  /** Largest request body, in bytes. */
  maxBodyBytes: number;
  /** Most connections at a time, those in their TLS handshake included; more are closed on arrival. */
  maxConnections: number;
  /** Largest header block of a request, in bytes. */
  maxHeaderBytes: number;
  /** Longest time for a TLS handshake, and for the header of a request, in milliseconds. */
  headersTimeoutMs: number;
  /** Longest time for a whole request to arrive, in milliseconds; then 408. */
  requestTimeoutMs: number;
  /** How often the two timeouts above are looked at, in milliseconds: how late they may be. */
  timeoutCheckMs: number;
  /** How long an idle connection stays open, in milliseconds. */
  keepAliveTimeoutMs: number;
}

export const defaultLimits: Limits = {
  // A review holds the new and the old object. The API server takes objects of up to 3 MiB (the limit of its request
  // bodies); the seventh MiB is room for the rest of the review.
  maxBodyBytes: 7 * 1024 * 1024,
  // An API server keeps at most 25 idle connections a webhook and opens more under load; a large control plane has five
  // of them. 512 connections that each send the largest body still need less than 4 GiB.
  maxConnections: 512,
  maxHeaderBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  // The API server gives a webhook 30 s at the very most (timeoutSeconds of its configuration), 10 s by default.
  requestTimeoutMs: 15_000,
  timeoutCheckMs: 1_000,
  // Go's HTTP client, which the API server is, gives up idle connections after 90 s. Were the server first, a review
  // could be sent into a connection that is just being closed.
  keepAliveTimeoutMs: 120_000,
};
