import {
  apiVersionOf,
  decodeExtensionConfig,
  type ExtensionConfig,
  hubVersion,
  kind,
} from '../../extensionconfig/index.ts';
import { isStatus, type KubernetesClient } from '../../kubernetes/client/index.ts';
import { dns1123SubdomainProblems, isJsonObject, isSame, type JsonObject } from '../../kubernetes/index.ts';
import type { ExtensionConfigStatus } from './status.ts';

export const collectionPath = `/apis/${apiVersionOf(hubVersion)}/extensionconfigs`;

export type StoredConfig = ExtensionConfig & {
  metadata: { name: string; uid: string; resourceVersion: string; generation: number };
};

/** Undefined if the object lacks what the controller needs. */
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

/** Another client has written the object in the meantime. */
export class ConfigConflict extends Error {}

/** The object has been deleted, or replaced by another one with the same name. */
export class ConfigGone extends Error {}

/** Writes by merge patches with the resourceVersion: nothing of other clients is lost. @throws {ConfigConflict | ConfigGone} */
export function createConfigStore(cluster: KubernetesClient) {
  async function patch(config: StoredConfig, subresource: '' | '/status', change: JsonObject): Promise<StoredConfig> {
    const { name, uid, resourceVersion } = config.metadata;
    const path = `${collectionPath}/${encodeURIComponent(name)}${subresource}`;
    try {
      const body = { ...change, metadata: { uid, resourceVersion } };
      const stored = readStored(await cluster.request('PATCH', path, body));
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

  return {
    async writeStatus(config: StoredConfig, status: ExtensionConfigStatus): Promise<StoredConfig> {
      const [before, after] = [config.status ?? {}, status] as JsonObject[];
      const changed = Object.keys({ ...before, ...after }).filter((name) => !isSame(before?.[name], after?.[name]));
      const fields = Object.fromEntries(changed.map((name) => [name, after?.[name] ?? null]));
      return changed.length === 0 ? config : patch(config, '/status', { status: fields });
    },
    writeCaBundle: (config: StoredConfig, caBundle: string) =>
      patch(config, '', { spec: { clientConfig: { caBundle } } }),
  };
}
