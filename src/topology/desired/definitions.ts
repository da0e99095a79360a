import { shortList } from '../../base/index.ts';
import {
  copyOf,
  formatFieldPath,
  isSame,
  type JsonObject,
  objectsAt,
  objectText,
  textAt,
} from '../../kubernetes/index.ts';
import { prune, type Schema, schemasOf } from '../../kubernetes/schema/index.ts';
import { stored } from '../refusals/index.ts';
import { differencesOf } from '../world/differences.ts';
import { NotKnown } from '../world/not-known.ts';
import type { World } from '../world/world.ts';

const definitionsIn = (objects: Iterable<JsonObject>) =>
  [...objects].filter(({ kind }) => kind === 'CustomResourceDefinition');

/** An object as an API server serves it by a schema: with its defaults, and without the fields that it lacks. */
function served(object: JsonObject, schema: Schema): JsonObject {
  try {
    const result = stored(object, () => schema);
    prune(result, schema);
    return result;
  } catch (error) {
    // Too many defaults, which is said where the object counts.
    if (error instanceof NotKnown) {
      return copyOf(object);
    }
    throw error;
  }
}

function* redefined(before: Iterable<JsonObject>, after: Iterable<JsonObject>) {
  const [given, wanted] = [definitionsIn(before), definitionsIn(after)];
  const same = new Set(given);
  if (wanted.every((definition) => same.has(definition))) {
    return;
  }
  const [old, next] = [schemasOf(given), schemasOf(wanted)];
  for (const object of before) {
    const [was, is] = [old(object), next(object)];
    if (was !== undefined && is !== undefined && was !== is && !isSame(was as JsonObject, is as JsonObject)) {
      yield { object, was: served(object, was), is: served(object, is) };
    }
  }
}

/** The first state, with what was made for Machines as it is served with new defaults: these are no difference to a template. */
export function servedBefore(before: World, after: World): World {
  const isOfMachine = ({ object }: { object: JsonObject }) =>
    objectsAt(object, 'metadata', 'ownerReferences').some(({ kind }) => kind === 'Machine');
  const served = new Map([...redefined(before, after)].filter(isOfMachine).map(({ object, is }) => [object, is]));
  return served.size === 0 ? before : before.withObjects([...before].map((object) => served.get(object) ?? object));
}

/** Defaults that appear and fields that vanish in existing objects, since the definitions of their kinds change, in lines. */
export function definitionNotes(before: Iterable<JsonObject>, after: Iterable<JsonObject>): string[] {
  const objects = new Map<string, string[]>();
  for (const { object, was, is } of redefined(before, after)) {
    for (const { path, before: value, after: other } of differencesOf(was.spec, is.spec, ['spec'])) {
      const what = other === undefined ? 'is not a field any more' : `is ${JSON.stringify(other)} by default now`;
      const line = `${textAt(object, 'kind')}: ${formatFieldPath(path)} ${value === undefined || other === undefined ? what : 'changes'}`;
      objects.set(line, [...(objects.get(line) ?? []), objectText(object)]);
    }
  }
  return [...objects].map(([line, names]) => `${line} (${shortList(names, 3)})`);
}
