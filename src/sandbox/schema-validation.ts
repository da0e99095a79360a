import { fullFormats } from 'ajv-formats/dist/formats.js';
import { isJsonObject, type Json, type StatusCause } from '../kubernetes/index.ts';
import { fieldOf, joinPath, type Schema, sameJson } from './schema.ts';

/** JSON type of a value as the messages of the API server name it. */
function typeNameOf(value: Json): string {
  if (value === null) {
    return 'null';
  }
  if (Array.isArray(value)) {
    return 'array';
  }
  return typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value;
}

/** A value as field errors show it. */
export function show(value: Json): string {
  return JSON.stringify(value);
}

function typeFits(value: Json, type: string): boolean {
  const actual = typeNameOf(value);
  return actual === type || (type === 'number' && actual === 'integer');
}

/** Formats that the API server checks; it ignores all others. */
const formats: Record<string, (text: string) => boolean> = {
  byte: (text) => /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text.replaceAll(/[\r\n]/g, '')),
  duration: (text) => /^[-+]?(0|([0-9]*\.?[0-9]+(ns|us|µs|ms|s|m|h))+)$/.test(text),
  ...Object.fromEntries(
    (['date', 'date-time', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'] as const).map((name) => [
      name,
      (text: string) => matchesFormat(fullFormats[name], text),
    ]),
  ),
};

function matchesFormat(format: unknown, text: string): boolean {
  if (format instanceof RegExp) {
    return format.test(text);
  }
  const check = typeof format === 'function' ? format : (format as { validate: unknown }).validate;
  return check instanceof RegExp ? check.test(text) : (check as (text: string) => boolean)(text);
}

const patterns = new Map<string, RegExp | undefined>();

/** A pattern compiled once; undefined when JavaScript cannot read what RE2 can, which then is not checked. */
function patternOf(source: string): RegExp | undefined {
  if (!patterns.has(source)) {
    let compiled: RegExp | undefined;
    try {
      compiled = new RegExp(source, 'u');
    } catch {
      compiled = undefined;
    }
    patterns.set(source, compiled);
  }
  return patterns.get(source);
}

/**
 * Validates a value against a structural schema. The input is not changed.
 *
 * @returns one cause a problem, with the reasons and messages of kube-openapi; empty when the value fits.
 */
export function validateSchema(value: Json, schema: Schema, path = ''): StatusCause[] {
  const causes: StatusCause[] = [];
  validateAt(value, schema, path, causes);
  return causes;
}

function add(causes: StatusCause[], field: string, reason: string, message: string): void {
  causes.push({ reason, message, field });
}

function addInvalid(causes: StatusCause[], path: string, value: Json, rule: string): void {
  add(causes, path, 'FieldValueInvalid', `Invalid value: ${show(value)}: ${path} in body ${rule}`);
}

function addWrongType(causes: StatusCause[], path: string, value: Json, wanted: string): void {
  const actual = show(typeNameOf(value));
  add(
    causes,
    path,
    'FieldValueTypeInvalid',
    `Invalid value: ${actual}: ${path} in body must be of type ${wanted}: ${actual}`,
  );
}

function validateAt(value: Json, schema: Schema, path: string, causes: StatusCause[]): void {
  if (value === null && schema.nullable === true) {
    return;
  }
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (!typeFits(value, 'integer') && !typeFits(value, 'string')) {
      addWrongType(causes, path, value, 'integer,string');
      return;
    }
  } else if (schema.type !== undefined && schema.type !== '' && !typeFits(value, schema.type)) {
    addWrongType(causes, path, value, schema.type);
    return;
  }
  if (schema.enum !== undefined && !schema.enum.some((allowed) => sameJson(allowed, value))) {
    const supported = schema.enum.map(show).join(', ');
    add(
      causes,
      path,
      'FieldValueNotSupported',
      `Unsupported value: ${typeof value === 'string' ? show(value) : JSON.stringify(show(value))}: supported values: ${supported}`,
    );
  }
  if (typeof value === 'string') {
    validateString(value, schema, path, causes);
  } else if (typeof value === 'number') {
    validateNumber(value, schema, path, causes);
  } else if (Array.isArray(value)) {
    validateArray(value, schema, path, causes);
  } else if (isJsonObject(value)) {
    validateObject(value, schema, path, causes);
  }
  validateCombined(value, schema, path, causes);
}

function validateString(value: string, schema: Schema, path: string, causes: StatusCause[]): void {
  const { minLength, maxLength, pattern, format } = schema;
  // Characters, as OpenAPI counts them: code points.
  const length = minLength === undefined && maxLength === undefined ? 0 : [...value].length;
  if (maxLength !== undefined && length > maxLength) {
    add(causes, path, 'FieldValueTooLong', `Too long: may not be more than ${maxLength} bytes`);
  }
  if (minLength !== undefined && length < minLength) {
    addInvalid(causes, path, value, `should be at least ${minLength} chars long`);
  }
  if (pattern !== undefined && patternOf(pattern)?.test(value) === false) {
    addInvalid(causes, path, value, `should match '${pattern}'`);
  }
  if (format !== undefined && Object.hasOwn(formats, format) && formats[format]?.(value) === false) {
    add(
      causes,
      path,
      'FieldValueTypeInvalid',
      `Invalid value: ${show(value)}: ${path} in body must be of type ${format}: ${show(value)}`,
    );
  }
}

