/** Limits on the resources that clients of a server may use: sizes in bytes, times in milliseconds. */
export interface Limits {
  /** Largest request body. */
  maxBodyBytes: number;
  /** Maximum number of open connections; to accept one more, the one that has been idle longest is closed. */
  maxConnections: number;
  /** Maximum number of bytes of bodies and responses in memory; beyond that, requests get a 503. */
  maxInFlightBytes: number;
  /** Largest header of a request. */
  maxHeaderBytes: number;
  /** How long a TLS handshake and the header of a request may take. */
  headersTimeoutMs: number;
  /** How long a whole request may take to arrive; then the response is a 408. */
  requestTimeoutMs: number;
  /** How long a response may take after its request, the decision and the reading of it together. */
  responseTimeoutMs: number;
  /** How long a client may keep the server waiting before its connection may be closed to make room for others. */
  stallTimeoutMs: number;
  /** How long an idle connection stays open. */
  keepAliveTimeoutMs: number;
  /** How often the timeouts are checked; one may expire this much late. */
  timeoutCheckMs: number;
}

/** The limits of a webhook port. */
export const defaultLimits: Limits = {
  // A review holds the new and the old object, each up to 3 MiB, the limit of API servers' request bodies.
  maxBodyBytes: 7 * 1024 * 1024,
  // An API server keeps at most 25 idle connections per webhook, more under load; a large control plane has five of them.
  maxConnections: 512,
  // From the pod's limit of 2 GiB: 200 MiB at rest with 512 connections; these bytes and a quarter more for small bodies,
  // twice, as buffers wait for the collector, and so do a few parsed bodies of at worst (7 MiB of `{},`) 40 times their bytes.
  // The worst that was measured, 100 clients with such bodies at once, was 1.4 GiB.
  maxInFlightBytes: 256 * 1024 * 1024,
  // Go's clients send less than 1 KiB.
  maxHeaderBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  // The API server gives a webhook at most 30 s (timeoutSeconds of its configuration), 10 s by default.
  requestTimeoutMs: 15_000,
  // A client that is still waiting reads at once.
  responseTimeoutMs: 10_000,
  stallTimeoutMs: 1_000,
  // Go's HTTP client closes idle connections after 90 s; closed by the server first, one could lose a review.
  keepAliveTimeoutMs: 120_000,
  timeoutCheckMs: 1_000,
};

/** The limits of the health port: the kubelet and Prometheus need a handful of connections, none of which stays open. */
export const healthLimits: Limits = {
  ...defaultLimits,
  maxConnections: 64,
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 5_000,
  responseTimeoutMs: 5_000,
  keepAliveTimeoutMs: 5_000,
  // Without TLS, a request arrives together with its connection, so one without may be closed at once for a probe.
  stallTimeoutMs: 0,
};

/** What Node does not limit, `Connections` does. */
export const nodeLimits = (limits: Limits) => ({
  handshakeTimeout: limits.headersTimeoutMs,
  // Longer headers are a 431, those that take longer a 408; so are requests that do not arrive in time with their body.
  maxHeaderSize: limits.maxHeaderBytes,
  headersTimeout: limits.headersTimeoutMs,
  requestTimeout: limits.requestTimeoutMs,
  connectionsCheckingInterval: limits.timeoutCheckMs,
  // The periodic check of all connections closes idle ones, without a timer for each request.
  keepAliveTimeout: 0,
  // A response is written at once, so waiting for more would only delay it.
  noDelay: true,
  // Node's own response to a request without Host has no body, and is not counted.
  requireHostHeader: false,
});

/** Longest delay of Node.js's timers in milliseconds, and more bytes than any body needs. */
const most = 2 ** 31 - 1;

/** A header may take no longer than its request. @throws {TypeError} for an unknown limit, or one out of its range. */
export function limitsWith(defaults: Limits, changes: Partial<Limits> = {}): Limits {
  const entries = Object.entries(changes).filter(([, value]) => value !== undefined);
  for (const [name, value] of entries) {
    if (!Object.hasOwn(defaults, name)) {
      throw new TypeError(`limits.${name} is not a limit; it must be one of ${Object.keys(defaults).join(', ')}`);
    }
    if (!(Number.isSafeInteger(value) && value >= 1 && value <= most)) {
      throw new TypeError(`limits.${name}: ${value} must be a whole number from 1 to ${most}`);
    }
  }
  const limits: Limits = { ...defaults, ...Object.fromEntries(entries) };
  return { ...limits, headersTimeoutMs: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs) };
}
