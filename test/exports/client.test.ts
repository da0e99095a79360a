import { expect, onTestFinished, test } from 'vitest';
import { createClient } from '../../src/exports/client.ts';
import { hooks, messageProblems, sampleRequest } from '../../src/exports/hooks.ts';
import { caBundle, extensionConfig, startExtension } from '../runtimehooks/client/extension-server.ts';

test.each([
  0,
  -1,
  1.5,
  Number.NaN,
])('%d concurrent calls are refused: every call would wait for its turn', (maximum) => {
  expect(() => createClient({ maxConcurrentCalls: maximum })).toThrow(
    new RangeError(`maxConcurrentCalls: ${maximum} is not a whole number above 0`),
  );
});

test.each<[unknown, string]>([
  [null, 'createClient: null is not an object of options: pass { maxConcurrentCalls: 10 }, or nothing'],
  [{ clientCertificate: { cert: 'a' } }, 'clientCertificate: must be a function, not object'],
  [{ now: null }, 'now: must be a function, not null'],
  [{ hooks: {} }, 'hooks: must be a list of what defineHook returns'],
])('the options %j, which types refuse and plain JavaScript does not', (options, message) => {
  expect(() => createClient(options as never)).toThrow(new TypeError(message));
});

// As in the documentation.
test('an extension is discovered, registered and called with types', async () => {
  const requestHook = { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'BeforeClusterUpgrade' };
  const server = await startExtension(({ url }) =>
    url.includes('/discovery')
      ? { status: 'Success', handlers: [{ name: 'upgrade', requestHook }] }
      : { status: 'Success', message: 'wait', retryAfterSeconds: 5 },
  );
  const client = createClient();
  onTestFinished(async () => {
    await client.close();
    await server.close();
  });
  client.registry.warmUp([]);

  const config = extensionConfig('example', { url: server.url, caBundle });
  const found = await client.discover(config);
  expect(found).toMatchObject({ ok: true });
  client.registry.add({ ...config, status: { handlers: found.handlers as never } });

  const sample = sampleRequest(hooks.BeforeClusterUpgrade);
  expect(messageProblems(hooks.BeforeClusterUpgrade, 'request', sample, 'strict')).toEqual([]);
  const result = await client.callAllExtensions(hooks.BeforeClusterUpgrade, {
    object: { namespace: 'default', name: 'example' },
    request: {
      cluster: { metadata: { name: 'example', namespace: 'default' }, spec: {} },
      fromKubernetesVersion: 'v1.32.0',
      toKubernetesVersion: 'v1.33.0',
    },
  });
  const seconds: number | undefined = result.ok ? result.response.retryAfterSeconds : undefined;
  expect(seconds).toBe(5);
});
