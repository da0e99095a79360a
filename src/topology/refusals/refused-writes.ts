import {
  fieldAt,
  groupOf,
  isSame,
  type JsonObject,
  namespaceOf,
  objectAt,
  objectsAt,
  objectText,
  textAt,
} from '../../kubernetes/index.ts';
import type { SchemaOf } from '../../kubernetes/schema/index.ts';
import { NotKnown } from '../world/not-known.ts';
import { coreGroup, keyOf, nameIn, type ObjectName, writable } from '../world/objects.ts';
import type { Problem } from '../world/plan-document.ts';
import type { World } from '../world/world.ts';
import { ownKindRefusal } from './own-kinds.ts';
import { decodingRefusal, schemaRefusal } from './schema-refusal.ts';

/** An API server's answers about writes, by the objects that are written. */
export type WriteAnswers = ReadonlyMap<JsonObject, { refusal?: Problem }>;

/** Why an API server does not take an object as it is in the second state, as far as that is known. */
export interface RefusedWrites {
  /** Undefined if it takes it. */
  refusalOf(name: ObjectName): Problem | undefined;
  /** Whether the API server was asked, with all webhooks, and takes it. */
  isTaken(name: ObjectName): boolean;
}

/** Whether a class gives its Clusters variables that they do not set. An extension may define any. */
const addsVariables = (clusterClass: JsonObject | undefined): boolean =>
  clusterClass === undefined ||
  objectsAt(clusterClass, 'spec', 'variables').some(
    (variable) => fieldAt(variable, 'schema', 'openAPIV3Schema', 'default') !== undefined,
  ) ||
  objectsAt(clusterClass, 'spec', 'patches').some(({ external }) => external !== undefined);

/** A Cluster without an empty list of variables, if the webhook for its defaults fills it from its class. */
function withVariables(object: JsonObject, world: World): JsonObject {
  const topology = objectAt(object, 'spec', 'topology');
  const { variables, ...others } = topology;
  if (object.kind !== 'Cluster' || !Array.isArray(variables) || variables.length > 0) {
    return object;
  }
  const { name = '', namespace = namespaceOf(object) } = objectAt(topology, 'classRef');
  const ofClass = { group: coreGroup, kind: 'ClusterClass', namespace: String(namespace), name: String(name) };
  return addsVariables(world.find(ofClass))
    ? { ...object, spec: { ...objectAt(object, 'spec'), topology: others } }
    : object;
}

/**
 * Whether somebody writes an object: one that stays as it is, nobody does, and of one that is new only because the objects of
 * its kind could not be read, it is not known.
 */
export const isWritten = (object: JsonObject, old: JsonObject | undefined, before: World): boolean =>
  old === undefined
    ? before.isRead(groupOf(object), textAt(object, 'kind'))
    : old !== object && !isSame(writable(old), writable(object));

/**
 * Which objects an API server does not take, by the schemas of their kinds. Those that stay as they are, nobody writes.
 *
 * @param before what is stored, in the version in which it is given.
 * @param after what is written, in its own.
 * @param answers what an API server said: of these objects, nothing is computed.
 */
export function refusedWrites(
  before: World,
  after: World,
  schemaOf: SchemaOf,
  answers: WriteAnswers = new Map(),
): RefusedWrites {
  const refusals = new Map<string, Problem>();
  const taken = new Set<string>();
  for (const object of after) {
    const name = nameIn(object);
    const answer = answers.get(object);
    if (answer !== undefined) {
      if (answer.refusal === undefined) {
        taken.add(keyOf(name));
      } else {
        refusals.set(keyOf(name), answer.refusal);
      }
      continue;
    }
    const old = before.find(name);
    if (!isWritten(object, old, before)) {
      continue;
    }
    try {
      const refusal =
        decodingRefusal(object, schemaOf) ??
        schemaRefusal(withVariables(object, after), old, schemaOf) ??
        ownKindRefusal(object, old);
      if (refusal !== undefined) {
        const { message, remedy } = refusal;
        const text = `the API server refuses ${objectText(object)}: ${message}`;
        refusals.set(keyOf(name), { text, ...(remedy !== undefined && { remedy }) });
      }
    } catch (error) {
      // Too many defaults: what Cluster API makes of the object is not known either, and that is said.
      if (!(error instanceof NotKnown)) {
        throw error;
      }
    }
  }
  return { refusalOf: (name) => refusals.get(keyOf(name)), isTaken: (name) => taken.has(keyOf(name)) };
}
