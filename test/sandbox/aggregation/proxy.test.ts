import { once } from 'node:events';
import { createServer, type RequestListener, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Backend } from '../../../src/sandbox/aggregation/backend.ts';
import { passOn } from '../../../src/sandbox/aggregation/proxy.ts';
import { RequestError } from '../../../src/sandbox/resources/errors.ts';
import { eventually } from '../client.ts';

async function listen(listener: RequestListener): Promise<URL> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

test('a hundred requests at a time are passed on to a server, and further ones when one of them has ended', async () => {
  const waiting: ServerResponse[] = [];
  const remote = await listen((_, response) => waiting.push(response));
  const backend = { running: 99, start: () => request(remote) };
  const front = await listen((incoming, response) => {
    try {
      passOn(backend as unknown as Backend, incoming, response, remote);
    } catch (error) {
      response.writeHead((error as RequestError).status.code ?? 0).end();
      expect(error).toBeInstanceOf(RequestError);
    }
  });
  const first = fetch(front);
  await eventually(
    async () => waiting.length,
    (length) => length === 1,
  );
  expect((await fetch(front)).status).toBe(429);
  waiting[0]?.end();
  expect((await first).status).toBe(200);
  await eventually(
    async () => backend.running,
    (running) => running === 99,
  );
  const next = new AbortController();
  const aborted = expect(fetch(front, { signal: next.signal })).rejects.toThrow();
  await eventually(
    async () => backend.running,
    (running) => running === 100,
  );
  // Of a client that disconnects, too.
  next.abort();
  await aborted;
  await eventually(
    async () => backend.running,
    (running) => running === 99,
  );
});
