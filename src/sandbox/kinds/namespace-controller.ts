import { itemsAt, type JsonObject } from '../../kubernetes/index.ts';
import type { Registry } from '../resources/registry.ts';
import { metadataOf, namespaceStorage } from '../resources/resource.ts';
import { type Store, storageKey } from '../storage/store.ts';
import { soon } from './soon.ts';

/**
 * How long a deleted namespace stays Terminating, in milliseconds. On a cluster it takes seconds. Without a delay,
 * `kubectl delete -k` would no longer find the objects in a namespace that it has just deleted.
 */
const grace = 1_000;

/**
 * The controller that finishes the deletion of namespaces: deletes everything in them, waits for objects with
 * finalizers, then removes the namespace.
 *
 * @returns a function that stops it.
 */
export function startNamespaceController(context: { store: Store; registry: Registry; now(): string }): () => void {
  const namespaces = context.store.collection(namespaceStorage);
  const { schedule, stop } = soon(() => {
    for (const [key, namespace] of namespaces.list()) {
      if (metadataOf(namespace).deletionTimestamp !== undefined) {
        finish(key, namespace);
      }
    }
  }, grace);

  function finish(key: string, namespace: JsonObject): void {
    const { name, finalizers } = metadataOf(namespace);
    const isInside = (objectKey: string) => objectKey.startsWith(storageKey(String(name), ''));
    let left = 0;
    for (const storage of context.registry.storages()) {
      const collection = context.store.collection(storage);
      const remaining = collection.deleteAll(context.now(), isInside);
      left += remaining;
      if (remaining > 0) {
        // A listener that is there already is not added again.
        collection.subscribe(schedule);
      }
    }
    if (left === 0 && itemsAt(finalizers).length === 0) {
      namespaces.delete(key, namespace);
    }
  }

  namespaces.subscribe(schedule);
  // For namespaces that were being deleted when the sandbox was stopped.
  schedule();
  return stop;
}
