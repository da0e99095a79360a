import type { IncomingMessage, ServerResponse } from 'node:http';
import { readableYaml } from '../../base/index.ts';
import type { JsonObject, Status } from '../../kubernetes/index.ts';
import type { View } from '../reads/tables.ts';
import { notAcceptable, tooLarge, tooManyRequests } from '../resources/errors.ts';
import { releaseBytes, reserveBytes } from './in-flight.ts';

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

/** Sends a document, as JSON or as YAML. */
export function sendJson(
  response: ServerResponse,
  code: number,
  document: JsonObject | Status,
  yaml = false,
  type?: string,
): void {
  const text = yaml ? readableYaml(document) : `${JSON.stringify(document)}\n`;
  hold(response, text.length);
  response.writeHead(code, {
    'Cache-Control': noCache,
    'Content-Type': type ?? (yaml ? 'application/yaml' : 'application/json'),
    ...(code === 429 || code === 503 ? { 'Retry-After': '1' } : {}),
  });
  response.end(text);
}

/** Responses of at most this many characters are not counted. */
const smallAnswer = 64 * 1024;
/** How long a client may take to read a response, in milliseconds. */
const readTimeout = 60_000;

/**
 * Counts a response until the client has read it, and closes the connection of a client that does not.
 *
 * @throws {RequestError} 429 when too many are in flight.
 */
export function hold(response: ServerResponse, bytes: number): void {
  if (bytes <= smallAnswer) {
    return;
  }
  if (!reserveBytes(bytes)) {
    throw tooManyRequests('too many responses are being sent, please try again later');
  }
  const timer = setTimeout(() => response.destroy(), readTimeout).unref();
  response.once('close', () => {
    clearTimeout(timer);
    releaseBytes(bytes);
  });
}

/** Sends plain text. */
export function sendText(
  response: ServerResponse,
  code: number,
  text: string,
  type = 'text/plain; charset=utf-8',
): void {
  response.writeHead(code, {
    'Cache-Control': noCache,
    'Content-Type': type,
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(text);
}

/** Responds to a path that is not served. */
export function sendUnknownPath(response: ServerResponse): void {
  sendText(response, 404, '404 page not found\n');
}

/** The body of a request. @throws {RequestError} 413 when it is too large, 429 when too many are being read. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  let taken = 0;
  request.once('close', () => releaseBytes(taken));
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBody) {
      throw tooLarge(`limit is ${maxBody}`);
    }
    if (!reserveBytes(chunk.length)) {
      throw tooManyRequests('too many requests are being read, please try again later');
    }
    taken += chunk.length;
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
    const kept = isTruncating ? text.slice(0, maxWarning) : text;
    if (shown.has(kept)) {
      return true;
    }
    if (length + kept.length > maxWarnings) {
      return false;
    }
    length += kept.length;
    shown.add(kept);
    // Header values are Latin-1, in which UTF-8 bytes pass unchanged.
    const quoted = Buffer.from(kept.replaceAll(/[\\"]/g, '\\$&'), 'utf8').toString('latin1');
    response.appendHeader('Warning', `299 - "${quoted}"`);
    return true;
  }
  return (text) => {
    const clean = text.replaceAll(/[\r\n\t]+/g, ' ').trim();
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
