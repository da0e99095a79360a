import type { IncomingMessage } from 'node:http';
import type { OpenApiVersion, PublishedDocument } from '../openapi-documents/index.ts';
import { noCache, type Reply } from './http.ts';

/**
 * The media type that an Accept header asks for: the first of its types that is served.
 *
 * @returns undefined if it accepts only others.
 */
function negotiatedType(accept: string | undefined, version: OpenApiVersion): string | undefined {
  const protobufType = `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`;
  for (const clause of (accept || '*/*').split(',')) {
    // The name of protobuf with `@` is older.
    const type = clause.split(';')[0]?.trim().replace('@', '.') ?? '';
    if (type === protobufType) {
      return type;
    }
    if (['application/json', 'application/*', '*/*'].includes(type)) {
      return 'application/json';
    }
  }
  return undefined;
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
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.some((tag) => tag === etag || tag === '*')) {
    return { code: 304, headers };
  }
  const body = document.as(type === 'application/json' ? 'json' : 'protobuf');
  const about = { 'Content-Type': type, 'Content-Length': body.length, 'Accept-Ranges': 'bytes' };
  return { code: 200, headers: { ...headers, ...about, 'Last-Modified': document.lastModified.toUTCString() }, body };
}
