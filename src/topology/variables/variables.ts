import { repeated } from '../../base/index.ts';
import {
  copyOf,
  fieldAt,
  isSame,
  type Json,
  type JsonObject,
  namespacedName,
  objectAt,
  objectsAt,
  perObject,
  type StatusCause,
  textAt,
} from '../../kubernetes/index.ts';
import { DefaultsError, invalid, required, type Schema } from '../../kubernetes/schema/index.ts';
import { aggregate } from '../../runtimehooks/client/index.ts';
import {
  checkDefinitions,
  rawText,
  readSchema,
  type UnevaluatedRules,
  valueCauses,
  withDefaults,
} from '../../runtimehooks/variables/index.ts';
import { type Blueprint, type ClassPatch, type ClassVariable, definitionsIn } from '../blueprint/blueprint.ts';
import { byRules, NotKnown } from '../world/not-known.ts';
import { partsIn, topologyOf } from '../world/topologies.ts';

/** Longest report of one problem, in characters. */
const maxProblem = 400;

/** A schema as Cluster API reads it: all Clusters of a class have the same. */
const schemaFrom = perObject(readSchema);

const schemaOf = ({ schema }: ClassVariable): Schema => schemaFrom(schema);

const causeText = ({ field = '', message }: StatusCause): string =>
  (message.includes(field) ? message : `${field}: ${message}`).slice(0, maxProblem);

function define(blueprint: Blueprint, definitions: readonly [string, ClassVariable][]): void {
  for (const [name, definition] of definitions) {
    const known = (blueprint.variables.get(name) ?? []).filter(({ from }) => from !== definition.from);
    blueprint.variables.set(name, [...known, definition]);
  }
}

const quoted = (name: string) => JSON.stringify(name);

interface Assigned {
  path: string;
  values: readonly JsonObject[];
  old: readonly JsonObject[];
  /** Whether it is the list of the whole Cluster, which gets variables that are not set, and must have those that are required. */
  isWhole: boolean;
}

function* repeatedCauses({ path, values }: Assigned): Generator<StatusCause> {
  for (const { name = '', value = null } of repeated(values, (variable) => String(variable.name ?? ''))) {
    yield invalid(`${path}[${name}]`, rawText(value), `variable ${quoted(String(name))} is set more than once`);
  }
}

const notDefined = (path: string, { name = '', value = null }: JsonObject): StatusCause =>
  invalid(`${path}[${name}]`, rawText(value), 'variable is not defined');

/** Definitions of one name are the same: others would have stopped the class. */
const definitionOf = (blueprint: Blueprint, variable: JsonObject): ClassVariable | undefined =>
  blueprint.variables.get(textAt(variable, 'name'))?.[0];

/** Defaults of variables that are not set: in the order of the status of the class, which is that of the names. */
function presets(blueprint: Blueprint, values: readonly JsonObject[]): JsonObject[] {
  const names = new Set(values.map((variable) => textAt(variable, 'name')));
  return [...blueprint.variables]
    .filter(([name, [definition]]) => definition !== undefined && !names.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, [definition]]) => {
      const value = withDefaults(undefined, schemaOf(definition as ClassVariable));
      return value === undefined ? [] : [{ name, value }];
    });
}

/** Values with their defaults; as they are where something is wrong with one, which is added to the causes. */
function defaulted(blueprint: Blueprint, assigned: Assigned, causes: StatusCause[]): readonly JsonObject[] {
  const { path, values, isWhole } = assigned;
  const problems = [...repeatedCauses(assigned)];
  if (problems.length === 0) {
    problems.push(
      ...values.flatMap((value) => (definitionOf(blueprint, value) === undefined ? [notDefined(path, value)] : [])),
    );
  }
  if (problems.length > 0) {
    causes.push(...problems);
    return values;
  }
  const inValues = values.map((variable) => {
    const { schema } = definitionOf(blueprint, variable) as ClassVariable;
    return { ...variable, value: withDefaults(variable.value ?? null, schemaFrom(schema)) ?? null };
  });
  return isWhole ? [...inValues, ...presets(blueprint, values)] : inValues;
}

