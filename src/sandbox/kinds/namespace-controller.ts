import type { JsonObject } from '../../kubernetes/index.ts';
import type { Registry } from '../resources/registry.ts';
import { namespaceStorage } from '../resources/resource.ts';
import { type Store, storageKey } from '../storage/store.ts';
import { deleteAll } from './delete-all.ts';

/**
 * How long a deleted namespace stays Terminating, in milliseconds. On a cluster it takes seconds. Without a delay,
 * `kubectl delete -k` would no longer find the objects in a namespace that it has just deleted.
 */
const grace = 1_000;

/** The dependencies of the controller. */
interface NamespaceControllerContext {
  store: Store;
  registry: Registry;
  now(): string;
}

/**
 * The controller that finishes the deletion of namespaces: deletes everything in them, waits for objects with
 * finalizers, then removes the namespace.
 *
 * @returns a function that stops it.
 */
export function startNamespaceController(context: NamespaceControllerContext): () => void {
  const namespaces = context.store.collection(namespaceStorage);
  const waiting = new Map<string, () => void>();
  let scheduled: NodeJS.Timeout | undefined;

  function schedule(): void {
    scheduled ??= setTimeout(() => {
      scheduled = undefined;
      for (const [key, namespace] of namespaces.list()) {
        if ((namespace.metadata as JsonObject).deletionTimestamp !== undefined) {
          finish(key, namespace);
        }
      }
    }, grace);
  }

  function contents(): string[] {
    const { registry } = context;
    const resources = [...registry.groups()].flatMap(([group, versions]) =>
      versions.flatMap((version) => registry.of(group, version)),
    );
    return [...new Set(resources.filter(({ namespaced }) => namespaced).map(({ storage }) => storage))];
  }

  function finish(key: string, namespace: JsonObject): void {
    const name = (namespace.metadata as JsonObject).name as string;
    const isInside = (objectKey: string) => objectKey.startsWith(storageKey(name, ''));
    let left = 0;
    for (const storage of contents()) {
      const collection = context.store.collection(storage);
      deleteAll(collection, context.now(), isInside);
      const remaining = collection.list().filter(([objectKey]) => isInside(objectKey)).length;
      left += remaining;
      if (remaining > 0 && !waiting.has(storage)) {
        waiting.set(storage, collection.subscribe(schedule));
      }
    }
    const finalizers = (namespace.metadata as JsonObject).finalizers;
    if (left === 0 && (!Array.isArray(finalizers) || finalizers.length === 0)) {
      namespaces.delete(key, namespace);
    }
  }

  const unsubscribe = namespaces.subscribe(schedule);
  // For namespaces that were being deleted when the sandbox was stopped.
  schedule();
  return () => {
    unsubscribe();
    clearTimeout(scheduled);
    for (const stop of waiting.values()) {
      stop();
    }
  };
}
