import { isIPv6 } from 'node:net';
import { posix } from 'node:path';
import { type Bytes, bytesOf, percentEncoded, quoted } from '../../../base/go-text/index.ts';
import { NotKnown } from '../../world/not-known.ts';
import { FunctionError } from '../budget.ts';
import { Dict, kindOf } from '../values/values.ts';
import { alsoAs, define, type Functions } from './define.ts';

function notKnown(text: Bytes): NotKnown {
  return new NotKnown(`the template calls a function for URLs with ${quoted(text)}`, {
    remedy:
      'use a URL with plain letters in its scheme, user and host, or compute the value outside and pass it as a variable',
  });
}

/** URLs that are read here. One without a scheme has no colon in its first segment, and no empty authority. */
const known =
  /^(?!\/\/\/)(?:[A-Za-z][A-Za-z0-9+.-]*:|(?![^/?#]*:))(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?#[\]]|%[0-9A-Fa-f]{2})*$/;
/** Names and passwords that Go writes as they are, with the escapes that it needs. */
const user = '(?:[A-Za-z0-9\\-._~$&+,;=]|%(?:2[0135F]|3[AF]|40|5[BD]))*';
const authorityShape = new RegExp(`^${user}(?::${user})?@(?:\\[[0-9A-Fa-f:.]*\\]|[A-Za-z0-9\\-._~]*)(?::[0-9]*)?$`);

function decoded(text: Bytes): Bytes {
  try {
    return bytesOf(decodeURIComponent(text));
  } catch {
    throw notKnown(text);
  }
}

/** Bytes in percent-encoding, but for letters, digits and those that a part of a URL may have besides. */
const escaped = (text: Bytes, allowed: string): Bytes =>
  text.replaceAll(/[^A-Za-z0-9_.~-]/g, (char) => (allowed.includes(char) ? char : percentEncoded(char)));

function checkAuthority(userinfo: Bytes, host: Bytes): void {
  const isAddress = host.startsWith('[');
  if (!authorityShape.test(`${userinfo}@${host}`) || (isAddress && !isIPv6(host.slice(1, host.indexOf(']'))))) {
    throw notKnown(`${userinfo}@${host}`);
  }
}

function cut(text: Bytes, mark: string): [before: Bytes, after: Bytes] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)];
}

/** net/url's Parse, as a map. */
function partsOf(text: Bytes): Dict {
  const [beforeFragment, fragment] = cut(text, '#');
  const [start, query] = cut(beforeFragment, '?');
  const [colon = '', scheme = ''] = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(start) ?? [];
  const hierarchy = start.slice(colon.length);
  const pathAt = hierarchy.startsWith('//') ? hierarchy.indexOf('/', 2) : 0;
  const [authority, rest] =
    pathAt < 0 ? [hierarchy.slice(2), ''] : [hierarchy.slice(2, pathAt), hierarchy.slice(pathAt)];
  const at = authority.lastIndexOf('@');
  const [userinfo, host] = [authority.slice(0, Math.max(at, 0)), authority.slice(at + 1)];
  const fail = (problem: string) => new FunctionError(`unable to parse url: parse ${quoted(text)}: ${problem}`);
  const [port = ''] = host.startsWith('[') ? [] : (/:[^:]*$/.exec(host) ?? []);
  const name = host.slice(0, host.length - port.length);
  checkAuthority(userinfo, name.replaceAll(' ', ''));
  if (!/^(?::[0-9]*)?$/.test(port)) {
    throw fail(`invalid port ${quoted(port)} after host`);
  }
  if (name.includes(' ')) {
    throw fail('invalid character " " in host name');
  }
  if (!known.test(text)) {
    throw notKnown(text);
  }
  const isOpaque = scheme !== '' && !/^[^:]*:\//.test(text);
  const parts = {
    scheme: scheme.toLowerCase(),
    opaque: isOpaque ? rest : '',
    userinfo,
    host,
    hostname: host.replace(/:[0-9]*$/, '').replace(/^\[(.*)\]$/, '$1'),
    path: isOpaque ? '' : decoded(rest),
    query,
    fragment: decoded(fragment),
  };
  return new Dict(new Map(Object.entries(parts)));
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
  const [path, fragment] = [escaped(field('path'), '$&+,/:;=@'), escaped(field('fragment'), '$&+,/:;=?@!()*')];
  const user = field('userinfo');
  checkAuthority(user, host);
  const hasAuthority = host !== '' || user !== '' || (scheme !== '' && path !== '');
  return [
    scheme === '' ? '' : `${scheme}:`,
    opaque === '' && hasAuthority ? `//${user === '' ? '' : `${user}@`}${host}` : '',
    opaque === '' ? (path !== '' && !path.startsWith('/') && host !== '' ? '/' : '') + path : opaque,
    query === '' ? '' : `?${query}`,
    fragment === '' ? '' : `#${fragment}`,
  ].join('');
}

/** path.Clean: unlike Node.js, without a slash at the end. */
const clean = (path: Bytes): Bytes => posix.normalize(path).replace(/(?<=.)\/$/, '');

const ofPaths: Functions = {
  base: define(['string'], ([path]) => posix.basename(path) || (path === '' ? '.' : '/')),
  dir: define(['string'], ([path]) => clean(path.slice(0, path.lastIndexOf('/') + 1))),
  clean: define(['string'], ([path]) => clean(path)),
  ext: define(['string'], ([path]) => /\.[^./]*$/.exec(path)?.[0] ?? ''),
  isAbs: define(['string'], ([path]) => path.startsWith('/')),
};

/** Functions of sprig for URLs and paths. Cluster API runs on Linux, where paths of files are like others. */
export const pathFunctions: Functions = {
  urlParse: define(['string'], ([text]) => partsOf(text)),
  urlJoin: define(['dict'], ([dict]) => joined(dict)),
  ...ofPaths,
  ...alsoAs('os', ofPaths),
};
