import { hooks } from '../../../runtimehooks/index.ts';
import type { Handler as HttpHandler } from '../../../server/index.ts';
import { createLoopWatch } from '../calls/event-loop.ts';
import type { Handler } from '../handlers/handler.ts';
import { discoveryRoute, handlerRoute, type Route, type RouteContext } from './routes.ts';

export interface HandlerOptions extends Omit<RouteContext, 'loop'> {
  handlers: readonly Handler[];
  /** Prefix of all paths: empty, or with a leading slash and no trailing one. */
  prefix: string;
}

const pathOf = (hook: { group: string; version: string; name: string }, handler?: string) =>
  `/${hook.group}/${hook.version}/${hook.name.toLowerCase()}${handler === undefined ? '' : `/${handler.toLowerCase()}`}`;

export function createHttpHandler({ handlers, prefix, ...options }: HandlerOptions): HttpHandler {
  const context = { ...options, loop: createLoopWatch(options.log) };
  const routes = new Map<string, Route>([[pathOf(hooks.Discovery), discoveryRoute(handlers, context)]]);
  for (const handler of handlers) {
    routes.set(pathOf(handler.hook, handler.name), handlerRoute(handler, context));
  }

  return async (exchange) => {
    const { path } = exchange;
    const route = path.startsWith(prefix) ? routes.get(path.slice(prefix.length)) : undefined;
    if (route === undefined) {
      context.log.warn({ path: path.slice(0, 512) }, 'call to a path that no handler has');
      const message = `page not found: no handler of this extension has this path; ${prefix}${pathOf(hooks.Discovery)} lists them`;
      exchange.refuse({ code: 404, message });
      return;
    }
    const body = await exchange.readBody('any request');
    if (body instanceof Uint8Array) {
      await route.answer(body, exchange);
    } else {
      route.refuse(body, exchange);
    }
  };
}
