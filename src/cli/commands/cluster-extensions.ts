import { apiVersionOf, group, hubVersion, kind, type Version } from '../../extensionconfig/index.ts';
import {
  connect,
  isStatus,
  type KubernetesClient,
  loadKubeConfig,
  shortRetries,
} from '../../kubernetes/client/index.ts';
import { isJsonObject, type JsonObject, objectAt, objectsAt } from '../../kubernetes/index.ts';
import type { FlagValues } from '../framework/flags.ts';
import { FailureError, type Io } from '../framework/program.ts';
import { type clusterFlags, orNoCluster } from './cluster-flags.ts';
import { type ExtensionConfigs, readExtensionConfig } from './read-extension-config.ts';

function readAll(objects: readonly JsonObject[]): ExtensionConfigs {
  return new Map(objects.map((object) => [readExtensionConfig(object, () => 'the cluster'), object]));
}

async function fromClusterIn(
  version: Version,
  cluster: KubernetesClient,
  names: readonly string[],
): Promise<ExtensionConfigs> {
  const collection = `/apis/${apiVersionOf(version)}/extensionconfigs`;
  if (names.length > 0) {
    const objects = [...new Set(names)].map((name) => cluster.request('GET', `${collection}/${name}`));
    return readAll(await Promise.all(objects));
  }
  const { items } = await cluster.request('GET', collection);
  const objects = objectsAt(items);
  // The items of a list have no apiVersion and kind.
  return readAll(objects.map((item) => ({ ...item, apiVersion: apiVersionOf(version), kind })));
}

const isUnserved = (error: unknown) => isStatus(error, 404) && error.message.includes('does not serve');

async function fromCluster(cluster: KubernetesClient, names: readonly string[]): Promise<ExtensionConfigs> {
  try {
    return await fromClusterIn(hubVersion, cluster, names);
  } catch (error) {
    if (!isUnserved(error)) {
      throw error;
    }
    try {
      // Cluster API up to 1.10 has no other version.
      return await fromClusterIn('v1alpha1', cluster, names);
    } catch (older) {
      throw isUnserved(older) ? error : older;
    }
  }
}

function explained(error: unknown): unknown {
  if (!isStatus(error, 404)) {
    return error;
  }
  const hint = isUnserved(error)
    ? `: the cluster has no ${kind}s of ${group}; pass files with -f`
    : '; "kubectl get extensionconfigs" lists those of the cluster';
  return new FailureError(`${error.message}${hint}`);
}

/** The ExtensionConfigs with these names (all without any) of the cluster that the flags name. */
export async function extensionsOfCluster(flags: FlagValues<typeof clusterFlags>, names: readonly string[], io: Io) {
  const config = await orNoCluster(loadKubeConfig(flags, io.env), '', '; or pass files with -f');
  const cluster = connect(config, io.signal, shortRetries);
  try {
    const originals = await fromCluster(cluster, names);
    return {
      configs: [...originals.keys()],
      originals,
      cluster,
      namespaceLabels: async (namespace: string) => {
        try {
          const { metadata } = await cluster.request('GET', `/api/v1/namespaces/${encodeURIComponent(namespace)}`);
          const labels = isJsonObject(metadata) ? metadata.labels : undefined;
          return objectAt(labels) as Record<string, string>;
        } catch (error) {
          if (isStatus(error, 404)) {
            return undefined;
          }
          throw error;
        }
      },
    };
  } catch (error) {
    throw explained(error);
  }
}
