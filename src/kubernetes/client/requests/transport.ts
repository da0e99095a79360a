import { Buffer } from 'node:buffer';
import type { Readable } from 'node:stream';
import type { HttpMethod, KubeConfig } from '@kubernetes/client-node';
import type { Dispatcher } from 'undici';
import { FailureError, FileError, orAborted, printable } from '../../../base/index.ts';
import { type Credential, PluginError, pluginOf } from '../credential-plugin.ts';
import { checkNamedFiles } from '../kubeconfig.ts';

/** The API server cannot be reached. The message has only an error code: messages of TLS libraries quote certificates. */
export class ConnectionError extends FailureError {
  override readonly remedy: string | undefined =
    'check that it is running, and that the kubeconfig is that of the right cluster';
  constructor(server: string, cause: string) {
    super(`no answer from the API server ${printable(server)}: ${printable(cause)}`);
  }
}

class NoCredentials extends ConnectionError {
  override readonly remedy = undefined;
  constructor(server: string, cause: string) {
    super(server, `no credentials: ${cause}`);
  }
}

/** The API server's response is unusable. */
export class ResponseError extends FailureError {
  constructor(message: string) {
    super(printable(message));
  }
}

/** A list can be read in smaller pages. */
export class ResponseTooLong extends ResponseError {}

export interface OutgoingRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: { type: string; text: string } | undefined;
  signal: AbortSignal;
  headersTimeoutMs: number;
}

export interface ApiResponse {
  code: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Readable;
}

export type Transport = ReturnType<typeof transportFor>;

/** The cause of a connection failure: its code, which contains nothing that the other side sent. */
export function causeOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return typeof code === 'string' ? code : String(message).slice(0, 300);
}

/** Longest body of a refusal that is read, in bytes. */
export const maxRefusalBytes = 64 * 1024;

/** The connection pool is kept until a connection fails, as its TLS settings may be outdated, or for another certificate. */
export function transportFor(config: KubeConfig) {
  const cluster = config.getCurrentCluster();
  const { origin, pathname } = new URL(cluster?.server ?? '');
  // As for kubectl, without query and user.
  const server = `${origin}${pathname}`.replace(/(?<!\/)\/+$/, '');
  // The library's connector for SOCKS proxies takes the server's name from the request, and ignores its own option.
  const named = cluster?.tlsServerName ? { servername: cluster.tlsServerName } : {};
  const plugin = pluginOf(config);
  let pool: Dispatcher | undefined;
  let signedIn: { credential: Credential; config: KubeConfig } | undefined;
  let clockOffsetMs: number | undefined;

  function dropPool(): void {
    void pool?.close().catch(() => {});
    pool = undefined;
  }

  /** Reports errors without anything secret. */
  async function credentials<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await orAborted(work, signal);
    } catch (error) {
      signal.throwIfAborted();
      const { message, syscall } = error as NodeJS.ErrnoException;
      const isOurs = error instanceof PluginError || error instanceof FileError || syscall !== undefined;
      // The message of a SyntaxError quotes what is not JSON, which may be a token.
      const unread = error instanceof SyntaxError ? 'a token in the kubeconfig is not JSON' : causeOf(error);
      throw new NoCredentials(server, isOurs ? message : unread);
    }
  }

  /** Gets the credentials that `open` sends, but not `refused` ones; undefined if they never change. A person has 15 minutes. */
  async function signIn(signal: AbortSignal, refused?: Credential): Promise<Credential | undefined> {
    if (plugin === undefined) {
      return undefined;
    }
    const credential = await credentials(plugin.get(signal, refused), signal);
    if (credential !== signedIn?.credential && cluster !== null) {
      if (credential.clientCertificateData !== signedIn?.credential.clientCertificateData) {
        dropPool();
      }
      const { KubeConfig } = await import('../client-node.ts');
      signedIn = { credential, config: new KubeConfig() };
      signedIn.config.loadFromClusterAndUser(cluster, plugin.userWith(credential));
    }
    return credential;
  }

  /** Sends a request with the credentials that `signIn` got last. @throws {ConnectionError} when there is no response. */
  async function open({ method, path, body, signal, headersTimeoutMs }: OutgoingRequest): Promise<ApiResponse> {
    const [{ RequestContext }, { Agent }] = await Promise.all([import('../client-node.ts'), import('undici')]);
    const context = new RequestContext(`${server}${path}`, method as HttpMethod);
    const apply = async () => {
      const current = signedIn?.config ?? config;
      // The library reads them again for each request, whatever they have become.
      checkNamedFiles(current);
      await current.applySecurityAuthentication(context);
    };
    await credentials(apply(), signal);
    // The library creates a pool for every request, and none for a server whose CA Node.js trusts.
    pool ??= context.getDispatcher() ?? new Agent({ connect: { keepAlive: true, keepAliveInitialDelay: 30_000 } });
    const used = pool;
    try {
      const url = new URL(context.getUrl());
      const answer = await used.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        headers: {
          // The file of a token may end with a line break, which client-go leaves out as well.
          ...Object.fromEntries(Object.entries(context.getHeaders()).map(([name, value]) => [name, value.trim()])),
          accept: 'application/json',
          'user-agent': 'extensionconfig-webhook',
          ...(body === undefined ? {} : { 'content-type': body.type }),
        },
        body: body?.text ?? null,
        signal,
        headersTimeout: headersTimeoutMs,
        // The reader of the body enforces a time limit.
        bodyTimeout: 0,
        ...named,
      });
      const time = Date.parse(String(answer.headers.date));
      clockOffsetMs = Number.isNaN(time) ? clockOffsetMs : time - Date.now();
      return { code: answer.statusCode, headers: answer.headers, body: answer.body };
    } catch (error) {
      signal.throwIfAborted();
      if (pool === used) {
        dropPool();
      }
      const cause = causeOf(error);
      // OpenSSL's errors before a connection is opened.
      if (cause.startsWith('ERR_OSSL_')) {
        throw new NoCredentials(
          server,
          `the CA, the client certificate or its key in the kubeconfig cannot be used (${cause})`,
        );
      }
      const proxy = cluster?.proxyUrl ? ` (through the proxy ${new URL(cluster.proxyUrl).host})` : '';
      throw new ConnectionError(
        `${server}${proxy}`,
        cause === 'UND_ERR_HEADERS_TIMEOUT' ? `no data came within ${headersTimeoutMs / 1000} s` : cause,
      );
    }
  }

  return { server, signIn, open, clockOffsetMs: () => clockOffsetMs };
}

/** The lines of a body that are not empty. @throws {ResponseError} for a line of more than `maxBytes`. */
export async function* linesOf(body: Readable, maxBytes: number): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  let length = 0;
  const add = (piece: Buffer) => {
    pieces.push(piece);
    length += piece.length;
    if (length > maxBytes) {
      throw new ResponseError(`the API server sent a line of more than ${maxBytes} bytes`);
    }
  };
  for await (const chunk of body as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      add(chunk.subarray(start, end));
      if (length > 0) {
        yield Buffer.concat(pieces);
      }
      pieces = [];
      length = 0;
      start = end + 1;
    }
    add(chunk.subarray(start));
  }
}
