import { isJsonObject, isSame, type Json, type JsonObject, objectAt, own, setOwn } from '../../kubernetes/index.ts';

/** A field after its owner has applied it again; undefined if nothing is left. */
function appliedField(actual: Json | undefined, before: Json | undefined, after: Json | undefined): Json | undefined {
  if (!isJsonObject(actual) || (after !== undefined && !isJsonObject(after))) {
    return after === undefined && !isSame(actual, before) ? actual : after;
  }
  if (after === undefined && before === undefined) {
    return actual;
  }
  const fields = applied(actual, objectAt(before), objectAt(after));
  return after === undefined && Object.keys(fields).length === 0 ? undefined : fields;
}

/**
 * An object after server-side apply by one manager, which forces conflicts: what it applies is set, fields that it applied
 * `before` and no longer does are removed, all others stay. Lists are one value.
 */
export function applied(current: JsonObject, before: JsonObject, intent: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const name of new Set([...Object.keys(current), ...Object.keys(intent)])) {
    const value = appliedField(own(current, name), own(before, name), own(intent, name));
    if (value !== undefined) {
      setOwn(result, name, value);
    }
  }
  return result;
}
