import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../../kubernetes/index.ts';
import { componentKey, componentsOf } from './components.ts';
import { visitReferences, visitValues } from './references.ts';
import { FreshNames, type Renaming } from './renaming.ts';

/** Methods of a path item, in the order of the specification. */
export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** A place within another, which is the same in all documents: a hash, since paths may be long. */
function within(place: string, ...parts: string[]): string {
  return parts.reduce((at, part) => createHash('sha256').update(`${at} ${part}`).digest('base64'), place);
}

/** Returns the new id of an operation. */
type IdOf = (place: string, id: string) => string;

/**
 * A document with the ids that `idOf` returns for its operations, including those in callbacks, which are also operations
 * of path items; the same document if none differs.
 */
function withIds(document: JsonObject, idOf: IdOf): JsonObject {
  return visitValues(document, (value, key) => {
    if (key === 'paths') {
      return withIdsOfItems(value, 'paths', idOf);
    }
    if (key !== 'components' || !isJsonObject(value) || !isJsonObject(value.callbacks)) {
      return value;
    }
    const callbacks = componentsOf(document).filter(({ section }) => section === 'callbacks');
    // Callbacks with the same name and meaning are one component; others are not.
    const places = new Map(callbacks.map(({ name, meaning }) => [name, within('callbacks', name, meaning)]));
    const visited = visitValues(value.callbacks, (callback, name) =>
      withIdsOfItems(callback, places.get(name) ?? '', idOf),
    );
    return visited === value.callbacks ? value : { ...value, callbacks: visited };
  });
}

/** As `withIds`, for a map of path items. */
function withIdsOfItems(items: Json, place: string, idOf: IdOf): Json {
  if (!isJsonObject(items)) {
    return items;
  }
  return visitValues(items, (item, path) => {
    if (!isJsonObject(item)) {
      return item;
    }
    return visitValues(item, (operation, method) =>
      methods.includes(method) && isJsonObject(operation)
        ? withIdsOfOperation(operation, within(place, path, method), idOf)
        : operation,
    );
  });
}

function withIdsOfOperation(operation: JsonObject, place: string, idOf: IdOf): Json {
  return visitValues(operation, (value, key) => {
    if (key === 'operationId' && typeof value === 'string') {
      return idOf(place, value);
    }
    return key === 'callbacks' && isJsonObject(value)
      ? visitValues(value, (callback, name) => withIdsOfItems(callback, within(place, name), idOf))
      : value;
  });
}

const section = 'operationId';

/**
 * The ids of the operations of documents that are being merged. The specification requires unique ids: the first
 * operation keeps its id, the others get new ones. Operations of the same path and method are the same operation.
 */
export class OperationIds {
  /** The old and the new id of each operation, by place, from the first document that has it. */
  readonly #operations = new Map<string, { id: string; newId: string }>();
  readonly renamed: Renaming[] = [];

  constructor(documents: readonly { name: string; document: JsonObject }[]) {
    const operations: { name: string; id: string; place: string }[] = [];
    for (const { name, document } of documents) {
      withIds(document, (place, id) => {
        if (!this.#operations.has(place)) {
          this.#operations.set(place, { id, newId: id });
          operations.push({ name, id, place });
        }
        return id;
      });
    }
    const names = new FreshNames(new Set(operations.map(({ id }) => componentKey(section, id))));
    const seen = new Set<string>();
    for (const { name, id, place } of operations) {
      if (seen.has(id)) {
        const newName = names.take(section, id);
        this.#operations.set(place, { id, newId: newName });
        this.renamed.push({ section, name: id, newName, documents: [name] });
      }
      seen.add(id);
    }
  }

  /** A document with the new ids in its operations and in links to them. */
  applied(document: JsonObject): JsonObject {
    /** The target of a link by id: the first operation of this document with that id. */
    const targets = new Map<string, string>();
    const renamed = withIds(document, (place, id) => {
      const known = this.#operations.get(place);
      if (known !== undefined && !targets.has(id)) {
        targets.set(id, known.newId);
      }
      // An operation that has a different id in another document is not the same, and is dropped.
      return known?.id === id ? known.newId : id;
    });
    if ([...targets].every(([id, newId]) => id === newId)) {
      return renamed;
    }
    return visitReferences(renamed, {
      reference: (text) => text,
      operation: (id) => targets.get(id) ?? id,
    }) as JsonObject;
  }
}

/** The ids of all operations of a document. */
export function operationIdsOf(document: JsonObject): Set<string> {
  const ids = new Set<string>();
  withIds(document, (_place, id) => {
    ids.add(id);
    return id;
  });
  return ids;
}
