/** Limits on the resources that clients of a server may use. */
export interface Limits {
  /** Largest request body, in bytes. */
  maxBodyBytes: number;
  /**
   * Maximum number of open connections, including those in their TLS handshake; to accept one more, the connection that
   * has been idle longest is closed.
   */
  maxConnections: number;
  /**
   * Maximum number of bytes of bodies and responses in memory; beyond that, requests get a 503. A single one is always
   * accepted.
   */
  maxInFlightBytes: number;
  /** Maximum number of concurrent requests on one HTTP/2 connection. */
  maxStreams: number;
  /** Largest header block of a request, in bytes; HTTP/2 counts 32 more for each field. */
  maxHeaderBytes: number;
  /** How long a TLS handshake and the header of a request may take, in milliseconds. */
  headersTimeoutMs: number;
  /** How long a whole request may take to arrive, in milliseconds; then the response is a 408. */
  requestTimeoutMs: number;
  /** How long the client may take to read a response, in milliseconds; then the connection is closed. */
  responseTimeoutMs: number;
  /**
   * How long a handshake, request or response may make no progress before its connection may be closed to make room for
   * others, in milliseconds.
   */
  stallTimeoutMs: number;
  /** How often the timeouts are checked, in milliseconds; a timeout may fire this much late. */
  timeoutCheckMs: number;
  /** How long an idle connection stays open, in milliseconds. */
  keepAliveTimeoutMs: number;
}

/** The default limits of a webhook port. */
export const defaultLimits: Limits = {
  // A review holds the new and the old object. The API server takes objects of up to 3 MiB (the limit of its request
  // bodies); the seventh MiB is room for the rest of the review.
  maxBodyBytes: 7 * 1024 * 1024,
  // An API server keeps at most 25 idle connections per webhook and opens more under load; a large control plane has
  // five API servers. What all connections may hold in memory is limited below, not here.
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
  // A client that is still waiting reads at once; the API server disconnects at its own timeout.
  responseTimeoutMs: 10_000,
  stallTimeoutMs: 1_000,
  timeoutCheckMs: 1_000,
  // Go's HTTP client, which the API server uses, closes idle connections after 90 s. If the server closed them first, a
  // review could be sent on a connection that is just being closed.
  keepAliveTimeoutMs: 120_000,
};

/** Limits that may be 0. */
const mayBeZero: ReadonlySet<string> = new Set<keyof Limits>(['maxInFlightBytes', 'stallTimeoutMs']);
/** Longest delay of Node.js's timers, in milliseconds. */
const longestMs = 2 ** 31 - 1;

/**
 * Limits with some of them changed. A header is part of its request: it may take no longer.
 *
 * @throws {TypeError} for an unknown limit, and for one that is not a whole number in its range.
 */
export function limitsWith(defaults: Limits, changes: Partial<Limits> = {}): Limits {
  const entries = Object.entries(changes).filter(([, value]) => value !== undefined);
  for (const [name, value] of entries) {
    if (!Object.hasOwn(defaults, name)) {
      throw new TypeError(`limits.${name} is not a limit; it must be one of ${Object.keys(defaults).join(', ')}`);
    }
    const least = mayBeZero.has(name) ? 0 : 1;
    const most = name.endsWith('Ms') ? longestMs : Number.MAX_SAFE_INTEGER;
    if (!(Number.isSafeInteger(value) && value >= least && value <= most)) {
      const unit = name.endsWith('Ms') ? ' of milliseconds' : '';
      throw new TypeError(`limits.${name}: ${value} must be a whole number${unit} from ${least} to ${most}`);
    }
  }
  const limits: Limits = { ...defaults, ...Object.fromEntries(entries) };
  return { ...limits, headersTimeoutMs: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs) };
}

/**
 * The limits of the health port: the kubelet and Prometheus need a handful of connections, none of which stays open.
 */
export const healthLimits = {
  maxConnections: 64,
  maxInFlightBytes: 0,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 5_000,
  responseTimeoutMs: 5_000,
  keepAliveTimeoutMs: 5_000,
  // Without TLS, a request arrives together with its connection, so an idle connection may be closed at once for a
  // probe.
  stallTimeoutMs: 0,
} satisfies Partial<Limits>;
