import type { ExtensionConfig } from '../api/index.ts';
import { parseRequestUri, type RequestUri } from '../kubernetes/index.ts';

/** `spec.clientConfig.url` in parts, for the rules about them. */
export interface ClientUrl extends RequestUri {
  /** Host without port and brackets, lower case and without a trailing dot; empty when there is none. */
  hostname: string;
  /** Port as written, or undefined without one. */
  port: string | undefined;
}

/** The path of `spec.clientConfig.url`. */
export const urlPath = ['spec', 'clientConfig', 'url'] as const;

/** The url of an object in parts; undefined when it has none, or one that rule `url-valid` refuses. */
export function clientUrlOf(object: ExtensionConfig): ClientUrl | undefined {
  const text = object.spec?.clientConfig?.url;
  if (!text) {
    return undefined;
  }
  const uri = parseRequestUri(text);
  if ('problem' in uri || uri.scheme !== 'https') {
    return undefined;
  }
  // parseRequestUri follows Go's ParseRequestURI, for which a `#` is part of the host when no path comes before it.
  const authority = (uri.host ?? '').split('#')[0] as string;
  const bracketed = /^\[(.*)\](?::(.*))?$/.exec(authority);
  const plain = /^(.*?)(?::([^:]*))?$/.exec(authority);
  const [, host, port] = (bracketed ?? plain) as RegExpExecArray;
  return { ...uri, hostname: (host ?? '').toLowerCase().replace(/\.$/, ''), port };
}

/** A url for a message: without the password in its user info. */
export function showableUrl(url: string): string {
  return url.replace(/^([^/?#]*\/\/[^/?#]*?):[^/?#]*@/, '$1:xxxxx@');
}
