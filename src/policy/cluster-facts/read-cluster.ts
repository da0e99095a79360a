import type { KubeConfig } from '@kubernetes/client-node';
import {
  ConnectionError,
  connect,
  listPages,
  objectKey,
  shortRetries,
  withRemedy,
} from '../../kubernetes/client/index.ts';
import type { JsonObject } from '../../kubernetes/index.ts';
import type { Facts, KnownSecret } from '../facts/facts.ts';
import { namespacedName } from '../facts/parts.ts';
import { readSecret } from '../facts/secrets.ts';
import { type CollectedKind, collectedKinds, createFactsStore } from '../facts/store.ts';
import { annotatedSecret } from '../rules/fields/secret.ts';
import { createNamedObjects } from './named-objects.ts';
import { factResources, resourceName, servedVersion, versionPath } from './resources.ts';

const maxObjects = 100_000;

interface ClusterReading {
  facts: Facts;
  /** Kinds that could not be read, with the reason: rules about them report nothing. */
  problems: Map<CollectedKind | 'Secret', string>;
  /** Reads the other object that an ExtensionConfig depends on: the Secret in its annotation. */
  prepare(object: JsonObject): Promise<void>;
}

interface ReadClusterOptions {
  config: KubeConfig;
  signal: AbortSignal;
  /** Called after each page, with the name of the collection and the number of objects so far. */
  onProgress?(resource: string, count: number): void;
}

export async function readCluster({ config, signal, onProgress }: ReadClusterOptions): Promise<ClusterReading> {
  const cluster = connect(config, signal, shortRetries);
  const problems: ClusterReading['problems'] = new Map();
  const objects = createNamedObjects(cluster, (kind, problem) => {
    if (problem !== undefined) {
      problems.set(kind, problem);
    }
  });
  const secrets = new Map<string, KnownSecret | 'absent' | undefined>();
  const store = createFactsStore({ secrets: { find: (namespace, name) => secrets.get(`${namespace}/${name}`) } });
  const known: CollectedKind[] = [];
  let count = 0;
  let unreachable: string | undefined;
  for (const kind of collectedKinds) {
    if (unreachable !== undefined) {
      problems.set(kind, unreachable);
      continue;
    }
    const resource = factResources[kind];
    const name = resourceName(resource);
    try {
      const version = await servedVersion(cluster, resource);
      const path = version === undefined ? undefined : `${versionPath(resource.group, version)}/${resource.plural}`;
      for await (const { items } of path === undefined
        ? []
        : listPages(cluster, { path, resource: name, maxObjects })) {
        for (const object of items) {
          store.collections[kind].put(objectKey(object), object);
        }
        count += items.length;
        onProgress?.(name, count);
      }
      known.push(kind);
    } catch (error) {
      signal.throwIfAborted();
      const message = withRemedy(error as Error);
      problems.set(kind, message);
      // If the server cannot be reached, the other kinds need not be tried.
      unreachable = error instanceof ConnectionError ? message : undefined;
    }
  }
  return {
    facts: store.factsAbout(known),
    problems,
    async prepare(object) {
      const named = annotatedSecret(object);
      if (named === undefined) {
        return;
      }
      const key = namespacedName(named.namespace, named.name);
      if (!secrets.has(key)) {
        const object = await objects.read('Secret', named.namespace, named.name);
        secrets.set(key, typeof object === 'object' ? readSecret(object) : object);
      }
    },
  };
}
