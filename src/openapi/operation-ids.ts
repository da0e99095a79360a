import { isJsonObject, type Json, type JsonObject, setOwn } from '../kubernetes/index.ts';
import { componentKey } from './components.ts';
import { visitReferences } from './references.ts';
import { FreshNames, type Renaming } from './renaming.ts';

/** Methods of a path item, in the order of the specification. */
export const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/** An operation of a document that has an id. */
interface Identified {
  path: string;
  method: string;
  operation: JsonObject;
  id: string;
}

function* identifiedIn(document: JsonObject): Generator<Identified> {
  for (const [path, item] of Object.entries(isJsonObject(document.paths) ? document.paths : {})) {
    for (const method of isJsonObject(item) ? methods : []) {
      const operation = (item as JsonObject)[method];
      if (isJsonObject(operation) && typeof operation.operationId === 'string') {
        yield { path, method, operation, id: operation.operationId };
      }
    }
  }
}

const section = 'operationId';

/**
 * The ids of the operations of documents that become one. The specification demands that each is there once: the first
 * operation keeps its id, the others get new ones. Operations of the same path and method are one.
 */
export class OperationIds {
  /** The old and the new id of each operation, by method and path; those of the first document that has it count. */
  readonly #operations = new Map<string, { id: string; newId: string }>();
  readonly renamed: Renaming[] = [];

  constructor(documents: readonly { name: string; document: JsonObject }[]) {
    const found: { name: string; id: string; place: string }[] = [];
    for (const { name, document } of documents) {
      for (const { path, method, id } of identifiedIn(document)) {
        const place = `${method} ${path}`;
        if (!this.#operations.has(place)) {
          this.#operations.set(place, { id, newId: id });
          found.push({ name, id, place });
        }
      }
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

  /** A document with the new ids in its operations, and in the links to them. */
  applied(document: JsonObject): JsonObject {
    const paths: JsonObject = isJsonObject(document.paths) ? { ...document.paths } : {};
    /** What a link means by an id: the first operation of this document that has it. */
    const targets = new Map<string, string>();
    for (const { path, method, operation, id } of identifiedIn(document)) {
      const known = this.#operations.get(`${method} ${path}`);
      if (known === undefined) {
        continue;
      }
      if (!targets.has(id)) {
        targets.set(id, known.newId);
      }
      // One that another document has by another id is not the same, and is left out.
      if (known.id === id && known.newId !== id) {
        setOwn(paths, path, { ...(paths[path] as JsonObject), [method]: { ...operation, operationId: known.newId } });
      }
    }
    if ([...targets].every(([id, newId]) => id === newId)) {
      return document;
    }
    return visitReferences(
      { ...document, paths },
      { reference: (text) => text, operation: (id) => targets.get(id) ?? id },
    ) as JsonObject;
  }
}

/** The ids of all operations of paths. */
export function operationIdsOf(paths: Json): Set<string> {
  return new Set([...identifiedIn({ paths })].map(({ id }) => id));
}
