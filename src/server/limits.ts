/** The limits of a server on what its clients may use. */
export interface Limits {
  /** Largest request body, in bytes. */
  maxBodyBytes: number;
  /**
   * Maximum number of connections at a time, those in their TLS handshake included; for one more the longest idle one
   * is closed.
   */
  maxConnections: number;
  /**
   * Maximum number of bytes of bodies and responses at a time; beyond that, requests get a 503. A single one is always
   * accepted.
   */
  maxInFlightBytes: number;
  /** Maximum number of requests at a time on one connection of HTTP/2. */
  maxStreams: number;
  /** Largest header block of a request, in bytes; by HTTP/2 each field counts for 32 more. */
  maxHeaderBytes: number;
  /** Longest time for a TLS handshake, and for the header of a request, in milliseconds. */
  headersTimeoutMs: number;
  /** Longest time for a whole request to arrive, in milliseconds; then 408. */
  requestTimeoutMs: number;
  /** Longest time for a response to be read, in milliseconds; then the connection is cut. */
  responseTimeoutMs: number;
  /**
   * How long a handshake, request or response may make no progress before it may be cut for others, in milliseconds.
   */
  patienceMs: number;
  /** How often the timeouts are checked, in milliseconds; they may be this late. */
  timeoutCheckMs: number;
  /** How long an idle connection stays open, in milliseconds. */
  keepAliveTimeoutMs: number;
}

/** The limits of a webhook port, unless an operator sets others. */
export const defaultLimits: Limits = {
  // A review holds the new and the old object. The API server takes objects of up to 3 MiB (the limit of its request
  // bodies); the seventh MiB is room for the rest of the review.
  maxBodyBytes: 7 * 1024 * 1024,
  // An API server keeps at most 25 idle connections per webhook and opens more under load; a large control plane has
  // five of them. What they may hold together is limited below, not here.
  maxConnections: 512,
  // From the pod's limit of 2 GiB: 200 MiB for the process at rest and 512 connections; these bytes and a quarter more for
  // small bodies, all of it twice, since buffers stay until the next garbage collection; and parsed bodies, of which
  // one at a time is in use and a few more wait for the collector, each at worst (7 MiB of `{},`) 40 times its bytes. The
  // worst that was measured, 100 clients with such bodies at once, was 1.4 GiB. Ordinary reviews have some 4 KiB.
  maxInFlightBytes: 256 * 1024 * 1024,
  // More than the number of calls that a Go client has in flight to one server; beyond that, it opens another
  // connection.
  maxStreams: 32,
  maxHeaderBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  // The API server gives a webhook at most 30 s (timeoutSeconds of its configuration), 10 s by default.
  requestTimeoutMs: 15_000,
  // A client that still waits reads at once; the API server hangs up at its own timeout.
  responseTimeoutMs: 10_000,
  patienceMs: 1_000,
  timeoutCheckMs: 1_000,
  // Go's HTTP client, which the API server is, gives up idle connections after 90 s. Were the server first, a review
  // could be sent into a connection that is just being closed.
  keepAliveTimeoutMs: 120_000,
};

/**
 * The limits of the health port: the kubelet and Prometheus need a handful of connections, none of which stays open.
 */
export const healthLimits: Pick<
  Limits,
  | 'maxConnections'
  | 'maxInFlightBytes'
  | 'headersTimeoutMs'
  | 'requestTimeoutMs'
  | 'responseTimeoutMs'
  | 'keepAliveTimeoutMs'
  | 'patienceMs'
> = {
  maxConnections: 64,
  maxInFlightBytes: 0,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 5_000,
  responseTimeoutMs: 5_000,
  keepAliveTimeoutMs: 5_000,
  // Without TLS a request comes with its connection: an idle one has to make room for a probe.
  patienceMs: 0,
};
