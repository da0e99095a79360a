import type { CollectedKind } from '../facts/store.ts';

/** Where an API server has the objects of a kind, and its name in permissions. */
interface FactResource {
  path: string;
  resource: string;
}

const ofGroup = (group: string, plural: string): FactResource => ({
  path: `/apis/${group}/v1beta2/${plural}`,
  resource: `${plural}.${group}`,
});

/** In the version that Cluster API serves since 1.11. */
export const factResources: Readonly<Record<CollectedKind, FactResource>> = {
  ExtensionConfig: ofGroup('runtime.cluster.x-k8s.io', 'extensionconfigs'),
  ClusterClass: ofGroup('cluster.x-k8s.io', 'clusterclasses'),
  Cluster: ofGroup('cluster.x-k8s.io', 'clusters'),
  Namespace: { path: '/api/v1/namespaces', resource: 'namespaces' },
  Service: { path: '/api/v1/services', resource: 'services' },
};
