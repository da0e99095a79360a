import { expect, test } from 'vitest';
import { factResources, keptOf } from '../../../src/policy/cluster-facts/resources.ts';

const metadata = { namespace: 'a', name: 'b', uid: 'u', resourceVersion: '1' };

test('large parts are dropped if nothing reads them', () => {
  const pending = 'runtime.cluster.x-k8s.io/pending-hooks';
  const large = 'x'.repeat(200_000);
  const cluster = { metadata: { ...metadata, annotations: { [pending]: large, other: large } }, spec: { large } };
  expect(keptOf(factResources.Cluster, cluster)).toEqual({ metadata });

  const external = { generatePatchesExtension: 'a.b', settings: { large } };
  const spec = {
    patches: [
      { name: 'a', external },
      { name: 'b', definitions: [large] },
    ],
    upgrade: { external },
    large,
  };
  const kept = { generatePatchesExtension: 'a.b' };
  expect(keptOf(factResources.ClusterClass, { metadata, spec })).toEqual({
    metadata,
    spec: { patches: [{ external: kept }, {}], upgrade: { external: kept } },
  });

  const ports = [{ name: large, port: 443, protocol: 'TCP', appProtocol: large, targetPort: large }, null];
  expect(keptOf(factResources.Service, { metadata, spec: { ports, externalIPs: [large] } })).toEqual({
    metadata,
    spec: { ports: [{ port: 443, protocol: 'TCP' }, { port: null }] },
  });
});
