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
import { coreGroup } from '../../runtimehooks/index.ts';
import { NotKnown } from '../world/not-known.ts';
import { writable } from '../world/objects.ts';
import type { Problem } from '../world/plan-document.ts';
import type { World } from '../world/world.ts';
import { ownKindRefusal } from './own-kinds.ts';
import { decodingRefusal, schemaRefusal } from './schema-refusal.ts';

/** An API server's answers about writes, by the objects that are written. */
export type WriteAnswers = ReadonlyMap<JsonObject, { refusal?: Problem }>;

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
 * Why an API server does not take a write, by the schema of its kind or the webhooks of Cluster API's own kinds; undefined if it
 * does, as far as that is known.
 *
 * @param old the object that is stored, in the version in which it is given.
 * @param after the state to which the write belongs.
 */
export function writeProblem(
  object: JsonObject,
  old: JsonObject | undefined,
  after: World,
  schemaOf: SchemaOf,
): Problem | undefined {
  try {
    const refusal =
      decodingRefusal(object, schemaOf) ??
      schemaRefusal(withVariables(object, after), old, schemaOf) ??
      ownKindRefusal(object, old);
    const { message, remedy } = refusal ?? {};
    const text = `the API server refuses ${objectText(object)}: ${message}`;
    return refusal && { text, ...(remedy !== undefined && { remedy }) };
  } catch (error) {
    // Too many defaults: what Cluster API makes of the object is not known either, and that is said.
    if (!(error instanceof NotKnown)) {
      throw error;
    }
    return undefined;
  }
}
