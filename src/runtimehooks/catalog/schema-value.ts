declare const valueType: unique symbol;

/** A schema whose values have a type that it does not tell itself. */
export interface TypedSchema<Value> {
  readonly [valueType]: Value;
}

/** The type of the values that a schema describes, as far as it says so; `Other` where it does not. */
export type SchemaValue<S, Other = unknown> =
  S extends TypedSchema<infer Value>
    ? Value
    : S extends { readonly enum: readonly (infer Value)[] }
      ? Value
      : S extends { readonly type: infer Type }
        ? Type extends 'string'
          ? string
          : Type extends 'integer' | 'number'
            ? number
            : Type extends 'boolean'
              ? boolean
              : Type extends 'array'
                ? (S extends { readonly items: infer Items } ? SchemaValue<Items, Other> : Other)[]
                : Type extends 'object'
                  ? ObjectValue<S, Other>
                  : Other
        : Other;

type ObjectValue<S, Other> = S extends { readonly properties: infer Properties }
  ? { [Name in PresentIn<Properties, S>]: SchemaValue<Properties[Name], Other> } & {
      [Name in Exclude<keyof Properties, PresentIn<Properties, S>>]?: SchemaValue<Properties[Name], Other>;
    }
  : { [name: string]: S extends { readonly additionalProperties: infer Values } ? SchemaValue<Values, Other> : Other };

/** The fields that are required, or have a default. */
type PresentIn<Properties, S> = {
  [Name in keyof Properties]: S extends { readonly required: readonly (infer Required)[] }
    ? Name extends Required
      ? Name
      : DefaultedName<Properties, Name>
    : DefaultedName<Properties, Name>;
}[keyof Properties];
type DefaultedName<Properties, Name extends keyof Properties> = Properties[Name] extends { readonly default: unknown }
  ? Name
  : never;
