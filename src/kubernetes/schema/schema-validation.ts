import { charactersIn, count } from '../../base/index.ts';
import type { StatusCause } from '../objects/errors/status.ts';
import { canonical, isJsonObject, type Json, own } from '../objects/json/json.ts';
import { isSame } from '../objects/json/json-patch.ts';
import { perObject } from '../objects/per-object.ts';
import { forbiddenField, maxCauses, shorten } from './causes.ts';
import { formats } from './formats.ts';
import { compilePattern, type Pattern, PatternError } from './pattern.ts';
import { fieldOf, joinPath, ofAnyPart, oldItems, partsIn, type Schema } from './schema.ts';

function typeNameOf(value: Json): string {
  if (value === null) {
    return 'null';
  }
  if (Array.isArray(value)) {
    return 'array';
  }
  return typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value;
}

function show(value: Json): string {
  return shorten(JSON.stringify(value));
}

function typeFits(value: Json, type: string): boolean {
  const actual = typeNameOf(value);
  return actual === type || (type === 'number' && actual === 'integer');
}

/** The pattern of a schema, or why it cannot be used. A definition may have more than `compilePattern` keeps. */
const patternOf = perObject(({ pattern = '' }: Schema): Pattern | PatternError => {
  try {
    return compilePattern(pattern);
  } catch (error) {
    if (error instanceof PatternError) {
      return error;
    }
    throw error;
  }
});

function validatePattern(value: string, schema: Schema, path: string, findings: Findings): void {
  const pattern = patternOf(schema);
  if (pattern instanceof PatternError) {
    const why = `${schema.pattern}, but pattern is invalid: ${pattern.message}`;
    addInvalid(findings, path, value, `should match '${why}'`);
  } else if (findings.spend((value.length * pattern.size) / 5, path) && !pattern.test(value)) {
    addInvalid(findings, path, value, `should match '${schema.pattern}'`);
  }
}

const hasParts = (value: Json) => typeof value === 'object' && value !== null;

/** The allowed values of a schema, as they are compared and shown; most are only strings, which no object or array is. */
const enumOf = perObject(({ enum: allowed = [] }: Schema) => ({
  values: new Set(allowed.map(canonical)),
  text: shorten(allowed.map((value) => show(typeof value === 'string' ? value : show(value))).join(', ')),
  hasParts: allowed.some(hasParts),
}));

/** Maximum amount of work for one object, some seconds: visits of a value by a schema, and five steps of patterns each. */
const maxWork = 10_000_000;
/** Characters that are read, or of a value that is written with sorted keys, in about the time of a visit. */
const charactersPerWork = 5;

/** The budget of one validation, or of several that share it. */
export interface Work {
  left: number;
  /** Path at which the work was used up. */
  endedAt?: string;
}

export const workOfObject = (): Work => ({ left: maxWork });

interface Shown {
  /** The text that messages show in quotes, instead of the value at fault. */
  shown?: string | undefined;
  /** Where the value is, if it is part of a schema (a default, an example); paths in messages begin at the value. */
  base?: string | undefined;
}

class Findings {
  readonly causes: StatusCause[] = [];
  readonly shown: string | undefined;
  readonly base: string | undefined;
  /** Whether only the number of problems matters, so that their messages need not be written. */
  readonly isQuiet: boolean;
  readonly #most: number;
  readonly #work: Work;

  constructor(most: number, work: Work, { shown, base }: Shown = {}, isQuiet = false) {
    this.#most = most;
    this.#work = work;
    this.isQuiet = isQuiet;
    this.shown = shown;
    this.base = base;
  }

  get isFull(): boolean {
    return this.causes.length >= this.#most;
  }

  add(field: string, reason: string, message: string): void {
    if (!this.isFull) {
      this.causes.push({ reason, message, field: this.placeOf(field) });
    }
  }

  /** The path of a problem, of which `field` is what comes after the base. */
  placeOf(field: string): string {
    if (this.base === undefined) {
      return field;
    }
    return field === '' || field === '<nil>' ? this.base : `${this.base}.${field.replace(/^\./, '')}`;
  }

  /** Takes work from the budget. Once it is used up, no further problems are reported. */
  spend(work: number, path: string): boolean {
    this.#work.left -= work;
    if (this.#work.left < 0) {
      this.#work.endedAt ??= path;
    }
    return this.#work.left >= 0;
  }

