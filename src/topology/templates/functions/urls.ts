import { isIPv6 } from 'node:net';
import { type Bytes, percentEncoded, quoted } from '../../../base/go-text/index.ts';
import { FunctionError } from '../budget.ts';
import type { TemplateFunction } from '../evaluate.ts';
import { Dict, kindOf } from '../values/values.ts';
import { define } from './define.ts';

/** What each part of a URL may have besides letters, digits and `-_.~`. */
const allowed = {
  path: '$&+,/:;=@',
  user: '$&+,;=',
  fragment: '$&+,/:;=?@!()*',
  host: '!$&\'()*+,;=:[]<>"',
};
type Part = keyof typeof allowed;

function escaped(text: Bytes, part: Part): Bytes {
  return text.replaceAll(/[^A-Za-z0-9_.~-]/g, (char) => (allowed[part].includes(char) ? char : percentEncoded(char)));
}

function unescaped(text: Bytes, part: Part): Bytes {
  return text.replaceAll(/%(..?)?|[^%]/gs, (found) => {
    if (!found.startsWith('%')) {
      if (part === 'host' && found < '\x80' && escaped(found, part) !== found) {
        throw new FunctionError(`invalid character ${quoted(found)} in host name`);
      }
      return found;
    }
    const byte = Number.parseInt(found.slice(1), 16);
    // A host may only have escapes of what is not ASCII, and of what begins a zone.
    if (!/^%[0-9a-fA-F]{2}$/.test(found) || (part === 'host' && byte < 0x80 && found !== '%25')) {
      throw new FunctionError(`invalid URL escape ${quoted(found)}`);
    }
    return String.fromCharCode(byte);
  });
}

interface Url {
  scheme: Bytes;
  opaque: Bytes;
  user?: { name: Bytes; password?: Bytes };
  host: Bytes;
  path: Bytes;
  query: Bytes;
  fragment: Bytes;
}

function checkPort(text: Bytes): void {
  if (!/^(?::[0-9]*)?$/.test(text)) {
    throw new FunctionError(`invalid port ${quoted(text)} after host`);
  }
}

function hostOf(text: Bytes, scheme: Bytes): Bytes {
  const open = text.lastIndexOf('[');
  if (open === -1) {
    const isStrict = scheme === 'http' || scheme === 'https';
    const colon = isStrict ? text.indexOf(':') : text.lastIndexOf(':');
    checkPort(colon === -1 ? '' : text.slice(colon));
    return unescaped(text, 'host');
  }
  const close = text.lastIndexOf(']');
  if (open > 0 || close === -1) {
    throw new FunctionError(open > 0 ? 'invalid IP-literal' : "missing ']' in host");
  }
  checkPort(text.slice(close + 1));
  const address = unescaped(text.slice(1, close), 'host');
  if (!isIPv6(address)) {
    throw new FunctionError(
      /^[0-9.]+$/.test(address)
        ? 'invalid IP-literal'
        : `invalid host: ParseAddr(${quoted(address)}): unable to parse IP`,
    );
  }
  return `[${address}]${text.slice(close + 1)}`;
}

