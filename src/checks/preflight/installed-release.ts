import { type KubernetesClient, StatusError } from '../../kubernetes/client/index.ts';
import { isJsonObject, itemsAt } from '../../kubernetes/index.ts';
import { parseRelease, type Release } from '../../runtimehooks/index.ts';

/** Where clusterctl records the providers that it has installed. */
const inventory = '/apis/clusterctl.cluster.x-k8s.io/v1alpha3/providers';

/**
 * The release of Cluster API that clusterctl has installed; undefined if clusterctl did not install it, or its
 * inventory may not be read.
 *
 * @throws {ConnectionError} and the other errors of `Cluster.request` that are not refusals.
 */
export async function installedRelease(cluster: KubernetesClient): Promise<Release | undefined> {
  try {
    const { items } = await cluster.request('GET', inventory);
    const core = itemsAt(items)
      .filter(isJsonObject)
      .find(({ type, providerName }) => type === 'CoreProvider' && providerName === 'cluster-api');
    return typeof core?.version === 'string' ? parseRelease(core.version) : undefined;
  } catch (error) {
    if (error instanceof StatusError && (error.code === 403 || error.code === 404)) {
      return undefined;
    }
    throw error;
  }
}