function* causesOf(blueprint: Blueprint, assigned: Assigned, values: readonly JsonObject[]): Generator<StatusCause> {
  const { path, old, isWhole } = assigned;
  const twice = [...repeatedCauses(assigned)];
  if (twice.length > 0) {
    yield* twice;
    return;
  }
  const names = new Set(values.map((variable) => textAt(variable, 'name')));
  for (const [name, [definition]] of isWhole ? blueprint.variables : []) {
    if (definition?.isRequired && !names.has(name)) {
      yield required(path, `required variable ${quoted(name)} must be set`);
    }
  }
  const before = new Map(old.map((variable) => [textAt(variable, 'name'), variable.value]));
  for (const variable of values) {
    const definition = definitionOf(blueprint, variable);
    const name = textAt(variable, 'name');
    if (definition === undefined) {
      yield notDefined(path, variable);
    } else {
      const place = `${path}[${name}]`;
      const [value, schema, old] = [variable.value ?? null, schemaOf(definition), before.get(name)];
      yield* byRules(() => valueCauses(name, value, schema, place, { old }));
    }
  }
}

const overridesOf = (place: Json | undefined): JsonObject[] => objectsAt(place, 'variables', 'overrides');

/**
 * Fills in the defaults of a Cluster's variables (core/webhooks/admission/cluster.go and internal/topology/variables, v1.14).
 *
 * @param old the Cluster before, for rules that compare values; undefined for a creation.
 * @returns the Cluster, and what the webhook refuses: without defaults where it refuses a list.
 * @throws {NotKnown} when the defaults of a value are too large.
 */
export function withVariables(
  blueprint: Blueprint,
  cluster: JsonObject,
  old?: JsonObject,
): { cluster: JsonObject; causes: StatusCause[] } {
  const topology = copyOf(topologyOf(cluster));
  const causes: StatusCause[] = [];
  const checks: (() => Generator<StatusCause>)[] = [];
  const filled = (assigned: Assigned): JsonObject[] => {
    const values = defaulted(blueprint, assigned, causes);
    // First all lists get their defaults, then they are checked.
    checks.push(() => causesOf(blueprint, assigned, values));
    return [...values];
  };
  const path = 'spec.topology';
  const before = new Map(partsIn(topologyOf(old), path).map((one) => [one.path, one.part]));
  try {
    const ofCluster = { values: objectsAt(topology, 'variables'), old: objectsAt(topologyOf(old), 'variables') };
    const variables = filled({ path: `${path}.variables`, ...ofCluster, isWhole: true });
    if (variables.length > 0) {
      topology.variables = variables;
    }
    for (const { part, path: place } of partsIn(topology, path)) {
      const values = overridesOf(part);
      if (values.length > 0) {
        const assigned = { path: `${place}.variables.overrides`, values, old: overridesOf(before.get(place)) };
        part.variables = { ...objectAt(part, 'variables'), overrides: filled({ ...assigned, isWhole: false }) };
      }
    }
    for (const cause of checks.flatMap((check) => [...check()])) {
      causes.push(cause);
    }
  } catch (error) {
    if (!(error instanceof DefaultsError)) {
      throw error;
    }
    const object = `Cluster ${namespacedName(cluster)}`;
    throw new NotKnown(`variables of ${object}: ${error.message}`, { remedy: 'make the defaults smaller', object });
  }
  return { cluster: { ...cluster, spec: { ...objectAt(cluster, 'spec'), topology } }, causes };
}

/** The variables that a patch gets: those that it defines; inline patches get those of the class (patches/engine.go). */
export function variablesFor(
  blueprint: Blueprint,
  { variablesFrom }: Pick<ClassPatch, 'variablesFrom'>,
  variables: readonly JsonObject[],
): JsonObject[] {
  return variables.filter((variable) =>
    (blueprint.variables.get(textAt(variable, 'name')) ?? []).some(({ from }) => from === variablesFrom),
  );
}

