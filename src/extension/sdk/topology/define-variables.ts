import { isJsonObject, type Json } from '../../../kubernetes/index.ts';
import {
  type ClusterClassVariable,
  type GeneratePatchesRequest,
  type GeneratePatchesRequestItem,
  hooks,
  type Variable,
} from '../../../runtimehooks/index.ts';
import { messageProblems } from '../../../runtimehooks/messages/index.ts';
import { checkDefinitions } from '../../../runtimehooks/variables/index.ts';
import { checkKind, checkOptions } from '../handlers/options.ts';
import { layerOf, type VariableLayer } from './variables.ts';

type OpenApiSchema = ClusterClassVariable['schema']['openAPIV3Schema'];

/** A variable as its author writes it. */
export interface VariableDefinition {
  /** Whether every Cluster must set it. */
  required?: boolean | undefined;
  schema: OpenApiSchema;
}

type Definitions = Readonly<Record<string, VariableDefinition>>;

/** The type of the values that a schema describes, as far as its `type` tells. */
type ValueOf<D extends VariableDefinition> = D['schema'] extends { readonly type: infer T }
  ? T extends 'string'
    ? string
    : T extends 'integer' | 'number'
      ? number
      : T extends 'boolean'
        ? boolean
        : T extends 'array'
          ? Json[]
          : T extends 'object'
            ? { [field: string]: Json }
            : Json
  : Json;

/** The values of the defined variables. Cluster API has validated them and applied defaults. */
export type VariableValues<D extends Definitions> = {
  readonly [Name in keyof D]: D[Name] extends { readonly required: true }
    ? ValueOf<D[Name]>
    : D[Name]['schema'] extends { readonly default: unknown }
      ? ValueOf<D[Name]>
      : ValueOf<D[Name]> | undefined;
};

/** Variables that an extension defines once, both for DiscoverVariables and for reading their values. */
export interface DefinedVariables<D extends Definitions> {
  /** For `answer.done({ variables })` of DiscoverVariables, in the order of the definitions. */
  readonly variables: ClusterClassVariable[];
  /** The values in a request, or for one item of it. */
  read(
    request: Pick<GeneratePatchesRequest, 'variables'>,
    item?: Pick<GeneratePatchesRequestItem, 'variables'>,
  ): VariableValues<D>;
}

/** Longest name of a variable, in characters. */
const maxNameLength = 256;

/** Maximum number of problems that an error names, and the longest of them in characters. */
const maxProblems = 10;
const maxProblemLength = 500;

/** Throws for what types refuse, and plain JavaScript does not. */
function checkDefinition(name: string, definition: VariableDefinition): void {
  if (name === '' || name.length > maxNameLength || name === 'builtin' || name.includes('.')) {
    throw new TypeError(
      `${JSON.stringify(name.slice(0, 100))} is not a name for a variable: 1 to ${maxNameLength} characters, no dot, not builtin`,
    );
  }
  const variable = `variable ${JSON.stringify(name)}`;
  checkOptions(definition, variable, "{ schema: { type: 'string' } }");
  if (!isJsonObject(definition.schema)) {
    throw new TypeError(`${variable}: schema must be an object, such as { schema: { type: 'string' } }`);
  }
  checkKind(`${variable}: required`, definition.required, 'boolean', 'leave it out for false');
}

/** What is wrong with the fields of definitions: types that no schema has, and unknown fields. */
function fieldProblems(variables: ClusterClassVariable[]): string[] {
  const response = { status: 'Success', variables };
  return messageProblems(hooks.DiscoverVariables, 'response', response, 'strict').map(({ field, message }) => {
    const [, index = '', rest = ''] = /^variables\[(\d+)\](.*)$/s.exec(field) ?? [];
    return `variables[${variables[Number(index)]?.name ?? ''}]${rest}: ${message}`;
  });
}

/**
 * Checks variables as Cluster API does when it discovers them: without that, a mistake shows in a condition of the
 * ClusterClass.
 *
 * @throws {TypeError} with all problems, one per line.
 */
function checkVariables(variables: ClusterClassVariable[]): void {
  const ofFields = fieldProblems(variables);
  // Those of a schema with unknown fields would follow from them.
  const problems =
    ofFields.length > 0
      ? ofFields
      : checkDefinitions(variables as unknown as Json, 'variables').causes.map(
          ({ field = '', message }) => `${field}: ${message}`,
        );
  if (problems.length > 0) {
    const more = problems.length - maxProblems;
    const named = problems.slice(0, maxProblems).map((problem) => `- ${problem.slice(0, maxProblemLength)}`);
    const lines = more > 0 ? [...named, `- and ${more} more`] : named;
    // As the author writes it.
    const text = lines.join('\n').replaceAll('.schema.openAPIV3Schema', '.schema');
    throw new TypeError(`the variables cannot be served:\n${text}`);
  }
}

/**
 * Defines variables by name.
 *
 * @throws {TypeError} for definitions that Cluster API rejects: names such as `builtin` or one with a dot, and schemas that
 *   are not structural or whose defaults they do not allow. The message names the variable, the path in its schema, and
 *   the problem.
 */
export function defineVariables<const D extends Definitions>(definitions: D): DefinedVariables<D> {
  checkOptions(definitions, 'defineVariables', "variables by name, such as { tier: { schema: { type: 'string' } } }");
  for (const [name, definition] of Object.entries(definitions)) {
    checkDefinition(name, definition);
  }
  const variables = Object.entries(definitions).map(([name, { required = false, schema }]) => ({
    name,
    required,
    schema: { openAPIV3Schema: schema },
  }));
  checkVariables(variables);
  // Handlers read the values for one item after the other: the variables of their request are looked through once.
  const layers = new WeakMap<readonly Variable[], VariableLayer>();
  function requestLayer(variables: readonly Variable[] = []): VariableLayer {
    const layer = layers.get(variables) ?? layerOf(variables);
    layers.set(variables, layer);
    return layer;
  }
  return {
    variables,
    read(request, item) {
      const shared = requestLayer(request.variables);
      const own = layerOf(item?.variables);
      return Object.fromEntries(
        Object.keys(definitions).map((name) => [name, own.has(name) ? own.get(name) : shared.get(name)]),
      ) as VariableValues<D>;
    },
  };
}
