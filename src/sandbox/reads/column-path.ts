import { fieldAt, type Json, type JsonObject, objectsAt } from '../../kubernetes/index.ts';

/**
 * A step into a field (`.spec`, `['a\.b']`), to the item of a list with an index (`[0]`), or to the one whose field has a
 * value (`[?(@.type=="Ready")]`). In a name, a backslash makes the next character part of it.
 */
const step =
  /\.((?:[^.[\]\\]|\\.)+)|\['((?:[^'\\]|\\.)+)'\]|\[(\d{1,9})\]|\[\?\(@\.([\w-]+) ?== ?(?:"([^"]*)"|'([^']*)')\)\]/gy;

/**
 * A function for the value at the path of a column (a Kubernetes JSONPath), in time linear in the object. It returns undefined
 * when there is none, and for a path with other steps.
 */
export function columnReader(path: string): (object: JsonObject) => Json | undefined {
  const steps = [...path.matchAll(step)];
  const isKnown = steps.reduce((length, [text]) => length + text.length, 0) === path.length;
  return (object) =>
    steps.reduce<Json | undefined>(
      (value, [, plain, quoted, index, field, double, single]) =>
        field === undefined
          ? fieldAt(value, index === undefined ? (plain ?? quoted ?? '').replaceAll(/\\(.)/g, '$1') : Number(index))
          : objectsAt(value).find((item) => fieldAt(item, field) === (double ?? single)),
      isKnown ? object : undefined,
    );
}
