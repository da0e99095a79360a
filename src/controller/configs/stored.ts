import {
  apiVersionOf,
  decodeExtensionConfig,
  type ExtensionConfig,
  hubVersion,
  kind,
} from '../../extensionconfig/index.ts';
import { isStatus, type KubernetesClient } from '../../kubernetes/client/index.ts';
import {
  dns1123SubdomainProblems,
  isJsonObject,
  isSame,
  type JsonObject,
  mergePatchOf,
} from '../../kubernetes/index.ts';
import type { ExtensionConfigStatus } from './status.ts';

export const collectionPath = `/apis/${apiVersionOf(hubVersion)}/extensionconfigs`;

/** An ExtensionConfig as stored by the API server. */
export type StoredConfig = ExtensionConfig & {
  metadata: { name: string; uid: string; resourceVersion: string; generation: number };
};

/** Reads an object of the API server as an ExtensionConfig; undefined if it lacks what the controller needs. */
export function readStored(object: JsonObject): StoredConfig | undefined {
  const { metadata } = object;
  if (!isJsonObject(metadata)) {
    return undefined;
  }
  const { name, uid, resourceVersion, generation } = metadata;
  const isStored =
    typeof name === 'string' &&
    dns1123SubdomainProblems(name).length === 0 &&
    typeof uid === 'string' &&
    typeof resourceVersion === 'string' &&
    typeof generation === 'number';
  // Items of lists may lack these two fields.
  const whole = { ...object, apiVersion: apiVersionOf(hubVersion), kind };
  return isStored ? (decodeExtensionConfig(whole, hubVersion).object as StoredConfig) : undefined;
}

/** The object was changed by another client between reading and writing. */
export class ConfigConflict extends Error {}

/** The object has been deleted, or replaced by another one with the same name. */
export class ConfigGone extends Error {}

/** Number of conflicts in a row after which the run starts over. */
const maxConflicts = 5;

/**
 * Writes ExtensionConfigs of a cluster. Writes are merge patches with the resourceVersion, so that nothing that other
 * clients wrote is lost, and unknown fields are preserved.
 */
export function createConfigStore(cluster: KubernetesClient) {
  const pathOf = (config: StoredConfig) => `${collectionPath}/${encodeURIComponent(config.metadata.name)}`;

  async function request(
    config: StoredConfig,
    ...parameters: Parameters<typeof cluster.request>
  ): Promise<StoredConfig> {
    const { name, uid } = config.metadata;
    try {
      const stored = readStored(await cluster.request(...parameters));
      if (stored?.metadata.uid === uid) {
        return stored;
      }
    } catch (error) {
      if (isStatus(error, 409)) {
        throw new ConfigConflict(`${name} was changed by another client`);
      }
      if (!isStatus(error, 404)) {
        throw error;
      }
    }
    throw new ConfigGone(`${name} is no longer the same ExtensionConfig`);
  }

  function patch(path: string, config: StoredConfig, change: JsonObject): Promise<StoredConfig> {
    const { uid, resourceVersion } = config.metadata;
    return request(config, 'PATCH', path, { ...change, metadata: { uid, resourceVersion } });
  }

  return {
    /**
     * Writes the status that `change` returns, if it differs. If another client has written in the meantime, the object
     * is read again, unless its spec or its annotations have changed.
     *
     * @returns the object after the write.
     * @throws {ConfigConflict} when these have changed, or after five conflicts in a row.
     */
    async writeStatus(
      config: StoredConfig,
      change: (status: ExtensionConfigStatus | undefined) => ExtensionConfigStatus,
    ): Promise<StoredConfig> {
      let current = config;
      for (let conflicts = 0; ; conflicts++) {
        const before = (current.status ?? {}) as JsonObject;
        const after = change(current.status) as JsonObject;
        const difference = mergePatchOf(before, after);
        if (difference === undefined) {
          return current;
        }
        try {
          return await patch(`${pathOf(current)}/status`, current, { status: difference });
        } catch (error) {
          if (!(error instanceof ConfigConflict) || conflicts >= maxConflicts) {
            throw error;
          }
        }
        current = await request(current, 'GET', pathOf(current));
        const { generation, annotations } = current.metadata;
        // An annotation may have paused discovery, or resumed it.
        if (generation !== config.metadata.generation || !isSame(annotations, config.metadata.annotations)) {
          throw new ConfigConflict(`${config.metadata.name} was changed by another client`);
        }
      }
    },
    /** Writes a caBundle (base64). @throws {ConfigConflict} when another client has written in the meantime. */
    writeCaBundle: (config: StoredConfig, caBundle: string): Promise<StoredConfig> =>
      patch(pathOf(config), config, { spec: { clientConfig: { caBundle } } }),
  };
}

export type ConfigStore = ReturnType<typeof createConfigStore>;
