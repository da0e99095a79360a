import {
  ConversionError,
  type FieldPath,
  isJsonObject,
  type Json,
  type JsonObject,
  own,
  setOwn,
} from '../../kubernetes/index.ts';
import { type KeptStep, type KeptValue, listItemKey, maxConversionDataBytes } from './conversion-data.ts';
import { fits } from './limits.ts';
import type { PropertyAction, ValuePlan } from './plan.ts';

/**
 * A position during the traversal: a step, and the position above it. Paths are built on demand, since few are needed.
 */
interface Position {
  above: Position | undefined;
  /** A property, the index of an item, or the key of a map. */
  step: string | number;
  /** The list item that `step` leads to, and the names of its keys. */
  item?: { value: Json; keys: readonly string[] };
  isMapKey?: boolean;
}

/** The path of a position for messages. */
function fieldOf(position: Position | undefined): FieldPath {
  const steps: (string | number)[] = [];
  for (let at = position; at !== undefined; at = at.above) {
    steps.push(at.step);
  }
  return steps.reverse();
}

/** The path of a position for conversion data. */
function keptPathOf(position: Position | undefined): KeptStep[] {
  const steps: KeptStep[] = [];
  for (let at = position; at !== undefined; at = at.above) {
    const { step, item, isMapKey } = at;
    steps.push(item !== undefined ? listItemKey(item.value, item.keys) : isMapKey ? [String(step)] : String(step));
  }
  return steps.reverse();
}

interface Moved {
  to: readonly string[];
  value: Json;
  position: Position;
}

/** The result of traversing an object. */
interface Walk {
  kept: KeptValue[];
}

/** More values cannot fit into the conversion data, given the size of the shortest one. */
const maxKept = maxConversionDataBytes / '{"path":["a"],"value":0}'.length;

function keep({ kept }: Walk, position: Position, value: Json): void {
  if (kept.length > maxKept) {
    throw new ConversionError(
      fieldOf(position),
      `is one of more than ${kept.length} values that only one version can represent; conversion data is limited to ${maxConversionDataBytes} bytes`,
    );
  }
  kept.push({ path: keptPathOf(position), value });
}

function put(object: JsonObject, name: string, value: Json, position: Position): void {
  if (Object.hasOwn(object, name)) {
    throw new ConversionError(
      fieldOf(position),
      `becomes ${name} in the other version, which already has another value there`,
    );
  }
  setOwn(object, name, value);
}

/** A copy of an object with a value at a path; missing objects on the way are created. */
function withValueAt(object: JsonObject, path: readonly string[], { to, value, position }: Moved): JsonObject {
  const [name = '', ...rest] = path;
  const copy = { ...object };
  if (rest.length === 0) {
    put(copy, name, value, position);
    return copy;
  }
  const inner = own(object, name) ?? {};
  if (!isJsonObject(inner)) {
    throw new ConversionError(fieldOf(position), `becomes ${to.join('.')}, and ${name} is not an object`);
  }
  setOwn(copy, name, withValueAt(inner, rest, { to, value, position }));
  return copy;
}

/** Removes the fields that move elsewhere from a value that is kept; undefined if nothing else is left. */
function takeMoved(
  value: Json,
  actions: ReadonlyMap<string, PropertyAction>,
  position: Position,
  moved: Moved[],
  walk: Walk,
): Json | undefined {
  if (!isJsonObject(value) || actions.size === 0) {
    return value;
  }
  const rest: JsonObject = {};
  let isTaken = false;
  for (const [key, child] of Object.entries(value)) {
    const action = actions.get(key);
    let left: Json | undefined = child;
    if (action?.do === 'keep') {
      left = takeMoved(child, action.below, { above: position, step: key }, moved, walk);
    } else if (action !== undefined) {
      apply(action, key, child, {}, { above: position, step: key }, moved, walk);
      left = undefined;
    }
    if (left === undefined) {
      isTaken = true;
    } else {
      setOwn(rest, key, left);
    }
  }
  return isTaken && Object.keys(rest).length === 0 ? undefined : rest;
}

function apply(
  action: PropertyAction | undefined,
  key: string,
  value: Json,
  target: JsonObject,
  position: Position,
  moved: Moved[],
  walk: Walk,
): void {
  if (action === undefined) {
    put(target, key, value, position);
  } else if (action.do === 'keep') {
    const rest = takeMoved(value, action.below, position, moved, walk);
    if (rest !== undefined) {
      keep(walk, position, rest);
    }
  } else if (action.do !== 'skip') {
    if (action.limits !== undefined && !fits(value, action.limits)) {
      keep(walk, position, value);
      return;
    }
    const converted = convertValue(value, action.plan, position, moved, walk);
    if (action.do === 'set') {
      put(target, action.name, converted, position);
    } else {
      moved.push({ to: action.to, value: converted, position });
    }
  }
}

/** Converts a value with its own scope: fields that move inside it stay inside it. */
function convertScope(value: Json, plan: ValuePlan, position: Position | undefined, walk: Walk): Json {
  const moved: Moved[] = [];
  const converted = convertValue(value, plan, position, moved, walk);
  return moved.reduce((object, move) => withValueAt(object as JsonObject, move.to, move), converted);
}

function convertValue(
  value: Json,
  plan: ValuePlan | undefined,
  position: Position | undefined,
  moved: Moved[],
  walk: Walk,
): Json {
  if (plan?.kind === 'list' && Array.isArray(value)) {
    return value.map((item, index) => {
      const inner: Position = { above: position, step: index, item: { value: item, keys: plan.keys } };
      return convertScope(item, plan.item, inner, walk);
    });
  }
  if (plan?.kind === 'map' && isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const inner: Position = { above: position, step: key, isMapKey: true };
        return [key, convertScope(item, plan.value, inner, walk)];
      }),
    );
  }
  if (plan?.kind === 'object' && isJsonObject(value)) {
    const target: JsonObject = {};
    for (const key of Object.keys(value)) {
      apply(plan.actions.get(key), key, value[key] as Json, target, { above: position, step: key }, moved, walk);
    }
    return target;
  }
  // A value of the wrong type is passed on, since validation explains it better.
  return value;
}

/**
 * The automatic part of converting a whole object. The result shares unchanged parts with the original; neither may be
 * modified in place. `kept` contains the values that the other version cannot represent.
 *
 * @throws {ConversionError} when two values would become the same field, or the kept values exceed the limit of
 *   conversion data.
 */
export function convertStructure(
  object: JsonObject,
  plan: ValuePlan | undefined,
): { object: JsonObject; kept: KeptValue[] } {
  const walk: Walk = { kept: [] };
  const converted = plan === undefined ? { ...object } : convertScope(object, plan, undefined, walk);
  return { object: converted as JsonObject, kept: walk.kept };
}
