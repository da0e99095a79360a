import { isJsonObject, type Json, type JsonObject, own } from '../../kubernetes/index.ts';

/** Longest path of a column that is read, in characters. */
const maxLength = 1024;
/**
 * Maximum number of values that are looked at for one cell, which takes some milliseconds: after a descent, the same
 * value is reached in several ways.
 */
const maxVisited = 100_000;

// The three kinds of steps. In a name, a backslash makes the next character part of it.
/** The values of a field, or of all. */
const fieldStep = /(?<descent>\.)?\.(?:(?<name>(?:[^.[\]\\()?@^~*'"`{}$\s]|\\.)+)|(?<star>\*))/uy;
/** The value of a quoted field, or of items of a list. */
const bracketStep =
  /(?<descent>\.\.)?\[(?:'(?<single>(?:[^'\\]|\\.)+)'|"(?<double>(?:[^"\\]|\\.)+)"|(?<star>\*)|(?<indices>-?\d{1,9}(?:,-?\d{1,9}){0,9})|(?<start>-?\d{1,9})?:(?<end>-?\d{1,9})?)\]/uy;
/** The items that have a field, or whose field compares with a literal as given. */
const filterStep =
  /(?<descent>\.\.)?\[\?\([ \t]{0,9}@(?<tested>(?:\.(?:[^.[\]\\()?@^~*'"`{}$\s=!<>]|\\.)+)+)[ \t]{0,9}(?:(?<operator>==|!=|<=|>=|<|>)[ \t]{0,9}(?:"(?<double>[^"\\]*)"|'(?<single>[^'\\]*)'|(?<plain>-?\d{1,9}(?:\.\d{1,9})?|true|false))[ \t]{0,9})?\)\]/uy;
const nameInFilter = /\.((?:[^.\\]|\\.)+)/gu;

/** The values that a step leads to from a value. */
type Step = (value: Json) => Iterable<Json>;
/** How many more values may be looked at for a cell. At 0 all steps end, so that nothing is found. */
interface Work {
  left: number;
}

const unescaped = (written: string): string => written.replaceAll(/\\(.)/gu, '$1');

function* childrenOf(value: Json, work: Work): Iterable<Json> {
  for (const child of Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : []) {
    if (work.left <= 0) {
      return;
    }
    work.left--;
    yield child;
  }
}

/** A value and everything in it, in the order of fields and items. */
function* allIn(value: Json, work: Work): Iterable<Json> {
  yield value;
  for (const child of childrenOf(value, work)) {
    yield* allIn(child, work);
  }
}

const fieldOf = (value: Json | undefined, name: string): Json | undefined =>
  isJsonObject(value) ? own(value, name) : undefined;

const present = (values: readonly (Json | undefined)[]): Json[] => values.filter((value) => value !== undefined);

type Literal = string | number | boolean;
const comparisons: Record<string, (left: Literal, right: Literal) => boolean> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
};

type Groups = Partial<Record<string, string>>;

function filterOf(tested: string, { operator, single, double, plain = '' }: Groups, work: Work): Step {
  const names = [...tested.matchAll(nameInFilter)].map(([, name = '']) => unescaped(name));
  const literal = single ?? double ?? (plain === 'true' || plain === 'false' ? plain === 'true' : Number(plain));
  const compares = comparisons[operator ?? ''];
  return function* (value) {
    for (const item of childrenOf(value, work)) {
      const field = names.reduce<Json | undefined>(fieldOf, item);
      work.left -= names.length;
      // Values of other types never compare.
      if (
        compares === undefined
          ? field !== undefined
          : typeof field === typeof literal && compares(field as Literal, literal)
      ) {
        yield item;
      }
    }
  };
}

function stepOf(groups: Groups, work: Work): Step {
  const { name, single, double, star, indices, start, end, tested } = groups;
  if (tested !== undefined) {
    return filterOf(tested, groups, work);
  }
  if (star !== undefined) {
    return (value) => childrenOf(value, work);
  }
  const quoted = name ?? single ?? double;
  if (quoted !== undefined) {
    const field = unescaped(quoted);
    return (value) => present([fieldOf(value, field)]);
  }
  if (indices !== undefined) {
    const places = indices.split(',').map(Number);
    return (value) => (Array.isArray(value) ? present(places.map((place) => value.at(place))) : []);
  }
  const range = [Number(start ?? 0), end === undefined ? undefined : Number(end)] as const;
  return (value) => (Array.isArray(value) ? value.slice(...range) : []);
}

/** A step that also applies to all values below. */
function descending(step: Step, work: Work): Step {
  return function* (value) {
    for (const from of allIn(value, work)) {
      yield* step(from);
    }
  };
}

function stepsOf(path: string, work: Work): readonly Step[] | undefined {
  if (path.length > maxLength) {
    return undefined;
  }
  const text = path.startsWith('.') || path.startsWith('[') ? path : `.${path}`;
  const steps: Step[] = [];
  for (let at = 0; at < text.length; ) {
    const match = [fieldStep, bracketStep, filterStep]
      .map((form) => {
        form.lastIndex = at;
        return form.exec(text);
      })
      .find((result) => result !== null);
    if (match?.groups === undefined) {
      return undefined;
    }
    const step = stepOf(match.groups, work);
    steps.push(match.groups.descent === undefined ? step : descending(step, work));
    at += match[0].length;
  }
  return steps;
}

/** The values that steps lead to, in the order of fields and items. */
function* search(value: Json, [step, ...rest]: readonly Step[], work: Work): Iterable<Json> {
  if (step === undefined) {
    yield value;
    return;
  }
  for (const next of step(value)) {
    if (work.left <= 0) {
      return;
    }
    work.left--;
    yield* search(next, rest, work);
  }
}

/**
 * A function for the first value at the path of a column (a Kubernetes JSONPath). It returns undefined when there is none,
 * for a path with anything beyond steps into fields and lists and comparisons with a literal, and when too many values
 * would have to be looked at, as those of several descents.
 */
export function columnReader(path: string): (object: JsonObject) => Json | undefined {
  const work: Work = { left: 0 };
  const steps = stepsOf(path, work);
  return (object) => {
    work.left = maxVisited;
    for (const value of steps === undefined ? [] : search(object, steps, work)) {
      return value;
    }
    return undefined;
  };
}
