import { expect, test, vi } from 'vitest';
import { loadKubeConfig, type SecretEvent, watchServingSecret } from '../../src/certs/index.ts';
import { ApiServer, namespace, servingPath } from './api-server.ts';

const within = { timeout: 20_000, interval: 20 };

test('the watch of a Secret sees it appear, change, go, and change while the connection is lost', async () => {
  const server = await new ApiServer().start();
  const events: SecretEvent[] = [];
  const config = loadKubeConfig({ kubeconfig: server.kubeconfig() });
  const stop = watchServingSecret(config, namespace, 'extensionconfig-webhook-tls', (event) => events.push(event));
  const put = (text: string) =>
    server.put(servingPath, {
      metadata: { name: 'extensionconfig-webhook-tls' },
      data: Object.fromEntries(
        ['tls.crt', 'tls.key', 'ca.crt'].map((key) => [key, Buffer.from(text).toString('base64')]),
      ),
    });
  const last = () => events.at(-1);
  const is = (text: string) => ({ kind: 'secret', secret: { cert: text, key: text, ca: text } });
  try {
    await vi.waitFor(() => expect(last()?.kind).toBe('absent'), within);
    put('1');
    await vi.waitFor(() => expect(last()).toEqual(is('1')), within);
    await vi.waitFor(() => expect(server.watching).toBe(1), within);
    put('2');
    await vi.waitFor(() => expect(last()).toEqual(is('2')), within);
    server.dropWatches();
    put('3');
    await vi.waitFor(() => expect(last()).toEqual(is('3')), within);
    await vi.waitFor(() => expect(server.watching).toBe(1), within);
    server.delete(servingPath);
    await vi.waitFor(() => expect(last()?.kind).toBe('absent'), within);
    expect(events.length).toBe(5);
  } finally {
    stop();
    await server.stop();
  }
});
