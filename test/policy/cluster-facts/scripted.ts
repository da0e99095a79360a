import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import type { JsonObject } from '../../../src/kubernetes/index.ts';

/** An API server that answers only as a test tells it to. */
export interface Scripted {
  config: KubeConfig;
  /** The resources of each version that is served, by its path: `/apis/GROUP/VERSION`. */
  versions: Map<string, string[]>;
  /** The objects of each collection, by its path; and single objects by theirs. */
  lists: Map<string, JsonObject[]>;
  objects: Map<string, JsonObject>;
  /** Whether a version is not served this time, though it is one of `versions`. */
  misses: (path: string) => boolean;
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

/** Starts one on a port of its own. It serves `v1` and no other version. */
export async function startScripted(): Promise<Scripted> {
  const silent = new Set<string>();
  const [versions, lists, objects] = [new Map<string, string[]>(), new Map(), new Map()];
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
    const resources = scripted.misses(path) ? undefined : versions.get(path);
    const object = objects.get(path);
    const isServed = path.startsWith('/api/') || versions.has(path.slice(0, path.lastIndexOf('/')));
    if (code !== undefined) {
      return [code, { kind: 'Status', code, message: `refused by the test: ${path}` }];
    }
    if (resources !== undefined) {
      return [200, { resources: resources.map((name) => ({ name })) }];
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
  const scripted: Scripted = {
    config,
    versions,
    lists,
    objects,
    misses: () => false,
    errors,
    silent,
    watches,
    asked,
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return scripted;
}
