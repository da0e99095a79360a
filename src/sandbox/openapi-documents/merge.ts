import { setImmediate as nextTurn } from 'node:timers/promises';
import { isJsonObject, isSame, itemsAt, type Json, type JsonObject, objectAt, setOwn } from '../../kubernetes/index.ts';
import { type Component, componentKey, componentSections, componentsOf } from './components.ts';
import { methods, newOperationIds, operationIdsOf } from './operation-ids.ts';
import { formatReference, parseReference, visitReferences } from './references.ts';
import { FreshNames, type Renaming } from './renaming.ts';

/** A document to merge, and its name in the report. */
export interface NamedDocument {
  name: string;
  /** OpenAPI 3.0. It is not changed. */
  document: JsonObject;
}

/** A part that can occur only once in a document and differs between the input documents. */
interface MergeConflict {
  /** Its place in the merged document: `paths./apis get`. */
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
  /** OpenAPI v2 references, `#/definitions/NAME`, that were corrected: API servers leave them in an allOf. */
  corrected: { document: string; reference: string }[];
  /** References to components that the document lacks. */
  dangling: { document: string; reference: string }[];
}

export interface Merged {
  document: JsonObject;
  report: MergeReport;
}

/** Fields of a path item that apply to all of its operations: without them an operation has another meaning. */
const ofAllOperations = ['$ref', 'summary', 'description', 'servers', 'parameters'];
const definitionPrefix = '#/definitions/';

/** A component of one name and one meaning, and the documents that have it, by index. */
interface Variant {
  newName: string;
  owners: number[];
  component: Component;
}

function sectionOf(document: JsonObject, section: string): JsonObject {
  return objectAt(document, 'components', section);
}

/** A document with new ids of its operations, and references in the form of OpenAPI v2 corrected if a component has their name. */
function corrected(
  { name, document }: NamedDocument,
  ids: ReturnType<typeof newOperationIds>['newIds'][number] | undefined,
  report: Pick<MergeReport, 'corrected' | 'dangling'>,
): JsonObject {
  const schemas = sectionOf(document, 'schemas');
  const reported = new Set<string>();
  const note = (list: MergeReport['dangling'], reference: string) => {
    if (!reported.has(reference)) {
      reported.add(reference);
      list.push({ document: name, reference });
    }
  };
  return visitReferences(document, {
    operation: (id, operation) => ids?.ofOperations.get(operation) ?? id,
    link: (id) => ids?.ofLinks.get(id) ?? id,
    reference(text) {
      const old = text.startsWith(definitionPrefix) ? text.slice(definitionPrefix.length) : undefined;
      if (old !== undefined && Object.hasOwn(schemas, old)) {
        note(report.corrected, text);
        return formatReference({ section: 'schemas', name: old, rest: '' });
      }
      const target = parseReference(text);
      if (
        old !== undefined ||
        (target !== undefined && !Object.hasOwn(sectionOf(document, target.section), target.name))
      ) {
        note(report.dangling, text);
      }
      return text;
    },
  }) as JsonObject;
}

class MergedComponents {
  /** By section and name, then by meaning. */
  readonly #variants = new Map<string, Map<string, Variant>>();
  /** For each document, the new names of its renamed components, by section and name. */
  readonly #newNames: Map<string, string>[] = [];

  add(components: readonly Component[]): void {
    const owner = this.#newNames.push(new Map()) - 1;
    for (const component of components) {
      const { section, name, meaning } = component;
      const key = componentKey(section, name);
      const variants = this.#variants.get(key) ?? new Map<string, Variant>();
      this.#variants.set(key, variants);
      const variant = variants.get(meaning) ?? { newName: name, owners: [], component };
      variants.set(meaning, variant);
      variant.owners.push(owner);
    }
  }

