import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { isIP } from 'node:net';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { readLimited, withoutNodeHint } from '../../base/index.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../kubernetes/index.ts';
import type { WebhookClientConfig } from '../resources/resource.ts';

type ServiceAddress = NonNullable<WebhookClientConfig['service']>;
export type ServiceReference = Required<ServiceAddress>;

/** The address of a Service's endpoint, or undefined if it has none. */
export type ResolveService = (service: ServiceReference) => Endpoint | undefined;

interface Endpoint {
  host: string;
  port: number;
  /** The name in its certificate, if that is not the name of the Service; empty for an IP address. */
  servername?: string;
}

/** No server is known for a Service. */
export class NoEndpointError extends Error {}

/** Where a Service can be reached, and its name in certificates and Host headers. @throws {NoEndpointError} */
export function targetOf(resolve: ResolveService, service: ServiceReference) {
  const { namespace, name, port } = service;
  const servername = `${name}.${namespace}.svc`;
  const endpoint = resolve(service);
  if (endpoint === undefined) {
    throw new NoEndpointError(`no endpoints available for service ${JSON.stringify(name)}`);
  }
  return { servername, ...endpoint, hostHeader: `${servername}:${port}` };
}

const decompressed = promisify(gunzip);

/** Sends a request and reads the response, which may be compressed. @throws without one, and if it exceeds `maxBytes`. */
export async function wholeAnswer(call: ClientRequest, maxBytes: number, body?: Buffer) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  call.on('error', reject).on('response', resolve);
  // Without a listener Node closes the connection, and the promise would never settle.
  call.on('upgrade', (_, socket) => {
    socket.destroy();
    reject(new Error('the server switched protocols'));
  });
  call.setHeader('accept-encoding', 'gzip');
  call.end(body);
  const response = await promise;
  const bytes = await readLimited(response, maxBytes);
  if (bytes === undefined) {
    throw new Error(`the response is longer than ${maxBytes} bytes`);
  }
  const { statusCode = 0, headers } = response;
  const isCompressed = headers['content-encoding']?.toLowerCase() === 'gzip';
  return {
    status: statusCode,
    headers,
    body: isCompressed ? await decompressed(bytes, { maxOutputLength: maxBytes }) : bytes,
  };
}

/** Longest response of a webhook that is read, in bytes: a review contains two objects of at most 3 MiB. */
const maxResponseBytes = 7 * 1024 * 1024;

const urlOfService = ({ namespace, name, port = 443, path = '/' }: ServiceAddress): string =>
  `https://${name}.${namespace}.svc:${port}${path.startsWith('/') ? path : `/${path}`}`;

/** The server that a URL names, as `targetOf` returns it. */
function targetAt(url: URL): ReturnType<typeof targetOf> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // An IP address is not a server name (RFC 6066); with an empty name, the address itself is verified.
  return { host, port: Number(url.port || 443), servername: isIP(host) ? '' : host, hostHeader: url.host };
}

export type WebhookCaller = ReturnType<typeof createWebhookCaller>;

/** Calls webhooks over HTTPS, as the API server does: HTTP/1.1, kept-alive connections, verified certificates. */
export function createWebhookCaller(resolve: ResolveService) {
  // Its connections are kept by caBundle and name, too.
  const agent = new Agent({ keepAlive: true });

  /** Posts a review, with a timeout for all, and returns the JSON object of the response. @throws with a message for the user. */
  async function call(client: WebhookClientConfig, timeoutSeconds: number, review: JsonObject): Promise<JsonObject> {
    const { service, caBundle } = client;
    const url = URL.parse(service === undefined ? (client.url ?? '') : urlOfService(service));
    if (url === null) {
      throw new Error(`failed to call webhook: clientConfig.url ${JSON.stringify(client.url)} is not a URL`);
    }
    url.searchParams.set('timeout', `${timeoutSeconds}s`);
    const path = `${url.pathname}${url.search}`;
    const body = Buffer.from(JSON.stringify(review));
    try {
      const { hostHeader, ...target } =
        service === undefined ? targetAt(url) : targetOf(resolve, { port: 443, path: '/', ...service });
      const call = request({
        ...target,
        agent,
        ...(caBundle ? { ca: Buffer.from(caBundle, 'base64').toString() } : {}),
        method: 'POST',
        path,
        headers: {
          host: hostHeader,
          'user-agent': 'kube-apiserver-admission',
          'content-length': body.length,
          accept: 'application/json, */*',
          'content-type': 'application/json',
        },
        signal: AbortSignal.timeout(timeoutSeconds * 1000),
      });
      const response = await wholeAnswer(call, maxResponseBytes, body);
      if (response.status !== 200) {
        throw new Error(`the server answered with status ${response.status}`);
      }
      const answer = parseJson(response.body);
      if (!isJsonObject(answer)) {
        throw new Error('the response is not a JSON object');
      }
      return answer;
    } catch (error) {
      const { name, message } = error as Error;
      const isLate = name === 'AbortError' || name === 'TimeoutError';
      const why = isLate ? 'context deadline exceeded' : withoutNodeHint(message);
      // The API server names the port of a Service, also the usual one.
      const shown = service === undefined ? url.href : `https://${url.hostname}:${url.port || 443}${path}`;
      throw new Error(`failed to call webhook: Post ${JSON.stringify(shown)}: ${why}`);
    }
  }
  return { call, close: () => agent.destroy() };
}
