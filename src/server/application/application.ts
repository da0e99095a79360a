import { IncomingMessage, ServerResponse } from 'node:http';
import express, { type Express, type RequestHandler } from 'express';
import { Refusal } from './refusal.ts';

/** Creates an Express application without what APIs do not need. Paths are compared to the letter. */
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

/**
 * The classes of requests and responses for the server of an application. Express gives each message the prototype that its
 * application has for it; with these, it has it from the start.
 */
export function classesOfMessages(application: Express) {
  class Request extends IncomingMessage {}
  class Response extends ServerResponse {}
  Object.setPrototypeOf(Request.prototype, application.request);
  Object.setPrototypeOf(Response.prototype, application.response);
  Object.assign(application, { request: Request.prototype, response: Response.prototype });
  return { IncomingMessage: Request as typeof IncomingMessage, ServerResponse: Response as typeof ServerResponse };
}
