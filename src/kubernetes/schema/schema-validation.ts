import { charactersIn, count, repeated } from '../../base/index.ts';
import { type CauseReason, fieldErrorMessage, type StatusCause } from '../objects/errors/status.ts';
import { canonical, isJsonObject, type Json, own } from '../objects/json/json.ts';
import { isSame } from '../objects/json/json-patch.ts';
import { perObject } from '../objects/per-object.ts';
import { forbiddenField, maxCauses, shorten } from './causes.ts';
import { hasFormat } from './formats.ts';
import { compilePattern, type Pattern, PatternError } from './pattern.ts';
import { fieldOf, isOfType, joinPath, ofAnyPart, oldItems, partsIn, type Schema, typeNameOf } from './schema.ts';

const show = (value: Json): string => shorten(JSON.stringify(value));

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
  } else if (spend(findings, (value.length * pattern.size) / 5, path) && !pattern.test(value)) {
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

/** The budget of one validation, or of several that share it: visits of a value by a schema. */
export interface Work {
  left: number;
  endedAt?: string;
}

export const workOfObject = (): Work => ({ left: maxWork });

interface Validation {
  /** The text that messages show in quotes, instead of the value at fault. */
  shown?: string | undefined;
  /** Where the value is, if it is part of a schema (a default, an example); paths in messages begin at the value. */
  base?: string | undefined;
  /** Its budget; once that is used up, it is the only cause, and later validations with it have none. */
  work?: Work;
  /** The value that is replaced: problems of parts that stay as they were are not causes (ratcheting validation). */
  old?: Json | undefined;
}

interface Findings extends Omit<Validation, 'old'> {
  causes: StatusCause[];
  work: Work;
  /** Whether only the first problem matters, so that no messages need to be written. */
  isTrial?: boolean;
}

const isFull = ({ causes, isTrial }: Findings): boolean => causes.length >= (isTrial === true ? 1 : maxCauses);

function spend({ work }: Findings, amount: number, path: string): boolean {
  work.left -= amount;
  if (work.left < 0) {
    work.endedAt ??= path;
  }
  return work.left >= 0;
}

function placeOf({ base }: Findings, field: string): string {
  if (base === undefined) {
    return field;
  }
  return field === '' || field === '<nil>' ? base : `${base}.${field.replace(/^\./, '')}`;
}

/** Adds a problem. `value` is in its message, unless it is undefined, or the validation has another text. */
function add(
  findings: Findings,
  field: string,
  reason: CauseReason,
  value: string | (() => string) | undefined,
  detail: string,
): void {
  const { causes, shown, isTrial } = findings;
  if (isTrial === true) {
    causes.push({ reason, message: '' });
  } else if (!isFull(findings)) {
    const text = value === undefined ? undefined : (shown ?? (typeof value === 'string' ? value : value()));
    causes.push({ reason, message: fieldErrorMessage(reason, text, detail), field: placeOf(findings, field) });
  }
}

function findingsOf(
  { work = workOfObject(), shown, base }: Validation,
  check: (findings: Findings) => void,
): StatusCause[] {
  if (work.endedAt !== undefined) {
    return [];
  }
  const findings: Findings = { causes: [], work, shown, base };
  check(findings);
  const why = 'takes too much work to validate; make the object or its schema smaller';
  return work.endedAt === undefined
    ? findings.causes
    : [...findings.causes, forbiddenField(placeOf(findings, work.endedAt), why)];
}

/** The problems of a value by a structural schema, but for the types of its lists, as kube-openapi words them. */
export const validateSchema = (value: Json, schema: Schema, options: Validation = {}): StatusCause[] =>
  findingsOf(options, (findings) => validateAt(value, schema, '', findings, options.old));

/** The duplicate items of sets and maps (apiextensions, pkg/apiserver/schema/listtype); none if the old value has some. */
export function validateListTypes(value: Json, schema: Schema, { old, ...options }: Validation = {}): StatusCause[] {
  if (!hasListTypes(schema) || (old !== undefined && validateListTypes(old, schema, options).length > 0)) {
    return [];
  }
  return findingsOf(options, (findings) => checkListTypes(value, schema, '', findings));
}

/** Where a message says that the problem is: nowhere for the whole value, unless the value is part of a schema. */
const inBody = (path: string, { base }: Findings) => (path === '' && base === undefined ? '' : `${path} in body `);

const addInvalid = (findings: Findings, path: string, value: Json, rule: string): void =>
  add(findings, path, 'FieldValueInvalid', () => show(value), `${inBody(path, findings)}${rule}`);

const addUnplaced = (findings: Findings, problem: string): void =>
  add(findings, '<nil>', 'FieldValueInvalid', '""', problem);

/** A problem of type. Where a schema has a format, kube-openapi compares numbers, booleans and objects with that. */
function addWrongType(findings: Findings, path: string, value: Json, type: string, format?: string): void {
  const hasFormat = !['string', 'array', 'null'].includes(typeNameOf(value)) && (format ?? '') !== '';
  const numbers = Number.isInteger(value) ? 'int64' : 'float64';
  const actual = show(hasFormat ? (typeof value === 'number' ? numbers : '') : typeNameOf(value));
  addUnfit(findings, path, actual, hasFormat ? format : type);
}

function addUnfit(findings: Findings, path: string, actual: string, wanted: string | undefined): void {
  const problem = `${inBody(path, findings)}must be of type ${wanted}: ${actual}`;
  add(findings, path, 'FieldValueTypeInvalid', actual, problem);
}

const addTooMany = (findings: Findings, path: string, number: number, most: number): void =>
  add(findings, path, 'FieldValueTooMany', String(number), `must have at most ${count(most, 'item')}`);

function validateAt(value: Json, schema: Schema, path: string, findings: Findings, old?: Json): void {
  if (isFull(findings) || !spend(findings, 1, path)) {
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
    if (!['integer', 'string'].includes(typeNameOf(value))) {
      addWrongType(findings, path, value, 'integer,string');
      return;
    }
  } else if (schema.type !== undefined && schema.type !== '' && !isOfType(value, schema.type)) {
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
  add(findings, path, 'FieldValueNotSupported', () => show(value), `supported values: ${allowed.text}`);
}

function validateString(value: string, schema: Schema, path: string, findings: Findings): void {
  const { minLength, maxLength, pattern, format } = schema;
  if (!spend(findings, value.length / charactersPerWork, path)) {
    return;
  }
  // OpenAPI counts code points. Of several problems with a text, kube-openapi tells the first.
  const length = minLength === undefined && maxLength === undefined ? 0 : charactersIn(value);
  if (maxLength !== undefined && length > maxLength) {
    add(findings, path, 'FieldValueTooLong', undefined, `may not be more than ${count(maxLength, 'byte')}`);
  } else if (minLength !== undefined && length < minLength) {
    addInvalid(findings, path, value, `should be at least ${minLength} chars long`);
  } else if (pattern !== undefined) {
    validatePattern(value, schema, path, findings);
  }
  if (format !== undefined && !hasFormat(value, format)) {
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
  return spend(findings, identity.length / charactersPerWork, path) ? identity : undefined;
}

const hasTwice = (items: readonly Json[], path: string, findings: Findings): boolean =>
  repeated(
    items.map((item) => identityOf(item, path, findings)),
    (identity) => identity,
  ).some((identity) => identity !== undefined);

const hasListTypes = ofAnyPart((schema) => ['set', 'map'].includes(schema['x-kubernetes-list-type'] ?? ''));

function checkListTypes(value: Json, schema: Schema, path: string, findings: Findings): void {
  if (!hasParts(value) || !hasListTypes(schema) || isFull(findings) || !spend(findings, 1, path)) {
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
      const why = 'must be an object for an array of list-type map';
      add(findings, `${path}[${index}]`, 'FieldValueInvalid', show(item), why);
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
      add(findings, `${path}[${index}]`, 'FieldValueDuplicate', shorten(identity), '');
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
  if (!spend(findings, keys.length + (names.length + (schema.required?.length ?? 0)) / 10, path)) {
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
      add(findings, joinPath(path, key), 'FieldValueRequired', undefined, '');
    }
  }
}

function validateCombined(value: Json, schema: Schema, path: string, findings: Findings): void {
  const { allOf, anyOf, oneOf, not } = schema;
  if ((allOf ?? anyOf ?? oneOf ?? not) === undefined) {
    return;
  }
  const fits = (candidate: Schema) => {
    spend(findings, 4, path);
    const trial: Findings = { causes: [], work: findings.work, isTrial: true };
    validateAt(value, candidate, path, trial);
    return trial.causes.length === 0;
  };
  const addCombined = (rule: string) => addUnplaced(findings, `${show(path)} ${rule}`);
  const failing = (allOf ?? []).filter((part) => {
    const before = findings.causes.length;
    validateAt(value, part, path, findings);
    return findings.causes.length > before;
  });
  if (failing.length > 0) {
    const end = failing.length === allOf?.length ? '. None validated' : '';
    addCombined(`must validate all the schemas (allOf)${end}`);
  }
  if (anyOf !== undefined && !anyOf.some(fits)) {
    addCombined('must validate at least one schema (anyOf)');
  }
  const fitting = oneOf?.filter(fits).length ?? 1;
  if (fitting !== 1) {
    const found = fitting === 0 ? 'Found none valid' : `Found ${fitting} valid alternatives`;
    addCombined(`must validate one and only one schema (oneOf). ${found}`);
  }
  if (not !== undefined && fits(not)) {
    addCombined('must not validate the schema (not)');
  }
}
