import type { IncomingMessage } from 'node:http';
import type { OpenApiVersion, PublishedDocument } from '../openapi-documents/index.ts';
import { noCache, type Reply } from './http.ts';

const protobufType = (version: OpenApiVersion, separator = '.') =>
  `application/com.github.proto-openapi.spec.${version}${separator}v1.0+protobuf`;
const maxTypes = 100;

/**
 * The media type that an Accept header asks for: of the known ones, the one with the highest `q`, then the most
 * specific one, then the first.
 *
 * @returns undefined if it accepts only others.
 */
export function negotiatedType(accept: string | undefined, version: OpenApiVersion): string | undefined {
  // The name of protobuf with `@` is older.
  const names = ['application/json', protobufType(version), protobufType(version, '@')];
  let best: { type: string; rank: number } | undefined;
  for (const clause of (accept || '*/*').split(',', maxTypes)) {
    const [range = '', ...parameters] = clause.split(';').map((part) => part.trim());
    const [kind, subtype] = range.split('/');
    const served = names.find(
      (name) => (kind === '*' && subtype === '*') || (subtype === '*' ? name.startsWith(`${kind}/`) : name === range),
    );
    const qualityParameter = parameters.find((parameter) => parameter.startsWith('q='));
    const quality = qualityParameter === undefined ? 1 : Number(qualityParameter.slice(2));
    // Less than the smallest difference between two values of q.
    const rank = quality - (kind === '*' ? 0.0002 : subtype === '*' ? 0.0001 : 0);
    if (served !== undefined && quality > 0 && (best === undefined || rank > best.rank)) {
      best = { type: served.replace('@', '.'), rank };
    }
  }
  return best?.type;
}

function isUnchanged(request: IncomingMessage, etag: string, lastModified: Date): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = request.headers;
  if (tags !== undefined) {
    return tags.split(',').some((tag) => [etag, '*'].includes(tag.trim().replace(/^W\//, '')));
  }
  return since !== undefined && Math.floor(lastModified.getTime() / 1000) * 1000 <= Date.parse(since);
}

/** The first and last byte that a Range header asks for; undefined if the whole document is to be sent. */
function rangeOf(request: IncomingMessage, etag: string, size: number): { start: number; end: number } | undefined {
  const { range, 'if-range': condition } = request.headers;
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range ?? '');
  if (match === null || (condition !== undefined && condition !== etag)) {
    return undefined;
  }
  const [, first = '', last = ''] = match;
  if (first === '') {
    return last === '' ? undefined : { start: Math.max(size - Number(last), 0), end: size - 1 };
  }
  return { start: Number(first), end: last === '' ? size - 1 : Math.min(Number(last), size - 1) };
}

/**
 * An OpenAPI document in the requested representation. With its hash in the URL, it may be cached forever; with another
 * hash, the response is a redirect; without one, the ETag applies.
 */
export function openApiReply(document: PublishedDocument, request: IncomingMessage, url: URL): Reply {
  const headers: Reply['headers'] = { Vary: 'Accept', 'Cache-Control': noCache };
  const type = negotiatedType(request.headers.accept, document.version);
  if (type === undefined) {
    return { code: 406, headers: { ...headers, 'Content-Length': 0 } };
  }
  const etag = `"${document.hash}"`;
  headers.Etag = etag;
  const hash = url.searchParams.get('hash');
  if (hash !== null && hash !== '' && hash !== document.hash) {
    const location = { Location: `${url.pathname}?hash=${document.hash}`, 'Content-Type': type, 'Content-Length': 0 };
    return { code: 301, headers: { ...headers, ...location } };
  }
  if (hash === document.hash) {
    headers['Cache-Control'] = 'public, immutable';
    headers.Expires = new Date(Date.now() + 365 * 24 * 60 * 60 * 1000).toUTCString();
  }
  if (isUnchanged(request, etag, document.lastModified)) {
    return { code: 304, headers };
  }
  const body = document.as(type === 'application/json' ? 'json' : 'protobuf');
  Object.assign(headers, { 'Accept-Ranges': 'bytes', 'Last-Modified': document.lastModified.toUTCString() });
  const range = rangeOf(request, etag, body.length);
  if (range === undefined) {
    return { code: 200, headers: { ...headers, 'Content-Type': type, 'Content-Length': body.length }, body };
  }
  const { start, end } = range;
  if (start > end) {
    return { code: 416, headers: { ...headers, 'Content-Range': `bytes */${body.length}`, 'Content-Length': 0 } };
  }
  const part = body.subarray(start, end + 1);
  const about = { 'Content-Type': type, 'Content-Range': `bytes ${start}-${end}/${body.length}` };
  return { code: 206, headers: { ...headers, ...about, 'Content-Length': part.length }, body: part };
}
