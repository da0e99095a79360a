import { isJsonObject, type Json, type JsonObject } from '../../kubernetes/index.ts';
import { componentKey, componentsOf } from './components.ts';
import { visitReferences, visitValues } from './references.ts';
import { FreshNames, type Renaming } from './renaming.ts';

/** Methods of a path item, in the order of the specification. */
export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/**
 * Numbers for places, which are the same in all documents. A place is identified by its parent and its last part: paths
 * may be long.
 */
class Places {
  readonly #numbers = new Map<string, number>();

  within(place: number, part: string): number {
    const key = `${place} ${part}`;
    const number = this.#numbers.get(key) ?? this.#numbers.size + 1;
    this.#numbers.set(key, number);
    return number;
  }
}

/** Returns the new id of an operation. */
type IdOf = (place: number, id: string) => string;

/** The operations of a document, including those in callbacks, which are also operations of path items. */
class Operations {
  readonly #places = new Places();

  /** The document with the ids that `idOf` returns; the same document if none differs. */
  withIds(document: JsonObject, idOf: IdOf): JsonObject {
    return visitValues(document, (value, key) => {
      if (key === 'paths' && isJsonObject(value)) {
        const all = this.#places.within(0, 'paths');
        return visitValues(value, (item, path) => this.#item(item, this.#places.within(all, path), idOf));
      }
      return key === 'components' && isJsonObject(value) && isJsonObject(value.callbacks)
        ? this.#components(value, document, idOf)
        : value;
    }) as JsonObject;
  }

  /** Callbacks with the same name and meaning are one component; others are not. */
  #components(components: JsonObject, document: JsonObject, idOf: IdOf): Json {
    const meanings = new Map(
      componentsOf(document).flatMap(({ section, name, meaning }) =>
        section === 'callbacks' ? [[name, meaning]] : [],
      ),
    );
    const all = this.#places.within(0, 'callbacks');
    return visitValues(components, (section, key) =>
      key === 'callbacks' && isJsonObject(section)
        ? visitValues(section, (callback, name) => {
            const place = this.#places.within(this.#places.within(all, name), meanings.get(name) ?? '');
            return this.#callback(callback, place, idOf);
          })
        : section,
    );
  }

  #callback(callback: Json, place: number, idOf: IdOf): Json {
    return isJsonObject(callback)
      ? visitValues(callback, (item, url) => this.#item(item, this.#places.within(place, url), idOf))
      : callback;
  }

  #item(item: Json, place: number, idOf: IdOf): Json {
    if (!isJsonObject(item)) {
      return item;
    }
    let result = item;
    for (const method of methods) {
      const operation = item[method];
      if (isJsonObject(operation)) {
        const changed = this.#operation(operation, this.#places.within(place, method), idOf);
        result = changed === operation ? result : { ...result, [method]: changed };
      }
    }
    return result;
  }

  #operation(operation: JsonObject, place: number, idOf: IdOf): Json {
    return visitValues(operation, (value, key) => {
      if (key === 'operationId' && typeof value === 'string') {
        return idOf(place, value);
      }
      return key === 'callbacks' && isJsonObject(value)
        ? visitValues(value, (callback, name) => this.#callback(callback, this.#places.within(place, name), idOf))
        : value;
    });
  }
}

const section = 'operationId';

/**
 * The ids of the operations of documents that are being merged. The specification requires unique ids: the first
 * operation keeps its id, the others get new ones. Operations of the same path and method are the same operation.
 */
export class OperationIds {
  readonly #all = new Operations();
  /** The old and the new id of each operation, by place, from the first document that has it. */
  readonly #operations = new Map<number, { id: string; newId: string }>();
  readonly renamed: Renaming[] = [];

  constructor(documents: readonly { name: string; document: JsonObject }[]) {
    const found: { name: string; id: string; place: number }[] = [];
    for (const { name, document } of documents) {
      this.#all.withIds(document, (place, id) => {
        if (!this.#operations.has(place)) {
          this.#operations.set(place, { id, newId: id });
          found.push({ name, id, place });
        }
        return id;
      });
    }
    const names = new FreshNames(new Set(found.map(({ id }) => componentKey(section, id))));
    const seen = new Set<string>();
    for (const { name, id, place } of found) {
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
    const renamed = this.#all.withIds(document, (place, id) => {
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
  new Operations().withIds(document, (_place, id) => {
    ids.add(id);
    return id;
  });
  return ids;
}
