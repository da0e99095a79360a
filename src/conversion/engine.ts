import { isJsonObject, type Json, type JsonObject, showValue } from '../kubernetes/index.ts';
import { type Bag, type KeptValue, readBag, writeBag } from './bag.ts';
import { convertStructure } from './convert-value.ts';
import { ConversionError } from './error.ts';
import { own, setOwn } from './own.ts';
import { type ChangeTable, compilePlans, type Plan, type VersionSchema } from './plan.ts';
import { restore } from './restore.ts';

/**
 * A hand-written step: what the automatic part made, and the object it made it from. Returns the finished object;
 * both arguments stay as they are. Throws ConversionError for what cannot be converted. Of `metadata` only labels and
 * annotations are taken over.
 */
export type Step = (converted: JsonObject, original: JsonObject) => JsonObject;

/** Two neighbouring versions (a spoke and the hub, or two links of a chain), by their `apiVersion`. */
export interface VersionChange extends ChangeTable {
  older: string;
  newer: string;
  toNewer?: Step;
  toOlder?: Step;
}

/** All versions of a kind. */
export interface VersionMap {
  kind: string;
  versions: readonly VersionSchema[];
  /** Connects all versions, each pair by one way only. */
  changes: readonly VersionChange[];
  /**
   * Annotation that keeps what a version cannot represent. Without one it is lost: messages have no metadata to keep it
   * in.
   */
  bagAnnotation?: string;
}

/** Converts objects of one kind between its versions. */
export interface Converter {
  kind: string;
  apiVersions: readonly string[];
  /** Bytes of the annotation of an object in which conversion data is kept. */
  conversionDataBytes(object: JsonObject): number;
  /**
   * The object in another version. The object itself when it is in that version already; never changed in place.
   *
   * @throws {ConversionError} for another kind, an unknown version, or a value that cannot be converted.
   */
  convert(object: JsonObject, apiVersion: string): JsonObject;
}

interface Edge {
  to: string;
  plan: Plan;
  /** The plan of the other direction, which knows what may be restored. */
  back: Plan;
  step: Step | undefined;
}

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const metadata = own(object, 'metadata');
  const annotations = isJsonObject(metadata) ? own(metadata, 'annotations') : undefined;
  return isJsonObject(annotations) ? annotations : undefined;
}

/** The object with another text in an annotation, or without that annotation. */
function withAnnotation(object: JsonObject, name: string, text: string | undefined): JsonObject {
  const metadata = own(object, 'metadata') ?? {};
  const annotations = isJsonObject(metadata) ? (own(metadata, 'annotations') ?? {}) : null;
  if (!isJsonObject(metadata) || !isJsonObject(annotations)) {
    throw new ConversionError(['metadata'], 'must be an object, and its annotations too');
  }
  const { [name]: _replaced, ...others } = annotations;
  const { annotations: _old, ...rest } = metadata;
  const all: JsonObject = text === undefined ? others : { ...others, [name]: text };
  return { ...object, metadata: Object.keys(all).length === 0 ? rest : { ...rest, annotations: all } };
}

/** What a hand-written step made, with the original's metadata except labels and annotations. */
function withOwnMetadata(made: JsonObject, original: JsonObject): JsonObject {
  if (made.metadata === original.metadata) {
    return made;
  }
  const metadata: JsonObject = isJsonObject(original.metadata) ? { ...original.metadata } : {};
  for (const name of ['labels', 'annotations']) {
    const value = isJsonObject(made.metadata) ? own(made.metadata, name) : undefined;
    delete metadata[name];
    if (value !== undefined) {
      setOwn(metadata, name, value);
    }
  }
  return { ...made, metadata };
}

function updatedBag(bag: Bag, from: string, to: string, kept: KeptValue[]): Bag {
  const updated = new Map(bag);
  updated.delete(to);
  updated.delete(from);
  if (kept.length > 0) {
    updated.set(from, kept);
  }
  return updated;
}

