import { itemsAt } from '../../kubernetes/index.ts';
import { metadataOf, namespaceStorage } from '../resources/resource.ts';
import { soon, storageKey } from '../storage/store.ts';
import type { ApiContext } from '../webhooks/admission.ts';

/** How long a deleted namespace stays, in milliseconds, so that `kubectl delete -k` still finds the objects in it. */
const grace = 1_000;

/** Deletes everything in deleted namespaces, waits for objects with finalizers, then removes the namespaces. */
export function startNamespaceController({ store, registry, now }: ApiContext, signal: AbortSignal): void {
  const namespaces = store.collection(namespaceStorage);
  const schedule = soon(reconcile, signal, grace);

  function reconcile(): void {
    const deleted = namespaces.list().filter(([, namespace]) => metadataOf(namespace).deletionTimestamp !== undefined);
    for (const [key, namespace] of deleted) {
      const { name, finalizers } = metadataOf(namespace);
      const isInside = (objectKey: string) => objectKey.startsWith(storageKey(String(name), ''));
      let left = 0;
      for (const storage of registry.storages()) {
        const collection = store.collection(storage);
        const remaining = collection.deleteAll(now(), isInside);
        left += remaining;
        if (remaining > 0) {
          // A listener that is there already is not added again.
          collection.subscribe(schedule);
        }
      }
      if (left === 0 && itemsAt(finalizers).length === 0) {
        namespaces.write(key, namespace, undefined);
      }
    }
  }

  namespaces.subscribe(schedule);
}
