import type { Budget } from '../budget.ts';
import { Complex, Dict, Integer, List, Struct, typeOf, type Value } from './values.ts';

/** reflect.DeepEqual: types count, and a nil list differs from an empty one. */
export function deepEqual(left: Value, right: Value, budget: Budget): boolean {
  return budget.nested(() => isEqual(left, right, budget));
}

function isEqual(left: Value, right: Value, budget: Budget): boolean {
  if (left instanceof List && right instanceof List) {
    return (
      left === right ||
      (left.element === right.element &&
        left.isNil === right.isNil &&
        left.items.length === right.items.length &&
        left.items.every((item, index) => deepEqual(item, right.items[index] ?? null, budget)))
    );
  }
  if (left instanceof Dict && right instanceof Dict) {
    return (
      left === right ||
      (left.element === right.element &&
        left.isNil === right.isNil &&
        left.entries.size === right.entries.size &&
        [...left.entries].every(([key, value]) => {
          const other = right.entries.get(key);
          return other !== undefined && deepEqual(value, other, budget);
        }))
    );
  }
  if (left instanceof Struct && right instanceof Struct) {
    return left.type === right.type && left.text() === right.text();
  }
  if (left instanceof Integer && right instanceof Integer) {
    return left.type === right.type && left.value === right.value;
  }
  if (left instanceof Complex && right instanceof Complex) {
    return left.real === right.real && left.imaginary === right.imaginary;
  }
  if (typeof left === 'string' && typeof right === 'string') {
    budget.read(left.length);
  }
  return typeOf(left) === typeOf(right) && left === right;
}
