import { isJsonObject, type Json, type JsonObject, own, setOwn } from '../../kubernetes/index.ts';

/**
 * An object after server-side apply by one manager, which forces conflicts: what it applies is set, fields that it
 * applied before and no longer does are removed, all others stay. Lists are one value.
 *
 * @param before what the manager applied before.
 */
export function applied(current: JsonObject, before: JsonObject, intent: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const [name, value] of Object.entries(current)) {
    if (!Object.hasOwn(intent, name)) {
      const left = withoutOwned(value, own(before, name));
      if (left !== undefined) {
        setOwn(result, name, left);
      }
    }
  }
  for (const [name, value] of Object.entries(intent)) {
    const old = own(current, name);
    const previous = own(before, name);
    setOwn(
      result,
      name,
      isJsonObject(value) && isJsonObject(old) ? applied(old, isJsonObject(previous) ? previous : {}, value) : value,
    );
  }
  return result;
}

/** A value without what a manager applied before; undefined if nothing is left. */
function withoutOwned(value: Json, before: Json | undefined): Json | undefined {
  if (before === undefined) {
    return value;
  }
  if (!isJsonObject(value) || !isJsonObject(before)) {
    return undefined;
  }
  const left: JsonObject = {};
  for (const [name, field] of Object.entries(value)) {
    const rest = withoutOwned(field, own(before, name));
    if (rest !== undefined) {
      setOwn(left, name, rest);
    }
  }
  return Object.keys(left).length === 0 ? undefined : left;
}
