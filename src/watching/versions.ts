import { type Cluster, StatusError } from '../cluster/index.ts';
import { isJsonObject } from '../kubernetes/index.ts';
import { type FactResource, versionPath } from './resources.ts';

/**
 * The first version of a resource that an API server serves; undefined when it serves none of them.
 *
 * @throws {StatusError} on any error response but 404; otherwise as `request`.
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
      // An API server responds with 404 in plain text for a path that it does not serve; `request` tells other servers'
      // 404s apart.
      if (!(error instanceof StatusError && error.code === 404)) {
        throw error;
      }
    }
  }
  return undefined;
}
