import { isStatus, type KubernetesClient } from '../../kubernetes/client/index.ts';
import { isJsonObject } from '../../kubernetes/index.ts';
import { type FactResource, versionPath } from './resources.ts';

/**
 * The first of a resource's versions that an API server serves; undefined if it serves none.
 *
 * @throws {StatusError} on any error response but 404; otherwise as `request`.
 */
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
