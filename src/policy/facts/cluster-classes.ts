import { itemsAt, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { type FactCollection, Index, IndexedCollection } from './collection.ts';
import type { ClusterClassFacts, HandlerReference } from './facts.ts';
import { extensionOfHandler, nonEmptyText } from './parts.ts';

/** The fields of an external patch that name a handler, in v1beta2 and in earlier versions. */
const patchFields = [
  'generatePatchesExtension',
  'validateTopologyExtension',
  'discoverVariablesExtension',
  'generateExtension',
  'validateExtension',
] as const;

const maxHandlerLength = 512;

/** The places that name a handler; for each handler only the first. */
function referencesOf(clusterClass: string, object: JsonObject): HandlerReference[] {
  const references = new Map<string, HandlerReference>();
  const add = (holder: JsonObject, at: string, field: string) => {
    const handler = nonEmptyText(holder, field);
    // Without a dot it does not name an ExtensionConfig.
    const isName = handler !== undefined && handler.length <= maxHandlerLength && handler.includes('.');
    if (isName && !references.has(handler)) {
      references.set(handler, { clusterClass, field: `${at}.${field}`, handler });
    }
  };
  const spec = objectAt(object, 'spec');
  for (const [index, patch] of itemsAt(spec, 'patches').entries()) {
    const external = objectAt(patch, 'external');
    for (const field of patchFields) {
      add(external, `spec.patches[${index}].external`, field);
    }
  }
  add(objectAt(spec, 'upgrade', 'external'), 'spec.upgrade.external', 'generateUpgradePlanExtension');
  return [...references.values()];
}

/** ClusterClasses by the extensions whose handlers they name. One that is being deleted no longer needs them. */
export function createClusterClasses(): { collection: FactCollection; facts: ClusterClassFacts } {
  const byExtension = new Index<readonly HandlerReference[], HandlerReference>((references) =>
    references.map((reference) => [extensionOfHandler(reference.handler), reference]),
  );
  const collection = new IndexedCollection(
    (key, object) =>
      nonEmptyText(object, 'metadata', 'deletionTimestamp') === undefined ? referencesOf(key, object) : [],
    [byExtension],
  );
  return { collection, facts: { namingExtension: (extension) => byExtension.get(extension) } };
}
