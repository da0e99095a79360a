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

/** The values within a value that a step of a path leads to. */
type Select = (value: Json, visit: () => void) => readonly Json[];
interface Step {
  /** Whether it also applies to all values below. */
  descends: boolean;
  select: Select;
}

/** A search that visits too many values. */
class TooMuchWork extends Error {}

const unescaped = (written: string): string => written.replaceAll(/\\(.)/gu, '$1');

function childrenOf(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
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

function filterOf(tested: string, { operator, single, double, plain = '' }: Groups): Select {
  const names = [...tested.matchAll(nameInFilter)].map(([, name = '']) => unescaped(name));
  const literal = single ?? double ?? (plain === 'true' || plain === 'false' ? plain === 'true' : Number(plain));
  const compares = comparisons[operator ?? ''];
  return (value, visit) =>
    childrenOf(value).filter((item) => {
      let found: Json | undefined = item;
      for (const name of names) {
        visit();
        found = fieldOf(found, name);
      }
      // Values of other types never compare.
      return compares === undefined
        ? found !== undefined
        : typeof found === typeof literal && compares(found as Literal, literal);
    });
}

function selectOf(groups: Groups): Select {
  const { name, single, double, star, indices, start, end, tested } = groups;
  if (tested !== undefined) {
    return filterOf(tested, groups);
  }
  if (star !== undefined) {
    return childrenOf;
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

/** The groups of a step that begins at `start`, and its end. */
function stepAt(text: string, start: number): { groups: Groups; end: number } | undefined {
  for (const step of [fieldStep, bracketStep, filterStep]) {
    step.lastIndex = start;
    const groups = step.exec(text)?.groups;
    if (groups !== undefined) {
      return { groups, end: step.lastIndex };
    }
  }
  return undefined;
}

function stepsOf(path: string): readonly Step[] | undefined {
  if (path.length > maxLength) {
    return undefined;
  }
  const text = path.startsWith('.') || path.startsWith('[') ? path : `.${path}`;
  const steps: Step[] = [];
  for (let at = 0; at < text.length; ) {
    const step = stepAt(text, at);
    if (step === undefined) {
      return undefined;
    }
    steps.push({ descends: step.groups.descent !== undefined, select: selectOf(step.groups) });
    at = step.end;
  }
  return steps;
}

/** The first value that steps lead to, in the order of fields and items. */
function search(steps: readonly Step[], index: number, from: Json, visit: () => void): Json | undefined {
  const step = steps[index];
  if (step === undefined) {
    return from;
  }
  const open: Json[] = [from];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    for (const selected of step.select(value, visit)) {
      visit();
      const found = search(steps, index + 1, selected, visit);
      if (found !== undefined) {
        return found;
      }
    }
    if (step.descends) {
      for (const child of childrenOf(value).toReversed()) {
        visit();
        open.push(child);
      }
    }
  }
  return undefined;
}

/**
 * A function for the first value at the path of a column (a Kubernetes JSONPath). It returns undefined when there is none,
 * for a path with anything beyond steps into fields and lists and comparisons with a literal, and when too many values
 * would have to be looked at, as those of several descents.
 */
export function columnReader(path: string): (object: JsonObject) => Json | undefined {
  const steps = stepsOf(path);
  if (steps === undefined) {
    return () => undefined;
  }
  return (object) => {
    let visited = 0;
    const visit = () => {
      visited++;
      if (visited > maxVisited) {
        throw new TooMuchWork();
      }
    };
    try {
      return search(steps, 0, object, visit);
    } catch (error) {
      if (error instanceof TooMuchWork) {
        return undefined;
      }
      throw error;
    }
  };
}
