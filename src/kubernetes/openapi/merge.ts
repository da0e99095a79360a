import { setImmediate as nextTurn } from 'node:timers/promises';
import { isJsonObject, type JsonObject, objectAt } from '../objects/json/json.ts';
import { isSame } from '../objects/json/json-patch.ts';
import { componentKey, componentSections, variantsOf } from './components.ts';
import { renameReferences } from './references.ts';

export interface NamedDocument {
  name: string;
  document: JsonObject;
}

interface Renaming {
  section: string;
  name: string;
  newName: string;
  documents: string[];
}

/** A part that can occur only once in a document and differs between the input documents. */
interface MergeConflict {
  /** Its place in the merged document: `paths./apis`. */
  place: string;
  /** The document whose value was kept, and those whose values were dropped. */
  kept: string;
  leftOut: string[];
}

export interface MergeReport {
  documents: number;
  paths: number;
  /** Number of components in all documents together, and in the merged one. */
  componentsBefore: number;
  componentsAfter: number;
  renamed: Renaming[];
  conflicts: MergeConflict[];
  dangling: { document: string; reference: string }[];
}

export interface Merged {
  document: JsonObject;
  report: MergeReport;
}

const sorted = (entries: [string, JsonObject][]) => Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));

/** The `security` and `servers` of the first document, which apply to all operations, and the documents that have others. */
function sharedOf(documents: readonly NamedDocument[]): { shared: JsonObject; conflicts: MergeConflict[] } {
  const [first, ...others] = documents;
  const shared: JsonObject = {};
  const conflicts: MergeConflict[] = [];
  for (const field of ['security', 'servers']) {
    const value = first?.document[field];
    if (value !== undefined) {
      shared[field] = value;
    }
    const leftOut = others.filter(({ document }) => !isSame(document[field], value)).map(({ name }) => name);
    if (leftOut.length > 0) {
      conflicts.push({ place: field, kept: first?.name ?? '', leftOut });
    }
  }
  return { shared, conflicts };
}

/**
 * Merges documents into one OpenAPI 3.0 document. Components with the same name and meaning become one; if the meanings
 * differ, all but the first become `NAME_v2`, `NAME_v3`, … with all references to them, and so do ids of operations. Of `info`
 * and paths, the first document wins. It yields to other work after each document. @throws the reason of the signal.
 */
export async function mergeDocuments(documents: readonly NamedDocument[], signal?: AbortSignal): Promise<Merged> {
  const turn = async () => {
    await nextTurn();
    signal?.throwIfAborted();
  };
  const all = await variantsOf(
    documents.map(({ document }) => document),
    turn,
  );

  const dangling = new Map<string, { document: string; reference: string }>();
  const names = documents.map(() => new Map<string, string>());
  const renameIn = (owner: number) => (section: string, name: string) => {
    const reference = componentKey(section, name);
    const newName = names[owner]?.get(reference);
    if (newName === undefined && section !== 'operationId') {
      const document = documents[owner]?.name ?? '';
      dangling.set(`${document}\n${reference}`, { document, reference });
    }
    return newName ?? name;
  };
  for (const { section, name, newName, owners } of all) {
    for (const owner of owners) {
      names[owner]?.set(componentKey(section, name), newName);
    }
  }
  const sections = Map.groupBy(all, ({ section }) => section);
  const components = componentSections.flatMap((section) => {
    const entries = (sections.get(section) ?? []).map(({ newName, value, owners }): [string, JsonObject] => [
      newName,
      renameReferences(value, renameIn(owners[0] ?? 0)) as JsonObject,
    ]);
    return entries.length === 0 ? [] : [[section, sorted(entries)] as const];
  });

  const paths = new Map<string, { from: string; item: JsonObject }>();
  const conflicts = new Map<string, MergeConflict>();
  for (const [owner, { name, document }] of documents.entries()) {
    const own = renameReferences(objectAt(document, 'paths'), renameIn(owner)) as JsonObject;
    for (const [path, item] of Object.entries(own)) {
      if (!path.startsWith('/') || !isJsonObject(item)) {
        continue;
      }
      const known = paths.get(path) ?? { from: name, item };
      paths.set(path, known);
      if (!isSame(known.item, item)) {
        const conflict = conflicts.get(path) ?? { place: `paths.${path}`, kept: known.from, leftOut: [] };
        conflicts.set(path, conflict);
        conflict.leftOut.push(name);
      }
    }
    await turn();
  }

  const { shared, conflicts: sharedConflicts } = sharedOf(documents);
  const merged = all.filter(({ section }) => section !== 'operationId');
  return {
    document: {
      openapi: '3.0.0',
      info: documents[0]?.document.info ?? { title: 'nothing', version: '0' },
      ...shared,
      paths: sorted([...paths].map(([path, { item }]) => [path, item])),
      ...(components.length === 0 ? {} : { components: Object.fromEntries(components) }),
    },
    report: {
      documents: documents.length,
      paths: paths.size,
      componentsBefore: merged.reduce((sum, { owners }) => sum + owners.length, 0),
      componentsAfter: merged.length,
      renamed: all
        .filter(({ name, newName }) => newName !== name)
        .map(({ section, name, newName, owners }) => ({
          ...{ section, name, newName },
          documents: owners.map((owner) => documents[owner]?.name ?? ''),
        })),
      conflicts: [...sharedConflicts, ...conflicts.values()],
      dangling: [...dangling.values()],
    },
  };
}