  fits(value: Json, schema: Schema, path: string): boolean {
    this.spend(4, path);
    const inner = new Findings(1, this.#work, {}, true);
    validateAt(value, schema, path, inner);
    return inner.causes.length === 0;
  }
}

interface Validation extends Shown {
  path?: string;
  /** Its budget; once that is used up, it is the only cause, and later validations with it have none. */
  work?: Work;
  /** The value that is replaced: problems of parts that stay as they were are not causes (ratcheting validation). */
  old?: Json | undefined;
}

function findingsOf(
  { work = workOfObject(), ...shown }: Validation,
  check: (findings: Findings) => void,
): StatusCause[] {
  if (work.endedAt !== undefined) {
    return [];
  }
  const findings = new Findings(maxCauses, work, shown);
  check(findings);
  const why = 'takes too much work to validate; make the object or its schema smaller';
  return work.endedAt === undefined
    ? findings.causes
    : [...findings.causes, forbiddenField(findings.placeOf(work.endedAt), why)];
}

/**
 * Validates a value against a structural schema, but for the types of its lists: a cause for each problem, as kube-openapi.
 */
export const validateSchema = (value: Json, schema: Schema, options: Validation = {}): StatusCause[] =>
  findingsOf(options, (findings) => validateAt(value, schema, options.path ?? '', findings, options.old));

/** The duplicate items of sets and maps (apiextensions, pkg/apiserver/schema/listtype); none if the old value has some. */
export function validateListTypes(value: Json, schema: Schema, { old, ...options }: Validation = {}): StatusCause[] {
  if (!hasListTypes(schema) || (old !== undefined && validateListTypes(old, schema, options).length > 0)) {
    return [];
  }
  return findingsOf(options, (findings) => checkListTypes(value, schema, options.path ?? '', findings));
}

/** Where a message says that the problem is: nowhere for the whole value, unless the value is part of a schema. */
const inBody = (path: string, { base }: Findings) => (path === '' && base === undefined ? '' : `${path} in body `);

function addInvalid(findings: Findings, path: string, value: Json, rule: string): void {
  const message = findings.isQuiet
    ? ''
    : `Invalid value: ${findings.shown ?? show(value)}: ${inBody(path, findings)}${rule}`;
  findings.add(path, 'FieldValueInvalid', message);
}

function addUnplaced(findings: Findings, problem: string): void {
  findings.add('<nil>', 'FieldValueInvalid', `Invalid value: ${findings.shown ?? '""'}: ${problem}`);
}

/** A problem of type. Where a schema has a format, kube-openapi compares numbers, booleans and objects with that. */
function addWrongType(findings: Findings, path: string, value: Json, type: string, format?: string): void {
  const hasFormat = !['string', 'array', 'null'].includes(typeNameOf(value)) && (format ?? '') !== '';
  const numbers = Number.isInteger(value) ? 'int64' : 'float64';
  const actual = show(hasFormat ? (typeof value === 'number' ? numbers : '') : typeNameOf(value));
  const wanted = hasFormat ? format : type;
  addUnfit(findings, path, actual, wanted);
}

function addUnfit(findings: Findings, path: string, actual: string, wanted: string | undefined): void {
  const problem = `${inBody(path, findings)}must be of type ${wanted}: ${actual}`;
  findings.add(path, 'FieldValueTypeInvalid', `Invalid value: ${findings.shown ?? actual}: ${problem}`);
}

function addTooMany(findings: Findings, path: string, number: number, most: number): void {
  const shown = findings.shown ?? number;
  findings.add(path, 'FieldValueTooMany', `Too many: ${shown}: must have at most ${count(most, 'item')}`);
}

function validateAt(value: Json, schema: Schema, path: string, findings: Findings, old?: Json): void {
  if (findings.isFull || !findings.spend(1, path)) {
    return;
  }
  const before = findings.causes.length;
  validatePart(value, schema, path, findings, old);
  if (old !== undefined && findings.causes.length > before && isSame(value, old)) {
    findings.causes.length = before;
  }
}

function validatePart(value: Json, schema: Schema, path: string, findings: Findings, old: Json | undefined): void {
  if (value === null && schema.nullable === true) {
    validateEnum(value, schema, path, findings);
    return;
  }
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (!typeFits(value, 'integer') && !typeFits(value, 'string')) {
      addWrongType(findings, path, value, 'integer,string');
      return;
    }
  } else if (schema.type !== undefined && schema.type !== '' && !typeFits(value, schema.type)) {
    addWrongType(findings, path, value, schema.type, schema.format);
  }
  validateEnum(value, schema, path, findings);
  if (typeof value === 'string') {
    validateString(value, schema, path, findings);
  } else if (typeof value === 'number') {
    validateNumber(value, schema, path, findings);
  } else if (Array.isArray(value)) {
    validateArray(value, schema, path, findings, old);
  } else if (isJsonObject(value)) {
    validateObject(value, schema, path, findings, old);
  }
  validateCombined(value, schema, path, findings);
}

