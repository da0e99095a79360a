import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import request from 'undici/lib/api/api-request.js';
import Pool from 'undici/lib/dispatcher/pool.js';
import { readableCertificates } from '../x509/index.ts';
import { readBeginning, readFirstValue, unpacked } from './body.ts';
import { type CallError, quotable } from './call-error.ts';
import type { Target } from './url.ts';

/** A client certificate for extension servers, with its key: PEM. */
export interface ClientCertificate {
  cert: string;
  key: string;
}

/**
 * Addresses to connect to instead of a host and port, as with curl's `--resolve`; certificates are still verified for
 * the original name.
 */
export type Resolve = (host: string) => { host: string; port: number } | undefined;

/** Options of connections. */
export interface ConnectionOptions {
  /** Read for each call: a renewed certificate is used from the next connection on. */
  clientCertificate?: () => ClientCertificate | undefined;
  resolve?: Resolve;
  /** Maximum number of concurrent calls to an extension; further calls wait, within their timeout. */
  maxConcurrentCalls: number;
  /** Longest response that is read, in bytes. Default: 20 MiB, the limit of Go's server for requests. */
  maxAnswerBytes?: number;
}

/** One POST. */
export interface Exchange {
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

/**
 * Longest response that is read, in bytes: the limit of Go's server for requests, which upstream intended for
 * responses.
 */
const defaultMaxAnswerBytes = 20 * 1024 * 1024;
/** How much of an error response is read, in bytes: messages quote 512 characters of it. */
const maxErrorBytes = 4 * 1024;
/** How long an idle connection is kept, in ms (Go: 90 s). */
const keepAliveMs = 90_000;
/** Maximum number of TLS settings that are cached across extensions and sets of connections. */
const maxContexts = 32;
/** How long a TLS handshake may take, in ms (Go: 10 s). */
const handshakeMs = 10_000;

/** Go's texts for system errors, which users know from conditions. */
const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  ECONNRESET: 'connection reset by peer',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'no such host (the name server did not answer)',
  EPIPE: 'broken pipe',
  UND_ERR_SOCKET: 'EOF: the server closed the connection',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
  UND_ERR_CONNECT_TIMEOUT: `connect or TLS handshake took more than ${handshakeMs / 1000}s`,
};

interface SystemError extends Error {
  code?: string;
  cause?: unknown;
  address?: string;
  port?: number;
  errors?: unknown[];
}

/** Whether an error code is about TLS: one of OpenSSL's for certificates, or of Node's own. */
function isTlsProblem(code: string): boolean {
  return /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|EPROTO$|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/.test(
    code,
  );
}

function explained(thrown: unknown, target: Target): CallError {
  const prefix = `http call failed: Post ${JSON.stringify(target.url)}: `;
  const outer = thrown as SystemError;
  // A host with several addresses fails once for each of them.
  const [first] = outer.errors ?? [];
  const error = (first ?? outer) as SystemError;
  const code = error.code ?? '';
  if (isTlsProblem(code)) {
    // Node.js suggests one of its flags, which does not help with the caBundle.
    const [said = ''] = error.message.replaceAll(/\s+/g, ' ').split('; if the root CA is installed locally');
    const detail = quotable(said);
    return {
      step: 'tls',
      message: `${prefix}tls: failed to verify certificate or handshake failed: ${code}: ${detail}`,
    };
  }
  const where = error.address === undefined ? '' : `dial tcp ${error.address}:${error.port}: `;
  const what = words[code] ?? `${code === '' ? '' : `${code}: `}${quotable(error.message)}`;
  return { step: 'connect', message: `${prefix}${where}${what}` };
}

/** Why the body of a 200 response could not be read to its end, as Cluster API's decoder would report it. */
function explainedWithin(thrown: unknown, signal: AbortSignal): CallError {
  const failed = (step: 'timeout' | 'decode', problem: string): CallError => ({
    step,
    message: `http call failed: failed to decode response: ${problem}`,
    code: 200,
  });
  if (signal.aborted) {
    return failed('timeout', 'context deadline exceeded');
  }
  const { code = '', message } = thrown as SystemError;
  return failed(
    'decode',
    code.startsWith('Z_')
      ? `gzip: ${quotable(message)}`
      : code === 'UND_ERR_SOCKET' || code === 'ECONNRESET'
        ? 'unexpected EOF: the server closed the connection'
        : `${code}: ${quotable(message)}`,
  );
}

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
    throw new Error('clientConfig.caBundle contains no PEM certificate that can be read');
  }
  return good.map((certificate) => certificate.toString());
}

