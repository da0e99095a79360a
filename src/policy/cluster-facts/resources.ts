import { isStatus, type KubernetesClient } from '../../kubernetes/client/index.ts';
import { isJsonObject } from '../../kubernetes/index.ts';
import type { CollectedKind } from '../facts/store.ts';

export interface FactResource {
  group: string;
  /** Versions that can be read in the same way, the preferred one first. */
  versions: readonly string[];
  plural: string;
}

const cluster = { group: 'cluster.x-k8s.io', versions: ['v1beta2', 'v1beta1'] };
const core = { group: '', versions: ['v1'] };

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

export function versionPath(group: string, version: string): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** The first of a resource's versions that is served, if any. @throws {StatusError} on any error response but 404. */
export async function servedVersion(cluster: KubernetesClient, resource: FactResource): Promise<string | undefined> {
  if (resource.group === '') {
    return resource.versions[0];
  }
  for (const version of resource.versions) {
    try {
      const { resources } = await cluster.request('GET', versionPath(resource.group, version));
      if (Array.isArray(resources) && resources.some((one) => isJsonObject(one) && one.name === resource.plural)) {
        return version;
      }
    } catch (error) {
      // An API server responds with a plain-text 404 for a path that it does not serve; `request` distinguishes 404s of
      // other servers.
      if (!isStatus(error, 404)) {
        throw error;
      }
    }
  }
  return undefined;
}
