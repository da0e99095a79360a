import { type Cluster, StatusError } from '../cluster/index.ts';
import { isJsonObject } from '../kubernetes/index.ts';
import { type FactResource, versionPath } from './resources.ts';

/**
 * The first version of a resource that an API server serves; undefined when it serves none of them.
 *
 * @throws {StatusError} on any refusal but 404, and what `request` throws.
 */
export async function servedVersion(cluster: Cluster, resource: FactResource): Promise<string | undefined> {
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
      // For a path that it does not serve an API server says 404 in plain text; `request` tells others' 404 apart.
      if (!(error instanceof StatusError && error.code === 404)) {
        throw error;
      }
    }
  }
  return undefined;
}
