import { expect, onTestFinished, test } from 'vitest';
import { type Client, createClient, type ExtensionConfig } from '../../src/exports/client.ts';
import { hooks, messageProblem, sampleRequest } from '../../src/exports/hooks.ts';
import { caBundle, extensionConfig, startExtension } from '../runtimehooks/client/extension-server.ts';

const requestHook = { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'BeforeClusterUpgrade' };
const request = {
  cluster: { metadata: { name: 'example', namespace: 'default' }, spec: {} },
  fromKubernetesVersion: 'v1.32.0',
  toKubernetesVersion: 'v1.33.0',
};

/** A server with handlers of these names, which all block, and its ExtensionConfig with them. */
async function discovered(...names: string[]): Promise<ExtensionConfig> {
  const server = await startExtension(({ url }) =>
    url.includes('/discovery')
      ? { status: 'Success', handlers: names.map((name) => ({ name, requestHook })) }
      : { status: 'Success', message: `${url.split('/').at(-1)?.split('?')[0]} waits`, retryAfterSeconds: 5 },
  );
  const client = createClient();
  onTestFinished(() => server.close());
  const config = extensionConfig('example', { url: server.url, caBundle });
  const found = await client.discover(config);
  await client.close();
  expect(found).toMatchObject({ ok: true });
  return { ...config, status: { handlers: found.handlers as never } };
}

function clientOf(...extensions: ExtensionConfig[]): Client {
  const client = createClient({ extensions });
  onTestFinished(() => client.close());
  return client;
}

// As in the documentation.
test('an extension is discovered, and called with types by a client that is ready at once', async () => {
  const client = clientOf(await discovered('upgrade'));
  const sample = sampleRequest(hooks.BeforeClusterUpgrade);
  expect(messageProblem(hooks.BeforeClusterUpgrade, 'request', sample)).toBeUndefined();
  const result = await client.callExtension(hooks.BeforeClusterUpgrade, { request });
  const seconds: number | undefined = result.ok ? result.response.retryAfterSeconds : undefined;
  expect(result).toMatchObject({ from: 'extension', response: { message: 'upgrade waits' } });
  expect(seconds).toBe(5);
  expect(await client.callAllExtensions(hooks.BeforeClusterUpgrade, { request })).toMatchObject({
    ok: true,
    response: { message: 'upgrade waits', retryAfterSeconds: 5 },
  });
});

test('the only handler is the one whose selector matches the namespace of the request', async () => {
  const config = await discovered('upgrade');
  const spec = { ...config.spec, namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'other' } } };
  const client = createClient({
    extensions: [{ ...config, spec } as ExtensionConfig],
    namespaceLabels: async (namespace) => ({ 'kubernetes.io/metadata.name': namespace }),
  });
  onTestFinished(() => client.close());
  const { cluster } = request;
  const elsewhere = { ...request, cluster: { ...cluster, metadata: { name: 'example', namespace: 'other' } } };
  expect(await client.callExtension(hooks.BeforeClusterUpgrade, { request: elsewhere })).toMatchObject({ ok: true });
  expect(await client.callExtension(hooks.BeforeClusterUpgrade, { request })).toMatchObject({
    error: { message: expect.stringContaining('it has no handler: name one with the option handler') },
  });
});

test.each<[string, string[], object, string, string]>([
  [
    'among several handlers has to be named',
    ['a', 'b'],
    request,
    'registry',
    'it has the handlers a.example, b.example: name one with the option handler, or use callAllExtensions',
  ],
  [
    'has an object',
    ['a'],
    { ...request, cluster: { spec: {} } },
    'request',
    'the request names no object: pass the option object',
  ],
])('a call %s', async (_, names, body, step, message) => {
  const client = clientOf(await discovered(...names));
  const hook = hooks.BeforeClusterUpgrade;
  expect(await client.callExtension(hook, { request: body as typeof request })).toEqual({
    ok: false,
    error: {
      step,
      message: `failed to call extension handler for hook "BeforeClusterUpgrade.hooks.runtime.cluster.x-k8s.io": ${message}`,
    },
  });
});

test('an ExtensionConfig that cannot be registered is refused', () => {
  const config = extensionConfig('example', { url: 'https://localhost:1' }, [
    { name: 'a.example', requestHook: { apiVersion: 'a/b/c', hook: 'BeforeClusterUpgrade' } } as never,
  ]);
  expect(() => createClient({ extensions: [config] })).toThrow(
    /^extensions: failed to add ExtensionConfig "example" to registry: .*unexpected GroupVersion string: a\/b\/c$/,
  );
});
