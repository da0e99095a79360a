import type {
  ClusterClassVariable,
  GeneratePatchesRequest,
  GeneratePatchesRequestItem,
  Variable,
} from '../../hooks/index.ts';
import type { Json } from '../../kubernetes/index.ts';
import { layerOf, type VariableLayer } from './variables.ts';

type OpenApiSchema = ClusterClassVariable['schema']['openAPIV3Schema'];

/** A variable as its author writes it. */
export interface VariableDefinition {
  /** Whether every Cluster must set it. */
  required?: boolean;
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

/**
 * Defines variables by name.
 *
 * @throws {TypeError} for a name that Cluster API rejects: `builtin`, one with a dot, empty or too long.
 */
export function defineVariables<const D extends Definitions>(definitions: D): DefinedVariables<D> {
  for (const name of Object.keys(definitions)) {
    if (name === '' || name.length > maxNameLength || name === 'builtin' || name.includes('.')) {
      throw new TypeError(
        `${JSON.stringify(name.slice(0, 100))} is not a name for a variable: 1 to ${maxNameLength} characters, no dot, not builtin`,
      );
    }
  }
  // Handlers read the values for one item after the other: the variables of their request are looked through once.
  const layers = new WeakMap<readonly Variable[], VariableLayer>();
  function requestLayer(variables: readonly Variable[] = []): VariableLayer {
    const layer = layers.get(variables) ?? layerOf(variables);
    layers.set(variables, layer);
    return layer;
  }
  return {
    variables: Object.entries(definitions).map(([name, { required = false, schema }]) => ({
      name,
      required,
      schema: { openAPIV3Schema: schema },
    })),
    read(request, item) {
      const shared = requestLayer(request.variables);
      const own = layerOf(item?.variables);
      return Object.fromEntries(
        Object.keys(definitions).map((name) => [name, own.has(name) ? own.get(name) : shared.get(name)]),
      ) as VariableValues<D>;
    },
  };
}
