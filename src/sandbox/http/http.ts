import type { RequestHandler, Response } from 'express';
import { withoutControls } from '../../base/index.ts';
import type { JsonObject } from '../../kubernetes/index.ts';
import { failed } from '../resources/errors.ts';
import type { ResourceRequest, View } from '../resources/resource.ts';

export type SandboxLocals = Record<string, unknown> & {
  startedMs: number;
  url: URL;
  warnings: string[];
  target: Omit<ResourceRequest, 'body'>;
};
export type SandboxResponse = Response<unknown, SandboxLocals>;
export type SandboxHandler<Params = object> = RequestHandler<Params, unknown, Buffer, unknown, SandboxLocals>;

export const noCache = 'no-cache, private';

/** The form that the Accept header and the query ask for. @throws {RequestError} 406 when none of them is served. */
export function viewOf(accept: string, query: URLSearchParams): View {
  for (const type of (accept === '' ? '*/*' : accept).split(',').map((part) => part.trim())) {
    const [media, ...parameters] = type.split(';').map((part) => part.trim());
    const as = parameters.find((parameter) => parameter.startsWith('as='))?.slice(3);
    if (media !== 'application/json' && media !== 'application/*' && media !== '*/*') {
      continue;
    }
    if (as === undefined) {
      return { as: 'object' };
    }
    const isMeta = parameters.includes('g=meta.k8s.io') && parameters.includes('v=v1');
    if (isMeta && as === 'Table') {
      const include = query.get('includeObject');
      return { as: 'table', include: include === 'Object' || include === 'None' ? include : 'Metadata' };
    }
    if (isMeta && as.startsWith('PartialObjectMetadata')) {
      return { as: 'metadata' };
    }
  }
  throw failed(406, 'NotAcceptable', 'only the following media types are accepted: application/json');
}

/** Sends a response that is not a stream, with the warnings for its request. */
export function send(
  response: SandboxResponse,
  code: number,
  headers: Record<string, string | number>,
  body: string | Uint8Array = '',
): void {
  response.writeHead(code, { ...headers, ...warningHeaders(response.locals.warnings ?? []) }).end(body);
}

export function sendJson(response: SandboxResponse, code: number, document: JsonObject, type = 'application/json') {
  send(response, code, { 'Cache-Control': noCache, 'Content-Type': type }, `${JSON.stringify(document)}\n`);
}

export function sendText(response: SandboxResponse, code: number, body: string, type = 'text/plain; charset=utf-8') {
  send(response, code, { 'Cache-Control': noCache, 'Content-Type': type, 'X-Content-Type-Options': 'nosniff' }, body);
}

export const sendUnknownPath = (response: SandboxResponse) => sendText(response, 404, '404 page not found\n');

/** Maximum total length of the warnings of a response, and of each one once they are longer, in characters. */
const maxWarnings = 4096;
const maxWarning = 256;

/** Each text once, truncated and left out if they are too long together (k8s.io/apiserver, endpoints/filters/warning.go). */
export function warningHeaders(texts: readonly string[]): { Warning?: string[] } {
  const clean = texts.map((text) => withoutControls(text.replaceAll(/[\r\n\t]+/g, ' ').trim()));
  const whole = new Set(clean.filter((text) => text !== ''));
  const isLong = [...whole].reduce((sum, { length }) => sum + length, 0) > maxWarnings;
  let left = maxWarnings;
  const shown = [...new Set(isLong ? [...whole].map((text) => text.slice(0, maxWarning)) : whole)].filter((text) => {
    const fits = text.length <= left;
    left -= fits ? text.length : 0;
    return fits;
  });
  // Header values are Latin-1, in which UTF-8 bytes pass unchanged.
  const quoted = shown.map((text) => Buffer.from(text.replaceAll(/[\\"]/g, '\\$&')).toString('latin1'));
  return quoted.length === 0 ? {} : { Warning: quoted.map((text) => `299 - "${text}"`) };
}
