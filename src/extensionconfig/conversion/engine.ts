import {
  ConversionError,
  fieldAt,
  isJsonObject,
  type Json,
  type JsonObject,
  own,
  setOwn,
  showValue,
} from '../../kubernetes/index.ts';
import type { ChangeTable } from './change-table.ts';
import { compilePlans } from './compile.ts';
import { type ConversionData, formatConversionData, type KeptValue, parseConversionData } from './conversion-data.ts';
import { convertStructure } from './convert-value.ts';
import { copyWithout } from './copy-without.ts';
import type { VersionSchema } from './direction.ts';
import type { ConversionPlan } from './plan.ts';
import { restore } from './restore.ts';

/**
 * A hand-written step: receives the result of the automatic part and the original object, modifies neither, and returns
 * the finished object. Throws ConversionError for values that cannot be converted. Of the `metadata` that it returns,
 * only labels and annotations are used.
 */
export type ConversionStep = (converted: JsonObject, original: JsonObject) => JsonObject;

/** Two adjacent versions (a spoke and the hub, or two links of a chain), by their `apiVersion`. */
export interface VersionChange extends ChangeTable {
  older: string;
  newer: string;
  toNewer?: ConversionStep | undefined;
  toOlder?: ConversionStep | undefined;
}

/** All versions of a kind. */
export interface VersionMap {
  kind: string;
  versions: readonly VersionSchema[];
  /** Must form a tree of all versions. */
  changes: readonly VersionChange[];
  /**
   * Annotation for the conversion data: what a version cannot represent. Without an annotation that is lost, as in
   * messages, which have no metadata.
   */
  conversionDataAnnotation?: string;
}

/** Converts objects of one kind between its versions. */
export interface KindConverter {
  kind: string;
  apiVersions: readonly string[];
  /** Size of an object's conversion data, in bytes of UTF-8. */
  conversionDataBytes(object: JsonObject): number;
  /**
   * The object in another version, or the object itself if it already has that version. It is never modified.
   *
   * @throws {ConversionError} for another kind, an unknown version, or a value that cannot be converted.
   */
  convert(object: JsonObject, apiVersion: string): JsonObject;
}

interface Edge {
  to: string;
  plan: ConversionPlan;
  /** The plan of the opposite direction, which determines what may be restored. */
  back: ConversionPlan;
  step: ConversionStep | undefined;
}

/** The object with a new value of an annotation, or without the annotation. */
function withAnnotation(object: JsonObject, name: string, text: string | undefined): JsonObject {
  const metadata = own(object, 'metadata') ?? {};
  const annotations = isJsonObject(metadata) ? (own(metadata, 'annotations') ?? {}) : null;
  if (!isJsonObject(metadata) || !isJsonObject(annotations)) {
    throw new ConversionError(['metadata'], 'must be an object, and so must its annotations');
  }
  const all = copyWithout(annotations, name);
  if (text !== undefined) {
    setOwn(all, name, text);
  }
  const rest = copyWithout(metadata, 'annotations');
  if (Object.keys(all).length > 0) {
    rest.annotations = all;
  }
  const copy = copyWithout(object);
  copy.metadata = rest;
  return copy;
}

/** The result of a hand-written step, with the original's metadata except for labels and annotations. */
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

function updatedData(data: ConversionData, from: string, to: string, kept: KeptValue[]): ConversionData {
  const updated = new Map(data);
  updated.delete(to);
  updated.delete(from);
  if (kept.length > 0) {
    updated.set(from, kept);
  }
  return updated;
}

function edgesOf({ versions, changes, conversionDataAnnotation }: VersionMap): Map<string, Edge[]> {
  const schemas = new Map(versions.map((version) => [version.apiVersion, version]));
  const edges = new Map<string, Edge[]>(versions.map(({ apiVersion }) => [apiVersion, []]));
  for (const change of changes) {
    const older = schemas.get(change.older);
    const newer = schemas.get(change.newer);
    if (older === undefined || newer === undefined) {
      throw new Error(`no schema for ${older === undefined ? change.older : change.newer}`);
    }
    const hasStepFor = (paths: readonly string[] | undefined, step: ConversionStep | undefined) =>
      !paths?.length || step;
    if (!hasStepFor(change.byHand?.newer, change.toNewer) || !hasStepFor(change.byHand?.older, change.toOlder)) {
      throw new Error(
        `${change.older} to ${change.newer}: byHand names fields, but the step that writes them is missing`,
      );
    }
    const { toNewer, toOlder } = compilePlans(older, newer, change, conversionDataAnnotation !== undefined);
    edges.get(change.older)?.push({ to: change.newer, plan: toNewer, back: toOlder, step: change.toNewer });
    edges.get(change.newer)?.push({ to: change.older, plan: toOlder, back: toNewer, step: change.toOlder });
  }
  return edges;
}

/** The edges that lead from one version to each of the others. */
function routesFrom(start: string, edges: Map<string, Edge[]>): Map<string, Edge[]> {
  const routes = new Map<string, Edge[]>([[start, []]]);
  // A breadth-first search: the map grows while it is iterated.
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
 * @throws {UnlistedDifferenceError} when two versions differ in a way that their table does not list.
 * @throws {Error} when a schema or a hand-written step is missing, or the versions do not form a tree.
 */
export function createConverter(map: VersionMap): KindConverter {
  const { kind, conversionDataAnnotation } = map;
  const apiVersions = map.versions.map(({ apiVersion }) => apiVersion);
  const edges = edgesOf(map);
  const routes = new Map(apiVersions.map((version) => [version, routesFrom(version, edges)]));
  const isConnected = [...routes.values()].every((reached) => reached.size === apiVersions.length);
  if (!isConnected || map.changes.length !== apiVersions.length - 1) {
    throw new Error(
      `the versions of ${kind} must form a tree, with one path between any two: ${apiVersions.join(', ')}`,
    );
  }

  const dataTextOf = (object: JsonObject) =>
    conversionDataAnnotation === undefined
      ? undefined
      : fieldAt(object, 'metadata', 'annotations', conversionDataAnnotation);

  function take(object: JsonObject, from: string, { to, plan, back, step }: Edge): JsonObject {
    const text = dataTextOf(object);
    const data = text === undefined ? undefined : parseConversionData(text);
    const { object: converted, kept } = convertStructure(object, plan.root);
    setOwn(converted, 'apiVersion', to);
    const finished = step === undefined ? converted : withOwnMetadata(step(converted, object), object);
    const restored = restore(finished, data?.get(to) ?? [], back);
    if (conversionDataAnnotation === undefined || (data === undefined && kept.length === 0)) {
      return restored;
    }
    const updated = updatedData(data ?? new Map(), from, to, kept);
    return withAnnotation(
      restored,
      conversionDataAnnotation,
      updated.size === 0 ? undefined : formatConversionData(updated, conversionDataAnnotation),
    );
  }

  return {
    kind,
    apiVersions,
    conversionDataBytes(object) {
      const text = dataTextOf(object);
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
