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
  if ('problem' in uri || uri.scheme === '') {
    return undefined;
  }
  const authority = uri.host ?? '';
  // The part after the last colon outside brackets is the port, as in Go: other colons may be those of an IPv6 address.
  const port = /:(\d*)$/.exec(authority)?.[1];
  const address = port === undefined ? authority : authority.slice(0, -port.length - 1);
  const host = address.startsWith('[') ? address.slice(1, -1) : address;
  return { ...uri, text, hostname: (host.endsWith('.') ? host.slice(0, -1) : host).toLowerCase(), port };
}

/** The parsed url of an object; undefined if it is absent, or none. Another scheme than https is a finding of its own. */
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
