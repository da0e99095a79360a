import type { Socket } from 'node:net';
import tls, { createSecureContext, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { readableCertificates } from '../../../base/x509/index.ts';
import { type CallError, quotable } from '../call-error.ts';
import type { ClientCertificate, ClientOptions } from '../client-types.ts';
import { readBeginning, readFirstValue, unpacked } from './body.ts';
import { brokenOff, handshakeMs, isCancelled, unanswered } from './connection-errors.ts';
import type { Target } from './url.ts';

type ConnectionOptions = Pick<ClientOptions, 'clientCertificate' | 'maxAnswerBytes' | 'maxConcurrentCalls' | 'resolve'>;

interface Exchange {
  target: Target;
  /** Base64 of the PEM CA bundle; absent: the system roots. */
  caBundle: string | undefined;
  body: string | Buffer;
  signal: AbortSignal;
  /** Longest answer that is read, in bytes. Default: that of the connections. */
  maxAnswerBytes?: number | undefined;
  /** Whether to send a Content-Type; Cluster API does not. */
  hasContentType: boolean;
}

/** A response with status code and body, as received. */
export interface ExtensionResponse {
  code: number;
  body: Buffer;
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

/** The system roots, or Node's own if there are none. */
function rootsOfSystem(): string[] {
  // The one file and the folder with its links have each of them four times (Debian), and OpenSSL parses them all.
  // Not imported by name: an older Node.js would name it as missing, instead of saying that it is too old.
  const roots = [...new Set(tls.getCACertificates('system'))];
  return roots.length > 0 ? roots : tls.getCACertificates('default');
}

/** TLS settings that were used lately. */
const contexts = new LRUCache<string, SecureContext>({ max: maxContexts });

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
      cert: certificate?.cert,
      key: certificate?.key,
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

const sizeText = (bytes: number) => (bytes % mebibyte === 0 ? `${bytes / mebibyte} MiB` : `${bytes} bytes`);

const sizeError = (problem: string): CallError => ({ step: 'size', message: `http call failed: ${problem}` });

/** Persistent connections to extension servers, which are opened on first use. */
export class ExtensionConnections {
  readonly #options: ConnectionOptions;
  readonly #maxAnswerBytes: number;
  readonly #maxConcurrentCalls: number;
  /** By extension, with the settings that each was created with. */
  readonly #pools = new Map<string, { settings: string; pool: Pool }>();

  constructor(options: ConnectionOptions) {
    const { maxAnswerBytes = defaultMaxAnswerBytes, maxConcurrentCalls = defaultConcurrentCalls } = options;
    // Nothing is larger than NaN: any answer would be read to its end.
    if (!Number.isSafeInteger(maxAnswerBytes) || maxAnswerBytes < 1) {
      throw new RangeError(`maxAnswerBytes: ${maxAnswerBytes} is not a whole number of bytes above 0`);
    }
    // With none, every call would wait for its turn until its timeout.
    if (!Number.isSafeInteger(maxConcurrentCalls) || maxConcurrentCalls < 1) {
      throw new RangeError(`maxConcurrentCalls: ${maxConcurrentCalls} is not a whole number above 0`);
    }
    this.#options = options;
    this.#maxAnswerBytes = maxAnswerBytes;
    this.#maxConcurrentCalls = maxConcurrentCalls;
  }

  /**
   * Sends a POST; failures are values. Redirects are not followed. `key` identifies the extension; if its address, CA
   * or client certificate changes, new connections are opened.
   */
  async post(key: string, exchange: Exchange): Promise<ExtensionResponse | CallError> {
    const { target, signal } = exchange;
    let pool: Pool;
    try {
      pool = this.#poolFor(key, exchange);
    } catch (error) {
      return {
        step: 'tls-config',
        message: `failed to get http client: failed to create tls config: ${quotable((error as Error).message)}`,
      };
    }
    const maxBytes = Math.min(exchange.maxAnswerBytes ?? this.#maxAnswerBytes, this.#maxAnswerBytes);
    let isExceeded = false;
    const limit: ByteLimit = {
      maxBytes: overheadFactor * maxBytes + overheadBytes,
      onExcess() {
        isExceeded = true;
      },
    };
    let code: number | undefined;
    let answer: ExtensionResponse | CallError;
    try {
      const response = await pool.request({
        ...limit,
        method: 'POST',
        path: target.path,
        headers: {
          host: target.host,
          ...(exchange.hasContentType && { 'content-type': 'application/json' }),
          'user-agent': 'extensionconfig-webhook',
          'accept-encoding': 'gzip',
          ...(target.authorization === undefined ? {} : { authorization: target.authorization }),
        },
        body: exchange.body,
        signal,
      } as Dispatcher.RequestOptions);
      code = response.statusCode;
      const plain = unpacked(response.body, response.headers['content-encoding']);
      const body = code === 200 ? await readFirstValue(plain, maxBytes) : await readBeginning(plain, maxErrorBytes);
      if (code !== 200 && isCancelled(signal)) {
        throw signal.reason;
      }
      answer =
        body === undefined ? { ...sizeError(`the answer is larger than ${sizeText(maxBytes)}`), code } : { code, body };
    } catch (error) {
      answer = code === 200 && !isCancelled(signal) ? brokenOff(error, signal) : unanswered(error, target, signal);
    }
    return isExceeded ? sizeError(`the server sent more than ${overheadFactor} times ${sizeText(maxBytes)}`) : answer;
  }

  /** Number of calls of an extension that are in flight, and of those waiting for one to end. */
  load(key: string): { running: number; waiting: number } {
    const { running = 0, queued = 0, pending = 0 } = this.#pools.get(key)?.pool.stats ?? {};
    return { running, waiting: queued + pending };
  }

  /** Closes the connections of an extension when the calls in flight have ended. */
  forget(key: string): void {
    const known = this.#pools.get(key);
    this.#pools.delete(key);
    known?.pool.close().catch(() => {});
  }

  async close(): Promise<void> {
    const all = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(all.map(({ pool }) => pool.destroy()));
  }

  #poolFor(key: string, { target, caBundle }: Exchange): Pool {
    const certificate = this.#options.clientCertificate?.();
    const settings = JSON.stringify([target.origin, caBundle, certificate?.cert, certificate?.key]);
    const known = this.#pools.get(key);
    if (known?.settings === settings) {
      return known.pool;
    }
    this.forget(key);
    const elsewhere = this.#options.resolve?.(target.host);
    const connect = buildConnector({
      secureContext: contextFor(caBundle, certificate),
      // Go verifies an IP address against the addresses in the certificate, and sends no server name for it.
      ...(elsewhere === undefined ? {} : { servername: target.serverName }),
      timeout: handshakeMs,
      rejectUnauthorized: true,
      allowH2: false,
    });
    const pool = new Pool(elsewhere === undefined ? target.origin : `https://${elsewhere.host}:${elsewhere.port}`, {
      connections: this.#maxConcurrentCalls,
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
      factory: (origin, options: Client.Options) => createLimitedClient(origin, options, connect),
    });
    this.#pools.set(key, { settings, pool });
    return pool;
  }
}
