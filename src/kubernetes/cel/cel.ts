import { evaluate, type TypeCheckResult } from '@marcbachmann/cel-js';
import type { Json } from '../objects/json/json.ts';
import { goDurationMs } from '../objects/time.ts';
import { fieldOf, propertyOf, type Schema } from '../schema/index.ts';

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return'.split(' '),
);

export function celName(name: string): string {
  if (reserved.has(name)) {
    return `__${name}__`;
  }
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}

/** Converted values, each for the schema of its place. */
export type Seen = Map<Json, unknown>;

/** The evaluator finds the first key of an object by listing all keys, which a map avoids. */
const maxPlain = 16;

function mapOf(entries: [string, unknown][]): unknown {
  return entries.length > maxPlain ? new Map(entries) : Object.fromEntries(entries);
}

/** Longest text that is read as a duration, in characters: for longer ones the library's reader takes quadratic time. */
export const maxDuration = 256;

/** A duration as the library has it, whose class it does not export; the text itself if it is none, or one in words. */
function durationOf(text: string): unknown {
  try {
    const isDuration = text.length <= maxDuration && goDurationMs(text) !== undefined;
    return isDuration ? evaluate('duration(text)', { text }) : text;
  } catch {
    return text;
  }
}

/** A JSON value as an expression sees it, by the schema of its place: integers are bigints, names of properties are escaped. */
export function celOf(value: Json, schema?: Schema, seen: Seen = new Map()): unknown {
  if (typeof value === 'object' && value !== null) {
    // A rule sees its whole value, so values nested in it are converted once for all rules.
    let result = seen.get(value);
    if (result === undefined) {
      result = Array.isArray(value)
        ? value.map((item) => celOf(item, schema?.items, seen))
        : mapOf(
            Object.entries(value).map(([key, item]) => {
              const isProperty = schema !== undefined && propertyOf(schema, key) !== undefined;
              return [isProperty ? celName(key) : key, celOf(item, fieldOf(schema, key), seen)];
            }),
          );
      seen.set(value, result);
    }
    return result;
  }
  if (typeof value === 'number') {
    return Number.isSafeInteger(value) && schema?.type !== 'number' ? BigInt(value) : value;
  }
  if (typeof value === 'string' && (schema?.format === 'date-time' || schema?.format === 'date')) {
    return new Date(value);
  }
  if (typeof value === 'string' && schema?.format === 'duration') {
    return durationOf(value);
  }
  if (typeof value === 'string' && schema?.format === 'byte') {
    return Uint8Array.from(Buffer.from(value, 'base64'));
  }
  return value;
}

/** Why an expression that was type-checked cannot be used as a condition; undefined if it can. */
export function decisionProblem({ valid, type, error }: TypeCheckResult): string | undefined {
  if (!valid) {
    return `compilation failed: ${error?.summary ?? 'unknown error'}`;
  }
  return type === 'bool' || type === 'dyn' ? undefined : `must evaluate to bool, not ${type}`;
}
