import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { watchCluster } from '../../../src/policy/cluster-facts/index.ts';
import { referencesTo } from '../../../src/policy/index.ts';
import { exampleClass } from '../rules/examples.ts';

test('a flood of changes does not block the event loop, and leaves at most one pending change per object', async () => {
  const version = '/apis/cluster.x-k8s.io/v1beta2';
  const watches = new Map<string, ServerResponse>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://server');
    if (pathname.startsWith('/apis/') && !pathname.startsWith(version)) {
      response.writeHead(404).end('404 page not found');
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    if (searchParams.get('watch') === 'true') {
      response.flushHeaders();
      watches.set(pathname, response);
    } else {
      response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items: [] }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const config = new KubeConfig();
  const { port } = server.address() as AddressInfo;
  config.loadFromClusterAndUser({ name: 't', server: `http://127.0.0.1:${port}`, skipTLSVerify: true }, { name: 't' });
  const watching = watchCluster({ config });
  try {
    await watching.synced;
    const events: string[] = [];
    for (let index = 0; index < 5_000; index++) {
      const object: JsonObject = exampleClass(`h${index}.e${index % 10}`, `class-${index % 10}`);
      object.metadata = { ...(object.metadata as JsonObject), resourceVersion: String(index + 2) };
      events.push(`${JSON.stringify({ type: 'MODIFIED', object })}\n`);
    }
    while (!watches.has(`${version}/clusterclasses`)) {
      await setImmediate();
    }
    watches.get(`${version}/clusterclasses`)?.write(events.join(''));
    // Event loop turns are counted from the first change that is seen until the last one.
    let turns = 0;
    const seen = (wanted: string) => {
      return referencesTo('e9', watching.read().facts)?.some(({ handler }) => handler === wanted);
    };
    while (!seen('h4999.e9')) {
      await setImmediate();
      turns += watching.status('ClusterClass').objects > 0 ? 1 : 0;
    }
    expect(turns).toBeGreaterThan(50);
    expect(watching.status('ClusterClass').objects).toBe(10);
    expect(seen('h4989.e9')).toBe(false);
  } finally {
    watching.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