/** With the tolerance that binary fractions need: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, factor: number): boolean {
  const quotient = value / factor;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient));
}

function validateNumber(value: number, schema: Schema, path: string, causes: StatusCause[]): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, format } = schema;
  if (minimum !== undefined && (exclusiveMinimum === true ? value <= minimum : value < minimum)) {
    addInvalid(
      causes,
      path,
      value,
      `should be greater than ${exclusiveMinimum === true ? '' : 'or equal to '}${minimum}`,
    );
  }
  if (maximum !== undefined && (exclusiveMaximum === true ? value >= maximum : value > maximum)) {
    addInvalid(causes, path, value, `should be less than ${exclusiveMaximum === true ? '' : 'or equal to '}${maximum}`);
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    addInvalid(causes, path, value, `should be a multiple of ${multipleOf}`);
  }
  if (format === 'int32' && (value < -(2 ** 31) || value > 2 ** 31 - 1)) {
    addInvalid(causes, path, value, `must be of type int32: ${value}`);
  }
}

function validateArray(value: Json[], schema: Schema, path: string, causes: StatusCause[]): void {
  const { minItems, maxItems, items } = schema;
  if (maxItems !== undefined && value.length > maxItems) {
    add(causes, path, 'FieldValueTooMany', `Too many: ${value.length}: must have at most ${maxItems} items`);
  }
  if (minItems !== undefined && value.length < minItems) {
    addInvalid(causes, path, value, `should have at least ${minItems} items`);
  }
  const listType = schema['x-kubernetes-list-type'];
  if (listType === 'set' || listType === 'map' || schema.uniqueItems === true) {
    const keys = listType === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : undefined;
    const seen = new Set<string>();
    for (const [index, item] of value.entries()) {
      const identity = show(keys === undefined || !isJsonObject(item) ? item : keysOf(item, keys, items));
      if (seen.has(identity)) {
        add(causes, `${path}[${index}]`, 'FieldValueDuplicate', `Duplicate value: ${identity}`);
      }
      seen.add(identity);
    }
  }
  if (items !== undefined) {
    for (const [index, item] of value.entries()) {
      validateAt(item, items, `${path}[${index}]`, causes);
    }
  }
}

/** What identifies an item of a map-type list. */
function keysOf(item: Record<string, Json>, keys: readonly string[], items: Schema | undefined): Json {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = item[key] ?? fieldOf(items, key)?.default;
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

function validateObject(value: Record<string, Json>, schema: Schema, path: string, causes: StatusCause[]): void {
  const keys = Object.keys(value);
  const { minProperties, maxProperties } = schema;
  if (maxProperties !== undefined && keys.length > maxProperties) {
    add(causes, path, 'FieldValueTooMany', `Too many: ${keys.length}: must have at most ${maxProperties} items`);
  }
  if (minProperties !== undefined && keys.length < minProperties) {
    addInvalid(causes, path, value, `should have at least ${minProperties} properties`);
  }
  // In the schema's order, so that the answer does not depend on how the client orders its fields.
  const specified = Object.keys(schema.properties ?? {}).filter((key) => Object.hasOwn(value, key));
  for (const key of new Set([...specified, ...keys])) {
    const field = fieldOf(schema, key);
    if (field !== undefined) {
      validateAt(value[key] as Json, field, joinPath(path, key), causes);
    }
  }
  for (const key of schema.required ?? []) {
    if (!Object.hasOwn(value, key)) {
      add(causes, joinPath(path, key), 'FieldValueRequired', 'Required value');
    }
  }
}

function validateCombined(value: Json, schema: Schema, path: string, causes: StatusCause[]): void {
  const fits = (candidate: Schema) => validateSchema(value, candidate, path).length === 0;
  const where = path === '' ? '""' : show(path);
  const addCombined = (rule: string) =>
    add(causes, path === '' ? '<nil>' : path, 'FieldValueInvalid', `Invalid value: ${show(value)}: ${where} ${rule}`);
  for (const part of schema.allOf ?? []) {
    validateAt(value, part, path, causes);
  }
  if (schema.anyOf !== undefined && !schema.anyOf.some(fits)) {
    addCombined('must validate at least one schema (anyOf)');
  }
  if (schema.oneOf !== undefined) {
    const fitting = schema.oneOf.filter(fits).length;
    if (fitting !== 1) {
      addCombined(
        `must validate one and only one schema (oneOf). ${fitting === 0 ? 'Found none valid' : `Found ${fitting} valid alternatives`}`,
      );
    }
  }
  if (schema.not !== undefined && fits(schema.not)) {
    addCombined('must not validate the schema (not)');
  }
}
