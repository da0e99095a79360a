import type { Express } from 'express';
import { type Application, plainExpress, refusal, refuseUnread, type TrackedResponse } from '../server/index.ts';
import { type RouteContext, webhookRoutes } from './routes.ts';

/** The part of the webhook port that is not hot: everything but reviews. */
function otherPaths(context: RouteContext, paths: readonly string[]): Express {
  const application = plainExpress();
  application.use((request, response) => {
    context.metrics.refused(404);
    const message = `no such path; the webhooks are ${paths.join(', ')}`;
    refuseUnread(request, response as unknown as TrackedResponse, refusal(404, message), context.maxBodyBytes);
  });
  return application;
}

/** What answers on the webhook port. Reviews take the short way past express, which would cost more than the decision. */
export function createApplication(context: RouteContext): Application {
  const routes = webhookRoutes(context);
  // Express takes Node's own requests only: this port speaks HTTP/1.1.
  const others = otherPaths(context, [...routes.keys()]) as unknown as Application;
  return (request, response) => {
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
