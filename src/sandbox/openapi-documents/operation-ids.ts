import { type JsonObject, objectAt } from '../../kubernetes/index.ts';
import { componentKey } from './components.ts';
import { FreshNames, type Renaming } from './renaming.ts';

/** Methods of a path item, in the order of the specification. */
export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** An operation with an id, and its place, which is the same in all documents. */
interface IdentifiedOperation {
  id: string;
  place: string;
  operation: JsonObject;
}

function operationsOf(document: JsonObject): IdentifiedOperation[] {
  return Object.entries(objectAt(document, 'paths')).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = objectAt(item, method);
      const { operationId: id } = operation;
      return typeof id === 'string' ? [{ id, place: `${method} ${path}`, operation }] : [];
    }),
  );
}

const section = 'operationId';

/**
 * For each of the documents that are being merged, the new ids of its operations, and of those that its links mean, by old
 * id. The specification requires unique ids: the first operation keeps its id, the others get new ones; those in callbacks are
 * not looked at. Operations of the same path and method are the same operation.
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
