import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import express, { type Express } from 'express';
import { refusal, refuseUnread } from './answer.ts';
import type { TrackedResponse } from './connections.ts';
import { type RouteContext, webhookRoutes } from './webhook-routes.ts';

/** An express application without the headers and features that nobody asked for. */
export function plainExpress(): Express {
  return express().disable('x-powered-by').disable('etag').enable('strict routing').enable('case sensitive routing');
}

/** The part of the webhook port that is not hot: everything but reviews. */
function otherPaths(context: RouteContext, paths: readonly string[]): Express {
  const application = plainExpress();
  application.use((request, response) => {
    context.metrics.refused(404);
    const message = `no such path; the webhooks are ${paths.join(', ')}`;
    refuseUnread(request, response, refusal(404, message), context.maxBodyBytes);
  });
  return application;
}

/**
 * What answers on the webhook port. Reviews take the short way past express, which would cost more than the decision.
 *
 * @param refusalFor says why the caller on a connection gets no answer (403), or undefined when it does.
 */
export function createApplication(
  context: RouteContext,
  refusalFor: ((socket: TLSSocket) => string | undefined) | undefined,
): (request: IncomingMessage, response: TrackedResponse) => void {
  const routes = webhookRoutes(context);
  const others = otherPaths(context, [...routes.keys()]);
  return (request: IncomingMessage, response: TrackedResponse) => {
    const refused = refusalFor?.(request.socket as TLSSocket);
    if (refused !== undefined) {
      context.metrics.refused(403);
      refuseUnread(request, response, refusal(403, refused), context.maxBodyBytes);
      return;
    }
    const url = request.url ?? '/';
    const query = url.indexOf('?');
    const route = routes.get(query === -1 ? url : url.slice(0, query));
    if (route === undefined) {
      others(request, response);
    } else {
      route(request, response);
    }
  };
}
