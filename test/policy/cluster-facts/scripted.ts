import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import type { JsonObject } from '../../../src/kubernetes/index.ts';

/** An API server that answers only as a test tells it to. */
export interface Scripted {
  config: KubeConfig;
  /** The paths of the collections that are served, besides those of `v1`. */
  served: Set<string>;
  /** The objects of each collection, by its path; and single objects by theirs. */
  lists: Map<string, JsonObject[]>;
  objects: Map<string, JsonObject>;
  /** Error codes instead of responses, by path. */
  errors: Map<string, number>;
  /** Paths whose requests are never answered. */
  silent: Set<string>;
  /** The open watch of each collection. */
  watches: Map<string, ServerResponse>;
  /** Number of requests for each path, not counting watches. */
  asked: Map<string, number>;
  stop(): Promise<void>;
}

/** Starts one on a port of its own. */
export async function startScripted(): Promise<Scripted> {
  const [silent, served] = [new Set<string>(), new Set<string>()];
  const [lists, objects] = [new Map<string, JsonObject[]>(), new Map<string, JsonObject>()];
  const [errors, watches, asked] = [new Map<string, number>(), new Map(), new Map<string, number>()];

  function watch(path: string, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    watches.set(path, response);
    response.on('close', () => {
      if (watches.get(path) === response) {
        watches.delete(path);
      }
    });
  }

  function answer(path: string): [code: number, body: JsonObject | string] {
    asked.set(path, (asked.get(path) ?? 0) + 1);
    const code = errors.get(path);
    const object = objects.get(path);
    const isServed = path.startsWith('/api/') || served.has(path);
    if (code !== undefined) {
      return [code, { kind: 'Status', code, message: `refused by the test: ${path}` }];
    }
    if (object !== undefined) {
      return [200, object];
    }
    return isServed
      ? [200, { metadata: { resourceVersion: '1' }, items: lists.get(path) ?? [] }]
      : [404, '404 page not found'];
  }

  const server = createServer((request: IncomingMessage, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server');
    if (searchParams.get('watch') === 'true' && !errors.has(pathname)) {
      watch(pathname, response);
      return;
    }
    if (silent.has(pathname)) {
      return;
    }
    const [code, body] = answer(pathname);
    response.writeHead(code, { 'content-type': typeof body === 'string' ? 'text/plain' : 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const config = new KubeConfig();
  const { port } = server.address() as AddressInfo;
  config.loadFromClusterAndUser({ name: 't', server: `http://127.0.0.1:${port}`, skipTLSVerify: true }, { name: 't' });
  return {
    config,
    served,
    lists,
    objects,
    errors,
    silent,
    watches,
    asked,
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