export const variablesOf = (cluster: JsonObject): JsonObject[] =>
  objectsAt(fieldAt(cluster, 'spec', 'topology', 'variables') ?? null);

/** How it ended: with the variables that the extension defines, or with the error that Cluster API would show. */
export type VariablesAnswer = { is: 'answered'; variables: Json | undefined } | { is: 'failed'; error: string };

/** Maximum number of errors that are named. */
const maxErrors = 5;

function firstOf(errors: readonly string[]): string {
  const more = errors.length - maxErrors;
  return `${aggregate(errors.slice(0, maxErrors))}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Why Cluster API refuses definitions, and which of their rules are not evaluated here. @throws {NotKnown} for too much work. */
function checked(variables: Json | undefined, path: string): { errors: string[]; unevaluated: UnevaluatedRules[] } {
  const { causes, isComplete, unevaluated } = checkDefinitions(variables, path);
  const errors = causes.map(causeText);
  if (causes.length === 0 && !isComplete) {
    throw new NotKnown(`${path}: the schemas take too much work to check`, { remedy: 'make them smaller' });
  }
  return { errors, unevaluated: errors.length === 0 ? unevaluated : [] };
}

/** Of a class: the same for all plans of its Clusters. */
const checkedInline = perObject(({ variables }: JsonObject) => checked(variables, 'spec.variables'));

function conflictIn({ variables }: Blueprint): string | undefined {
  const conflicts = [...variables].flatMap(([name, [first, ...others]]) => {
    const conflict = others.find(
      ({ schema, isRequired }) => !isSame([schema, isRequired], [first?.schema ?? {}, first?.isRequired ?? false]),
    );
    return conflict === undefined ? [] : [{ name, places: `${first?.from} and ${conflict.from}` }];
  });
  const [conflict] = conflicts.sort((a, b) => (a.name < b.name ? -1 : 1));
  return conflict === undefined
    ? undefined
    : `the following variables have conflicting schemas: ${conflicts.map(({ name }) => name).join(',')} (${conflict.name} differs in ${conflict.places})`;
}

/**
 * Reconciles the variables of a class: asks its extensions for their definitions, and adds these to the class
 * (core/reconcilers/clusterclass, v1.14).
 *
 * @throws {NotKnown} for schemas that take too much work to check.
 * @returns the rules that are not evaluated here, or why Cluster API refuses the class, or stops at it.
 */
export async function discoverVariables(
  blueprint: Blueprint,
  ask: (patch: string, handler: string, request: JsonObject) => Promise<VariablesAnswer>,
): Promise<{ is: 'discovered'; unevaluated: UnevaluatedRules[] } | { is: 'refused' | 'stopped'; why: string }> {
  const object = `ClusterClass ${blueprint.namespace}/${blueprint.name}`;
  const inline = checkedInline(blueprint.spec);
  if (inline.errors.length > 0) {
    return { is: 'refused', why: `Cluster API refuses ${object}: ${firstOf(inline.errors)}` };
  }
  const unevaluated = [...inline.unevaluated];
  const errors: string[] = [];
  for (const { name: patch, discoverVariables: handler, settings } of blueprint.patches) {
    if (handler === undefined) {
      continue;
    }
    const answer = await ask(patch, handler, settings === undefined ? {} : { settings });
    if (answer.is === 'failed') {
      errors.push(`failed to call DiscoverVariables for patch ${patch}: ${answer.error}`);
      continue;
    }
    const own = checked(answer.variables, `${patch}.variables`);
    errors.push(...own.errors);
    unevaluated.push(...own.unevaluated);
    define(blueprint, definitionsIn(answer.variables, patch));
  }
  const why = errors.length > 0 ? firstOf(errors) : conflictIn(blueprint);
  return why === undefined
    ? { is: 'discovered', unevaluated }
    : {
        is: 'stopped',
        why: `VariablesReady of ${object} is False, and no Cluster of it reconciles: VariableDiscovery failed: ${why}`,
      };
}
