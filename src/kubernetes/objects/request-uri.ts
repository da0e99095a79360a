import { isIPv6 } from 'node:net';
import { showValue } from './errors/status.ts';

/** The parts of a URI. `host` still includes the port and brackets; escapes are not decoded. */
export interface RequestUri {
  /** Lower case, without the colon; empty for a path. */
  scheme: string;
  /** The text before the `@`, or undefined if there is none. */
  userInfo: string | undefined;
  /** Undefined when the URI has no `//`. */
  host: string | undefined;
  path: string;
  /** The text after the first `?`, or undefined if there is none. A `#` ends neither query nor path here. */
  query: string | undefined;
}

/** Scheme (RFC 3986, 3.1) and the rest. If the first character cannot begin a scheme, there is none. */
const schemeFormat = /^([A-Za-z][A-Za-z0-9+.-]*)?:/;
const userInfoFormat = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/;
const portFormat = /^(:[0-9]*)?$/;
const badEscape = /%(?![0-9A-Fa-f]{2})/;
/** Go allows these ASCII characters in a host, and all others beyond ASCII; the rest must be escaped. */
const badHostCharacter = /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/;
/** The only escapes allowed in a host are those of bytes beyond ASCII, and `%25`. */
const badHostEscape = /%(?!25|[89A-Fa-f])/;
/** A zone (RFC 6874) may also escape the characters of a host, and the space, but no bytes beyond ASCII. */
const badZoneEscape = /%(?!2[0-24-9A-E]|3[0-9A-E]|[46][1-9A-F]|[57][0-9A]|5[BDF]|7E)/i;

function escapeProblem(text: string): string | undefined {
  const at = text.search(badEscape);
  return at === -1 ? undefined : `has the invalid escape ${showValue(text.slice(at, at + 3))}`;
}

/** Whether a host of Go may have a text, without the escapes that its part may not have. */
const isOfHost = (text: string, badOfPart: RegExp) =>
  ![badEscape, badOfPart, badHostCharacter].some((bad) => bad.test(text));

function hostProblem(host: string): string | undefined {
  const open = host.lastIndexOf('[');
  const close = host.lastIndexOf(']');
  const invalid = `has the invalid host ${showValue(host)}`;
  if (open > 0 || (open === 0 && close < 0)) {
    return invalid;
  }
  const colon = host.lastIndexOf(':');
  const port = open === 0 ? host.slice(close + 1) : colon === -1 ? '' : host.slice(colon);
  if (!portFormat.test(port)) {
    return `has the invalid port ${showValue(port)}`;
  }
  if (open === -1) {
    return isOfHost(host, badHostEscape) ? undefined : invalid;
  }
  // `%25` begins a zone, and alone is none.
  const [address = '', ...zones] = host.slice(1, close).split('%25');
  const zone = zones.join('%25');
  const isAddress = zones.length === 0 || zone !== '';
  return isAddress && isIPv6(address) && !address.includes('%') && isOfHost(zone, badZoneEscape) ? undefined : invalid;
}

/**
 * Parses a URI or an absolute path, and accepts exactly those of Go's `url.ParseRequestURI` (1.25), which is neither RFC 3986 nor
 * WHATWG's URL. `problem` continues a sentence that begins with the value ("… has the invalid port").
 */
export function parseRequestUri(text: string): RequestUri | { problem: string } {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(text)) {
    return { problem: 'has a control character' };
  }
  if (text === '') {
    return { problem: 'is empty' };
  }
  if (text === '*') {
    return { scheme: '', userInfo: undefined, host: undefined, path: '*', query: undefined };
  }
  const schemeMatch = schemeFormat.exec(text);
  if (schemeMatch !== null && schemeMatch[1] === undefined) {
    return { problem: 'begins with a colon, before which the scheme is missing' };
  }
  const scheme = schemeMatch?.[1]?.toLowerCase() ?? '';
  const rest = schemeMatch === null ? text : text.slice(schemeMatch[0].length);
  const queryAt = rest.indexOf('?');
  const query = queryAt === -1 ? undefined : rest.slice(queryAt + 1);
  const hierarchy = queryAt === -1 ? rest : rest.slice(0, queryAt);
  if (!hierarchy.startsWith('/')) {
    if (scheme === '') {
      return { problem: 'has neither a scheme nor a leading "/"' };
    }
    // An opaque URL in Go's terms: accepted as it is.
    return { scheme, userInfo: undefined, host: undefined, path: hierarchy, query };
  }
  let userInfo: string | undefined;
  let host: string | undefined;
  let path = hierarchy;
  if (scheme !== '' && hierarchy.startsWith('//')) {
    const slash = hierarchy.indexOf('/', 2);
    const authority = hierarchy.slice(2, slash === -1 ? undefined : slash);
    path = slash === -1 ? '' : hierarchy.slice(slash);
    const at = authority.lastIndexOf('@');
    userInfo = at === -1 ? undefined : authority.slice(0, at);
    host = authority.slice(at + 1);
    const problem = hostProblem(host) ?? escapeProblem(userInfo ?? '');
    if (problem !== undefined) {
      return { problem };
    }
    if (!userInfoFormat.test(userInfo ?? '')) {
      return { problem: 'has a character in its user info that must be escaped' };
    }
  }
  const problem = escapeProblem(path);
  return problem === undefined ? { scheme, userInfo, host, path, query } : { problem };
}
