import type { Express } from 'express';
import { type Application, plainExpress, refusal, refuseUnread, type TrackedResponse } from '../server/index.ts';
import { type RouteContext, webhookRoutes } from './routes.ts';

/** Everything on the webhook port but reviews. */
function otherPaths(context: RouteContext, paths: readonly string[]): Express {
  const application = plainExpress();
  application.use((request, response) => {
    context.metrics.refused(404);
    const message = `no such path; the webhooks are ${paths.join(', ')}`;
    refuseUnread(request, response as unknown as TrackedResponse, refusal(404, message), context.maxBodyBytes);
  });
  return application;
}

/** Handles the requests on the webhook port. Reviews bypass Express, which would cost more than the decision. */
export function createApplication(context: RouteContext): Application {
  const routes = webhookRoutes(context);
  // Express takes only Node's own requests, which these are: this port speaks HTTP/1.1.
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
