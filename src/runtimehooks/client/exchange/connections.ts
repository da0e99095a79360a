import type { Socket } from 'node:net';
import tls, { createSecureContext, type SecureContext } from 'node:tls';
import { buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { LruCache } from '../../../base/index.ts';
import { readableCertificates } from '../../../base/x509/index.ts';
import { type CallError, quotable } from '../call-error.ts';
import type { ClientCertificate, ClientOptions } from '../client-types.ts';
import { readBeginning, readFirstValue, unpacked } from './body.ts';
import { explained, explainedWithin, handshakeMs, timeoutExpired } from './connection-errors.ts';
import type { Target } from './url.ts';

type ConnectionOptions = Pick<ClientOptions, 'clientCertificate' | 'maxAnswerBytes' | 'maxConcurrentCalls' | 'resolve'>;

/** One POST. */
interface Exchange {
  target: Target;
  /** Base64 of the PEM CA bundle; absent: the system roots. */
  caBundle: string | undefined;
  body: string | Buffer;
  signal: AbortSignal;
  /** Longest answer that is read, in bytes. Default: that of the connections. */
  maxAnswerBytes?: number | undefined;
  /** Omits the Content-Type, as Cluster API does. Default: JSON. */
  withoutContentType?: boolean;
}

/** A response with status code and body, as received. */
export interface ExtensionResponse {
  code: number;
  body: Buffer;
}

/** Persistent connections to extension servers. */
export interface ExtensionConnections {
  /**
   * Sends a POST; failures are values. Redirects are not followed. `key` identifies the extension; if its address, CA
   * or client certificate changes, new connections are opened.
   */
  post(key: string, exchange: Exchange): Promise<ExtensionResponse | CallError>;
  /** Number of calls of an extension that are in flight, and of those waiting for one to end. */
  load(key: string): { running: number; waiting: number };
  /** Closes the connections of a deleted extension. */
  forget(key: string): void;
  close(): Promise<void>;
}

const mebibyte = 1024 * 1024;

/**
 * Longest response that is read, in bytes: the limit of Go's server for requests, which upstream intended for
 * responses.
 */
const defaultMaxAnswerBytes = 20 * mebibyte;
const defaultConcurrentCalls = 10;
/** How much of an error response is read, in bytes: messages quote 512 characters of it. */
const maxErrorBytes = 4 * 1024;
/** How long an idle connection is kept, in ms (Go: 90 s). */
const keepAliveMs = 90_000;
/** Maximum number of TLS settings that are cached across extensions and sets of connections. */
const maxContexts = 32;

const isOverTime = (signal: AbortSignal) => (signal.reason as Error | undefined)?.name === 'TimeoutError';

/** A connection pool, and the settings that it was created with. */
interface KeptPool {
  origin: string;
  caBundle: string | undefined;
  certificate: ClientCertificate | undefined;
  pool: Pool;
}

/**
 * The readable certificates of a bundle, as Go would use them; others are skipped.
 *
 * @throws {Error} when there is none.
 */
function readable(caBundle: string): string[] {
  const good = [...readableCertificates(Buffer.from(caBundle, 'base64').toString('latin1'))];
  if (good.length === 0) {
    throw new Error('unable to load root certificates: unable to parse bytes as PEM block');
  }
  return good.map((certificate) => certificate.toString());
}

let systemRoots: string[] | undefined;

/** The system roots, or Node's own if there are none. */
function rootsOfSystem(): string[] {
  if (systemRoots === undefined) {
    // The one file and the folder with its links have each of them four times (Debian), and OpenSSL parses them all.
    // Not imported by name: an older Node.js would name it as missing, instead of saying that it is too old.
    const roots = [...new Set(tls.getCACertificates('system'))];
    systemRoots = roots.length > 0 ? roots : tls.getCACertificates('default');
  }
  return systemRoots;
}

/** TLS settings that were used lately. */
const contexts = new LruCache<SecureContext>(maxContexts);

/**
 * The TLS settings for a CA and a client certificate. Many extensions share a CA, and a context for each would take a
 * hundred KiB outside of the heap and, with the system roots, milliseconds.
 */
function contextFor(caBundle: string | undefined, certificate: ClientCertificate | undefined): SecureContext {
  const key = JSON.stringify([caBundle, certificate?.cert, certificate?.key]);
  const context =
    contexts.get(key) ??
    createSecureContext({
      ca: caBundle === undefined ? rootsOfSystem() : readable(caBundle),
      ...(certificate === undefined ? {} : { cert: certificate.cert, key: certificate.key }),
      minVersion: 'TLSv1.2',
    });
  contexts.set(key, context);
  return context;
}

/** How much more than an answer may come over its connection: headers, informational answers, small chunks. */
const overheadFactor = 8;
const overheadBytes = 64 * 1024;

/** The limit of a request, among its options. */
interface ByteLimit {
  /** How much may come over the connection until the end of the response, in bytes. */
  maxBytes: number;
  /** Called when more came, before the connection is closed. */
  onExcess(): void;
}

/**
 * A client of one connection, which makes one request at a time, and closes the connection when more comes over it than the
 * request allows: limits of bodies do not count what a server sends around them.
 */
function createLimitedClient(
  origin: string | URL,
  options: Client.Options,
  connect: buildConnector.connector,
): Dispatcher {
  let socket: Socket | undefined;
  let before = 0;
  let limit: ByteLimit | undefined;
  const client = new Client(origin, {
    ...options,
    connect: (target, callback) =>
      connect(target, (...result) => {
        [, socket] = result as [unknown, Socket | undefined];
        before = 0;
        socket?.on('readable', () => {
          if (limit !== undefined && (socket?.bytesRead ?? 0) - before > limit.maxBytes) {
            limit.onExcess();
            socket?.destroy();
          }
        });
        callback(...result);
      }),
  });
  return client.compose((dispatch) => (request, handler) => {
    before = socket?.bytesRead ?? 0;
    limit = request as Dispatcher.DispatchOptions & ByteLimit;
    return dispatch(request, handler);
  });
}

/** The connection pools of extensions, by key. */
function createPools(options: ConnectionOptions) {
  const pools = new Map<string, KeptPool>();

  function poolFor(key: string, { target, caBundle }: Exchange): Pool {
    const certificate = options.clientCertificate?.();
    const reusable = pools.get(key);
    if (
      reusable !== undefined &&
      reusable.origin === target.origin &&
      reusable.caBundle === caBundle &&
      reusable.certificate?.cert === certificate?.cert &&
      reusable.certificate?.key === certificate?.key
    ) {
      return reusable.pool;
    }
    // Calls in flight finish on their old connections.
    reusable?.pool.close().catch(() => {});
    const elsewhere = options.resolve?.(target.host);
    const connect = buildConnector({
      secureContext: contextFor(caBundle, certificate),
      // Go verifies an IP address against the addresses in the certificate, and sends no server name for it.
      ...(elsewhere === undefined ? {} : { servername: target.serverName }),
      timeout: handshakeMs,
      rejectUnauthorized: true,
      allowH2: false,
    });
    const pool = new Pool(elsewhere === undefined ? target.origin : `https://${elsewhere.host}:${elsewhere.port}`, {
      connections: options.maxConcurrentCalls ?? defaultConcurrentCalls,
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      // undici uses HTTP/2 by itself where a server offers it. Aborting such calls before their response, in a process
      // with other TLS connections, made Node.js loop in native code and use up all memory (Node.js 24.21, undici
      // 8.12.4).
      allowH2: false,
      // The call's signal limits the total time.
      headersTimeout: 0,
      bodyTimeout: 0,
      factory: (origin, settings: Client.Options) => createLimitedClient(origin, settings, connect),
    });
    pools.set(key, { origin: target.origin, caBundle, certificate, pool });
    return pool;
  }

  return { pools, poolFor };
}

const sizeText = (bytes: number) => (bytes % mebibyte === 0 ? `${bytes / mebibyte} MiB` : `${bytes} bytes`);

/** Whether the caller has given up, rather than the time being over. */
const isCancelled = ({ signal }: Exchange) => signal.aborted && !isOverTime(signal);

/**
 * Reads a response: its first JSON value or, unless it has status 200, its beginning.
 *
 * @throws the reason of a signal that was aborted by the caller.
 */
async function received(
  { statusCode: code, headers, body }: Dispatcher.ResponseData,
  exchange: Exchange,
  maxBytes: number,
): Promise<ExtensionResponse | CallError> {
  const plain = unpacked(body, headers['content-encoding']);
  if (code !== 200) {
    const beginning = await readBeginning(plain, maxErrorBytes);
    if (isCancelled(exchange)) {
      throw exchange.signal.reason;
    }
    return { code, body: beginning };
  }
  let read: Buffer | undefined;
  try {
    read = await readFirstValue(plain, maxBytes);
  } catch (error) {
    if (isCancelled(exchange)) {
      throw error;
    }
    return explainedWithin(error, exchange.signal);
  }
  return read === undefined
    ? { step: 'size', message: `http call failed: the answer is larger than ${sizeText(maxBytes)}`, code }
    : { code, body: read };
}

/** Why a call got no response: it took too long, was cancelled, or failed. */
function unanswered(error: unknown, { target, signal }: Exchange): CallError {
  if (!signal.aborted) {
    return explained(error, target);
  }
  const prefix = `http call failed: Post ${JSON.stringify(target.url)}: `;
  return isOverTime(signal)
    ? { step: 'timeout', message: `${prefix}${timeoutExpired}` }
    : { step: 'cancelled', message: `${prefix}context canceled` };
}

/** Creates a set of connections, which are opened on first use. */
export function createConnections(options: ConnectionOptions): ExtensionConnections {
  const { maxAnswerBytes = defaultMaxAnswerBytes, maxConcurrentCalls = defaultConcurrentCalls } = options;
  // Nothing is larger than NaN: any answer would be read to its end.
  if (!Number.isSafeInteger(maxAnswerBytes) || maxAnswerBytes < 1) {
    throw new RangeError(`maxAnswerBytes: ${maxAnswerBytes} is not a whole number of bytes above 0`);
  }
  // With none, every call would wait for its turn until its timeout.
  if (!Number.isSafeInteger(maxConcurrentCalls) || maxConcurrentCalls < 1) {
    throw new RangeError(`maxConcurrentCalls: ${maxConcurrentCalls} is not a whole number above 0`);
  }
  const { pools, poolFor } = createPools(options);

  return {
    async post(key, exchange) {
      const { target, signal } = exchange;
      let pool: Pool;
      try {
        pool = poolFor(key, exchange);
      } catch (error) {
        return {
          step: 'tls-config',
          message: `failed to get http client: failed to create tls config: ${quotable((error as Error).message)}`,
        };
      }
      const maxBytes = Math.min(exchange.maxAnswerBytes ?? maxAnswerBytes, maxAnswerBytes);
      let isExceeded = false;
      const limit: ByteLimit = {
        maxBytes: overheadFactor * maxBytes + overheadBytes,
        onExcess() {
          isExceeded = true;
        },
      };
      let answer: ExtensionResponse | CallError;
      try {
        const response = await pool.request({
          ...limit,
          method: 'POST',
          path: target.path,
          headers: {
            host: target.host,
            ...(exchange.withoutContentType === true ? {} : { 'content-type': 'application/json' }),
            'user-agent': 'extensionconfig-webhook',
            'accept-encoding': 'gzip',
            ...(target.authorization === undefined ? {} : { authorization: target.authorization }),
          },
          body: exchange.body,
          signal,
        } as Dispatcher.RequestOptions);
        answer = await received(response, exchange, maxBytes);
      } catch (error) {
        answer = unanswered(error, exchange);
      }
      return isExceeded
        ? {
            step: 'size',
            message: `http call failed: the server sent more than ${overheadFactor} times ${sizeText(maxBytes)}`,
          }
        : answer;
    },
    load(key) {
      const stats = pools.get(key)?.pool.stats;
      return { running: stats?.running ?? 0, waiting: (stats?.queued ?? 0) + (stats?.pending ?? 0) };
    },
    forget(key) {
      pools
        .get(key)
        ?.pool.close()
        .catch(() => {});
      pools.delete(key);
    },
    async close() {
      const all = [...pools.values()];
      pools.clear();
      await Promise.all(all.map(({ pool }) => pool.destroy()));
    },
  };
}
