import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../../../src/runtimehooks/client/index.ts';
import { caBundle, extensionConfig, SharedServers } from '../extension-server.ts';
import { answeringLike, messageAt, recordedDiscoveries } from './recorded.ts';

const servers = new SharedServers();
afterAll(() => servers.close());

test.each(recordedDiscoveries)('$case: the condition is that of Cluster API', async (recorded) => {
  const { extension, answer, status } = recorded;
  const server = await servers.start(answeringLike(recorded));
  onTestFinished(() => server.close());
  const client = createClient();
  onTestFinished(() => client.close());
  // Discovery would wait for ten seconds.
  const signal = answer.delaySeconds === undefined ? undefined : AbortSignal.timeout(100);
  const result = await client.discover(extensionConfig(extension, { url: `${server.url}/c28`, caBundle }), { signal });
  expect(result.ok ? '' : `Error in discovery: ${result.error.message}`).toBe(messageAt(recorded, server.url));
  expect(result.ok).toBe(status === 'True');
});
