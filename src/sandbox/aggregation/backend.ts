import type { ClientRequest, OutgoingHttpHeaders } from 'node:http';
import { type RequestOptions, request } from 'node:https';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { ApiService } from '../kinds/api-service.ts';
import type { UserInfo } from '../resources/resource.ts';
import { type ResolveService, targetOf, wholeAnswer } from '../webhooks/webhook-call.ts';

/** The API server's client certificate for aggregated servers. PEM. */
export type ProxyClient = () => { cert: string; key: string };

/** A header has one value, or several lines. */
export type Headers = Record<string, string | string[]>;

/** The headers that tell aggregated servers who the user is (authentication.k8s.io, front proxy). */
export function userHeaders({ username, groups }: UserInfo): Headers {
  return { 'x-remote-user': username, ...(groups.length > 0 ? { 'x-remote-group': groups } : {}) };
}

export type Backend = ReturnType<typeof backendOf>;

/** The server of one APIService. */
export function backendOf({ spec }: ApiService, client: ProxyClient, resolve: ResolveService) {
  const { caBundle, insecureSkipTLSVerify, group, version } = spec;
  // The TLS settings of all connections: parsing the certificates takes longer than the handshake.
  let secureContext: SecureContext | undefined;

  const target = () => targetOf(resolve, { namespace: '', name: '', port: 443, ...spec.service, path: '/' });

  /** Starts a request. @throws {NoEndpointError}, and for a caBundle that cannot be read. */
  function start(method: string, path: string, headers: OutgoingHttpHeaders, signal?: AbortSignal): ClientRequest {
    const { hostHeader, ...place } = target();
    secureContext ??= createSecureContext({
      ...client(),
      ...(caBundle ? { ca: Buffer.from(caBundle, 'base64') } : {}),
    });
    return request({
      ...place,
      secureContext,
      rejectUnauthorized: insecureSkipTLSVerify !== true,
      // Each request has its own connection: one that is kept could be closed by the server when it is used again.
      agent: false,
      method,
      path,
      headers: { host: hostHeader, ...headers },
      ...(signal && { signal }),
    } as RequestOptions);
  }

  return {
    spec,
    /** `/apis/GROUP/VERSION`. */
    path: group ? `/apis/${group}/${version}` : `/api/${version}`,
    target,
    start,
    /** Reads a path as one of the API server's internal users. @throws for a response longer than `maxBytes`, or none in time. */
    get(path: string, user: UserInfo, headers: Headers, maxBytes: number, signal: AbortSignal) {
      return wholeAnswer(start('GET', path, { ...userHeaders(user), ...headers }, signal), maxBytes);
    },
  };
}
