import { ConversionError, type Json, type JsonObject, showValue } from '../../kubernetes/index.ts';
import { type ChangeTable, readTable } from './change-table.ts';
import { convertStructure } from './convert-value.ts';
import { compileDirection, type VersionSchema } from './direction.ts';
import type { ValuePlan } from './plan.ts';

/**
 * A hand-written step: receives the result of the automatic part and the original object, modifies neither, and returns
 * the finished object. Throws ConversionError for values that cannot be converted.
 */
export type ConversionStep = (converted: JsonObject, original: JsonObject) => JsonObject;

/** Two adjacent versions (a spoke and the hub, or two links of a chain), by their `apiVersion`. */
export interface VersionChange extends ChangeTable {
  older: string;
  newer: string;
  toNewer?: ConversionStep | undefined;
  toOlder?: ConversionStep | undefined;
}

/** All versions of a message. */
export interface VersionMap {
  kind: string;
  versions: readonly VersionSchema[];
  /** Must form a tree of all versions. */
  changes: readonly VersionChange[];
}

/**
 * Converts a message to another version; returns the message itself if it already has that version. It is never modified.
 *
 * @throws {ConversionError} for another kind, an unknown version, or a value that cannot be converted.
 */
type Convert = (object: JsonObject, apiVersion: string) => JsonObject;

/** Two versions differ in a way that the table does not list. */
export class UnlistedDifferenceError extends Error {}

interface Edge {
  to: string;
  plan: ValuePlan | undefined;
  step: ConversionStep | undefined;
}

/**
 * Compiles both directions between two versions from their schemas and the table of changes.
 *
 * @throws {UnlistedDifferenceError} naming every difference that the table does not list, and every entry of the table
 *   that matches nothing.
 */
export function compilePlans(older: VersionSchema, newer: VersionSchema, table: ChangeTable) {
  const read = readTable(table);
  const toNewer = compileDirection(older, newer, read.toNewer);
  const toOlder = compileDirection(newer, older, read.toOlder);
  const problems = new Set([...toNewer.problems, ...toOlder.problems, ...read.problems()]);
  if (problems.size > 0) {
    throw new UnlistedDifferenceError(
      `${older.apiVersion} and ${newer.apiVersion} differ in ways that the table does not list:\n- ${[...problems].join('\n- ')}`,
    );
  }
  return { toNewer: toNewer.plan, toOlder: toOlder.plan };
}

function edgesOf({ versions, changes }: VersionMap): Map<string, Edge[]> {
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
    const { toNewer, toOlder } = compilePlans(older, newer, change);
    edges.get(change.older)?.push({ to: change.newer, plan: toNewer, step: change.toNewer });
    edges.get(change.newer)?.push({ to: change.older, plan: toOlder, step: change.toOlder });
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
 * Compiles the conversion between all versions of a message. What a version cannot represent is lost.
 *
 * @throws {UnlistedDifferenceError} when two versions differ in a way that their table does not list.
 * @throws {Error} when a schema or a hand-written step is missing, or the versions do not form a tree.
 */
export function createConverter(map: VersionMap): Convert {
  const { kind } = map;
  const apiVersions = map.versions.map(({ apiVersion }) => apiVersion);
  const edges = edgesOf(map);
  const routes = new Map(apiVersions.map((version) => [version, routesFrom(version, edges)]));
  const isConnected = [...routes.values()].every((reached) => reached.size === apiVersions.length);
  if (!isConnected || map.changes.length !== apiVersions.length - 1) {
    throw new Error(
      `the versions of ${kind} must form a tree, with one path between any two: ${apiVersions.join(', ')}`,
    );
  }

  function take(object: JsonObject, { to, plan, step }: Edge): JsonObject {
    const converted = convertStructure(object, plan);
    converted.apiVersion = to;
    return step === undefined ? converted : step(converted, object);
  }

  return (object, apiVersion) => {
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
    return route.reduce(take, object);
  };
}
