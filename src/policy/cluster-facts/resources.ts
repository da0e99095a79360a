import type { CollectedKind } from '../facts/store.ts';

/** A watched resource. */
export interface FactResource {
  group: string;
  /** Versions that can be read in the same way, the preferred one first. */
  versions: readonly string[];
  plural: string;
}

const cluster = { group: 'cluster.x-k8s.io', versions: ['v1beta2', 'v1beta1'] };
const core = { group: '', versions: ['v1'] };

/** The kinds that are watched. */
export const factResources: Readonly<Record<CollectedKind, FactResource>> = {
  ExtensionConfig: {
    group: 'runtime.cluster.x-k8s.io',
    versions: ['v1beta2', 'v1alpha1'],
    plural: 'extensionconfigs',
  },
  ClusterClass: { ...cluster, plural: 'clusterclasses' },
  Cluster: { ...cluster, plural: 'clusters' },
  Namespace: { ...core, plural: 'namespaces' },
  Service: { ...core, plural: 'services' },
};

/** The name of a resource in permissions. */
export function resourceName({ group, plural }: FactResource): string {
  return group === '' ? plural : `${plural}.${group}`;
}

/** The path of an API version, below which its resources are. */
export function versionPath(group: string, version: string): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}
