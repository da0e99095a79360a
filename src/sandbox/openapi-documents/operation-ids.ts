import { createHash } from 'node:crypto';
import { type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { componentKey, componentsOf } from './components.ts';
import { visitReferences } from './references.ts';
import { FreshNames, type Renaming } from './renaming.ts';

/** Methods of a path item, in the order of the specification. */
export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** An operation with an id, and its place, which is the same in all documents. */
interface IdentifiedOperation {
  id: string;
  place: string;
}

/** The operations of a document, including those in callbacks, which their id tells from others at the same place. */
function operationsOf(document: JsonObject): IdentifiedOperation[] {
  const operations: IdentifiedOperation[] = [];
  const collect = (part: JsonObject, placeOf: (id: string) => string) =>
    visitReferences(part, {
      reference: (text) => text,
      operation(id) {
        operations.push({ id, place: placeOf(id) });
        return id;
      },
    });
  for (const [path, item] of Object.entries(objectAt(document, 'paths'))) {
    // A path may be long, and have many operations.
    const at = createHash('sha256').update(path).digest('base64');
    for (const method of methods) {
      const operation = objectAt(item, method);
      collect(operation, (id) => `${at} ${method}${id === operation.operationId ? '' : ` ${id}`}`);
    }
  }
  if (Object.keys(objectAt(document, 'components', 'callbacks')).length > 0) {
    // Callbacks with the same name and meaning are one component; others are not.
    for (const { value, meaning } of componentsOf(document).filter(({ section }) => section === 'callbacks')) {
      collect(objectAt(value), (id) => `callbacks ${meaning} ${id}`);
    }
  }
  return operations;
}

const section = 'operationId';

/**
 * The new ids of operations of documents that are being merged, by old id, for each document. The specification requires
 * unique ids: the first operation keeps its id, the others get new ones. Operations of the same path and method are the
 * same operation.
 */
export function newOperationIds(documents: readonly { name: string; document: JsonObject }[]) {
  const all = documents.map(({ name, document }) => ({ name, operations: operationsOf(document) }));
  const names = new FreshNames(
    new Set(all.flatMap(({ operations }) => operations.map(({ id }) => componentKey(section, id)))),
  );
  const seen = new Set<string>();
  const byPlace = new Map<string, string>();
  const renamed: Renaming[] = [];
  const newIds = all.map(({ name, operations }) => {
    const ids = new Map<string, string>();
    for (const { id, place } of operations) {
      let newName = ids.get(id) ?? byPlace.get(place);
      if (newName === undefined) {
        newName = seen.has(id) ? names.take(section, id) : id;
        if (newName !== id) {
          renamed.push({ section, name: id, newName, documents: [name] });
        }
      }
      ids.set(id, newName);
      byPlace.set(place, byPlace.get(place) ?? newName);
      seen.add(id);
    }
    return ids;
  });
  return { newIds, renamed };
}

export function operationIdsOf(document: JsonObject): Set<string> {
  return new Set(operationsOf(document).map(({ id }) => id));
}
