import type { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { withoutControls } from '../../base/index.ts';
import type { JsonObject, Status } from '../../kubernetes/index.ts';
import type { ReadRequest } from '../reads/reads.ts';
import type { View } from '../reads/tables.ts';
import { notAcceptable } from '../resources/errors.ts';

/** The resource that a request is for, and the form of the response. */
export interface Target extends ReadRequest {
  subresource: string;
}

/** The state of a request while it is answered. */
export type SandboxLocals = Record<string, unknown> & {
  startedMs: number;
  url: URL;
  /** Texts for the header Warning of the response. */
  warnings: string[];
  target: Target;
};
export type SandboxHandler = RequestHandler<object, unknown, Buffer, unknown, SandboxLocals>;

/** Cache-Control header of all responses that may change. */
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
  throw notAcceptable(['application/json']);
}

/** A response that is not a stream. */
export interface Reply {
  code: number;
  headers: Record<string, string | number>;
  body?: string | Uint8Array;
}

export function jsonReply(code: number, document: JsonObject | Status, type = 'application/json'): Reply {
  return {
    code,
    headers: { 'Cache-Control': noCache, 'Content-Type': type },
    body: `${JSON.stringify(document)}\n`,
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

/** Sends a response, with warnings. */
export function send(response: ServerResponse, { code, headers, body = '' }: Reply, warnings: readonly string[]): void {
  response.writeHead(code, { ...headers, ...warningHeaders(warnings) });
  response.end(body);
}

/** Maximum total length of the warnings of a response, and of each one once they are longer, in characters. */
const maxWarnings = 4096;
const maxWarning = 256;

/**
 * Warnings as headers, each text once. If they are too long together, all are truncated, and those that do not fit then are
 * left out (k8s.io/apiserver, endpoints/filters/warning.go).
 */
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
