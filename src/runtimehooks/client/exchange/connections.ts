import type { Socket } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import tls, { checkServerIdentity, createSecureContext, type PeerCertificate, type SecureContext } from 'node:tls';
import { constants, createGunzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { buildConnector, Pool } from 'undici';
import { readLimited } from '../../../base/index.ts';
import { readableCertificates } from '../../../base/x509/index.ts';
import { type CallError, quotable } from '../call-error.ts';
import { brokenOff, handshakeMs, isCancelled, tooMuchReceived, unanswered } from './connection-errors.ts';
import type { Target } from './url.ts';

/** A client certificate for extension servers, with its key: PEM. */
export interface ClientCertificate {
  cert: string;
  key: string;
}

/** Addresses to connect to instead, as with curl's `--resolve`; certificates are verified for the original name. */
export type Resolve = (host: string) => { host: string; port: number } | undefined;

export interface ConnectionOptions {
  /** Client certificate and key in PEM; read for each call, so that a renewed pair is used at once. */
  clientCertificate?: (() => ClientCertificate | undefined) | undefined;
  /** Addresses to use for hosts instead of those from DNS, for port-forwards. */
  resolve?: Resolve | undefined;
}

interface Exchange {
  target: Target;
  /** Base64 of the PEM CA bundle; absent: the system roots. */
  caBundle: string | undefined;
  body: string | Buffer;
  signal: AbortSignal;
  /** Longest answer that is read, in bytes. Default: 20 MiB. */
  maxAnswerBytes?: number | undefined;
  /** Whether to send a Content-Type; Cluster API does not. */
  hasContentType: boolean;
}

export interface ExtensionResponse {
  code: number;
  body: Buffer;
}

const mebibyte = 1024 * 1024;

/** Longest response that is read, in bytes: the limit of Go's server for requests, which upstream intended for responses. */
const defaultMaxAnswerBytes = 20 * mebibyte;
/** Maximum number of concurrent calls to one extension. */
const maxConcurrentCalls = 10;
/** How much of an error response is read, in bytes: messages quote 512 characters of it. */
const maxErrorBytes = 4 * 1024;
/** How much may come over a connection for one answer, in bytes: headers, informational answers and chunk extensions count. */
const maxReceivedBytes = 2 * defaultMaxAnswerBytes;
/** How long an idle connection is kept, in ms (Go: 90 s). */
const keepAliveMs = 90_000;
/** Maximum number of TLS settings that are cached across extensions and sets of connections. */
const maxContexts = 32;

/** The readable certificates of a bundle, as Go would use them. @throws {Error} when there is none. */
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

const contexts = new LRUCache<string, SecureContext>({ max: maxContexts });

/** Many extensions share a CA, and a context for each would take 100 KiB outside of the heap and, with the system roots, milliseconds. */
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

/** Closes a connection over which more comes after a request than an answer may have, which limits of bodies do not count. */
function limitReceived(socket: Socket): void {
  let [sent, start] = [0, 0];
  socket.on('readable', () => {
    if (socket.bytesWritten !== sent) {
      [sent, start] = [socket.bytesWritten, socket.bytesRead];
    }
    if (socket.bytesRead - start > maxReceivedBytes) {
      socket.destroy(Object.assign(new Error(), { code: tooMuchReceived }));
    }
  });
}

/** The decompressed body of a response: Cluster API's client requests gzip, and decompresses it. */
export function unpacked(body: Readable, encoding: string | string[] | undefined): Readable {
  return String(encoding).toLowerCase() === 'gzip'
    ? // An early end is not an error here: if the JSON is incomplete, parsing it fails. Others reach the reader. Chunks of
      // Node's size, 16 KiB, take twice the CPU time.
      pipeline(body, createGunzip({ chunkSize: 64 * 1024, finishFlush: constants.Z_SYNC_FLUSH }), () => {})
    : body;
}

/** The beginning of an error response, as much as arrives. */
export async function readBeginning(body: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= limit) {
        break;
      }
    }
  } catch {
    // The server closed the connection, or time ran out: the status code says more than that.
  }
  return Buffer.concat(chunks).subarray(0, limit);
}

/** Persistent connections to extension servers, which are opened on first use. */
export class ExtensionConnections {
  readonly #options: ConnectionOptions;
  readonly #concurrentCalls: number;
  /** By extension, with the settings that each was created with. */
  readonly #pools = new Map<string, { settings: string; pool: Pool }>();

  constructor(options: ConnectionOptions, concurrentCalls = maxConcurrentCalls) {
    this.#options = options;
    this.#concurrentCalls = concurrentCalls;
  }

  /** Sends a POST; failures are values, redirects are not followed. If the extension's address or certificates change, it reconnects. */
  async post(extension: string, exchange: Exchange): Promise<ExtensionResponse | CallError> {
    const { target, signal } = exchange;
    let pool: Pool;
    try {
      pool = this.#poolFor(extension, exchange);
    } catch (error) {
      return {
        step: 'tls-config',
        message: `failed to get http client: failed to create tls config: ${quotable((error as Error).message)}`,
      };
    }
    const maxBytes = exchange.maxAnswerBytes ?? defaultMaxAnswerBytes;
    let code: number | undefined;
    try {
      const response = await pool.request({
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
      });
      code = response.statusCode;
      const plain = unpacked(response.body, response.headers['content-encoding']);
      const body = code === 200 ? await readLimited(plain, maxBytes) : await readBeginning(plain, maxErrorBytes);
      if (code !== 200 && isCancelled(signal)) {
        throw signal.reason;
      }
      return body === undefined
        ? { step: 'size', message: `http call failed: the answer is larger than ${maxBytes / mebibyte} MiB`, code }
        : { code, body };
    } catch (error) {
      return code === 200 && !isCancelled(signal) ? brokenOff(error, signal) : unanswered(error, target, signal);
    }
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
    const open = buildConnector({
      secureContext: contextFor(caBundle, certificate),
      // Go verifies an IP address against the addresses in the certificate, and sends no server name for it.
      ...(elsewhere === undefined ? {} : { servername: target.serverName }),
      timeout: handshakeMs,
      rejectUnauthorized: true,
      // Go does not read the common name.
      checkServerIdentity: (host: string, peer: PeerCertificate) =>
        checkServerIdentity(host, { ...peer, subject: { ...peer.subject, CN: '' } }),
      allowH2: false,
    });
    const connect: typeof open = (target, callback) =>
      open(target, (...opened) => {
        if (opened[0] === null) {
          limitReceived(opened[1]);
        }
        callback(...opened);
      });
    const pool = new Pool(elsewhere === undefined ? target.origin : `https://${elsewhere.host}:${elsewhere.port}`, {
      connections: this.#concurrentCalls,
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
      connect,
    });
    this.#pools.set(key, { settings, pool });
    return pool;
  }
}
