import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ListenError } from '../../src/server/index.ts';
import { listen } from '../../src/server/listen.ts';

const newServer = () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  return server as never as Parameters<typeof listen>[0];
};

test('returns the port that the system chose', async () => {
  const server = newServer();
  const port = await listen(server, 'main', { host: '127.0.0.1', port: 0 });
  expect(server.address()).toMatchObject({ address: '127.0.0.1', port });
  expect(server.listenerCount('error')).toBe(0);
});

test('without a host listens on all interfaces', async () => {
  const server = newServer();
  await listen(server, 'main', { port: 0 });
  expect(['::', '0.0.0.0']).toContain((server.address() as AddressInfo).address);
});

test.each(['main', 'health'] as const)('a port that is taken is an error that names the port: %s', async (name) => {
  const first = newServer();
  const port = await listen(first, 'main', { host: '127.0.0.1', port: 0 });
  const address = { host: '127.0.0.1', port };
  const error: unknown = await listen(newServer(), name, address).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ListenError);
  expect(error).toMatchObject({
    message: `cannot listen on 127.0.0.1:${port}: EADDRINUSE`,
    port: name,
    address,
    code: 'EADDRINUSE',
  });
  expect(new ListenError('main', { port: 443 }, 'EACCES').message).toBe('cannot listen on *:443: EACCES');
});

test('an error without a code is reported with its message', async () => {
  const server = newServer();
  const listening = listen(server, 'main', { host: '127.0.0.1', port: 0 });
  server.emit('error', new Error('no more of them'));
  await expect(listening).rejects.toThrow('cannot listen on 127.0.0.1:0: no more of them');
  await once(server, 'listening');
});
