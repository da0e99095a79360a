import { type FieldPath, isJsonObject, type Json, type JsonObject } from '../kubernetes/index.ts';
import { type BagStep, type KeptValue, keyOf, maxBagBytes } from './bag.ts';
import { ConversionError } from './error.ts';
import { fits } from './limits.ts';
import { own, setOwn } from './own.ts';
import type { Action, ValuePlan } from './plan.ts';

/**
 * Where a walk is: a step and the place above it. The paths are put together only when they are asked for, since hardly
 * any is.
 */
interface Place {
  above: Place | undefined;
  /** A property, the index of an item, or a map's key. */
  step: string | number;
  /** The list's item that `step` leads to, and the names of its keys. */
  item?: { value: Json; keys: readonly string[] };
  isMapKey?: boolean;
}

/** The path of a place for messages. */
function fieldOf(place: Place | undefined): FieldPath {
  const steps: (string | number)[] = [];
  for (let at = place; at !== undefined; at = at.above) {
    steps.push(at.step);
  }
  return steps.reverse();
}

/** The path of a place for the bag. */
function bagPathOf(place: Place | undefined): BagStep[] {
  const steps: BagStep[] = [];
  for (let at = place; at !== undefined; at = at.above) {
    const { step, item, isMapKey } = at;
    steps.push(item !== undefined ? keyOf(item.value, item.keys) : isMapKey ? [String(step)] : String(step));
  }
  return steps.reverse();
}

interface Moved {
  to: readonly string[];
  value: Json;
  place: Place;
}

/** The outcome of the walk over the object. */
interface Walk {
  kept: KeptValue[];
}

/** No bag with more values is within its limit: the shortest one takes as many bytes. */
const maxKept = maxBagBytes / '{"path":["a"],"value":0}'.length;

function keep({ kept }: Walk, place: Place, value: Json): void {
  if (kept.length > maxKept) {
    throw new ConversionError(
      fieldOf(place),
      `is one of more than ${kept.length} values that only one version can represent; at most ${maxBagBytes} bytes of them can be kept`,
    );
  }
  kept.push({ path: bagPathOf(place), value });
}

function put(object: JsonObject, name: string, value: Json, place: Place): void {
  if (Object.hasOwn(object, name)) {
    throw new ConversionError(
      fieldOf(place),
      `becomes ${name} in the other version, where something else stands already`,
    );
  }
  setOwn(object, name, value);
}

/** A copy of an object with a value at a path; objects on the way are made. */
function withValueAt(object: JsonObject, path: readonly string[], { to, value, place }: Moved): JsonObject {
  const [name = '', ...rest] = path;
  const copy = { ...object };
  if (rest.length === 0) {
    put(copy, name, value, place);
    return copy;
  }
  const inner = own(object, name) ?? {};
  if (!isJsonObject(inner)) {
    throw new ConversionError(fieldOf(place), `becomes ${to.join('.')}, and ${name} is no object`);
  }
  setOwn(copy, name, withValueAt(inner, rest, { to, value, place }));
  return copy;
}

/** Takes what moves away from below a value that goes into the bag; undefined when nothing is left because of that. */
function takeMoved(
  value: Json,
  actions: ReadonlyMap<string, Action>,
  place: Place,
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
      left = takeMoved(child, action.below, { above: place, step: key }, moved, walk);
    } else if (action !== undefined) {
      apply(action, key, child, {}, { above: place, step: key }, moved, walk);
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
  action: Action | undefined,
  key: string,
  value: Json,
  target: JsonObject,
  place: Place,
  moved: Moved[],
  walk: Walk,
): void {
  if (action === undefined) {
    put(target, key, value, place);
  } else if (action.do === 'keep') {
    const rest = takeMoved(value, action.below, place, moved, walk);
    if (rest !== undefined) {
      keep(walk, place, rest);
    }
  } else if (action.do !== 'skip') {
    if (action.limits !== undefined && !fits(value, action.limits)) {
      keep(walk, place, value);
      return;
    }
    const converted = convertValue(value, action.plan, place, moved, walk);
    if (action.do === 'place') {
      put(target, action.name, converted, place);
    } else {
      moved.push({ to: action.to, value: converted, place });
    }
  }
}

/** A value in a scope of its own: what moves inside it stays inside it. */
function convertScope(value: Json, plan: ValuePlan, place: Place | undefined, walk: Walk): Json {
  const moved: Moved[] = [];
  const converted = convertValue(value, plan, place, moved, walk);
  return moved.reduce((object, move) => withValueAt(object as JsonObject, move.to, move), converted);
}

function convertValue(
  value: Json,
  plan: ValuePlan | undefined,
  place: Place | undefined,
  moved: Moved[],
  walk: Walk,
): Json {
  if (plan?.kind === 'list' && Array.isArray(value)) {
    return value.map((item, index) => {
      const inner: Place = { above: place, step: index, item: { value: item, keys: plan.keys } };
      return convertScope(item, plan.item, inner, walk);
    });
  }
  if (plan?.kind === 'map' && isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const inner: Place = { above: place, step: key, isMapKey: true };
        return [key, convertScope(item, plan.value, inner, walk)];
      }),
    );
  }
  if (plan?.kind === 'object' && isJsonObject(value)) {
    const target: JsonObject = {};
    for (const key of Object.keys(value)) {
      apply(plan.actions.get(key), key, value[key] as Json, target, { above: place, step: key }, moved, walk);
    }
    return target;
  }
  // Of a type that the schema does not have: passed on, since validation names such a field better.
  return value;
}

/**
 * The automatic part for a whole object. The result shares what did not change with the original; neither may be
 * changed in place. `kept` is what the other version cannot say.
 *
 * @throws {ConversionError} when two values would come to stand in one place.
 */
export function convertStructure(
  object: JsonObject,
  plan: ValuePlan | undefined,
): { object: JsonObject; kept: KeptValue[] } {
  const walk: Walk = { kept: [] };
  const converted = plan === undefined ? { ...object } : convertScope(object, plan, undefined, walk);
  return { object: converted as JsonObject, kept: walk.kept };
}
