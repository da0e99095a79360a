import { apiVersionOf, type ExtensionConfig, group, kind, versions } from '../../extensionconfig/index.ts';
import {
  connect,
  isStatus,
  type KubernetesClient,
  loadKubeConfig,
  shortRetries,
} from '../../kubernetes/client/index.ts';
import { objectAt, objectsAt } from '../../kubernetes/index.ts';
import type { FlagValues } from '../framework/flags.ts';
import { FailureError, type Io } from '../framework/program.ts';
import { type clusterFlags, orNoCluster } from './cluster-flags.ts';
import { readExtensionConfig } from './read-extension-config.ts';

const isUnserved = (error: unknown) => isStatus(error, 404) && error.message.includes('does not serve');

/** @throws {FailureError} with a hint if there are none, or not these. */
async function fromCluster(cluster: KubernetesClient, names: readonly string[]): Promise<ExtensionConfig[]> {
  let unserved = '';
  // Cluster API up to 1.10 has no version but the oldest.
  for (const version of versions.toReversed()) {
    const collection = `/apis/${apiVersionOf(version)}/extensionconfigs`;
    try {
      const objects =
        names.length === 0
          ? // The items of a list have no apiVersion and kind.
            objectsAt((await cluster.request('GET', collection)).items).map((item) => ({
              ...item,
              apiVersion: apiVersionOf(version),
              kind,
            }))
          : await Promise.all([...new Set(names)].map((name) => cluster.request('GET', `${collection}/${name}`)));
      return objects.map((object) => readExtensionConfig(object, () => 'the cluster'));
    } catch (error) {
      if (!isUnserved(error)) {
        throw isStatus(error, 404)
          ? new FailureError(`${error.message}; "kubectl get extensionconfigs" lists those of the cluster`)
          : error;
      }
      unserved ||= (error as Error).message;
    }
  }
  throw new FailureError(`${unserved}: the cluster has no ${kind}s of ${group}; pass files with -f`);
}

/** The ExtensionConfigs with these names (all without any) of the cluster that the flags name. */
export async function extensionsOfCluster(flags: FlagValues<typeof clusterFlags>, names: readonly string[], io: Io) {
  const config = await orNoCluster(loadKubeConfig(flags, io.env), '', '; or pass files with -f');
  const cluster = connect(config, io.signal, shortRetries);
  return {
    configs: await fromCluster(cluster, names),
    cluster,
    namespaceLabels: async (namespace: string) => {
      try {
        const { metadata } = await cluster.request('GET', `/api/v1/namespaces/${encodeURIComponent(namespace)}`);
        return objectAt(objectAt(metadata), 'labels') as Record<string, string>;
      } catch (error) {
        if (isStatus(error, 404)) {
          return undefined;
        }
        throw error;
      }
    },
  };
}
