import type { Bytes } from '../../../base/go-text/index.ts';
import type { Budget } from '../budget.ts';

/** An integer of a Go type other than int. */
export class Integer {
  readonly type: string;
  readonly value: bigint;

  constructor(type: string, value: bigint) {
    this.type = type;
    this.value = value;
  }
}

/** A Go slice. */
export class List {
  /** The type of its elements. */
  readonly element: string;
  readonly items: Value[];
  readonly isNil: boolean;

  constructor(items: Value[], element = 'interface {}', isNil = false) {
    this.element = element;
    this.items = items;
    this.isNil = isNil;
  }
}

/** A Go map with strings as keys. Like there, functions that write to it change it for all who hold it. */
export class Dict {
  /** The type of its values. */
  readonly element: string;
  readonly entries: Map<Bytes, Value>;
  readonly isNil: boolean;

  constructor(entries: Map<Bytes, Value>, element = 'interface {}', isNil = false) {
    this.element = element;
    this.entries = entries;
    this.isNil = isNil;
  }

  /** Its keys as Go sorts them where it prints, ranges or encodes. */
  keys(): Bytes[] {
    return [...this.entries.keys()].sort();
  }
}

/** A function of templates, or a method of a value. */
export interface TemplateFunction {
  parameters: readonly string[];
  /** Type of what may follow them, if the function is variadic. */
  rest?: string | undefined;
  /** Whether Go declares the result as `interface {}`. */
  isAny?: boolean;
  call(args: readonly Operand[], budget: Budget): Operand;
}

/** A value of another Go type: a version. Equal ones print alike. */
export abstract class Struct {
  abstract readonly type: string;
  abstract readonly kind: 'struct' | 'ptr';
  abstract text(): Bytes;
  abstract method(name: string): TemplateFunction | undefined;
}

/** A value of Go's `interface {}`: null is nil, a number float64, a bigint int. */
export type Value = null | boolean | Bytes | number | bigint | Integer | List | Dict | Struct;

/** A value in a place whose type is `interface {}`, such as an element of a list of variables. */
export class Boxed {
  readonly inner: Value;

  constructor(inner: Value) {
    this.inner = inner;
  }
}

/** A value in evaluation. Undefined is what a missing key of a map gives: no value at all. */
export type Operand = undefined | Boxed | Exclude<Value, null>;

/** The value in an interface, or what was given. */
export const unboxed = (operand: Operand): Exclude<Operand, Boxed> =>
  operand instanceof Boxed ? (operand.inner ?? undefined) : operand;

export const anyType = 'interface {}';
/** The type of a parameter that takes any operand as it is. */
export const operandType = 'reflect.Value';
export const dictType = 'map[string]interface {}';

const basicTypes = { boolean: 'bool', string: 'string', number: 'float64', bigint: 'int' } as const;

/** The name of a value's type, as %T prints it. */
export function typeOf(value: Value | undefined): string {
  if (value === undefined || value === null) {
    return '<nil>';
  }
  if (value instanceof List || value instanceof Dict) {
    return `${value instanceof List ? '[]' : 'map[string]'}${value.element}`;
  }
  return typeof value === 'object' ? value.type : basicTypes[typeof value as keyof typeof basicTypes];
}

/** The name of a value's kind, as reflect.Kind prints it. */
export function kindOf(value: Value | undefined): string {
  if (value === null || value === undefined) {
    return 'invalid';
  }
  if (value instanceof List || value instanceof Dict) {
    return value instanceof List ? 'slice' : 'map';
  }
  return value instanceof Struct ? value.kind : typeOf(value);
}

/** The static type of an operand that has one. */
export const staticType = (operand: Exclude<Operand, undefined>): string =>
  operand instanceof Boxed ? anyType : typeOf(operand);

/** The value of an integer of any type. */
export const integerOf = (value: Value | undefined): bigint | undefined =>
  typeof value === 'bigint' ? value : value instanceof Integer ? value.value : undefined;

/** How many bytes, items or entries a text, a list or a map has. */
export function lengthIn(value: Value | undefined): number | undefined {
  if (value instanceof Dict) {
    return value.entries.size;
  }
  const items = value instanceof List ? value.items : value;
  return typeof items === 'string' || Array.isArray(items) ? items.length : undefined;
}

/** Whether a value counts as true in conditions, and as not empty. */
export function isTrue(value: Value | undefined): boolean {
  // Unlike in JavaScript, NaN is true.
  return Boolean(lengthIn(value) ?? integerOf(value) ?? value) || Number.isNaN(value);
}

/** What it takes to read or write a value, in bytes: an item or entry counts as two. */
export function sizeOf(operand: Operand): number {
  const value = unboxed(operand);
  return typeof value === 'string' ? value.length : 2 * (lengthIn(value) ?? 0);
}

/** The zero of a type that may be nil; undefined if it may not. */
export function zeroOf(type: string): Value | undefined {
  if (type.startsWith('map[')) {
    return new Dict(new Map(), type.slice(type.indexOf(']') + 1), true);
  }
  if (type.startsWith('[]')) {
    return new List([], type.slice(2), true);
  }
  return type === anyType || type.startsWith('*') ? null : undefined;
}

/** An element as an operand: in a list of `interface {}` it is in an interface. */
export const elementOperand = (value: Value, element: string): Operand =>
  element === anyType ? new Boxed(value) : (value ?? undefined);

/** A value that is neither a list nor a map, as it is compared with others of its kind. */
export const comparable = (value: Value | undefined): unknown =>
  value instanceof Struct ? value.text() : value instanceof Integer ? value.value : value;
