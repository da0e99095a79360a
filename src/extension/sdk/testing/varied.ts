import { isJsonObject, type Json, type JsonObject } from '../../../kubernetes/index.ts';

/** A request that means the same as another one, and what its answer would be for that one. */
interface Variation {
  request: JsonObject;
  original(response: JsonObject): JsonObject;
}

const isNamed = (value: Json): value is { name: string } => isJsonObject(value) && typeof value.name === 'string';

/** Variables in another order, unless that decides which one counts. */
function reordered(variables: Json | undefined): Json | undefined {
  if (!Array.isArray(variables) || !variables.every(isNamed)) {
    return variables;
  }
  const names = new Set(variables.map(({ name }) => name));
  return names.size === variables.length ? variables.toReversed() : variables;
}

/** A request as Cluster API may send it for the same Cluster: with other uids, items and variables in another order. */
export function varied(request: JsonObject, turn: number): Variation {
  const { variables, items } = request;
  const uids = new Map<Json | undefined, Json | undefined>();
  const changed: JsonObject = { ...request };
  if (variables !== undefined) {
    changed.variables = reordered(variables) as Json;
  }
  if (Array.isArray(items) && items.every(isJsonObject)) {
    changed.items = items
      .map((item, index): JsonObject => {
        const uid = `00000000-0000-4000-8000-${String(turn * 1_000_000 + index).padStart(12, '0')}`;
        uids.set(uid, item.uid);
        return { ...item, uid, ...(item.variables !== undefined && { variables: reordered(item.variables) as Json }) };
      })
      .reverse();
  }
  return {
    request: changed,
    original: (response) =>
      Array.isArray(response.items)
        ? {
            ...response,
            items: response.items.map((item) =>
              isJsonObject(item) && uids.has(item.uid) ? { ...item, uid: uids.get(item.uid) as Json } : item,
            ),
          }
        : response,
  };
}

let last: Promise<unknown> = Promise.resolve();

/** `Date` that many milliseconds ahead. It goes on, so that a handler may wait until some time has passed. */
function dateAhead(milliseconds: number, RealDate: DateConstructor): DateConstructor {
  const now = () => RealDate.now() + milliseconds;
  return new Proxy(RealDate, {
    apply: () => new RealDate(now()).toString(),
    construct: (_, values, target) => Reflect.construct(RealDate, values.length === 0 ? [now()] : values, target),
    get: (_, name) => (name === 'now' ? now : Reflect.get(RealDate, name)),
  });
}

/** Runs an action at a date that is ahead, one at a time. Timers and `performance` are as always. */
export function withDateAhead<T>(milliseconds: number, action: () => Promise<T>): Promise<T> {
  const result = last.then(async () => {
    const RealDate = Date;
    globalThis.Date = dateAhead(milliseconds, RealDate);
    try {
      return await action();
    } finally {
      globalThis.Date = RealDate;
    }
  });
  last = result.catch(() => {});
  return result;
}
