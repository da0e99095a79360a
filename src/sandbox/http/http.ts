import type { IncomingMessage, ServerResponse } from 'node:http';
import { withoutControls } from '../../base/index.ts';
import { readableYaml } from '../../base/yaml/index.ts';
import type { JsonObject, Status } from '../../kubernetes/index.ts';
import type { View } from '../reads/tables.ts';
import { notAcceptable, tooLarge, tooManyRequests } from '../resources/errors.ts';
import type { InFlight } from './in-flight.ts';

/** Largest body of a request, in bytes; the limit of the real API server. */
const maxBody = 3 * 1024 * 1024;
/** Cache-Control header of all responses that may change. */
export const noCache = 'no-cache, private';

/** The formats that the Accept header and the query ask for. @throws {RequestError} 406 when none of them is served. */
export function viewOf(accept: string, query: URLSearchParams): { view: View; yaml: boolean } {
  for (const type of (accept === '' ? '*/*' : accept).split(',').map((part) => part.trim())) {
    const [media, ...parameters] = type.split(';').map((part) => part.trim());
    const as = parameters.find((parameter) => parameter.startsWith('as='))?.slice(3);
    const yaml = media === 'application/yaml';
    if (media !== 'application/json' && media !== 'application/*' && media !== '*/*' && !yaml) {
      continue;
    }
    if (as === undefined) {
      return { view: { as: 'object' }, yaml };
    }
    const isMeta = parameters.includes('g=meta.k8s.io') && parameters.includes('v=v1');
    if (isMeta && as === 'Table') {
      const include = query.get('includeObject');
      return {
        view: { as: 'table', include: include === 'Object' || include === 'None' ? include : 'Metadata' },
        yaml,
      };
    }
    if (isMeta && as.startsWith('PartialObjectMetadata')) {
      return { view: { as: 'metadata' }, yaml };
    }
  }
  throw notAcceptable(['application/json', 'application/yaml']);
}

/** A response that is not a stream. */
export interface Reply {
  code: number;
  headers: Record<string, string | number>;
  body?: string | Uint8Array;
}

export function jsonReply(
  code: number,
  document: JsonObject | Status,
  yaml = false,
  type = yaml ? 'application/yaml' : 'application/json',
): Reply {
  const retry: Reply['headers'] = code === 429 || code === 503 ? { 'Retry-After': '1' } : {};
  return {
    code,
    headers: { 'Cache-Control': noCache, 'Content-Type': type, ...retry },
    body: yaml ? readableYaml(document) : `${JSON.stringify(document)}\n`,
  };
}

export function textReply(code: number, body: string, type = 'text/plain; charset=utf-8'): Reply {
  return {
    code,
    headers: { 'Cache-Control': noCache, 'Content-Type': type, 'X-Content-Type-Options': 'nosniff' },
    body,
  };
}

export const unknownPath = textReply(404, '404 page not found\n');

/** Responses of at most this many characters are not counted. */
const smallReply = 64 * 1024;
/** How long a client may take to read a response, in milliseconds. */
const readTimeout = 60_000;

const tooManyReplies = jsonReply(
  429,
  tooManyRequests('too many responses are being sent, please try again later').status,
);

/**
 * Sends a response, counts it until the client has read it, and closes the connection of a client that does not. When too
 * many are in flight, it sends a 429 instead.
 */
export function send(response: ServerResponse, { code, headers, body = '' }: Reply, inFlight: InFlight): void {
  const { length } = body;
  if (length > smallReply) {
    if (!inFlight.reserve(length)) {
      send(response, tooManyReplies, inFlight);
      return;
    }
    const timer = setTimeout(() => response.destroy(), readTimeout).unref();
    response.once('close', () => {
      clearTimeout(timer);
      inFlight.release(length);
    });
  }
  response.writeHead(code, headers);
  response.end(body);
}

/** The body of a request. @throws {RequestError} 413 when it is too large, 429 when too many are being read. */
export async function readBody(request: IncomingMessage, inFlight: InFlight): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  request.once('close', () => inFlight.release(size));
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (size + chunk.length > maxBody) {
      throw tooLarge(`limit is ${maxBody}`);
    }
    if (!inFlight.reserve(chunk.length)) {
      throw tooManyRequests('too many requests are being read, please try again later');
    }
    size += chunk.length;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Maximum total length of the warnings of a response, and of each one once they are longer, in characters. */
const maxWarnings = 4096;
const maxWarning = 256;

/**
 * Collects warnings as headers, each text once. Once they are too long together, all are truncated, and those that do not
 * fit then are left out (k8s.io/apiserver, endpoints/filters/warning.go).
 */
export function warnings(response: ServerResponse): (text: string) => void {
  let shown = new Set<string>();
  let length = 0;
  let isTruncating = false;
  function show(text: string): boolean {
    const warning = isTruncating ? text.slice(0, maxWarning) : text;
    if (shown.has(warning)) {
      return true;
    }
    if (length + warning.length > maxWarnings) {
      return false;
    }
    length += warning.length;
    shown.add(warning);
    // Header values are Latin-1, in which UTF-8 bytes pass unchanged.
    const quoted = Buffer.from(warning.replaceAll(/[\\"]/g, '\\$&'), 'utf8').toString('latin1');
    response.appendHeader('Warning', `299 - "${quoted}"`);
    return true;
  }
  return (text) => {
    const clean = withoutControls(text.replaceAll(/[\r\n\t]+/g, ' ').trim());
    if (clean === '' || show(clean) || isTruncating) {
      return;
    }
    isTruncating = true;
    const texts = [...shown, clean];
    shown = new Set();
    length = 0;
    response.removeHeader('Warning');
    texts.forEach(show);
  };
}
