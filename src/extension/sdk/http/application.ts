import { refusal } from '../../../kubernetes/index.ts';
import { hooks } from '../../../runtimehooks/index.ts';
import { type Application, createRespond, type Foundation, receiveBody, refuseUnread } from '../../../server/index.ts';
import { createCallTimeout } from '../calls/call-timeout.ts';
import type { Lifetime } from '../calls/lifetime.ts';
import type { Handler } from '../handlers/handler.ts';
import type { HandlerMetrics } from './metrics.ts';
import { discoveryRoute, type HandlerRouteContext, handlerRoute, type ReplaceAnswer, type Route } from './routes.ts';

/** The dependencies of the application besides the server. */
export interface ApplicationOptions {
  handlers: readonly Handler[];
  /**
   * Prefix of all paths (`service.path` of the ExtensionConfig): empty, or with a leading slash and no trailing one.
   */
  prefix: string;
  metrics: HandlerMetrics;
  lifetime: Lifetime;
  replaceAnswer?: ReplaceAnswer | undefined;
}

const pathOf = (hook: { group: string; version: string; name: string }, handler?: string) =>
  `/${hook.group}/${hook.version}/${hook.name.toLowerCase()}${handler === undefined ? '' : `/${handler.toLowerCase()}`}`;

/** A path with the hook and the handler in lower case; group and version are unchanged. */
function normalized(path: string): string {
  const [first, group, version, ...rest] = path.split('/', 6);
  return [first, group, version, ...rest.map((segment) => segment.toLowerCase())].join('/');
}

/** Handles the requests on the port of an extension server. */
export function createApplication(foundation: Foundation, options: ApplicationOptions): Application {
  const { connections, log, maxBodyBytes, metrics: serverMetrics, monotonicNow } = foundation;
  const { handlers, prefix, metrics, lifetime, replaceAnswer } = options;
  const context: HandlerRouteContext = {
    respond: createRespond(foundation),
    log,
    metrics,
    monotonicNow,
    connections,
    timeoutFor: createCallTimeout(),
    lifetime,
    replaceAnswer,
  };
  const routes = new Map<string, Route>([[pathOf(hooks.Discovery), discoveryRoute(handlers, context)]]);
  for (const handler of handlers) {
    routes.set(pathOf(handler.hook, handler.name), handlerRoute(handler, context));
  }

  return (request, response) => {
    const startedMs = monotonicNow();
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    const path = mark === -1 ? url : url.slice(0, mark);
    const own = path.startsWith(prefix) ? path.slice(prefix.length) : '';
    const route = routes.get(own) ?? routes.get(normalized(own));
    if (route === undefined) {
      serverMetrics.refused(404);
      log.warn({ path: path.slice(0, 512) }, 'call to a path that no handler has');
      const message = `page not found: no handler of this extension has this path; ${prefix}${pathOf(hooks.Discovery)} lists them`;
      refuseUnread(request, response, refusal(404, message), maxBodyBytes);
      return;
    }
    const query = mark === -1 ? '' : url.slice(mark + 1);
    receiveBody(
      foundation,
      'any request',
      request,
      response,
      (bytes) => route.answer(bytes, response, startedMs, query),
      (refused) => route.refuse(refused, startedMs),
    );
  };
}
