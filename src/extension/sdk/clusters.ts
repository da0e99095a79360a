import { LRUCache } from 'lru-cache';
import type { KubernetesClient } from '../../kubernetes/client/index.ts';
import { type JsonObject, objectsAt, textAt } from '../../kubernetes/index.ts';
import { HandlerFailure } from './handlers/handler.ts';

/** A client of an API server. */
export interface ApiClient {
  /**
   * Sends a request to a path such as `/api/v1/nodes`. The body of a PATCH is a JSON patch if it is a list, else a merge patch.
   *
   * @throws {Error} for every response but 2xx (429, 5xx and lost connections are tried again for a second).
   */
  request(method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<JsonObject>;
}

/** An object as requests have it, and how it is found again. */
export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string } | undefined;
}

/** Access to the management cluster, and to the workload clusters that it manages. */
export interface Clusters {
  /** The client of the management cluster. */
  management(): Promise<ApiClient>;
  /**
   * The client of a Cluster, by its Secret `NAME-kubeconfig`: kept until that changes, or the Cluster answers 401.
   *
   * @throws {HandlerFailure} while there is no such Secret.
   * @throws {Error} for a kubeconfig that cannot be used, or names files or programs.
   */
  workloadCluster(cluster: ObjectReference): Promise<ApiClient>;
  /** An object as it is now, with its status, which requests leave out; undefined if it is gone. */
  refetch<T extends ObjectReference>(object: T): Promise<(T & { status?: JsonObject }) | undefined>;
}

const maxClusters = 500;

/**
 * Access to the cluster in which the extension runs, or that of a kubeconfig, and to its workload clusters. The ServiceAccount
 * may get Secrets and the objects to be refetched (a ClusterRole, as manifests/api-server has a Role).
 */
export function createClusters(
  options: { kubeconfig?: string | undefined; context?: string | undefined } = {},
): Clusters {
  const never = new AbortController().signal;
  let connection: KubernetesClient | undefined;
  const workloads = new LRUCache<string, { version: string; client: KubernetesClient }>({ max: maxClusters });
  const resources = new Map<string, JsonObject[]>();
  // Only for extensions that talk to an API server, and not in a call, which it would block.
  const library = import('../../kubernetes/client/index.ts');

  async function management(): Promise<KubernetesClient> {
    if (connection === undefined) {
      const { connect, loadKubeConfig, shortRetries } = await library;
      const config = await loadKubeConfig(options);
      // Another call may have connected meanwhile.
      connection ??= connect(config, never, shortRetries);
    }
    return connection;
  }

  return {
    management: management as Clusters['management'],
    async workloadCluster({ metadata: { namespace = '', name = '' } = {} }) {
      const { connect, fetchSecret, isStatus, readKubeConfig, shortRetries } = await library;
      const where = `Secret ${namespace}/${name}-kubeconfig`;
      const found = await fetchSecret(await management(), namespace, `${name}-kubeconfig`);
      if (found?.data.value === undefined) {
        throw new HandlerFailure(`the Cluster has no kubeconfig yet: ${where} is not there, or has no value`);
      }
      const key = `${namespace}/${name}`;
      const version = `${textAt(found.secret, 'metadata', 'uid')} ${textAt(found.secret, 'metadata', 'resourceVersion')}`;
      let known = workloads.get(key);
      if (known?.version !== version) {
        known = { version, client: connect(await readKubeConfig(found.data.value, where), never, shortRetries) };
        workloads.set(key, known);
      }
      const { client } = known;
      return {
        request: (method, path, body) =>
          client.request(method, path, body as JsonObject | undefined).catch((error: unknown) => {
            if (isStatus(error, 401)) {
              workloads.delete(key);
            }
            throw error;
          }),
      };
    },
    async refetch<T extends ObjectReference>(object: T) {
      const { isStatus } = await library;
      const { apiVersion = '', kind = '', metadata: { namespace, name = '' } = {} } = object;
      const client = await management();
      const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
      const known = resources.get(group) ?? objectsAt((await client.request('GET', group)).resources);
      const resource = known.find((one) => one.kind === kind && !textAt(one, 'name').includes('/'));
      if (resource === undefined) {
        throw new Error(`the API server has no ${kind} of ${apiVersion}`);
      }
      resources.set(group, known);
      const place = resource.namespaced === true ? `/namespaces/${encodeURIComponent(namespace ?? '')}` : '';
      const path = `${group}${place}/${textAt(resource, 'name')}/${encodeURIComponent(name)}`;
      const current = await client.request('GET', path).catch((error: unknown) => {
        if (!isStatus(error, 404)) {
          throw error;
        }
      });
      return current as (T & { status?: JsonObject }) | undefined;
    },
  };
}
