import { type FieldPath, isJsonObject, type Json, type JsonObject } from '../kubernetes/index.ts';
import { type BagStep, type KeptValue, keyOf } from './bag.ts';
import { ConversionError } from './error.ts';
import { fits } from './limits.ts';
import { own, setOwn } from './own.ts';
import type { Action, ValuePlan } from './plan.ts';

/** Where a walk is: the field's path for messages, and for the bag. */
interface Place {
  field: FieldPath;
  bag: readonly BagStep[];
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

function below({ field, bag }: Place, key: string): Place {
  return { field: [...field, key], bag: [...bag, key] };
}

function put(object: JsonObject, name: string, value: Json, { field }: Place): void {
  if (Object.hasOwn(object, name)) {
    throw new ConversionError(field, `becomes ${name} in the other version, where something else stands already`);
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
    throw new ConversionError(place.field, `becomes ${to.join('.')}, and ${name} is no object`);
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
      left = takeMoved(child, action.below, below(place, key), moved, walk);
    } else if (action !== undefined) {
      apply(action, key, child, {}, below(place, key), moved, walk);
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
      walk.kept.push({ path: [...place.bag], value: rest });
    }
  } else if (action.do !== 'skip') {
    if (action.limits !== undefined && !fits(value, action.limits)) {
      walk.kept.push({ path: [...place.bag], value });
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
function convertScope(value: Json, plan: ValuePlan, place: Place, walk: Walk): Json {
  const moved: Moved[] = [];
  const converted = convertValue(value, plan, place, moved, walk);
  return moved.reduce((object, move) => withValueAt(object as JsonObject, move.to, move), converted);
}

function convertValue(value: Json, plan: ValuePlan | undefined, place: Place, moved: Moved[], walk: Walk): Json {
  if (plan?.kind === 'list' && Array.isArray(value)) {
    return value.map((item, index) => {
      const inner = { field: [...place.field, index], bag: [...place.bag, keyOf(item, plan.keys)] };
      return convertScope(item, plan.item, inner, walk);
    });
  }
  if (plan?.kind === 'map' && isJsonObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const inner: Place = { field: [...place.field, key], bag: [...place.bag, [key]] };
        return [key, convertScope(item, plan.value, inner, walk)];
      }),
    );
  }
  if (plan?.kind === 'object' && isJsonObject(value)) {
    const target: JsonObject = {};
    for (const key of Object.keys(value)) {
      apply(plan.actions.get(key), key, value[key] as Json, target, below(place, key), moved, walk);
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
  const converted = plan === undefined ? { ...object } : convertScope(object, plan, { field: [], bag: [] }, walk);
  return { object: converted as JsonObject, kept: walk.kept };
}
