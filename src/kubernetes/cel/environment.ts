import { Environment } from '@marcbachmann/cel-js';
import type { Schema } from '../schema/index.ts';
import { celName } from './cel.ts';

/** A type of the library: its name, or the types of an object's fields. */
type Declared = string | { [field: string]: Declared };

/** Formats of texts that are other types in expressions. */
const typedFormats = new Set(['byte', 'date', 'date-time', 'duration']);

const scalars: Record<string, string> = { boolean: 'bool', integer: 'int', number: 'double', string: 'string' };

/** How many more fields may be declared: each declaration takes some microseconds. */
export interface Declarations {
  left: number;
}

/** The type of the values that a schema describes, in as much detail as the library can express it. */
function declaredOf(schema: Schema, declarations: Declarations): Declared {
  declarations.left--;
  if (declarations.left < 0) {
    return 'dyn';
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === true || schema['x-kubernetes-int-or-string'] === true) {
    return 'dyn';
  }
  if (schema.format !== undefined && typedFormats.has(schema.format)) {
    return 'dyn';
  }
  const inner = (part: Schema): string => {
    const declared = declaredOf(part, declarations);
    return typeof declared === 'string' ? declared : 'dyn';
  };
  switch (schema.type) {
    case 'array':
      return `list<${schema.items === undefined ? 'dyn' : inner(schema.items)}>`;
    case 'object': {
      const { properties, additionalProperties } = schema;
      if (properties !== undefined) {
        return Object.fromEntries(
          Object.entries(properties).map(([name, part]) => [celName(name), declaredOf(part, declarations)]),
        );
      }
      return typeof additionalProperties === 'object' ? `map<string, ${inner(additionalProperties)}>` : 'dyn';
    }
    default:
      return scalars[schema.type ?? ''] ?? 'dyn';
  }
}

/** What expressions over values of any type are compiled in. */
export function untypedEnvironment(): Environment {
  return new Environment({ enableOptionalTypes: true })
    .registerVariable('self', 'dyn')
    .registerVariable('oldSelf', 'dyn');
}

/**
 * What finds expressions that do not fit the values of a schema: a field that there is not, a number as a text.
 *
 * @param declarations what this and others may declare; parts of the schema beyond that may be anything.
 */
export function typedEnvironment(schema: Schema, declarations: Declarations): Environment {
  const declared = declaredOf(schema, declarations);
  const environment = new Environment({ enableOptionalTypes: true });
  if (typeof declared === 'string') {
    return environment.registerVariable('self', declared).registerVariable('oldSelf', declared);
  }
  // Both of the same type, so that they can be compared: the library names the type of a schema after its variable.
  return environment.registerVariable('self', { schema: declared }).registerVariable('oldSelf', '$self');
}
