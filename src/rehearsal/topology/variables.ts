import { fieldAt, type Json, type JsonObject, type StatusCause } from '../../kubernetes/index.ts';
import { DefaultsError, type Schema } from '../../schema/index.ts';
import { readSchema, valueCauses, withDefaults } from '../../variables/index.ts';
import { type Blueprint, type ClassVariable, objectAt, objectsAt, textAt } from '../cluster/index.ts';

/** Maximum number of problems of a Cluster's variables that are reported. */
const maxProblems = 20;
/** Longest report of one problem, in characters. */
const maxProblem = 400;

/** Schemas as Cluster API reads them: all Clusters of a class have the same. */
const schemas = new WeakMap<JsonObject, Schema>();

function schemaOf({ schema: given }: ClassVariable): Schema {
  const schema = schemas.get(given) ?? readSchema(given);
  schemas.set(given, schema);
  return schema;
}

/** A problem on one line. */
export const causeText = ({ field, message }: StatusCause): string =>
  `${field === undefined ? '' : `${field}: `}${message}`.slice(0, maxProblem);

/** Variables of an answer of DiscoverVariables, or of a class, as definitions. */
export function definitionsIn(list: Json | undefined, from: string): [string, ClassVariable][] {
  return objectsAt(list ?? null).map((variable) => [
    textAt(variable, 'name'),
    { from, isRequired: variable.required === true, schema: objectAt(variable, 'schema', 'openAPIV3Schema') },
  ]);
}

/** Adds definitions to those of a class. */
export function define(blueprint: Blueprint, definitions: readonly [string, ClassVariable][]): void {
  for (const [name, definition] of definitions) {
    const known = (blueprint.variables.get(name) ?? []).filter(({ from }) => from !== definition.from);
    blueprint.variables.set(name, [...known, definition]);
  }
}

/**
 * Fills in the defaults of a Cluster's variables, as Cluster API's webhook does: of variables that are not set, and of
 * fields within those that are.
 *
 * @returns the variables, and what the webhook would refuse.
 */
export function checkedVariables(
  blueprint: Blueprint,
  cluster: JsonObject,
): { variables: JsonObject[]; problems: string[] } {
  const given = objectsAt(cluster, 'spec', 'topology', 'variables');
  const problems: string[] = [];
  const names = new Set(given.map((variable) => textAt(variable, 'name')));
  const preset: JsonObject[] = [];
  for (const [name, [definition]] of blueprint.variables) {
    if (definition === undefined || names.has(name)) {
      continue;
    }
    const value = withDefaults(undefined, schemaOf(definition));
    if (value !== undefined) {
      preset.push({ name, value });
    } else if (definition.isRequired) {
      problems.push(`variable ${JSON.stringify(name.slice(0, 100))} is required and not set`);
    }
  }
  const set = given.map((variable): JsonObject => {
    const name = textAt(variable, 'name');
    // Definitions of one name are the same: others would have stopped the class.
    const [definition] = blueprint.variables.get(name) ?? [];
    if (definition === undefined) {
      problems.push(`variable ${JSON.stringify(name.slice(0, 100))} is not defined by the ClusterClass or its patches`);
      return variable;
    }
    const schema = schemaOf(definition);
    try {
      const value = withDefaults(variable.value ?? null, schema) ?? null;
      problems.push(
        ...valueCauses(name.slice(0, 100), value, schema, `spec.topology.variables[${name.slice(0, 100)}]`).map(
          causeText,
        ),
      );
      return { ...variable, value };
    } catch (error) {
      if (!(error instanceof DefaultsError)) {
        throw error;
      }
      problems.push(`variable ${JSON.stringify(name.slice(0, 100))}: ${error.message}`);
      return variable;
    }
  });
  return { variables: [...set, ...preset], problems: problems.slice(0, maxProblems) };
}

/** The user's variables that a patch gets: those that it defines, and those of the class itself. */
export function variablesFor(blueprint: Blueprint, patch: string, variables: readonly JsonObject[]): JsonObject[] {
  return variables.filter((variable) =>
    (blueprint.variables.get(textAt(variable, 'name')) ?? []).some(({ from }) => from === patch || from === 'inline'),
  );
}

/** The present variables of a Cluster. */
export const variablesOf = (cluster: JsonObject): JsonObject[] =>
  objectsAt(fieldAt(cluster, 'spec', 'topology', 'variables') ?? null);
