import { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { RequestHandler, Response } from 'express';
import { type Json, JsonError, parseJson } from '../../kubernetes/index.ts';
import type { Limits } from '../limits.ts';
import { type Answer, Refusal } from './refusal.ts';

/** The state of a request while it is answered. */
export interface Locals {
  startedMs: number;
  /** Bytes in memory for it: its body, then its response. */
  heldBytes?: number;
}

/** A middleware or route behind `body`. */
export type BodyHandler = RequestHandler<object, unknown, Buffer, unknown, Locals & Record<string, unknown>>;
export type BodyResponse = Response<unknown, Locals & Record<string, unknown>>;

/** Bodies up to this size may also use a reserve, so that large bodies cannot crowd out ordinary reviews (some 4 KiB). */
const smallBytes = 64 * 1024;
const reserveShare = 0.25;

/** How many copies of a response are in memory: node:tls encrypts all of it before the first byte is sent. */
const copiesOfResponse = 2;

/** The bytes of bodies and responses in memory. */
export class InFlight {
  bytes = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Reserves more bytes for a request; false when there is no room. A single request always fits. */
  hold(response: BodyResponse, bytes: number): boolean {
    const own = response.locals.heldBytes ?? 0;
    const share = own + bytes <= smallBytes ? 1 + reserveShare : 1;
    if (this.bytes !== own && this.bytes + bytes > this.#maxBytes * share) {
      return false;
    }
    this.keep(response, own + bytes);
    return true;
  }

  /** Holds so many bytes for a request, until the client has read the response or has disconnected. */
  keep(response: BodyResponse, bytes: number): void {
    const { locals } = response;
    if (locals.heldBytes === undefined) {
      response.on('close', () => this.keep(response, 0));
    }
    this.bytes += bytes - (locals.heldBytes ?? 0);
    locals.heldBytes = bytes;
  }

  /** Sends a JSON text; nothing if the client has gone, or the request was refused in the meantime. */
  send(response: BodyResponse, { code, text }: Answer): void {
    if (response.destroyed || response.headersSent) {
      return;
    }
    const bytes = Buffer.byteLength(text);
    this.keep(response, copiesOfResponse * bytes);
    // It would live until the client has read the response.
    response.req.body = undefined;
    response.writeHead(code, ['content-type', 'application/json', 'content-length', String(bytes)]);
    response.end(text);
  }
}

const jsonContentType = /^application\/json\s*(;|$)/i;

const tooLarge = (maxBytes: number) => new Refusal(413, `the body must not be larger than ${maxBytes} bytes`);

/** Why the body of a request is not to be read, judging by its headers. */
function headerRefusal(headers: IncomingHttpHeaders, maxBytes: number, isAnyType: boolean): Refusal | undefined {
  const { 'content-type': type = '', 'content-encoding': encoding, 'transfer-encoding': coding } = headers;
  if (!isAnyType && type !== 'application/json' && !jsonContentType.test(type)) {
    return new Refusal(415, 'the content type must be application/json');
  }
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return new Refusal(415, 'the body must not be compressed: omit Content-Encoding');
  }
  // Node undoes chunks, and no other coding (RFC 9112, 6.1).
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return new Refusal(501, 'the only Transfer-Encoding supported is chunked');
  }
  return Number(headers['content-length'] ?? 0) > maxBytes ? tooLarge(maxBytes) : undefined;
}

/** In how many pieces any body may arrive, and how many bytes each further one must have on average. */
const freePieces = 4096;
const averageBytes = 64;

/** Chunks of one byte take a thousand times as long to read as the same bytes at once. Go's servers limit them, too. */
function trickle(pieces: number, bytes: number): Refusal | undefined {
  return pieces > freePieces + bytes / averageBytes
    ? new Refusal(
        400,
        `the body arrives in too many small pieces, ${pieces} of ${Math.round(bytes / pieces)} bytes on average: send at least ${averageBytes} bytes at a time`,
      )
    : undefined;
}

/**
 * Creates the middleware that reads bodies, within limits, into `request.body`. The next handler is not called when the
 * client disconnects. The server limits the time. @param isAnyType whether a body may have any content type; default: JSON.
 */
export function createBody(
  { maxBodyBytes }: Pick<Limits, 'maxBodyBytes'>,
  inFlight: InFlight,
  isAnyType = false,
): BodyHandler {
  return (request, response, next) => {
    response.locals.startedMs = performance.now();
    const refusal = request.readableDidRead
      ? new Refusal(500, 'the body was read before: no other body parser may come first')
      : headerRefusal(request.headers, maxBodyBytes, isAnyType);
    if (refusal !== undefined) {
      next(refusal);
      return;
    }
    let pieces: Buffer[] = [];
    let length = 0;
    const take = (piece: Buffer) => {
      if (response.destroyed) {
        return;
      }
      length += piece.length;
      pieces.push(piece);
      const reason =
        trickle(pieces.length, length) ??
        (length > maxBodyBytes ? tooLarge(maxBodyBytes) : undefined) ??
        (inFlight.hold(response, piece.length)
          ? undefined
          : new Refusal(503, 'too many bytes of other requests are in flight: try again in a second'));
      if (reason !== undefined) {
        request.off('data', take).off('end', end);
        pieces = [];
        inFlight.keep(response, 0);
        next(reason);
      }
    };
    const end = () => {
      request.body = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces, length);
      // The listeners live until the client has read the response.
      pieces = [];
      if (!response.destroyed) {
        next();
      }
    };
    request.on('data', take);
    request.on('end', end);
  };
}

/** The JSON in a body. @throws {Refusal} 400 for anything else. */
export function jsonIn(body: Buffer): Json {
  try {
    return parseJson(body);
  } catch (error) {
    throw error instanceof JsonError ? new Refusal(400, error.message) : error;
  }
}
