import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import express, { type Express, type RequestHandler } from 'express';
import { bugFields, type Log, withoutControls } from '../../base/index.ts';
import { refusal } from '../../kubernetes/index.ts';

export interface Answer {
  code: number;
  text: string;
}

/** Why a request gets no decision: thrown, or passed to `next`, for `refuse` to send. */
export class Refusal extends Error {
  readonly code: number;
  /** Sent instead of the Status of the refusal. */
  readonly answer: Answer | undefined;

  constructor(code: number, message: string, answer?: Answer) {
    super(message);
    this.code = code;
    this.answer = answer;
  }
}

const refusalHeaders: ReadonlyMap<number, readonly string[]> = new Map([
  [405, ['allow', 'POST']],
  [503, ['retry-after', '1']],
]);

/** How long a client may take to read why its request is refused before all of it has arrived, in ms. */
export const readingMs = 1_000;

const maxLoggedPath = 512;

export function statusOf({ code, message }: Pick<Refusal, 'code' | 'message'>): Answer {
  return { code, text: JSON.stringify(refusal(code, withoutControls(message))) };
}

/** The last middleware of an application: responds to a request that failed. */
export type Refuse = (
  error: unknown,
  request: IncomingMessage & { originalUrl?: string },
  response: ServerResponse,
  next?: unknown,
) => void;

/**
 * Anything but a Refusal is a bug, which must not end the process: it is logged with its stack, and the client gets a 500. If
 * the request has not arrived completely, its connection ends, after what still comes was discarded for a while: closing a
 * socket with unread data resets it, and the reset overtakes the response.
 */
export function createRefuse(
  log: Pick<Log, 'error'>,
  refused: (refusal: Refusal, socket: Socket) => void = () => {},
): Refuse {
  // Express knows it by its four parameters.
  return (error, request, response, _next) => {
    const isRefusal = error instanceof Refusal;
    if (!response.destroyed && !response.headersSent) {
      const refusal = isRefusal ? error : new Refusal(500, 'internal error; see the log of the server');
      refused(refusal, request.socket);
      const { code, text } = refusal.answer ?? statusOf(refusal);
      const headers = ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(text))];
      const closing = request.complete ? [] : ['connection', 'close'];
      response.writeHead(code, [...headers, ...(refusalHeaders.get(refusal.code) ?? []), ...closing]);
      if (request.complete) {
        response.end(text);
      } else {
        response.write(text);
        const end = () => response.end();
        request.resume().once('end', end).once('error', end);
        setTimeout(end, readingMs).unref();
      }
    }
    if (!isRefusal) {
      const [path = ''] = (request.originalUrl ?? (request.url as string)).split('?', 1);
      log.error({ path: path.slice(0, maxLoggedPath), ...bugFields(error) }, 'the handler of a request failed');
    }
  };
}

/** An Express application without what APIs do not need; paths are compared to the letter. */
export function createApplication(): Express {
  return express().disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing');
}

/** The last middleware but one: 405 for a path that takes POST, 404 for any other. */
export function noSuchPath(posted: readonly string[], message: string): RequestHandler {
  return ({ method, path }) => {
    throw posted.includes(path)
      ? new Refusal(405, `${method} is not supported here: use POST`)
      : new Refusal(404, message);
  };
}

/** Express gives each message the prototype that its application has for it: messages of these classes have it already. */
export function classesOfMessages(application: Express) {
  class Request extends IncomingMessage {}
  class Response extends ServerResponse {}
  Object.setPrototypeOf(Request.prototype, application.request);
  Object.setPrototypeOf(Response.prototype, application.response);
  Object.assign(application, { request: Request.prototype, response: Response.prototype });
  return { IncomingMessage: Request as typeof IncomingMessage, ServerResponse: Response as typeof ServerResponse };
}
