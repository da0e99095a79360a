import express, { type Express } from 'express';
import { refusal } from '../../kubernetes/index.ts';
import { type Application, refuseUnread, type TrackedResponse } from '../../server/index.ts';
import { type RouteContext, webhookRoutes } from './routes.ts';

/** Handles everything on the webhook port except reviews. */
function otherPaths(context: RouteContext, paths: readonly string[]): Express {
  const application = express().disable('x-powered-by');
  application.use((request, response) => {
    context.metrics.refused(404);
    const message = `no such path; the webhooks are ${paths.join(', ')}`;
    refuseUnread(request, response as unknown as TrackedResponse, refusal(404, message), context.maxBodyBytes);
  });
  return application;
}

/** Handles the requests on the webhook port. Reviews bypass Express, which would cost more than the decision. */
export function createApplication(context: RouteContext): Application {
  const routes = [...webhookRoutes(context)];
  // Express accepts only Node's own requests, which these are, since this port speaks only HTTP/1.1.
  const others = otherPaths(
    context,
    routes.map(([path]) => path),
  ) as unknown as Application;
  return (request, response) => {
    const url = request.url ?? '/';
    const query = url.indexOf('?');
    const pathLength = query === -1 ? url.length : query;
    // Three comparisons cost less than the hash of a path that is a new string with each request.
    for (const [path, route] of routes) {
      if (path.length === pathLength && url.startsWith(path)) {
        route(request, response);
        return;
      }
    }
    others(request, response);
  };
}
