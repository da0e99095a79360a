import { createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { ListenError } from '../../src/server/index.ts';
import { start, stopAll } from './running.ts';

afterEach(stopAll);

test('without a host listens on all interfaces', async () => {
  const { webhookPort } = await start({ webhook: { port: 0 } });
  const other = createServer();
  const taken = new Promise((resolve) => other.once('error', resolve));
  other.listen(webhookPort);
  expect(await taken).toMatchObject({ code: 'EADDRINUSE' });
});

test.each([
  ['main', 'webhook'],
  ['health', 'health'],
] as const)('a port that is taken is an error that names the port: %s', async (name, option) => {
  const { webhookPort: port } = await start();
  const address = { host: '127.0.0.1', port };
  const error: unknown = await start({ [option]: address }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ListenError);
  expect(error).toMatchObject({
    message: `cannot listen on 127.0.0.1:${port}: EADDRINUSE`,
    port: name,
    address,
    code: 'EADDRINUSE',
  });
  expect(new ListenError('main', { port: 443 }, 'EACCES').message).toBe('cannot listen on *:443: EACCES');
});