function validateEnum(value: Json, schema: Schema, path: string, findings: Findings): void {
  if (schema.enum === undefined) {
    return;
  }
  const allowed = enumOf(schema);
  if (allowed.hasParts || !hasParts(value)) {
    const identity = identityOf(value, path, findings);
    if (identity === undefined || allowed.values.has(identity)) {
      return;
    }
  }
  const shown = findings.isQuiet ? '' : (findings.shown ?? show(value));
  findings.add(path, 'FieldValueNotSupported', `Unsupported value: ${shown}: supported values: ${allowed.text}`);
}

function validateString(value: string, schema: Schema, path: string, findings: Findings): void {
  const { minLength, maxLength, pattern, format } = schema;
  if (!findings.spend(value.length / charactersPerWork, path)) {
    return;
  }
  // OpenAPI counts code points. Of several problems with a text, kube-openapi tells the first.
  const length = minLength === undefined && maxLength === undefined ? 0 : charactersIn(value);
  if (maxLength !== undefined && length > maxLength) {
    findings.add(path, 'FieldValueTooLong', `Too long: may not be more than ${count(maxLength, 'byte')}`);
  } else if (minLength !== undefined && length < minLength) {
    addInvalid(findings, path, value, `should be at least ${minLength} chars long`);
  } else if (pattern !== undefined) {
    validatePattern(value, schema, path, findings);
  }
  if (format !== undefined && Object.hasOwn(formats, format) && formats[format]?.(value) === false) {
    addUnfit(findings, path, show(value), format);
  }
}

/** With a tolerance for binary fractions, so that 0.3 is a multiple of 0.1. */
function isMultiple(value: number, factor: number): boolean {
  const quotient = value / factor;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient));
}

/** Whether a number can be stored as its type and format say (kube-openapi v0.36, IsValueValidAgainstRange). */
function isInRange(value: number, { type, format = '' }: Schema): boolean {
  if (type === 'integer') {
    const end = 2 ** (format === 'int32' ? 31 : 63);
    return Number.isInteger(value) && value >= -end && value < end;
  }
  return !(type === 'number' && format === 'float') || Number.isFinite(Math.fround(value));
}

function validateNumber(value: number, schema: Schema, path: string, findings: Findings): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (!isInRange(value, schema)) {
    const format = schema.format === undefined ? '(default format)' : `with format ${schema.format}`;
    addUnplaced(findings, `Checked value must be of type ${schema.type} ${format} in ${path}`);
  }
  const orEqual = (isExclusive: boolean | undefined) => (isExclusive === true ? '' : 'or equal to ');
  if (minimum !== undefined && (value < minimum || (exclusiveMinimum === true && value === minimum))) {
    addInvalid(findings, path, value, `should be greater than ${orEqual(exclusiveMinimum)}${minimum}`);
  }
  if (maximum !== undefined && (value > maximum || (exclusiveMaximum === true && value === maximum))) {
    addInvalid(findings, path, value, `should be less than ${orEqual(exclusiveMaximum)}${maximum}`);
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    addInvalid(findings, path, value, `should be a multiple of ${multipleOf}`);
  }
}

function validateArray(value: Json[], schema: Schema, path: string, findings: Findings, old: Json | undefined): void {
  const { minItems, maxItems, items } = schema;
  if (maxItems !== undefined && value.length > maxItems) {
    addTooMany(findings, path, value.length, maxItems);
  }
  if (minItems !== undefined && value.length < minItems) {
    addInvalid(findings, path, value.length, `should have at least ${minItems} items`);
  }
  if (schema.uniqueItems === true && hasTwice(value, path, findings)) {
    addInvalid(findings, path, value, "shouldn't contain duplicates");
  }
  if (items !== undefined) {
    const oldOf = oldItems(old, schema);
    for (const [index, item] of value.entries()) {
      validateAt(item, items, `${path}[${index}]`, findings, oldOf(item));
    }
  }
}

/** Writes a value with sorted keys, to compare it with others. Nothing once the work is used up. */
function identityOf(value: Json, path: string, findings: Findings): string | undefined {
  const identity = canonical(value);
  return findings.spend(identity.length / charactersPerWork, path) ? identity : undefined;
}

