import {
  copyOf,
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  textAt,
} from '../../../kubernetes/index.ts';
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
import { segmentsOf } from '../objects/json-path.ts';
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
  /** The values for one item, with defaults. @throws {HandlerFailure} for one that its schema does not allow. */
  read(request: Pick<GeneratePatchesRequest, 'variables'>, item: Pick<GeneratePatchesRequestItem, 'variables'>): Values;
}

/** Longest value in a message, in characters. */
const maxShown = 100;

/** A value with its defaults, which Cluster API validates and applies, if the ClusterClass has the definition. */
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
 * @throws {TypeError} for definitions that Cluster API rejects: names such as `builtin` or one with a dot, and schemas that
 *   are not structural or do not allow their defaults. The message names the variable, the path in its schema, the problem.
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
  // Else a mistake would only show in a condition of the ClusterClass.
  const { causes } = checkDefinitions(variables as unknown as Json, 'variables');
  if (causes.length > 0) {
    const lines = causes.map(({ field = '', message }) => `- ${field}: ${message}`).join('\n');
    // As the author writes it.
    throw new TypeError(`the variables cannot be served:\n${lines.replaceAll('.schema.openAPIV3Schema', '.schema')}`);
  }
  // Handlers read the values for one item after the other: the variables of their request are checked once.
  type Known = { layer: VariableLayer; values: Map<string, Json | undefined> };
  const ofRequests = new WeakMap<readonly Variable[], Known>();
  return {
    definitions: variables,
    read({ variables: ofRequest = [] }, item) {
      const own = layerOf(item.variables);
      const known = ofRequests.get(ofRequest) ?? { layer: layerOf(ofRequest), values: new Map() };
      ofRequests.set(ofRequest, known);
      const { layer, values } = known;
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

/** What schemas of variables lack of those of CustomResourceDefinitions. */
const foreign = [
  'nullable',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-embedded-resource',
];

/** @param isSchema whether the value is a schema, and not the schemas of its properties by name. */
function withoutForeign(value: Json, isSchema: boolean): Json {
  if (Array.isArray(value)) {
    return value.map((item) => withoutForeign(item, isSchema));
  }
  if (!isJsonObject(value)) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !isSchema || !foreign.includes(name))
      .map(([name, field]) => [
        name,
        // A default, and the values of an enum, are not schemas.
        isSchema && (name === 'default' || name === 'enum' || name === 'example')
          ? field
          : withoutForeign(field, name !== 'properties' || !isSchema),
      ]),
  );
}

/**
 * The schema of a field in a CustomResourceDefinition, for a variable with its values, of a type of `template-types`:
 *
 * ```ts
 * const disks = schemaFrom<LabMachineTemplate['spec']['template']['spec']['disks']>(crd, 'v1', 'spec.template.spec.disks');
 * const variables = defineVariables({ disks: { schema: disks } });
 * ```
 *
 * @param path `[0]` stands for the items of a list.
 * @throws {TypeError} when the CustomResourceDefinition has no such version or field.
 */
export function schemaFrom<Value>(crd: object, version: string, path: string): OpenApiSchema & TypedSchema<Value> {
  const versions = objectsAt(crd as Json, 'spec', 'versions');
  const { schema } = versions.find(({ name }) => name === version) ?? {};
  let at: JsonObject = objectAt(schema, 'openAPIV3Schema');
  for (const segment of segmentsOf(path)) {
    at = typeof segment === 'number' ? objectAt(at, 'items') : objectAt(at, 'properties', segment);
  }
  if (Object.keys(at).length === 0) {
    const kind = textAt(crd as Json, 'spec', 'names', 'kind');
    throw new TypeError(
      `${kind} has no field ${path} in version ${version}; it has ${versions.map(({ name }) => name).join(', ')}`,
    );
  }
  return withoutForeign(at, true) as unknown as OpenApiSchema & TypedSchema<Value>;
}
