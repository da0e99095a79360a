import { isInt32, type Json } from '../objects/json/json.ts';
import { isOfType, partsIn, propertyOf, type Schema, typeNameOf } from '../schema/index.ts';

/** A schema that may name a struct of Go, with its package: `v1beta2.Topology`. Without a type, it takes any value. */
export interface GoType extends Schema {
  struct?: string;
  properties?: Record<string, GoType>;
  additionalProperties?: GoType | boolean;
  items?: GoType;
}

const kinds: Readonly<Record<string, string>> = { string: 'string', boolean: 'bool', number: 'float64' };

/** A struct whose name is not known is `…`. */
function nameOf({ type = '', format, struct, items, additionalProperties }: GoType): string {
  switch (type) {
    case 'array':
      return `[]${items === undefined ? 'interface {}' : nameOf(items)}`;
    case 'object':
      return struct ?? (typeof additionalProperties === 'object' ? `map[string]${nameOf(additionalProperties)}` : '…');
    case 'integer':
      return format === 'int64' ? 'int64' : 'int32';
    default:
      return kinds[type] ?? 'interface {}';
  }
}

function shown(value: Json, type: string): string {
  if (typeof value === 'number') {
    return type === 'integer' || type === 'number' ? `number ${value}` : 'number';
  }
  return typeof value === 'boolean' ? 'bool' : typeNameOf(value);
}

/**
 * Why Go does not decode a JSON value into a type, in the words of encoding/json; undefined if it does. Objects are read by
 * their sorted keys, and null is of every type. `struct` has the field at `path`.
 */
export function decodingProblem(value: Json, type: GoType, struct = '', path = ''): string | undefined {
  const wanted = type.type ?? '';
  if (value === null || wanted === '' || type['x-kubernetes-preserve-unknown-fields'] === true) {
    return undefined;
  }
  const isTooLarge = wanted === 'integer' && type.format !== 'int64' && !isInt32(value as number);
  if (!isOfType(value, wanted) || isTooLarge) {
    const name = struct.slice(struct.lastIndexOf('.') + 1);
    const place = path === '' ? 'Go value' : `Go struct field ${name === '' ? path : `${name}.${path}`}`;
    return `json: cannot unmarshal ${shown(value, wanted)} into ${place} of type ${nameOf(type)}`;
  }
  for (const { key, part, schema } of [...partsIn(value, type)].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    const isField = propertyOf(type, String(key)) !== undefined;
    const at = path === '' ? String(key) : `${path}.${key}`;
    const problem = schema && decodingProblem(part, schema, ...(isField ? [type.struct ?? '', at] : [struct, path]));
    if (problem !== undefined) {
      return problem;
    }
  }
  return undefined;
}
