import { objectAt } from '../../kubernetes/index.ts';
import { type FactCollection, IndexedCollection } from './collection.ts';
import type { NamespaceFacts } from './facts.ts';
import { textsOf } from './parts.ts';

/** Namespaces with their labels. */
export function createNamespaces(): { collection: FactCollection; facts: NamespaceFacts } {
  const collection = new IndexedCollection<Readonly<Record<string, string>>>({
    // The API server gives every namespace this label; manifests do not contain it.
    reduce: (key, object) => ({
      'kubernetes.io/metadata.name': key,
      ...textsOf(objectAt(objectAt(object, 'metadata'), 'labels')),
    }),
    add() {},
    remove() {},
  });
  return { collection, facts: { labelsOf: (namespace) => collection.get(namespace) } };
}
