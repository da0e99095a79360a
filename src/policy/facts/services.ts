import { itemsAt, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { type FactCollection, IndexedCollection } from './collection.ts';
import type { KnownService, ServiceFacts } from './facts.ts';
import { namespacedName } from './parts.ts';

/** The facts of a Service whose only port is 443; shared, since most Services are like that. */
const onlyHttps: KnownService = { ports: [443] };

/** The facts of a Service. */
export function readService(object: JsonObject): KnownService {
  const spec = objectAt(object, 'spec');
  if (spec.type === 'ExternalName') {
    return { ports: [] };
  }
  const ports = itemsAt(spec, 'ports').flatMap((item) => {
    const { port, protocol = 'TCP' } = objectAt(item);
    return typeof port === 'number' && protocol === 'TCP' ? [port] : [];
  });
  return ports.length === 1 && ports[0] === 443 ? onlyHttps : { ports };
}

/**
 * Services by namespace and name.
 *
 * @param isComplete whether a Service that was not added is certainly absent from a namespace.
 */
export function createServices(isComplete: (namespace: string) => boolean): {
  collection: FactCollection;
  facts: ServiceFacts;
} {
  const collection = new IndexedCollection<KnownService>({
    reduce: (_key, object) => readService(object),
    add() {},
    remove() {},
  });
  return {
    collection,
    facts: {
      find: (namespace, name) =>
        collection.get(namespacedName(namespace, name)) ?? (isComplete(namespace) ? 'absent' : undefined),
    },
  };
}
