import {
  copyOf,
  goDurationMs,
  goSecondsText,
  isJsonObject,
  type Json,
  type JsonObject,
  own,
  setOwn,
} from '../../kubernetes/index.ts';

/** The longest duration in Go, whose durations are 64-bit integers of nanoseconds, in ms. */
const maxDurationMs = 2 ** 63 / 1e6;

/** The seconds of a duration such as `1h5m0s`, rounded; undefined for other texts. */
export function secondsOf(duration: Json | undefined): number | undefined {
  const ms = typeof duration === 'string' ? goDurationMs(duration) : undefined;
  return ms === undefined || Math.abs(ms) > maxDurationMs ? undefined : Math.round(ms / 1000);
}

/** A duration as Go prints it: `1h5m0s`. */
export const durationOf = (seconds: Json | undefined): string | undefined =>
  typeof seconds === 'number' ? goSecondsText(seconds) : undefined;

/** The fields of an object that have a value. */
export const present = (fields: Record<string, Json | undefined>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined));

/** How a value changes from v1beta1 to v1beta2, and back. */
export interface Change {
  newer(value: Json): Json | undefined;
  older(value: Json): Json | undefined;
}

export const duration: Change = { newer: secondsOf, older: durationOf };
/** A field that the other version does not have. */
export const gone: Change = { newer: () => undefined, older: () => undefined };

/** Fields that have another place in v1beta2, and other values with a change; inner fields before outer ones. */
export type Moves = readonly (readonly [older: string, newer: string, change?: Change])[];

const isEmpty = (value: Json) => isJsonObject(value) && Object.keys(value).length === 0;

/** Removes a field, and the objects around it that are empty then. Returns its value. */
function take(object: JsonObject, [first = '', ...rest]: readonly string[]): Json | undefined {
  const inner = own(object, first);
  const value = rest.length > 0 && isJsonObject(inner) ? take(inner, rest) : rest.length > 0 ? undefined : inner;
  if (rest.length === 0 || (inner !== undefined && isEmpty(inner))) {
    delete object[first];
  }
  return value;
}

/** Sets a field; an object is merged into one that is there. */
function put(object: JsonObject, [first = '', ...rest]: readonly string[], value: Json): void {
  const inner = own(object, first);
  if (rest.length > 0) {
    const holder = isJsonObject(inner) ? inner : {};
    setOwn(object, first, holder);
    put(holder, rest, value);
  } else {
    setOwn(object, first, isJsonObject(inner) && isJsonObject(value) ? { ...value, ...inner } : value);
  }
}

/** A copy of an object in the other version, without empty objects, which Go omits. */
export function moved(object: JsonObject, moves: Moves, to: 'newer' | 'older'): JsonObject {
  const result = copyOf(object);
  for (const [older, newer, change] of to === 'newer' ? moves : moves.toReversed()) {
    const [source, target] = to === 'newer' ? [older, newer] : [newer, older];
    const value = take(result, source.split('.'));
    const changed = value === undefined || change === undefined ? value : change[to](value);
    if (changed !== undefined) {
      put(result, target.split('.'), changed);
    }
  }
  return Object.fromEntries(Object.entries(result).filter(([, value]) => !isEmpty(value)));
}
