import { isIPv6 } from 'node:net';
import { type Bytes, percentEncoded, quoted } from '../../../base/go-text/index.ts';
import { FunctionError } from '../budget.ts';
import { Dict, kindOf } from '../values/values.ts';
import { define, type Functions } from './define.ts';

/** The characters that each part of a URL may have besides letters, digits and `-_.~`. */
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

/** The parts of a URL; name and password are as in its text. */
type Url = Record<'scheme' | 'opaque' | 'userinfo' | 'host' | 'path' | 'query' | 'fragment', Bytes>;

function hostOf(text: Bytes): Bytes {
  const isAddress = text.startsWith('[');
  const end = isAddress ? text.lastIndexOf(']') + 1 : text.search(/:[^:]*$|$/);
  if (isAddress && !isIPv6(unescaped(text.slice(1, Math.max(end - 1, 1)), 'host'))) {
    throw new FunctionError(end === 0 ? "missing ']' in host" : 'invalid IP-literal');
  }
  if (!/^(?::[0-9]*)?$/.test(text.slice(end))) {
    throw new FunctionError(`invalid port ${quoted(text.slice(end))} after host`);
  }
  return unescaped(text, 'host');
}

/** Name and password, each written as URL.String does. */
function userinfoOf(text: Bytes): Bytes {
  if (!/^[A-Za-z0-9._:~!$&'()*+,;=%@-]*$/.test(text)) {
    throw new FunctionError('net/url: invalid userinfo');
  }
  const [name = '', password] = text.split(/:(.*)/s, 2);
  const rewritten = (part: Bytes) => escaped(unescaped(part, 'user'), 'user');
  return rewritten(name) + (password === undefined ? '' : `:${rewritten(password)}`);
}

function parsed(text: Bytes): Omit<Url, 'fragment'> {
  const [, scheme = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text) ?? [];
  const [before = '', query = ''] = text.slice(scheme === '' ? 0 : scheme.length + 1).split(/\?(.*)/s, 2);
  const [slashes = '', authority = ''] = (scheme === '' ? /^\/\/(?!\/)([^/]*)/ : /^\/\/([^/]*)/).exec(before) ?? [];
  const rest = before.slice(slashes.length);
  const at = authority.lastIndexOf('@');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
  if (/[\x00-\x1f\x7f]/.test(text)) {
    throw new FunctionError('net/url: invalid control character in URL');
  }
  if (scheme === '' && /^[^/?]*:/.test(text)) {
    throw new FunctionError(
      text.startsWith(':') ? 'missing protocol scheme' : 'first path segment in URL cannot contain colon',
    );
  }
  const isOpaque = scheme !== '' && slashes === '' && rest !== '' && !rest.startsWith('/');
  return {
    scheme: scheme.toLowerCase(),
    opaque: isOpaque ? rest : '',
    userinfo: userinfoOf(authority.slice(0, Math.max(at, 0))),
    host: hostOf(authority.slice(at + 1)),
    path: isOpaque ? '' : unescaped(rest, 'path'),
    query,
  };
}

/** net/url's Parse. */
function parseUrl(text: Bytes): Url {
  const [before = '', fragment = ''] = text.split(/#(.*)/s, 2);
  try {
    return { ...parsed(before), fragment: unescaped(fragment, 'fragment') };
  } catch (error) {
    throw new FunctionError(`parse ${quoted(text)}: ${(error as Error).message}`);
  }
}

function joined(dict: Dict): Bytes {
  const field = (key: string): Bytes => {
    const value = dict.entries.get(key) ?? '';
    if (typeof value !== 'string') {
      throw new FunctionError(`unable to parse ${key} key, must be of type string, but ${kindOf(value)} found`);
    }
    return value;
  };
  const [scheme, host, query, opaque] = [field('scheme'), field('host'), field('query'), field('opaque')];
  const [path, fragment] = [escaped(field('path'), 'path'), escaped(field('fragment'), 'fragment')];
  const user = userinfoOf(field('userinfo'));
  const hasAuthority = host !== '' || user !== '' || (scheme !== '' && path !== '');
  return [
    scheme === '' ? '' : `${scheme}:`,
    opaque === '' && hasAuthority ? `//${user === '' ? '' : `${user}@`}${escaped(host, 'host')}` : '',
    opaque === '' ? (path !== '' && !path.startsWith('/') && host !== '' ? '/' : '') + path : opaque,
    query === '' ? '' : `?${query}`,
    fragment === '' ? '' : `#${fragment}`,
  ].join('');
}

function partsOf(text: Bytes): Dict {
  try {
    const url = parseUrl(text);
    const hostname = url.host.replace(/:[0-9]*$/, '').replace(/^\[(.*)\]$/, '$1');
    return new Dict(new Map(Object.entries({ ...url, hostname })));
  } catch (error) {
    throw new FunctionError(`unable to parse url: ${(error as Error).message}`);
  }
}

/** Functions of sprig for URLs. */
export const urlFunctions: Functions = {
  urlParse: define(['string'], ([text]) => partsOf(text)),
  urlJoin: define(['dict'], ([dict]) => joined(dict)),
};
