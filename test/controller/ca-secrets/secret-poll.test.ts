import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { pollSecrets } from '../../../src/controller/ca-secrets/secret-poll.ts';
import type { KubernetesClient } from '../../../src/kubernetes/client/index.ts';
import { testCa } from '../../base/x509/certificates.ts';
import { ApiServer } from '../../kubernetes/client/api-server.ts';
import { until } from '../../server/running.ts';

let server: ApiServer;
beforeEach(async () => {
  server = await new ApiServer().start();
});
afterEach(() => server.stop());

const ca = (text: string) => ({ 'ca.crt': Buffer.from(text).toString('base64') });

/** ExtensionConfigs with a Secret each. */
function configsWithSecrets(count: number) {
  return Array.from({ length: count }, (_, index) => {
    const name = `e-${index}`;
    server.put(`/api/v1/namespaces/default/secrets/${name}`, { metadata: { name }, data: ca(testCa.cert) });
    const annotations = { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': `default/${name}` };
    const metadata = { name, uid: name, resourceVersion: '1', generation: 1, annotations };
    return {
      apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
      kind: 'ExtensionConfig',
      metadata,
      spec: { clientConfig: { url: 'https://localhost' } },
    } as const;
  });
}

test.each([
  [1, 1],
  [101, 5],
])('%i Secrets are read %i at a time, each once in a round', async (count, atOnce) => {
  const configs = configsWithSecrets(count);
  const changed: string[] = [];
  const client = server.client();
  let [reading, most, reads] = [0, 0, 0];
  const cluster: KubernetesClient = {
    ...client,
    async request(...request) {
      most = Math.max(most, ++reading);
      reads++;
      // As long as all of them need to begin.
      await new Promise((resolve) => setImmediate(resolve));
      reading--;
      return client.request(...request);
    },
  };
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  let rounds = 0;
  void pollSecrets({
    cluster,
    configs: () => (++rounds > 2 ? [] : configs),
    onChange: (name) => changed.push(name),
    signal: stop.signal,
    pollMs: 1,
    gapMs: 0,
  });
  await until(() => rounds > 2, 'two rounds are over');
  expect([most, reads]).toEqual([atOnce, 2 * count]);
  // Each lacks its CA, which is said once.
  expect(changed.sort()).toEqual(configs.map(({ metadata }) => metadata.name).sort());
});
