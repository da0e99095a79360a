import { expect, test } from 'vitest';
import { ConfigConflict, createConfigStore, type StoredConfig } from '../../../src/controller/configs/stored.ts';
import { type KubernetesClient, StatusError } from '../../../src/kubernetes/client/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';

const stored = (resourceVersion: string, changes: JsonObject = {}) => ({
  apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
  kind: 'ExtensionConfig',
  metadata: { name: 'a', uid: 'u', resourceVersion, generation: 1, ...changes },
});

const paused = { annotations: { 'cluster.x-k8s.io/paused': '' } };

test.each<[string, JsonObject, boolean]>([
  ['a label', { ...paused, labels: { a: 'b' } }, true],
  ['the annotation that paused it', {}, false],
  ['its spec', { ...paused, generation: 2 }, false],
])('while a status is written, another client changes %s', async (_, changes, isWritten) => {
  const versions: unknown[] = [];
  const cluster: Pick<KubernetesClient, 'request'> = {
    async request(method, _path, body) {
      if (method === 'GET') {
        return stored('2', changes);
      }
      const { resourceVersion } = (body as { metadata: { resourceVersion: string } }).metadata;
      versions.push(resourceVersion);
      if (resourceVersion === '1') {
        throw new StatusError(409, 'conflict');
      }
      return stored('3', changes);
    },
  };
  const store = createConfigStore(cluster as KubernetesClient);
  const written = store.writeStatus(stored('1', paused) as unknown as StoredConfig, () => ({ conditions: [] }));
  await (isWritten
    ? expect(written).resolves.toMatchObject({ metadata: { resourceVersion: '3' } })
    : expect(written).rejects.toThrow(ConfigConflict));
  expect(versions).toEqual(isWritten ? ['1', '2'] : ['1']);
});
