import { copyOf, type Json } from '../../../kubernetes/index.ts';
import { applyDefaults, hasDefaults, type Schema, validateSchema } from '../../../kubernetes/schema/index.ts';
import type {
  ClusterClassVariable,
  ClusterClassVariableMetadata,
  GeneratePatchesRequest,
  GeneratePatchesRequestItem,
  JSONSchemaProps,
  SchemaValue,
  TypedSchema,
  Variable,
} from '../../../runtimehooks/index.ts';
import { checkDefinitions } from '../../../runtimehooks/variables/index.ts';
import { HandlerFailure, type Problem } from '../handlers/handler.ts';
import { layerOf, type VariableLayer } from './variables.ts';

type SchemaType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Field in keyof T]: Immutable<T[Field]> }
    : T;
type Overridden = 'type' | 'items' | 'properties' | 'additionalProperties';

/** The schema of a variable, or of a part of one: OpenAPI as Cluster API takes it. */
export interface OpenApiSchema extends Omit<Immutable<JSONSchemaProps>, Overridden>, Partial<TypedSchema<unknown>> {
  readonly type?: SchemaType | undefined;
  readonly items?: OpenApiSchema | undefined;
  readonly properties?: { readonly [name: string]: OpenApiSchema } | undefined;
  readonly additionalProperties?: OpenApiSchema | undefined;
}

/** A variable as its author writes it. */
export interface VariableDefinition {
  /** Whether every Cluster must set it. */
  readonly required?: boolean | undefined;
  readonly schema: OpenApiSchema;
  /** Labels and annotations of the variable, as in v1beta1 of Cluster API. */
  readonly deprecatedV1Beta1Metadata?: ClusterClassVariableMetadata | undefined;
}

type Definitions = Readonly<Record<string, VariableDefinition>>;

/** Refuses the fields that a type does not have: TypeScript does not do that for what it infers from. */
export type Only<T, Known> = {
  readonly [Field in Exclude<keyof T, Known>]: Problem<`${Field & string} is not known: use ${Known & string}`>;
};
type ExactSchema<S> =
  S extends TypedSchema<unknown>
    ? S
    : Only<S, keyof OpenApiSchema> & {
        readonly [Field in keyof S]: Field extends 'items' | 'additionalProperties'
          ? ExactSchema<S[Field]>
          : Field extends 'properties'
            ? { readonly [Name in keyof S[Field]]: ExactSchema<S[Field][Name]> }
            : S[Field];
      };
type Exact<D> = {
  readonly [Name in keyof D]: Only<D[Name], keyof VariableDefinition> & {
    readonly [Field in keyof D[Name]]: Field extends 'schema' ? ExactSchema<D[Name][Field]> : D[Name][Field];
  };
};

/** The values of the defined variables. Cluster API has validated them and applied defaults. */
export type VariableValues<D extends Definitions> = {
  readonly [Name in keyof D]: D[Name] extends
    | { readonly required: true }
    | { readonly schema: { readonly default: unknown } }
    ? SchemaValue<D[Name]['schema'], Json>
    : SchemaValue<D[Name]['schema'], Json> | undefined;
};

/** Variables that an extension defines once, both for DiscoverVariables and for reading their values. */
export interface DefinedVariables<Values> {
  /** For `answer.done({ variables })` of DiscoverVariables, in the order of the definitions. */
  readonly definitions: ClusterClassVariable[];
  /**
   * The values for one item of a request, checked against their schemas and with defaults, such as those that a MachineDeployment overrides. Patchers have them as
   * `values` (`walkTemplates` with the option `variables`).
   *
   * @throws {HandlerFailure} for a value that its schema does not allow; the message names it.
   */
  read(request: Pick<GeneratePatchesRequest, 'variables'>, item: Pick<GeneratePatchesRequestItem, 'variables'>): Values;
}

/** Longest value in a message, in characters. */
const maxShown = 100;

/**
 * A value with its defaults. Cluster API has validated it and applied them, if the ClusterClass has the definition.
 *
 * @throws {HandlerFailure} for what its schema does not allow, which users read.
 */
function checkedValue(name: string, definition: VariableDefinition, value: Json | undefined): Json | undefined {
  const schema = definition.schema as Schema;
  const remedy =
    'Cluster API checks it if the ClusterClass has discoverVariablesExtension with the handler of this extension';
  if (value === undefined && schema.default === undefined) {
    if (definition.required === true) {
      throw new HandlerFailure(`variable ${name} is not set, but required; ${remedy}`);
    }
    return undefined;
  }
  const whole = value === undefined || hasDefaults(schema) ? copyOf(value ?? (schema.default as Json)) : value;
  applyDefaults(whole, schema);
  const [cause] = validateSchema(whole, schema);
  if (cause !== undefined) {
    const shown = JSON.stringify(value).slice(0, maxShown);
    throw new HandlerFailure(`variable ${name} is ${shown}: ${cause.message}; ${remedy}`);
  }
  return whole;
}

/**
 * Defines variables by name.
 *
 * @throws {TypeError} for definitions that Cluster API rejects: names such as `builtin` or one with a dot, and
 *   schemas that are not structural or whose defaults they do not allow. The message names the variable,
 *   the path in its schema, and the problem.
 */
export function defineVariables<const D extends Definitions>(
  definitions: D & Exact<D>,
): DefinedVariables<VariableValues<D>> {
  const defined = Object.entries(definitions);
  const variables = defined.map(
    ([name, { required = false, schema, deprecatedV1Beta1Metadata }]): ClusterClassVariable => ({
      name,
      required,
      schema: { openAPIV3Schema: schema as JSONSchemaProps },
      ...(deprecatedV1Beta1Metadata !== undefined && { deprecatedV1Beta1Metadata }),
    }),
  );
  // As Cluster API checks them when it discovers them: without that, a mistake shows in a condition of the ClusterClass.
  const { causes } = checkDefinitions(variables as unknown as Json, 'variables');
  if (causes.length > 0) {
    const lines = causes.map(({ field = '', message }) => `- ${field}: ${message}`).join('\n');
    // As the author writes it.
    throw new TypeError(`the variables cannot be served:\n${lines.replaceAll('.schema.openAPIV3Schema', '.schema')}`);
  }
  // Handlers read the values for one item after the other: the variables of their request are checked once.
  const ofRequests = new WeakMap<
    readonly Variable[],
    { layer: VariableLayer; values: Map<string, Json | undefined> }
  >();
  function ofRequest(variables: readonly Variable[] = []) {
    const known = ofRequests.get(variables) ?? { layer: layerOf(variables), values: new Map() };
    ofRequests.set(variables, known);
    return known;
  }
  return {
    definitions: variables,
    read(request, item) {
      const { layer, values } = ofRequest(request.variables);
      const own = layerOf(item.variables);
      return Object.fromEntries(
        defined.map(([name, definition]) => {
          if (own.has(name)) {
            return [name, checkedValue(name, definition, own.get(name))];
          }
          if (!values.has(name)) {
            values.set(name, checkedValue(name, definition, layer.get(name)));
          }
          return [name, values.get(name)];
        }),
      ) as VariableValues<D>;
    },
  };
}
