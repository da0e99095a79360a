import { truncated } from '../../base/index.ts';
import {
  canonical,
  copyOf,
  fieldAt,
  isJsonObject,
  type JsonObject,
  objectAt,
  objectsAt,
  perObject,
  type StatusCause,
  textAt,
} from '../../kubernetes/index.ts';
import { DefaultsError, invalid, required, type Schema } from '../../kubernetes/schema/index.ts';
import { readSchema, valueCauses, withDefaults } from '../../runtimehooks/variables/index.ts';
import type { Blueprint, ClassPatch, ClassVariable } from '../blueprint/blueprint.ts';

/** Longest value in a report, in characters. */
const maxShown = 200;
/** Longest report of one problem, in characters. */
const maxProblem = 400;

/** A schema as Cluster API reads it: all Clusters of a class have the same. */
const schemaFrom = perObject(readSchema);

const schemaOf = ({ schema }: ClassVariable): Schema => schemaFrom(schema);

/** A problem on one line. */
export const causeText = ({ field = '', message }: StatusCause): string =>
  (message.includes(field) ? message : `${field}: ${message}`).slice(0, maxProblem);

/** Adds definitions to those of a class. */
export function define(blueprint: Blueprint, definitions: readonly [string, ClassVariable][]): void {
  for (const [name, definition] of definitions) {
    const known = (blueprint.variables.get(name) ?? []).filter(({ from }) => from !== definition.from);
    blueprint.variables.set(name, [...known, definition]);
  }
}

const quoted = (name: string) => JSON.stringify(name.slice(0, 100));

/** A list of values with defaults filled in within them, and what Cluster API's webhook would refuse. */
function checkedValues(
  blueprint: Blueprint,
  assigned: readonly JsonObject[],
  path: string,
  problems: string[],
): JsonObject[] {
  return assigned.map((variable): JsonObject => {
    const name = textAt(variable, 'name');
    // Definitions of one name are the same: others would have stopped the class.
    const [definition] = blueprint.variables.get(name) ?? [];
    if (definition === undefined) {
      const text = truncated(canonical(variable.value ?? null), maxShown);
      problems.push(causeText(invalid(`${path}[${name.slice(0, 100)}]`, text, 'variable is not defined')));
      return variable;
    }
    const schema = schemaOf(definition);
    const shown = name.slice(0, 100);
    try {
      const value = withDefaults(variable.value ?? null, schema) ?? null;
      problems.push(...valueCauses(shown, value, schema, `${path}[${shown}]`).map(causeText));
      return { ...variable, value };
    } catch (error) {
      if (!(error instanceof DefaultsError)) {
        throw error;
      }
      problems.push(`variable ${quoted(name)}: ${error.message}`);
      return variable;
    }
  });
}

/** A part of the topology with its overrides of variables checked. */
function checkedOverrides(blueprint: Blueprint, place: JsonObject, path: string, problems: string[]): JsonObject {
  const assigned = objectsAt(place, 'variables', 'overrides');
  if (assigned.length === 0) {
    return place;
  }
  const overrides = checkedValues(blueprint, assigned, `${path}.variables.overrides`, problems);
  return { ...place, variables: { ...objectAt(place, 'variables'), overrides } };
}

/** Changes the control plane and the groups of workers in a topology. Of a group, `place` is the list, and `index` its place there. */
function eachPart(
  spec: JsonObject,
  change: (part: JsonObject, place: string, index: number | undefined) => JsonObject,
): void {
  if (isJsonObject(spec.controlPlane)) {
    spec.controlPlane = change(spec.controlPlane, 'controlPlane', undefined);
  }
  const workers = objectAt(spec, 'workers');
  for (const list of ['machineDeployments', 'machinePools']) {
    if (workers[list] !== undefined) {
      workers[list] = objectsAt(workers, list).map((group, index) => change(group, `workers.${list}`, index));
    }
  }
}

/**
 * Fills in the defaults of a Cluster's variables (core/webhooks/admission/cluster.go, v1.14): of variables that are not
 * set, and of fields within those that are, and within overrides.
 * @returns the topology, and what the webhook would refuse.
 */
export function checkedTopology(
  blueprint: Blueprint,
  cluster: JsonObject,
): { topology: JsonObject; problems: string[] } {
  const assigned = objectsAt(cluster, 'spec', 'topology', 'variables');
  const problems: string[] = [];
  const names = new Set(assigned.map((variable) => textAt(variable, 'name')));
  const preset: JsonObject[] = [];
  // In the order of the status of the class, which is that of the names.
  for (const [name, [definition]] of [...blueprint.variables].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (definition === undefined || names.has(name)) {
      continue;
    }
    const value = withDefaults(undefined, schemaOf(definition));
    if (value !== undefined) {
      preset.push({ name, value });
    } else if (definition.isRequired) {
      problems.push(causeText(required('spec.topology.variables', `required variable ${quoted(name)} must be set`)));
    }
  }
  const path = 'spec.topology';
  const variables = [...checkedValues(blueprint, assigned, `${path}.variables`, problems), ...preset];
  const topology = copyOf(objectAt(cluster, 'spec', 'topology'));
  if (variables.length > 0) {
    topology.variables = variables;
  }
  eachPart(topology, (part, place, index) => {
    const where = index === undefined ? place : `${place}[${textAt(part, 'name').slice(0, 100)}]`;
    return checkedOverrides(blueprint, part, `${path}.${where}`, problems);
  });
  return { topology, problems };
}

/**
 * The user's variables that a patch gets: only those that it defines itself. Those of the class are for inline patches
 * (definitionsForPatch in topology/cluster/patches/engine.go).
 */
export function variablesFor(
  blueprint: Blueprint,
  { variablesFrom }: Pick<ClassPatch, 'variablesFrom'>,
  variables: readonly JsonObject[],
): JsonObject[] {
  return variables.filter((variable) =>
    (blueprint.variables.get(textAt(variable, 'name')) ?? []).some(({ from }) => from === variablesFrom),
  );
}

/** The present variables of a Cluster. */
export const variablesOf = (cluster: JsonObject): JsonObject[] =>
  objectsAt(fieldAt(cluster, 'spec', 'topology', 'variables') ?? null);