  /** Names all variants: the first keeps its name. */
  name(documents: readonly NamedDocument[]): Renaming[] {
    const names = new FreshNames(new Set(this.#variants.keys()));
    const others = [...this.#variants.values()].flatMap((variants) => [...variants.values()].slice(1));
    return others.map((variant) => {
      const { section, name } = variant.component;
      const newName = names.take(section, name);
      variant.newName = newName;
      for (const owner of variant.owners) {
        this.#newNames[owner]?.set(componentKey(section, name), newName);
      }
      return { section, name, newName, documents: variant.owners.map((owner) => documents[owner]?.name ?? '') };
    });
  }

  /** A part of a document, with the new names in its references. */
  renamed(part: Json, owner: number): Json {
    const newNameOf = (section: string, name: string) =>
      this.#newNames[owner]?.get(componentKey(section, name)) ?? name;
    return visitReferences(part, {
      reference(text) {
        const target = parseReference(text);
        if (target === undefined) {
          return text;
        }
        const name = newNameOf(target.section, target.name);
        return name === target.name ? text : formatReference({ ...target, name });
      },
      securityScheme: (name) => newNameOf('securitySchemes', name),
    });
  }

  /** All components; each section is sorted by name. */
  result(): JsonObject {
    const all = [...this.#variants.values()].flatMap((variants) => [...variants.values()]);
    const sections = Map.groupBy(all, ({ component }) => component.section);
    const known = componentSections.filter((section) => sections.has(section));
    return Object.fromEntries(
      known.map((section) => {
        const entries = (sections.get(section) ?? []).map(
          ({ newName, component, owners }) => [newName, this.renamed(component.value, owners[0] ?? 0)] as const,
        );
        return [section, Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))];
      }),
    );
  }
}

/** A path item, the document that it comes from, and the documents of fields that others have added. */
interface PathEntry {
  document: string;
  item: JsonObject;
  added: Map<string, string>;
}

class MergedPaths {
  readonly #items = new Map<string, PathEntry>();
  readonly #conflicts = new Map<string, MergeConflict>();

  add(document: string, paths: JsonObject): void {
    for (const [path, value] of Object.entries(paths)) {
      if (!path.startsWith('/') || !isJsonObject(value)) {
        continue;
      }
      const known = this.#items.get(path);
      if (known === undefined) {
        // A copy, to which other documents may add operations.
        this.#items.set(path, { document, item: { ...value }, added: new Map() });
      } else {
        this.#combine(path, known, document, value);
      }
    }
  }

  /**
   * Merges two items of one path: operations that only one of them has are added, unless fields differ that apply to
   * all operations of the path.
   */
  #combine(path: string, known: PathEntry, document: string, item: JsonObject): void {
    const result = known.item;
    const isEqual = (field: string) => isSame(result[field], item[field]);
    const differing = ofAllOperations.filter((field) => !isEqual(field));
    const others = Object.keys(item).filter((field) => !ofAllOperations.includes(field) && !methods.includes(field));
    for (const field of [...differing, ...others, ...methods.filter((method) => item[method] !== undefined)]) {
      if (result[field] === undefined && differing.length === 0) {
        setOwn(result, field, item[field] as Json);
        known.added.set(field, document);
      } else if (!isEqual(field)) {
        const place = `paths.${path} ${field}`;
        const keptDocument = known.added.get(field) ?? known.document;
        const conflict = this.#conflicts.get(place) ?? { place, kept: keptDocument, leftOut: [] };
        this.#conflicts.set(place, conflict);
        conflict.leftOut.push(document);
      }
    }
  }

  get conflicts(): MergeConflict[] {
    return [...this.#conflicts.values()];
  }

  get size(): number {
    return this.#items.size;
  }

  result(): JsonObject {
    const entries = [...this.#items].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries.map(([path, { item }]) => [path, item]));
  }
}

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

/** Tags by name; the first description counts. */
function tagsOf(documents: readonly NamedDocument[]): Json[] {
  const tags = new Map<string, Json>();
  for (const { document } of documents) {
    for (const tag of itemsAt(document, 'tags')) {
      const name = isJsonObject(tag) && typeof tag.name === 'string' ? tag.name : undefined;
      if (name !== undefined && !tags.has(name)) {
        tags.set(name, tag);
      }
    }
  }
  return [...tags.values()];
}

/**
 * Merges documents into one OpenAPI 3.0 document. Components with the same name and meaning become one; if the meanings
 * differ, the first keeps its name, and the others become `NAME_v2`, `NAME_v3`, … together with all references to them.
 * The same applies to ids of operations and links to them. `info` comes from the first document. If documents differ
 * about the same path, that is reported as a conflict, and the first one wins.
 *
 * The work is linear in the documents, apart from sorting names; it yields to other work after each document.
 *
 * @throws the reason of the signal.
 */
export async function mergeDocuments(documents: readonly NamedDocument[], signal?: AbortSignal): Promise<Merged> {
  const findings: Pick<MergeReport, 'corrected' | 'dangling'> = { corrected: [], dangling: [] };
  const turn = async () => {
    await nextTurn();
    signal?.throwIfAborted();
  };

  const components = new MergedComponents();
  const ids = newOperationIds(documents);
  const parts: NamedDocument[] = [];
  let componentsBefore = 0;
  for (const [index, named] of documents.entries()) {
    const document = corrected(named, ids.newIds[index], findings);
    await turn();
    const own = componentsOf(document);
    componentsBefore += own.length;
    parts.push({ name: named.name, document });
    components.add(own);
    await turn();
  }
  const renamed = components.name(parts);

  const paths = new MergedPaths();
  for (const [index, part] of parts.entries()) {
    paths.add(part.name, components.renamed(objectAt(part.document, 'paths'), index) as JsonObject);
    await turn();
  }

  const merged = components.result();
  const tags = tagsOf(documents);
  const { shared, conflicts } = sharedOf(documents);
  const externalDocs = documents[0]?.document.externalDocs;
  const pathsOfAll = paths.result();
  const operationIds = operationIdsOf({ paths: pathsOfAll, components: merged });
  const report: MergeReport = {
    documents: documents.length,
    paths: paths.size,
    componentsBefore,
    componentsAfter: Object.values(merged).reduce<number>(
      (sum, section) => sum + Object.keys(objectAt(section)).length,
      0,
    ),
    // Without operations that were dropped.
    renamed: [...renamed, ...ids.renamed.filter(({ newName }) => operationIds.has(newName))],
    conflicts: [...conflicts, ...paths.conflicts],
    ...findings,
  };
  const document: JsonObject = {
    openapi: '3.0.0',
    info: documents[0]?.document.info ?? { title: 'nothing', version: '0' },
    ...shared,
    ...(tags.length === 0 ? {} : { tags }),
    paths: pathsOfAll,
    ...(Object.keys(merged).length === 0 ? {} : { components: merged }),
    ...(externalDocs === undefined ? {} : { externalDocs }),
  };
  return { document, report };
}
