import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { ExtensionConfig } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import { localhost, type TestCertificate, testCa } from '../../base/x509/certificates.ts';

/** A request as a test server received it. */
export interface Received {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** How a server handles a request: by responding with JSON, or by itself. */
export type Answering = (
  received: Received,
  response: ServerResponse,
  request: IncomingMessage,
) => JsonObject | undefined;

/** An extension server on loopback. */
export interface ExtensionServer {
  url: string;
  port: number;
  received: Received[];
  /** Number of connections. */
  connections: () => number;
  /** Maximum number of concurrent requests. */
  mostAtOnce: () => number;
  close(): Promise<void>;
}

/** What a server has seen since it answers in the current way. */
interface Seen {
  answer: Answering;
  received: Received[];
  connections: number;
  atOnce: number;
  mostAtOnce: number;
}

const nobody: Answering = () => ({});

/** A TLS server that answers in one way after the other. */
interface ReusableServer {
  /** Answers in another way. `close` of the result ends its connections. */
  serve(answer: Answering): ExtensionServer;
  /** Whether all connections have ended. */
  isIdle(): Promise<boolean>;
  close(): Promise<void>;
}

async function startReusable({ certificate = localhost, ...options }: StartOptions): Promise<ReusableServer> {
  const unseen = (answer: Answering): Seen => ({ answer, received: [], connections: 0, atOnce: 0, mostAtOnce: 0 });
  let current = unseen(nobody);
  const server = createServer({ ...certificate, ...options }, (request, response) => {
    const seen = current;
    seen.atOnce++;
    seen.mostAtOnce = Math.max(seen.mostAtOnce, seen.atOnce);
    response.on('close', () => seen.atOnce--);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') };
      seen.received.push(one);
      const json = seen.answer(one, response, request);
      if (json !== undefined) {
        response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
        const text = JSON.stringify(json);
        response.write(text.slice(0, 10));
        response.end(text.slice(10));
      }
    });
  });
  server.on('secureConnection', () => current.connections++);
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    serve(answer) {
      const seen = unseen(answer);
      current = seen;
      return {
        url: `https://localhost:${port}`,
        port,
        received: seen.received,
        connections: () => seen.connections,
        mostAtOnce: () => seen.mostAtOnce,
        close: async () => server.closeAllConnections(),
      };
    },
    isIdle: () => new Promise((resolve) => server.getConnections((error, count) => resolve(!error && count === 0))),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type StartOptions = ServerOptions & { certificate?: TestCertificate };

/**
 * Starts a TLS server. Like Cluster API's own it responds with text/plain in chunks, for any method and content type.
 */
export async function startExtension(answer: Answering, options: StartOptions = {}): Promise<ExtensionServer> {
  const server = await startReusable(options);
  return { ...server.serve(answer), close: server.close };
}

/** Servers for many tests of a file, which use them one after the other: most calls take less time than a start. */
export class SharedServers {
  readonly #idle: ReusableServer[] = [];

  /** As `startExtension`, on a server that no other test is using. */
  async start(answer: Answering): Promise<ExtensionServer> {
    const server = this.#idle.pop() ?? (await startReusable({}));
    const serving = server.serve(answer);
    const close = async () => {
      await serving.close();
      for (let turn = 0; turn < 100; turn++) {
        await setImmediate();
        if (await server.isIdle()) {
          server.serve(nobody);
          this.#idle.push(server);
          return;
        }
      }
      await server.close();
    };
    return { ...serving, close };
  }

  /** Stops those that are not in use. */
  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((server) => server.close()));
  }
}

/** The trust bundle of the test servers, as in an ExtensionConfig. */
export const caBundle = Buffer.from(testCa.cert).toString('base64');

type StoredHandler = NonNullable<NonNullable<ExtensionConfig['status']>['handlers']>[number];

/** A handler as in a status. */
export function storedHandler(name: string, hook: string, more: Partial<StoredHandler> = {}): StoredHandler {
  return { name, requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook }, failurePolicy: 'Fail', ...more };
}

/** An ExtensionConfig of the tests. */
export function extensionConfig(
  name: string,
  clientConfig: NonNullable<NonNullable<ExtensionConfig['spec']>['clientConfig']>,
  handlers: StoredHandler[] = [],
  more: { uid?: string; spec?: object } = {},
): ExtensionConfig {
  return {
    apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
    kind: 'ExtensionConfig',
    metadata: { name, uid: more.uid ?? `uid-of-${name}`, resourceVersion: '1' } as ExtensionConfig['metadata'],
    spec: { clientConfig, namespaceSelector: {}, ...more.spec },
    status: { handlers },
  };
}
