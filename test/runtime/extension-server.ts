import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ExtensionConfig } from '../../src/api/index.ts';
import { hooksGroup } from '../../src/hooks/index.ts';
import type { JsonObject } from '../../src/kubernetes/index.ts';
import { localhost, type TestCertificate, testCa } from '../server/certificates.ts';

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

/**
 * Starts a TLS server. Like Cluster API's own it responds with text/plain in chunks, for any method and content type.
 */
export async function startExtension(
  answer: Answering,
  { certificate = localhost, ...options }: ServerOptions & { certificate?: TestCertificate } = {},
): Promise<ExtensionServer> {
  const received: Received[] = [];
  let [connections, atOnce, mostAtOnce] = [0, 0, 0];
  const server = createServer({ ...certificate, ...options }, (request, response) => {
    atOnce++;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    response.on('close', () => atOnce--);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString('utf8') };
      received.push(one);
      const json = answer(one, response, request);
      if (json !== undefined) {
        response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
        const text = JSON.stringify(json);
        response.write(text.slice(0, 10));
        response.end(text.slice(10));
      }
    });
  });
  server.on('secureConnection', () => connections++);
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}`,
    port,
    received,
    connections: () => connections,
    mostAtOnce: () => mostAtOnce,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
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