function userOf(text: Bytes): NonNullable<Url['user']> {
  if (!/^[A-Za-z0-9._:~!$&'()*+,;=%@-]*$/.test(text)) {
    throw new FunctionError('net/url: invalid userinfo');
  }
  const colon = text.indexOf(':');
  return colon === -1
    ? { name: unescaped(text, 'user') }
    : { name: unescaped(text.slice(0, colon), 'user'), password: unescaped(text.slice(colon + 1), 'user') };
}

function schemeOf(text: Bytes): { scheme: Bytes; rest: Bytes } {
  const [, name = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text) ?? [];
  if (name !== '') {
    return { scheme: name.toLowerCase(), rest: text.slice(name.length + 1) };
  }
  if (text.startsWith(':')) {
    throw new FunctionError('missing protocol scheme');
  }
  return { scheme: '', rest: text };
}

function parsed(text: Bytes): Omit<Url, 'fragment'> {
  const url = { scheme: '', opaque: '', host: '', path: '', query: '' };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
  if (/[\x00-\x1f\x7f]/.test(text)) {
    throw new FunctionError('net/url: invalid control character in URL');
  }
  if (text === '*') {
    return { ...url, path: '*' };
  }
  const { scheme, rest: all } = schemeOf(text);
  const mark = all.indexOf('?');
  const query = mark === -1 ? '' : all.slice(mark + 1);
  let rest = mark === -1 ? all : all.slice(0, mark);
  if (!rest.startsWith('/')) {
    if (scheme !== '') {
      return { ...url, scheme, query, opaque: rest };
    }
    if (rest.split('/')[0]?.includes(':') === true) {
      throw new FunctionError('first path segment in URL cannot contain colon');
    }
  }
  let host = '';
  let user: Url['user'];
  if ((scheme !== '' || !rest.startsWith('///')) && rest.startsWith('//')) {
    const slash = rest.indexOf('/', 2);
    const authority = slash === -1 ? rest.slice(2) : rest.slice(2, slash);
    rest = slash === -1 ? '' : rest.slice(slash);
    const at = authority.lastIndexOf('@');
    host = hostOf(authority.slice(at + 1), scheme);
    user = at === -1 ? undefined : userOf(authority.slice(0, at));
  }
  return { ...url, scheme, query, host, path: unescaped(rest, 'path'), ...(user === undefined ? {} : { user }) };
}

/** net/url's Parse. */
function parseUrl(text: Bytes): Url {
  const hash = text.indexOf('#');
  const before = hash === -1 ? text : text.slice(0, hash);
  let subject = before;
  try {
    const url = parsed(before);
    subject = text;
    return { ...url, fragment: hash === -1 ? '' : unescaped(text.slice(hash + 1), 'fragment') };
  } catch (error) {
    if (error instanceof FunctionError) {
      throw new FunctionError(`parse ${quoted(subject)}: ${error.message}`);
    }
    throw error;
  }
}

function userText({ name, password }: NonNullable<Url['user']>): Bytes {
  return escaped(name, 'user') + (password === undefined ? '' : `:${escaped(password, 'user')}`);
}

/** The text of a URL, as URL.String writes one that was not parsed. */
function textOfUrl({ scheme, opaque, user, host, path, query, fragment }: Url): Bytes {
  let text = scheme === '' ? '' : `${scheme}:`;
  if (opaque !== '') {
    text += opaque;
  } else {
    if ((scheme !== '' || host !== '' || user !== undefined) && (host !== '' || path !== '' || user !== undefined)) {
      text += `//${user === undefined ? '' : `${userText(user)}@`}${escaped(host, 'host')}`;
    }
    const own = path === '*' ? '*' : escaped(path, 'path');
    if (own !== '' && !own.startsWith('/') && host !== '') {
      text += '/';
    }
    text += text === '' && own.split('/')[0]?.includes(':') === true ? `./${own}` : own;
  }
  return `${text}${query === '' ? '' : `?${query}`}${fragment === '' ? '' : `#${escaped(fragment, 'fragment')}`}`;
}

function field(dict: Dict, key: string): Bytes {
  const value = dict.entries.get(key);
  if (value === null) {
    throw new FunctionError('runtime error: invalid memory address or nil pointer dereference');
  }
  if (value !== undefined && typeof value !== 'string') {
    throw new FunctionError(`unable to parse ${key} key, must be of type string, but ${kindOf(value)} found`);
  }
  return value ?? '';
}

function joined(dict: Dict): Bytes {
  const url: Url = {
    scheme: field(dict, 'scheme'),
    host: field(dict, 'host'),
    path: field(dict, 'path'),
    query: field(dict, 'query'),
    opaque: field(dict, 'opaque'),
    fragment: field(dict, 'fragment'),
  };
  const info = field(dict, 'userinfo');
  if (info === '') {
    return textOfUrl(url);
  }
  try {
    const { user } = parseUrl(`proto://${info}@host`);
    return textOfUrl({ ...url, ...(user === undefined ? {} : { user }) });
  } catch (error) {
    throw new FunctionError(`unable to parse userinfo in dict: ${(error as Error).message}`);
  }
}

function partsOf(text: Bytes): Dict {
  let url: Url;
  try {
    url = parseUrl(text);
  } catch (error) {
    throw new FunctionError(`unable to parse url: ${(error as Error).message}`);
  }
  const { scheme, host, path, query, opaque, fragment, user } = url;
  const withoutPort = host.replace(/:[0-9]*$/, '');
  const hostname = /^\[.*\]$/.test(withoutPort) ? withoutPort.slice(1, -1) : withoutPort;
  const userinfo = user === undefined ? '' : userText(user);
  return new Dict(new Map(Object.entries({ scheme, host, hostname, path, query, opaque, fragment, userinfo })));
}

/** Functions of sprig for URLs. */
export const urlFunctions: Readonly<Record<string, TemplateFunction>> = {
  urlParse: define(['string'], ([text]) => partsOf(text)),
  urlJoin: define(['dict'], ([dict]) => joined(dict)),
};
