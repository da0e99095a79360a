import {
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  own,
  setOwn,
  textAt,
} from '../../kubernetes/index.ts';

/** Which fields a manager applied, and which others wrote, each as `fieldsV1` has them. */
export interface Ownership {
  applied: JsonObject;
  others: readonly JsonObject[];
}

/** Managers that are no users: Cluster API's own controllers. */
const isController = (manager: string): boolean => /^(?:capi|kubeadm|manager$)/.test(manager);

const entriesOf = (object: JsonObject): JsonObject[] =>
  objectsAt(object, 'metadata', 'managedFields').filter((entry) => textAt(entry, 'subresource') === '');

/** The entries of users who applied an object, newest first. An apply that changed no value has no time. */
const appliersIn = (entries: readonly JsonObject[]): JsonObject[] =>
  entries
    .filter((one) => one.operation === 'Apply' && !isController(String(one.manager)))
    .toSorted((one, other) => (textAt(one, 'time') < textAt(other, 'time') ? 1 : -1));

/** The users who applied an object on the server's side, who did it last first. */
export const appliersOf = (object: JsonObject): string[] =>
  appliersIn(entriesOf(object)).map((entry) => textAt(entry, 'manager'));

/**
 * Undefined if nobody applied an object on the server's side in this version of the API, or if nothing says who wrote it.
 *
 * @param fieldManager who applies it now, maybe for the first time. Default: the user who applied it last.
 */
export function ownershipOf(object: JsonObject, fieldManager: string | undefined): Ownership | undefined {
  const entries = entriesOf(object);
  const entry =
    fieldManager === undefined
      ? appliersIn(entries)[0]
      : entries.find(({ operation, manager }) => operation === 'Apply' && manager === fieldManager);
  const isFirst = entry === undefined && fieldManager !== undefined && entries.length > 0;
  if (!isFirst && entry?.apiVersion !== object.apiVersion) {
    return undefined;
  }
  const fieldsOf = (one: JsonObject) => objectAt(one, 'fieldsV1');
  return { applied: objectAt(entry, 'fieldsV1'), others: entries.filter((one) => one !== entry).map(fieldsOf) };
}

type Fields = JsonObject | undefined;

const inner = (fields: Fields, name: string): Fields => {
  const value = fields === undefined ? undefined : own(fields, name);
  return isJsonObject(value) ? value : undefined;
};

const innerOf = (all: readonly JsonObject[], name: string): JsonObject[] =>
  all.map((fields) => inner(fields, name)).filter((fields) => fields !== undefined);

/** The fields of items of a list that is a map, by their keys: `k:{"name":"a"}`; a list that is one value has none. */
const itemKeys = (fields: JsonObject): string[] => Object.keys(fields).filter((name) => name.startsWith('k:'));

/** The names of the fields by which the items of a list are found; empty for a list that is one value. */
function keyNames(all: readonly JsonObject[]): string[] {
  const [first] = all.flatMap(itemKeys);
  try {
    return first === undefined ? [] : Object.keys(objectAt(JSON.parse(first.slice(2)) as Json));
  } catch {
    return [];
  }
}

const keyOf = (item: Json, names: readonly string[]): string =>
  `k:${JSON.stringify(Object.fromEntries([...names].sort().map((name) => [name, objectAt(item)[name] ?? null])))}`;

/**
 * The keys of a list that is a map after it was applied: in the order in which they are given, those that were there and are not
 * given where they were between these (visitListItems of structured-merge-diff 6).
 */
function keysApplied(there: readonly string[], given: readonly string[]): string[] {
  const isThere = new Set(there);
  const isGiven = new Set(given);
  const shared = given.filter((key) => isThere.has(key));
  const result: string[] = [];
  let [next, place] = [0, 0];
  for (const key of given) {
    while (place < there.length && there[place] !== shared[next]) {
      const other = there[place++] ?? '';
      if (!isGiven.has(other)) {
        result.push(other);
      } else if (next === shared.length) {
        break;
      }
    }
    result.push(key);
    if (key === shared[next]) {
      next++;
      place++;
    }
  }
  return [...result, ...there.slice(place).filter((key) => !isGiven.has(key))];
}

function appliedList(
  current: readonly Json[],
  wanted: readonly Json[],
  names: readonly string[],
  { applied, others }: { applied: Fields; others: readonly JsonObject[] },
): Json[] {
  const there = new Map(current.map((item) => [keyOf(item, names), item]));
  const given = new Map(wanted.map((item) => [keyOf(item, names), item]));
  return keysApplied([...there.keys()], [...given.keys()]).flatMap((key) => {
    const item = appliedValue(there.get(key), given.get(key), inner(applied, key), innerOf(others, key));
    return item === undefined ? [] : [item];
  });
}

/** Whether an object is one value (`x-kubernetes-map-type: atomic`): who wrote it is known of the whole, of no part. */
const isOneValue = (object: JsonObject, writers: readonly JsonObject[]): boolean =>
  Object.keys(object).length > 0 && writers.length > 0 && writers.every((fields) => Object.keys(fields).length === 0);

function appliedValue(
  current: Json | undefined,
  wanted: Json | undefined,
  applied: Fields,
  others: readonly JsonObject[],
): Json | undefined {
  const writers = applied === undefined ? others : [applied, ...others];
  // Nobody wrote the defaults of variables, which a webhook sets.
  const isDefaults =
    writers.length === 0 && Array.isArray(current) && current.every((item) => textAt(item, 'name') !== '');
  const names = isDefaults ? ['name'] : keyNames(writers);
  if (names.length > 0 && Array.isArray(current) && (wanted === undefined || Array.isArray(wanted))) {
    const list = appliedList(current, wanted ?? [], names, { applied, others });
    return list.length === 0 && wanted === undefined && others.length === 0 ? undefined : list;
  }
  if (isJsonObject(current) && isJsonObject(wanted) && isOneValue(current, writers)) {
    return wanted;
  }
  const isInside = isJsonObject(current) && Object.keys(applied ?? {}).some((name) => name.startsWith('f:'));
  if (isJsonObject(current) && (isJsonObject(wanted) || (wanted === undefined && isInside))) {
    const fields = objectAt(wanted);
    const result: JsonObject = {};
    for (const name of new Set([...Object.keys(current), ...Object.keys(fields)])) {
      const [one, other] = [own(current, name), own(fields, name)];
      const value = appliedValue(one, other, inner(applied, `f:${name}`), innerOf(others, `f:${name}`));
      if (value !== undefined) {
        setOwn(result, name, value);
      }
    }
    const isGone = wanted === undefined && others.length === 0 && Object.keys(result).length === 0;
    return isGone ? undefined : result;
  }
  return wanted ?? (applied !== undefined && others.length === 0 ? undefined : current);
}

/**
 * An object after its owner has applied it again (structured-merge-diff): fields that the owner no longer gives go away unless
 * others wrote them as well. Conflicts are forced.
 */
export const appliedOnServer = (current: JsonObject, wanted: JsonObject, { applied, others }: Ownership): JsonObject =>
  appliedValue(current, wanted, applied, others) as JsonObject;
