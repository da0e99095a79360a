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
  operation: JsonObject;
}

/**
 * The operations of a document, including those in callbacks, which their id tells from others at the same place, and their
 * number from those of the same id.
 */
function operationsOf(document: JsonObject): IdentifiedOperation[] {
  const operations: IdentifiedOperation[] = [];
  const numbers = new Map<string, number>();
  const collect = (part: JsonObject, placeOf: (id: string) => string) =>
    visitReferences(part, {
      reference: (text) => text,
      operation(id, operation) {
        const place = placeOf(id);
        const number = numbers.get(place) ?? 0;
        numbers.set(place, number + 1);
        operations.push({ id, place: `${place} ${number}`, operation });
        return id;
      },
    });
  for (const [path, item] of Object.entries(objectAt(document, 'paths'))) {
    // A path may be long, and have many operations.
    const at = createHash('sha256').update(path).digest('base64');
    for (const method of methods) {
      const operation = objectAt(item, method);
      collect(operation, (id) => `${at} ${method} ${id === operation.operationId ? '' : id}`);
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
 * For each of the documents that are being merged, the new ids of its operations, and of those that its links mean, by old
 * id. The specification requires unique ids: the first operation keeps its id, the others get new ones. Operations of the
 * same path and method are the same operation.
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
    const ofOperations = new Map<JsonObject, string>();
    const ofLinks = new Map<string, string>();
    for (const { id, place, operation } of operations) {
      let newName = byPlace.get(place);
      if (newName === undefined) {
        newName = seen.has(id) ? names.take(section, id) : id;
        if (newName !== id) {
          renamed.push({ section, name: id, newName, documents: [name] });
        }
      }
      ofOperations.set(operation, newName);
      ofLinks.set(id, ofLinks.get(id) ?? newName);
      byPlace.set(place, newName);
      seen.add(id);
    }
    return { ofOperations, ofLinks };
  });
  return { newIds, renamed };
}

export function operationIdsOf(document: JsonObject): Set<string> {
  return new Set(operationsOf(document).map(({ id }) => id));
}
