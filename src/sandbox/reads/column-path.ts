import { isJsonObject, type Json, type JsonObject, own } from '../../kubernetes/index.ts';

/** Longest path of a column that is read, in characters. */
const maxLength = 1024;

/** The values that a step leads to from a value. */
type Step = (value: Json) => Json[];

const unescaped = (written: string): string => written.replaceAll(/\\(.)/gu, '$1');

const childrenOf: Step = (value) => (Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : []);

const fieldOf = (value: Json | undefined, name: string): Json | undefined =>
  isJsonObject(value) ? own(value, name) : undefined;

const present = (value: Json | undefined): Json[] => (value === undefined ? [] : [value]);

type Literal = string | number | boolean;
const comparisons: Record<string, (left: Literal, right: Literal) => boolean> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
};

function filterOf([, tested = '', operator = '', double, single, plain = '']: readonly (string | undefined)[]): Step {
  const names = [...tested.matchAll(/\.((?:[^.\\]|\\.)+)/gu)].map(([, name = '']) => unescaped(name));
  const literal = single ?? double ?? (plain === 'true' || plain === 'false' ? plain === 'true' : Number(plain));
  const compares = comparisons[operator];
  return (value) =>
    childrenOf(value).filter((item) => {
      let field: Json | undefined = item;
      names.every((name) => {
        field = fieldOf(field, name);
        return field !== undefined;
      });
      // Values of other types never compare.
      return compares === undefined
        ? field !== undefined
        : typeof field === typeof literal && compares(field as Literal, literal);
    });
}

/** The kinds of steps. In a name, a backslash makes the next character part of it. */
const forms: readonly [form: RegExp, stepOf: (match: readonly (string | undefined)[]) => Step][] = [
  [
    /\.((?:[^.[\]\\()?@^~*'"`{}$\s]|\\.)+)|\['((?:[^'\\]|\\.)+)'\]|\["((?:[^"\\]|\\.)+)"\]/uy,
    ([, plain, single, double]) => {
      const name = unescaped(plain ?? single ?? double ?? '');
      return (value) => present(fieldOf(value, name));
    },
  ],
  [/\.\*|\[\*\]/y, () => childrenOf],
  [
    /\[(-?\d{1,9})\]/y,
    ([, index]) =>
      (value) =>
        Array.isArray(value) ? present(value.at(Number(index))) : [],
  ],
  [
    /\[(-?\d{1,9})?:(-?\d{1,9})?\]/y,
    ([, start, end]) =>
      (value) =>
        Array.isArray(value) ? value.slice(Number(start ?? 0), end === undefined ? undefined : Number(end)) : [],
  ],
  // The items that have a field, or whose field compares with a literal as given.
  [
    /\[\?\([ \t]{0,9}@((?:\.(?:[^.[\]\\()?@^~*'"`{}$\s=!<>]|\\.)+)+)[ \t]{0,9}(?:(==|!=|<=|>=|<|>)[ \t]{0,9}(?:"([^"\\]*)"|'([^'\\]*)'|(-?\d{1,9}(?:\.\d{1,9})?|true|false))[ \t]{0,9})?\)\]/uy,
    filterOf,
  ],
];

function stepsOf(path: string): readonly Step[] | undefined {
  if (path.length > maxLength) {
    return undefined;
  }
  const text = path.startsWith('.') || path.startsWith('[') ? path : `.${path}`;
  const steps: Step[] = [];
  for (let at = 0; at < text.length; ) {
    const end = at;
    for (const [form, stepOf] of forms) {
      form.lastIndex = end;
      const match = form.exec(text);
      if (match !== null) {
        steps.push(stepOf(match));
        at = form.lastIndex;
        break;
      }
    }
    if (at === end) {
      return undefined;
    }
  }
  return steps;
}

/**
 * A function for the first value at the path of a column (a Kubernetes JSONPath), in time linear in the object. It returns
 * undefined when there is none, and for a path with anything beyond steps into fields and lists and comparisons with a
 * literal: descents (`..name`) reach the same value in several ways.
 */
export function columnReader(path: string): (object: JsonObject) => Json | undefined {
  const steps = stepsOf(path) ?? [() => []];
  return (object) => steps.reduce<Json[]>((values, step) => values.flatMap(step), [object])[0];
}
