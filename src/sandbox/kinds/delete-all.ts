import type { JsonObject } from '../../kubernetes/index.ts';
import type { Collection } from '../storage/store.ts';

/** Deletes the objects without finalizers, and marks the others for deletion. */
export function deleteAll(collection: Collection, now: string, selects: (key: string) => boolean = () => true): void {
  for (const [key, object] of collection.list()) {
    const metadata = object.metadata as JsonObject;
    if (!selects(key)) {
      continue;
    }
    if (!Array.isArray(metadata.finalizers) || metadata.finalizers.length === 0) {
      collection.delete(key, object);
    } else if (metadata.deletionTimestamp === undefined) {
      const marked = { ...metadata, deletionTimestamp: now, deletionGracePeriodSeconds: 0 };
      collection.replace(key, object, { ...object, metadata: marked });
    }
  }
}