function hasTwice(items: readonly Json[], path: string, findings: Findings): boolean {
  const seen = new Set<string>();
  for (const item of items) {
    const identity = identityOf(item, path, findings);
    if (identity === undefined) {
      return false;
    }
    if (seen.has(identity)) {
      return true;
    }
    seen.add(identity);
  }
  return false;
}

const hasListTypes = ofAnyPart((schema) => ['set', 'map'].includes(schema['x-kubernetes-list-type'] ?? ''));

function checkListTypes(value: Json, schema: Schema, path: string, findings: Findings): void {
  if (!hasParts(value) || !hasListTypes(schema) || findings.isFull || !findings.spend(1, path)) {
    return;
  }
  if (Array.isArray(value)) {
    checkList(value, schema, path, findings);
  }
  for (const { key, part, schema: inner } of partsIn(value, schema)) {
    if (inner !== undefined) {
      checkListTypes(part, inner, joinPath(path, key), findings);
    }
  }
}

function checkList(value: readonly Json[], schema: Schema, path: string, findings: Findings): void {
  const { items, 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': keys = [] } = schema;
  const seen = new Map<string, number>();
  for (const [index, item] of type === 'set' || type === 'map' ? value.entries() : []) {
    if (type === 'map' && !isJsonObject(item) && item !== null) {
      const message = `Invalid value: ${show(item)}: must be an object for an array of list-type map`;
      findings.add(`${path}[${index}]`, 'FieldValueInvalid', message);
      continue;
    }
    const identity = identityOf(
      type === 'map' && isJsonObject(item) ? keysOf(item, keys, items) : item,
      path,
      findings,
    );
    if (identity === undefined) {
      return;
    }
    const times = seen.get(identity) ?? 0;
    seen.set(identity, times + 1);
    if (times === 1) {
      findings.add(`${path}[${index}]`, 'FieldValueDuplicate', `Duplicate value: ${shorten(identity)}`);
    }
  }
}

function keysOf(item: Record<string, Json>, keys: readonly string[], items: Schema | undefined): Json {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = item[key] ?? fieldOf(items, key)?.default;
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

function validateObject(
  value: Record<string, Json>,
  schema: Schema,
  path: string,
  findings: Findings,
  old: Json | undefined,
): void {
  const { minProperties, maxProperties } = schema;
  const names = Object.keys(schema.properties ?? {});
  // Alternatives often have no fields, and the value may have many.
  const hasFields = names.length > 0 || typeof schema.additionalProperties === 'object';
  const keys = hasFields || minProperties !== undefined || maxProperties !== undefined ? Object.keys(value) : [];
  // To list a field of a large object takes as long as to visit a value.
  if (!findings.spend(keys.length + (names.length + (schema.required?.length ?? 0)) / 10, path)) {
    return;
  }
  if (maxProperties !== undefined && keys.length > maxProperties) {
    addTooMany(findings, path, keys.length, maxProperties);
  }
  if (minProperties !== undefined && keys.length < minProperties) {
    addInvalid(findings, path, keys.length, `should have at least ${minProperties} properties`);
  }
  // In the schema's order, so that the result does not depend on the client's order of fields.
  const specified = names.filter((key) => Object.hasOwn(value, key));
  for (const key of hasFields ? new Set([...specified, ...keys]) : []) {
    const field = fieldOf(schema, key);
    if (field !== undefined) {
      // kube-openapi writes `.key` for an entry of the outermost map.
      const isOutermost = path === '' && (findings.shown !== undefined || findings.base !== undefined);
      const isEntry = isOutermost && !Object.hasOwn(schema.properties ?? {}, key);
      const at = isEntry ? `.${joinPath(path, key)}` : joinPath(path, key);
      validateAt(value[key] as Json, field, at, findings, isJsonObject(old) ? own(old, key) : undefined);
    }
  }
  for (const key of schema.required ?? []) {
    if (!Object.hasOwn(value, key)) {
      findings.add(joinPath(path, key), 'FieldValueRequired', 'Required value');
    }
  }
}

function validateCombined(value: Json, schema: Schema, path: string, findings: Findings): void {
  const fits = (candidate: Schema) => findings.fits(value, candidate, path);
  const addCombined = (rule: string) => addUnplaced(findings, `${show(path)} ${rule}`);
  const failing = (schema.allOf ?? []).filter((part) => {
    const before = findings.causes.length;
    validateAt(value, part, path, findings);
    return findings.causes.length > before;
  });
  if (failing.length > 0) {
    addCombined(
      `must validate all the schemas (allOf)${failing.length === schema.allOf?.length ? '. None validated' : ''}`,
    );
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
