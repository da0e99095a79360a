import { expect, test } from 'vitest';
import { kinds } from '../../../src/policy/facts/store.ts';

const metadata = { namespace: 'a', name: 'b', uid: 'u', resourceVersion: '1' };

test('large parts are dropped if nothing reads them', () => {
  const pending = 'runtime.cluster.x-k8s.io/pending-hooks';
  const large = 'x'.repeat(200_000);
  const cluster = { metadata: { ...metadata, annotations: { [pending]: large, other: large } }, spec: { large } };
  expect(kinds.Cluster.read('a/b', cluster)).toEqual({ key: 'a/b', namespace: 'a', pending: [] });

  const external = { generatePatchesExtension: 'a.b', settings: { large } };
  const patches = [
    { name: 'a', external },
    { name: 'b', definitions: [large] },
  ];
  expect(kinds.ClusterClass.read('a/b', { metadata, spec: { patches, upgrade: { external }, large } })).toEqual([
    { clusterClass: 'a/b', field: 'spec.patches[0].external.generatePatchesExtension', handler: 'a.b' },
  ]);

  const ports = [{ name: large, port: 443, protocol: 'TCP', appProtocol: large, targetPort: large }, null];
  expect(kinds.Service.read('a/b', { metadata, spec: { ports, externalIPs: [large] } })).toEqual({
    ports: [443],
  });
});
