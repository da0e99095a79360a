type Json = null | boolean | number | string | Json[] | {
  [key: string]: Json;
};
type JsonObject = {
  [key: string]: Json;
};
interface Write {
  (message: string): void;
  (fields: object, message?: string): void;
}
interface Log {
  trace: Write;
  debug: Write;
  info: Write;
  warn: Write;
  error: Write;
  fatal: Write;
  isLevelEnabled(level: string): boolean;
  child(fields: Record<string, unknown>): Log;
  flush(done?: () => void): void;
}
type AnyJSON = unknown;
interface RawExtension {
  [k: string]: unknown;
}
interface ClusterClassVariable {
  name: string;
  required: boolean;
  schema: VariableSchema;
  deprecatedV1Beta1Metadata?: ClusterClassVariableMetadata;
}
interface ClusterClassVariableMetadata {
  annotations?: {
    [k: string]: string;
  };
  labels?: {
    [k: string]: string;
  };
}
interface JSONSchemaProps {
  additionalProperties?: JSONSchemaProps;
  allOf?: JSONSchemaProps[];
  anyOf?: JSONSchemaProps[];
  default?: AnyJSON;
  description?: string;
  enum?: AnyJSON[];
  example?: AnyJSON;
  exclusiveMaximum?: boolean;
  exclusiveMinimum?: boolean;
  format?: string;
  items?: JSONSchemaProps;
  maxItems?: number;
  maxLength?: number;
  maxProperties?: number;
  maximum?: number;
  minItems?: number;
  minLength?: number;
  minProperties?: number;
  minimum?: number;
  not?: JSONSchemaProps;
  oneOf?: JSONSchemaProps[];
  pattern?: string;
  properties?: {
    [k: string]: JSONSchemaProps;
  };
  required?: string[];
  type?: string;
  uniqueItems?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-validations'?: ValidationRule[];
  'x-metadata'?: VariableSchemaMetadata;
}
interface ValidationRule {
  rule: string;
  message?: string;
  fieldPath?: string;
  messageExpression?: string;
  reason?: string;
}
interface VariableSchema {
  openAPIV3Schema: JSONSchemaProps;
}
interface VariableSchemaMetadata {
  annotations?: {
    [k: string]: string;
  };
  labels?: {
    [k: string]: string;
  };
}
interface GeneratePatchesRequest {
  items: GeneratePatchesRequestItem[];
  apiVersion?: string;
  kind?: string;
  settings?: {
    [k: string]: string;
  };
  variables?: Variable[];
}
interface GeneratePatchesRequestItem {
  uid: string;
  holderReference: HolderReference;
  object: RawExtension;
  variables?: Variable[];
}
interface GeneratePatchesResponseItem {
  uid: string;
  patchType: string;
  patch: string;
}
interface HolderReference {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  fieldPath: string;
}
interface Variable {
  name: string;
  value: AnyJSON;
}
declare const valueType: unique symbol;
interface TypedSchema<Value> {
  readonly [valueType]: Value;
}
type SchemaValue<S, Other = unknown> = S extends TypedSchema<infer Value> ? Value : S extends {
  readonly enum: readonly (infer Value)[];
} ? Value : S extends {
  readonly type: infer Type;
} ? Type extends 'string' ? string : Type extends 'integer' | 'number' ? number : Type extends 'boolean' ? boolean : Type extends 'array' ? (S extends {
  readonly items: infer Items;
} ? SchemaValue<Items, Other> : Other)[] : Type extends 'object' ? ObjectValue<S, Other> : Other : Other;
type ObjectValue<S, Other> = S extends {
  readonly properties: infer Properties;
} ? { [Name in PresentIn<Properties, S>]: SchemaValue<Properties[Name], Other>; } & { [Name in Exclude<keyof Properties, PresentIn<Properties, S>>]?: SchemaValue<Properties[Name], Other>; } : {
  [name: string]: S extends {
    readonly additionalProperties: infer Values;
  } ? SchemaValue<Values, Other> : Other;
};
type PresentIn<Properties, S> = { [Name in keyof Properties]: S extends {
  readonly required: readonly (infer Required)[];
} ? Name extends Required ? Name : DefaultedName<Properties, Name> : DefaultedName<Properties, Name>; }[keyof Properties];
type DefaultedName<Properties, Name extends keyof Properties> = Properties[Name] extends {
  readonly default: unknown;
} ? Name : never;
interface MatchResources {
  readonly controlPlane?: boolean | undefined;
  readonly infrastructureCluster?: boolean | undefined;
  readonly machineDeploymentClass?: {
    readonly names?: readonly string[] | undefined;
  } | undefined;
  readonly machinePoolClass?: {
    readonly names?: readonly string[] | undefined;
  } | undefined;
}
type OrUndefined<T> = { [Field in keyof T]: Record<never, never> extends Pick<T, Field> ? T[Field] | undefined : T[Field]; };
declare const problem: unique symbol;
interface Problem<Sentence extends string> {
  readonly [problem]: Sentence;
}
type Child<T, Segment extends string> = string extends Segment ? unknown : unknown extends T ? unknown : T extends readonly (infer Item)[] ? Segment extends '*' | `${number}` ? Item : never : T extends object ? [keyof T] extends [never] ? unknown : Segment extends keyof T ? T[Segment] : string extends keyof T ? T[keyof T] : Segment extends '*' ? T[keyof T] : never : never;
type Dotted<Path extends string> = Path extends `${infer Before}[${infer Inner}]${infer After}` ? Dotted<`${Before}.${Inner}${After}`> : Path;
type ValueAt<T, Path extends string> = Path extends `${infer First}.${infer Rest}` ? ValueAt<Child<T, First>, Rest> : Child<T, Path>;
type KnownValue<T, Path> = [T] extends [never] ? unknown : Path extends `${string}"${string}` ? unknown : Path extends string ? string extends Path ? unknown : ValueAt<T, Dotted<Path>> : unknown;
type FieldValue<T, Path> = unknown extends KnownValue<T, Path> ? Json | object : KnownValue<T, Path>;
type CheckedPath<T, Path> = [KnownValue<T, Path>] extends [never] ? Problem<`${Path & string} is not a field of this object`> : Path;
export declare function getField(object: unknown, path: string): Json | undefined;
export declare function setField<T extends object, const Path extends string>(object: T, path: Path & CheckedPath<T, Path>, value: FieldValue<T, Path> | undefined): void;
export declare function setArguments<T extends {
  readonly apiVersion: string;
}, const Path extends string>(object: T, path: Path & CheckedPath<T, Path>, values: Readonly<Record<string, string>>): void;
type SchemaType = 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
type Immutable<T> = T extends readonly (infer Item)[] ? readonly Immutable<Item>[] : T extends object ? { readonly [Field in keyof T]: Immutable<T[Field]>; } : T;
type Overridden = 'type' | 'items' | 'properties' | 'additionalProperties';
interface OpenApiSchema extends Omit<Immutable<JSONSchemaProps>, Overridden>, Partial<TypedSchema<unknown>> {
  readonly type?: SchemaType | undefined;
  readonly items?: OpenApiSchema | undefined;
  readonly properties?: {
    readonly [name: string]: OpenApiSchema;
  } | undefined;
  readonly additionalProperties?: OpenApiSchema | undefined;
}
interface VariableDefinition {
  readonly required?: boolean | undefined;
  readonly schema: OpenApiSchema;
  readonly deprecatedV1Beta1Metadata?: ClusterClassVariableMetadata | undefined;
}
type Definitions = Readonly<Record<string, VariableDefinition>>;
type Only<T, Known> = { readonly [Field in Exclude<keyof T, Known>]: Problem<`${Field & string} is not known: use ${Known & string}`>; };
type ExactSchema<S> = S extends TypedSchema<unknown> ? S : Only<S, keyof OpenApiSchema> & { readonly [Field in keyof S]: Field extends 'items' | 'additionalProperties' ? ExactSchema<S[Field]> : Field extends 'properties' ? { readonly [Name in keyof S[Field]]: ExactSchema<S[Field][Name]>; } : S[Field]; };
type Exact<D> = { readonly [Name in keyof D]: Only<D[Name], keyof VariableDefinition> & { readonly [Field in keyof D[Name]]: Field extends 'schema' ? ExactSchema<D[Name][Field]> : D[Name][Field]; }; };
type VariableValues<D extends Definitions> = { readonly [Name in keyof D]: D[Name] extends {
  readonly required: true;
} | {
  readonly schema: {
    readonly default: unknown;
  };
} ? SchemaValue<D[Name]['schema'], Json> : SchemaValue<D[Name]['schema'], Json> | undefined; };
interface DefinedVariables<Values> {
  readonly definitions: ClusterClassVariable[];
  read(request: Pick<GeneratePatchesRequest, 'variables'>, item: Pick<GeneratePatchesRequestItem, 'variables'>): Values;
}
export declare function defineVariables<const D extends Definitions>(definitions: D & Exact<D>): DefinedVariables<VariableValues<D>>;
export declare function schemaFrom<Value>(crd: object, version: string, path: string): OpenApiSchema & TypedSchema<Value>;
interface ObjectMetadata {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}
interface WorkersBuiltins {
  version?: string;
  metadata?: ObjectMetadata;
  class?: string;
  name?: string;
  topologyName?: string;
  replicas?: number;
  bootstrap?: {
    configRef?: {
      name?: string;
    };
  };
  infrastructureRef?: {
    name?: string;
  };
}
interface BuiltinVariables {
  cluster?: {
    name?: string;
    namespace?: string;
    uid?: string;
    metadata?: ObjectMetadata;
    topology?: {
      version?: string;
      classRef?: {
        name: string;
        namespace: string;
      };
      class?: string;
      classNamespace?: string;
    };
    network?: {
      serviceDomain?: string;
      services?: string[];
      pods?: string[];
    };
  };
  controlPlane?: {
    version?: string;
    metadata?: ObjectMetadata;
    name?: string;
    replicas?: number;
    machineTemplate?: {
      infrastructureRef?: {
        name?: string;
      };
    };
  };
  machineDeployment?: WorkersBuiltins;
  machinePool?: WorkersBuiltins;
}
interface Variables {
  get(path: string): Json | undefined;
  has(path: string): boolean;
  string(path: string, fallback?: string): string;
  number(path: string, fallback?: number): number;
  boolean(path: string, fallback?: boolean): boolean;
  object(path: string, fallback?: JsonObject): JsonObject;
  list(path: string, fallback?: Json[]): Json[];
}
export declare function variablesOf(variables: readonly Variable[] | undefined, ofItem?: readonly Variable[]): Variables;
interface Template {
  apiVersion: string;
  kind: string;
  metadata: {
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    [field: string]: unknown;
  };
  spec: JsonObject;
  [field: string]: unknown;
}
interface TemplateKinds {}
type TemplateKind = [keyof TemplateKinds] extends [never] ? string : keyof TemplateKinds & string;
interface TemplateMatch {
  readonly kind?: TemplateKind | readonly TemplateKind[] | undefined;
  readonly apiVersion?: string | readonly string[] | undefined;
  readonly holder?: Readonly<OrUndefined<Partial<HolderReference>>> | undefined;
  readonly matchResources?: MatchResources | undefined;
}
type OneOf<T> = T extends readonly (infer Item)[] ? Item : T;
type VersionsIn<Versions, Wanted> = Wanted extends `${infer Group}/*` ? Extract<keyof Versions, `${Group}/${string}`> : Extract<keyof Versions, Wanted>;
type TemplateIn<Versions, Wanted> = [VersionsIn<Versions, Wanted>] extends [never] ? Versions[keyof Versions] : Versions[VersionsIn<Versions, Wanted>];
type TemplateFor<Match> = Match extends {
  readonly kind: infer Kind;
} ? OneOf<Kind> extends (infer Name) ? Name extends keyof TemplateKinds ? TemplateIn<TemplateKinds[Name], Match extends {
  readonly apiVersion: infer Version;
} ? OneOf<Version> : never> : Template : never : Template;
interface TemplateContext<Values = unknown> {
  readonly values: Values;
  readonly variables: Variables;
  readonly builtin: BuiltinVariables;
  readonly item: GeneratePatchesRequestItem;
  readonly holder: HolderReference;
  readonly log: Log;
}
interface TemplatePatcher<Match = TemplateMatch, Values = unknown> {
  match?: (Match & TemplateMatch & Only<Match, keyof TemplateMatch>) | undefined;
  mutate(template: TemplateFor<Match>, context: TemplateContext<Values>): void;
}
interface WalkOptions<Values = unknown> {
  variables?: DefinedVariables<Values> | undefined;
  unmatched?: 'skip' | 'fail' | undefined;
  log?: Log | undefined;
}
export declare const matches: (match: TemplateMatch, item: GeneratePatchesRequestItem) => boolean;
export declare function walkTemplates<const Matches extends readonly unknown[], Values = unknown>(request: GeneratePatchesRequest, patchers: { readonly [Index in keyof Matches]: TemplatePatcher<Matches[Index], Values>; }, options?: WalkOptions<Values>): GeneratePatchesResponseItem[];
export type { BuiltinVariables, DefinedVariables, Template, TemplateContext, TemplateFor, TemplateKind, TemplateKinds, TemplateMatch, TemplatePatcher, VariableDefinition, VariableValues, Variables, WalkOptions };