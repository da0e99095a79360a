import {
  ConversionError,
  type FieldPath,
  isJsonObject,
  type Json,
  type JsonObject,
  own,
  setOwn,
} from '../../kubernetes/index.ts';
import { fits } from './limits.ts';
import type { PropertyAction, ValuePlan } from './plan.ts';

interface Moved {
  to: readonly string[];
  value: Json;
  /** Where it was. */
  path: FieldPath;
}

function put(object: JsonObject, name: string, value: Json, path: FieldPath): void {
  if (Object.hasOwn(object, name)) {
    throw new ConversionError(path, `becomes ${name} in the other version, which already has another value there`);
  }
  setOwn(object, name, value);
}

/** A copy of an object with a value at a path; missing objects on the way are created. */
function withValueAt(object: JsonObject, steps: readonly string[], { to, value, path }: Moved): JsonObject {
  const [name = '', ...rest] = steps;
  const copy = { ...object };
  if (rest.length === 0) {
    put(copy, name, value, path);
    return copy;
  }
  const inner = own(object, name) ?? {};
  if (!isJsonObject(inner)) {
    throw new ConversionError(path, `becomes ${to.join('.')}, and ${name} is not an object`);
  }
  setOwn(copy, name, withValueAt(inner, rest, { to, value, path }));
  return copy;
}

/** Finds the fields that move elsewhere from a value that is dropped. */
function takeMoved(value: Json, actions: ReadonlyMap<string, PropertyAction>, path: FieldPath, moved: Moved[]): void {
  for (const [key, action] of isJsonObject(value) ? actions : []) {
    const field = own(value as JsonObject, key);
    if (field !== undefined) {
      apply(action, key, field, {}, [...path, key], moved);
    }
  }
}

function apply(
  action: PropertyAction | undefined,
  key: string,
  value: Json,
  target: JsonObject,
  path: FieldPath,
  moved: Moved[],
): void {
  if (action === undefined) {
    put(target, key, value, path);
  } else if (action.do === 'drop') {
    takeMoved(value, action.below, path, moved);
  } else if (action.do !== 'skip' && (action.limits === undefined || fits(value, action.limits))) {
    const converted = convertValue(value, action.plan, path, moved);
    if (action.do === 'set') {
      put(target, action.name, converted, path);
    } else {
      moved.push({ to: action.to, value: converted, path });
    }
  }
}

/** Converts a value with its own scope: fields that move inside it stay inside it. */
function convertScope(value: Json, plan: ValuePlan, path: FieldPath): Json {
  const moved: Moved[] = [];
  const converted = convertValue(value, plan, path, moved);
  return moved.reduce((object, move) => withValueAt(object as JsonObject, move.to, move), converted);
}

function convertValue(value: Json, plan: ValuePlan | undefined, path: FieldPath, moved: Moved[]): Json {
  if (plan?.kind === 'list' && Array.isArray(value)) {
    return value.map((item, index) => convertScope(item, plan.item, [...path, index]));
  }
  if (plan?.kind === 'map' && isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, convertScope(item, plan.value, [...path, key])]),
    );
  }
  if (plan?.kind === 'object' && isJsonObject(value)) {
    const target: JsonObject = {};
    for (const key of Object.keys(value)) {
      apply(plan.actions.get(key), key, value[key] as Json, target, [...path, key], moved);
    }
    return target;
  }
  // A value of the wrong type is passed on, since validation explains it better.
  return value;
}

/**
 * The automatic part of converting a whole message. The result shares unchanged parts with the original; neither may be
 * modified in place.
 *
 * @throws {ConversionError} when two values would become the same field.
 */
export function convertStructure(object: JsonObject, plan: ValuePlan | undefined): JsonObject {
  return (plan === undefined ? { ...object } : convertScope(object, plan, [])) as JsonObject;
}
