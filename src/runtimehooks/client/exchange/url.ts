import { posix } from 'node:path';
import querystring from 'node:querystring';
import { bytesOf, percentEncoded } from '../../../base/go-text/index.ts';
import { goSecondsText, parseRequestUri } from '../../../kubernetes/index.ts';
import type { HookDefinition } from '../../catalog/definition.ts';
import { hooks } from '../../catalog/definitions.ts';
import { type CallError, quotable } from '../call-error.ts';
import type { ClientConfig } from '../registry.ts';

export interface Target {
  /** The full URL for error messages, without user info. */
  url: string;
  /** `https://HOST[:PORT]`. */
  origin: string;
  /** Host and port, for the Host header and the metrics. */
  host: string;
  /** Name that the certificate must be valid for: the host without port and brackets. */
  serverName: string;
  path: string;
  /** User info of a configured URL, encoded as by Go. */
  authorization?: string;
}

/** The handler to call, whose name is without that of the ExtensionConfig; a singleton hook has none. */
export interface CalledHandler {
  hook: Pick<HookDefinition, 'group' | 'version' | 'name'>;
  name: string | undefined;
  timeoutSeconds: number;
}

const failed = (problem: string): CallError => ({
  step: 'url',
  message: `failed to get http client: failed to compute URL: ${problem}`,
});

const unescaped = (path: string) =>
  bytesOf(path).replaceAll(/%([0-9A-Fa-f]{2})/g, (_escape, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );

/** A path given as bytes, with the characters escaped that URLs must not contain. */
const escaped = (bytes: string) => bytes.replaceAll(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/]/g, percentEncoded);

/** Adds the timeout to a query, sorted as by Go. */
function withTimeout(query: string | undefined, timeoutSeconds: number): string {
  const parameters = new URLSearchParams(query ?? '');
  parameters.append('timeout', goSecondsText(timeoutSeconds));
  parameters.sort();
  return parameters.toString();
}

/**
 * The URL of a handler (urlForExtension in internal/runtime/client/client.go, v1.14): a service takes precedence over a
 * URL. Before the paths are joined, Go unescapes the path of a URL, but not the path of a service.
 */
export function targetOf(
  clientConfig: ClientConfig,
  { hook, name = '', timeoutSeconds }: CalledHandler,
): Target | CallError {
  const { service, url } = clientConfig;
  let host: string;
  let prefix: string;
  let query: string | undefined;
  let userInfo: string | undefined;
  if (service !== undefined && Object.keys(service).length > 0) {
    host = `${service.name ?? ''}.${service.namespace ?? ''}.svc${service.port === undefined ? '' : `:${service.port}`}`;
    prefix = bytesOf(service.path ?? '');
  } else if (url === undefined) {
    return failed('at least one of service and url should be defined in config');
  } else {
    const parsed = parseRequestUri(url);
    if ('problem' in parsed) {
      return failed(`failed to parse url from clientConfig: ${JSON.stringify(url.slice(0, 200))} ${parsed.problem}`);
    }
    if (parsed.scheme !== 'https') {
      return failed(`expected https scheme, got ${quotable(parsed.scheme)}`);
    }
    host = parsed.host ?? '';
    const [path = '', ...fragment] = parsed.path.split('#');
    prefix = unescaped(path);
    [query] = fragment.length > 0 ? [] : (parsed.query ?? '').split('#');
    userInfo = parsed.userInfo;
  }
  const own = [hook.group, hook.version, hook.name.toLowerCase(), name.toLowerCase()].map(bytesOf);
  const clean = posix.join('/', prefix, ...own).replace(/\/$/, '');
  const path = `${escaped(clean)}?${withTimeout(query, timeoutSeconds)}`;
  const origin = `https://${host}`;
  let serverName: string;
  try {
    const { hostname } = new URL(origin);
    serverName = hostname.replace(/^\[(.*)\]$/, '$1');
  } catch {
    return failed(`${JSON.stringify(origin.slice(0, 200))} names no host that can be called`);
  }
  return {
    url: `${origin}${path}`,
    origin,
    host,
    serverName,
    path,
    ...(userInfo === undefined
      ? {}
      : { authorization: `Basic ${Buffer.from(querystring.unescape(userInfo)).toString('base64')}` }),
  };
}

/** Where an extension server is: the target of its Discovery. */
export const addressOf = (clientConfig: ClientConfig): Target | CallError =>
  targetOf(clientConfig, { hook: hooks.Discovery, name: undefined, timeoutSeconds: 0 });
