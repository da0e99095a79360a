import { isInt32, isJsonObject, type Json } from '../objects/json/json.ts';

/** The type of a field in Go, as a schema tells it. */
export interface GoType {
  /** A JSON type; nothing for any value. */
  type?: string;
  format?: string;
  /** The name of a struct, with its package: `v1beta2.Topology`. */
  struct?: string;
  field?: (name: string) => GoType | undefined;
  /** The type of the items of a slice, or of the values of a map. */
  element?: () => GoType;
}

const kinds: Readonly<Record<string, string>> = { string: 'string', boolean: 'bool', number: 'float64' };

function nameOf({ type = '', format, struct, element }: GoType): string {
  switch (type) {
    case 'array':
      return `[]${element === undefined ? 'interface {}' : nameOf(element())}`;
    case 'object':
      return struct ?? (element === undefined ? 'struct' : `map[string]${nameOf(element())}`);
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
  return Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
}

function fits(value: Json, { type = '', format }: GoType): boolean {
  switch (type) {
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isJsonObject(value);
    case 'integer':
      return Number.isInteger(value) && (format === 'int64' || isInt32(value as number));
    case 'string':
    case 'boolean':
    case 'number':
      return typeof value === type;
    default:
      return true;
  }
}

/**
 * Why Go does not decode a JSON value into a type, in the words of encoding/json; undefined if it does. Objects are read by
 * their sorted keys, and null is of every type.
 *
 * @param struct the struct that has the field at `path`; both are empty for the value itself.
 */
export function decodingProblem(value: Json, type: GoType, struct = '', path = ''): string | undefined {
  if (value === null || type.type === undefined) {
    return undefined;
  }
  if (!fits(value, type)) {
    const name = struct.slice(struct.lastIndexOf('.') + 1);
    const place = path === '' ? 'Go value' : `Go struct field ${name === '' ? path : `${name}.${path}`}`;
    return `json: cannot unmarshal ${shown(value, type.type)} into ${place} of type ${nameOf(type)}`;
  }
  if (!isJsonObject(value) && !Array.isArray(value)) {
    return undefined;
  }
  const element = type.element?.();
  const parts = Object.entries(value);
  for (const [key, part] of isJsonObject(value) ? parts.sort(([a], [b]) => (a < b ? -1 : 1)) : parts) {
    const field = type.field?.(key);
    const problem = field
      ? decodingProblem(part, field, type.struct ?? '', path === '' ? key : `${path}.${key}`)
      : element && decodingProblem(part, element, struct, path);
    if (problem !== undefined) {
      return problem;
    }
  }
  return undefined;
}
