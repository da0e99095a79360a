import type { ExtensionConfig } from '../../../extensionconfig/index.ts';
import { parseRequestUri, type RequestUri } from '../../../kubernetes/index.ts';

export interface ClientUrl extends RequestUri {
  text: string;
  /** Host in lower case, without port, brackets and a trailing dot; empty if there is none. */
  hostname: string;
  /** Port as written, or undefined if there is none. */
  port: string | undefined;
}

export const urlPath = ['spec', 'clientConfig', 'url'] as const;

function parse(text: string): ClientUrl | undefined {
  const uri = parseRequestUri(text);
  if ('problem' in uri || uri.scheme !== 'https') {
    return undefined;
  }
  const authority = uri.host ?? '';
  const bracket = authority.startsWith('[') ? authority.lastIndexOf(']') : -1;
  const colon = authority.indexOf(':', bracket);
  const port = colon === -1 ? undefined : authority.slice(colon + 1);
  const host = bracket === -1 ? authority.slice(0, colon === -1 ? undefined : colon) : authority.slice(1, bracket);
  return { ...uri, text, hostname: (host.endsWith('.') ? host.slice(0, -1) : host).toLowerCase(), port };
}

/** The parsed url of an object; undefined if it is absent, or rejected by rule `url-valid`. */
export function clientUrlOf(object: ExtensionConfig): ClientUrl | undefined {
  const text = object.spec?.clientConfig?.url;
  return text ? parse(text) : undefined;
}

/** A url for a message: without the password in its user info. */
export function showableUrl(url: string): string {
  const slashes = url.indexOf('//');
  const start = slashes + 2;
  if (slashes === -1 || /[?#]/.test(url.slice(0, slashes))) {
    return url;
  }
  const length = url.slice(start).search(/[/?#]/);
  const authority = url.slice(start, length === -1 ? undefined : start + length);
  const colon = authority.indexOf(':');
  const at = authority.lastIndexOf('@');
  return colon === -1 || at < colon ? url : `${url.slice(0, start + colon)}:xxxxx${url.slice(start + at)}`;
}
