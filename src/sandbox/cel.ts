import type { TypeCheckResult } from '@marcbachmann/cel-js';
import { isJsonObject, type Json } from '../kubernetes/index.ts';
import { fieldOf, propertyOf, type Schema } from './schema.ts';

/** Words of CEL that cannot be names of fields there. */
const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return'.split(' '),
);

/** The name of a property in an expression. */
function celName(name: string): string {
  if (reserved.has(name)) {
    return `__${name}__`;
  }
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}

/**
 * A value as an expression sees it: integers are bigints there. A schema says what JSON does not tell (a number that happens
 * to be whole, a time) and which keys are properties, whose names are escaped.
 */
export function celOf(value: Json, schema?: Schema): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => celOf(item, schema?.items));
  }
  if (isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const isProperty = schema !== undefined && propertyOf(schema, key) !== undefined;
        return [isProperty ? celName(key) : key, celOf(item, fieldOf(schema, key))];
      }),
    );
  }
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && schema?.type !== 'number' ? BigInt(value) : value;
  }
  if (typeof value === 'string' && (schema?.format === 'date-time' || schema?.format === 'date')) {
    return new Date(value);
  }
  return value;
}

/** Why a checked expression cannot decide anything, or undefined. */
export function decisionProblem({ valid, type, error }: TypeCheckResult): string | undefined {
  if (!valid) {
    return `compilation failed: ${error?.summary ?? 'unknown error'}`;
  }
  return type === 'bool' || type === 'dyn' ? undefined : `must evaluate to bool, not ${type}`;
}