function edgesOf({ versions, changes, bagAnnotation }: VersionMap): Map<string, Edge[]> {
  const schemas = new Map(versions.map((version) => [version.apiVersion, version]));
  const edges = new Map<string, Edge[]>(versions.map(({ apiVersion }) => [apiVersion, []]));
  for (const change of changes) {
    const older = schemas.get(change.older);
    const newer = schemas.get(change.newer);
    if (older === undefined || newer === undefined) {
      throw new Error(`no schema for ${older === undefined ? change.older : change.newer}`);
    }
    const hasStepFor = (paths: readonly string[] | undefined, step: Step | undefined) => !paths?.length || step;
    if (!hasStepFor(change.byHand?.newer, change.toNewer) || !hasStepFor(change.byHand?.older, change.toOlder)) {
      throw new Error(
        `${change.older} to ${change.newer}: byHand names fields, and the step that writes them is missing`,
      );
    }
    const { toNewer, toOlder } = compilePlans(older, newer, change, bagAnnotation !== undefined);
    edges.get(change.older)?.push({ to: change.newer, plan: toNewer, back: toOlder, step: change.toNewer });
    edges.get(change.newer)?.push({ to: change.older, plan: toOlder, back: toNewer, step: change.toOlder });
  }
  return edges;
}

/** The edges from one version to all others. */
function routesFrom(start: string, edges: Map<string, Edge[]>): Map<string, Edge[]> {
  const routes = new Map<string, Edge[]>([[start, []]]);
  // A map may grow while it is iterated: the order is that of a breadth-first search.
  for (const [version, route] of routes) {
    for (const edge of edges.get(version) ?? []) {
      if (!routes.has(edge.to)) {
        routes.set(edge.to, [...route, edge]);
      }
    }
  }
  return routes;
}

/**
 * Compiles the conversion between all versions of a kind.
 *
 * @throws {UnlistedDifferenceError} when two versions differ in what their table does not list.
 */
export function createConverter(map: VersionMap): Converter {
  const { kind, bagAnnotation } = map;
  const apiVersions = map.versions.map(({ apiVersion }) => apiVersion);
  const edges = edgesOf(map);
  const routes = new Map(apiVersions.map((version) => [version, routesFrom(version, edges)]));
  const isConnected = [...routes.values()].every((reached) => reached.size === apiVersions.length);
  if (!isConnected || map.changes.length !== apiVersions.length - 1) {
    throw new Error(`the versions of ${kind} must hang together, each pair by one way: ${apiVersions.join(', ')}`);
  }

  function take(object: JsonObject, from: string, { to, plan, back, step }: Edge): JsonObject {
    const text = bagAnnotation === undefined ? undefined : own(annotationsOf(object) ?? {}, bagAnnotation);
    const bag = text === undefined ? undefined : readBag(text);
    const { object: converted, kept } = convertStructure(object, plan.root);
    setOwn(converted, 'apiVersion', to);
    const finished = step === undefined ? converted : withOwnMetadata(step(converted, object), object);
    const restored = restore(finished, bag?.get(to) ?? [], back);
    if (bagAnnotation === undefined || (bag === undefined && kept.length === 0)) {
      return restored;
    }
    const updated = updatedBag(bag ?? new Map(), from, to, kept);
    return withAnnotation(restored, bagAnnotation, updated.size === 0 ? undefined : writeBag(updated, bagAnnotation));
  }

  return {
    kind,
    apiVersions,
    conversionDataBytes(object) {
      const text = bagAnnotation === undefined ? undefined : own(annotationsOf(object) ?? {}, bagAnnotation);
      return typeof text === 'string' ? Buffer.byteLength(text) : 0;
    },
    convert(object, apiVersion) {
      if (object.kind !== kind) {
        throw new ConversionError(['kind'], `${showValue(object.kind)} is not ${kind}`);
      }
      const from: Json | undefined = object.apiVersion;
      const route = typeof from === 'string' ? routes.get(from)?.get(apiVersion) : undefined;
      if (route === undefined) {
        const isKnown = typeof from === 'string' && routes.has(from);
        throw new ConversionError(
          ['apiVersion'],
          `cannot convert ${showValue(isKnown ? apiVersion : from)}; the versions of ${kind} are ${apiVersions.join(', ')}`,
        );
      }
      let [current, version] = [object, from as string];
      for (const edge of route) {
        current = take(current, version, edge);
        version = edge.to;
      }
      return current;
    },
  };
}
