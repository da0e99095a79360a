import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { selfSignedPair } from '../../../src/server/index.ts';

/** A request as an aggregated server received it. */
export interface Seen {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  /** Common name of the client's certificate. */
  client: string;
  body: string;
}

/** How a server responds. @returns false for a path that it does not serve, which results in a 404. */
export type Answers = (seen: Seen, response: ServerResponse) => boolean;

/** An aggregated API server for tests. */
export interface AggregatedServer {
  port: number;
  /** Base64 of the PEM. */
  caBundle: string;
  seen: Seen[];
  answers: Answers;
  /** Closes connections that are idle. */
  closeIdle(): void;
  stop(): void;
}

/** An APIService for version v1 of a group and a Service in the namespace `lab`. */
export function apiService(group: string, name: string, spec: JsonObject = {}): JsonObject {
  return {
    metadata: { name: `v1.${group}` },
    spec: {
      group,
      version: 'v1',
      groupPriorityMinimum: 1000,
      versionPriority: 15,
      service: { namespace: 'lab', name },
      ...spec,
    },
  };
}

/** Responds with JSON. */
export function json(
  response: ServerResponse,
  value: JsonObject,
  status = 200,
  headers: Record<string, string> = {},
): true {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
  return true;
}

/** Starts a server that accepts only clients with a certificate issued by the CA. */
export async function startAggregatedServer(requestHeaderCa: string, answers: Answers): Promise<AggregatedServer> {
  const { cert, key } = selfSignedPair(new Date());
  const options = { cert, key, ca: requestHeaderCa, requestCert: true, rejectUnauthorized: true };
  const server: Server = createServer(options, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', () => {
      const seen = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        client: String((request.socket as TLSSocket).getPeerCertificate().subject.CN),
        body: Buffer.concat(chunks).toString(),
      };
      running.seen.push(seen);
      if (!running.answers(seen, response)) {
        response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n');
      }
    });
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const running: AggregatedServer = {
    port: (server.address() as AddressInfo).port,
    caBundle: Buffer.from(cert).toString('base64'),
    seen: [],
    answers,
    closeIdle: () => server.closeIdleConnections(),
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
  return running;
}