let systemRoots: string[] | undefined;

/** The system roots, or Node's own if there are none. */
function rootsOfSystem(): string[] {
  if (systemRoots === undefined) {
    // The one file and the folder with its links have each of them four times (Debian), and OpenSSL parses them all.
    const found = [...new Set(getCACertificates('system'))];
    systemRoots = found.length > 0 ? found : getCACertificates('default');
  }
  return systemRoots;
}

/** TLS settings that were used lately, in order of last use. */
const contexts = new Map<string, SecureContext>();

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
  contexts.delete(key);
  contexts.set(key, context);
  if (contexts.size > maxContexts) {
    contexts.delete(contexts.keys().next().value as string);
  }
  return context;
}

/** Creates a set of connections, which are opened on first use. */
export function createConnections(options: ConnectionOptions): ExtensionConnections {
  const { maxAnswerBytes = defaultMaxAnswerBytes } = options;
  const pools = new Map<string, KeptPool>();

  function poolFor(key: string, { target, caBundle }: Exchange): Pool {
    const certificate = options.clientCertificate?.();
    const kept = pools.get(key);
    if (
      kept !== undefined &&
      kept.origin === target.origin &&
      kept.caBundle === caBundle &&
      kept.certificate?.cert === certificate?.cert &&
      kept.certificate?.key === certificate?.key
    ) {
      return kept.pool;
    }
    // Calls in flight finish on their old connections.
    kept?.pool.close().catch(() => {});
    const elsewhere = options.resolve?.(target.host);
    const pool = new Pool(elsewhere === undefined ? target.origin : `https://${elsewhere.host}:${elsewhere.port}`, {
      connections: options.maxConcurrentCalls,
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
      connect: {
        secureContext: contextFor(caBundle, certificate),
        // Go verifies an IP address against the addresses in the certificate, and sends no server name for it.
        ...(elsewhere === undefined ? {} : { servername: target.serverName }),
        timeout: handshakeMs,
        rejectUnauthorized: true,
      },
    });
    pools.set(key, { origin: target.origin, caBundle, certificate, pool });
    return pool;
  }

  return {
    async post(key, exchange) {
      const { target, signal } = exchange;
      let pool: Pool;
      try {
        pool = poolFor(key, exchange);
      } catch (error) {
        return { step: 'tls-config', message: `failed to create http client: ${quotable((error as Error).message)}` };
      }
      try {
        const response = await request.call(pool, {
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
        });
        const body = unpacked(response.body, response.headers['content-encoding']);
        if (response.statusCode !== 200) {
          const beginning = await readBeginning(body, maxErrorBytes);
          if (signal.aborted && !isOverTime(signal)) {
            throw signal.reason;
          }
          return { code: response.statusCode, body: beginning };
        }
        const limit = exchange.maxAnswerBytes ?? maxAnswerBytes;
        let read: Buffer | undefined;
        try {
          read = await readFirstValue(body, limit);
        } catch (error) {
          if (signal.aborted && !isOverTime(signal)) {
            throw error;
          }
          return explainedWithin(error, signal);
        }
        if (read === undefined) {
          const message = `http call failed: the answer is larger than ${limit / 1024 / 1024} MiB`;
          return { step: 'size', message, code: 200 };
        }
        return { code: 200, body: read };
      } catch (error) {
        if (signal.aborted) {
          return isOverTime(signal)
            ? {
                step: 'timeout',
                message: `http call failed: Post ${JSON.stringify(target.url)}: context deadline exceeded`,
              }
            : { step: 'cancelled', message: `http call failed: Post ${JSON.stringify(target.url)}: context canceled` };
        }
        return explained(error, target);
      }
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
