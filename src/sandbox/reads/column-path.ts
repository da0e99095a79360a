/** Longest path of a column that is read, in characters. */
const maxLength = 1024;

// The three kinds of steps. In a name, a backslash makes the next character part of it.
/** The values of a field, or of all. */
const fieldStep = /(?<descent>\.)?\.(?:(?<name>(?:[^.[\]\\()?@^~*'"`{}$\s]|\\.)+)|(?<star>\*))/uy;
/** The value of a quoted field, or of items of a list. */
const bracketStep =
  /(?<descent>\.\.)?\[(?:'(?<single>(?:[^'\\]|\\.)+)'|"(?<double>(?:[^"\\]|\\.)+)"|(?<items>\*|-?\d{1,9}(?:,-?\d{1,9}){0,9}|(?:-?\d{1,9})?:(?:-?\d{1,9})?))\]/uy;
/** The items that have a field, or whose field compares with a literal as given. */
const filterStep =
  /(?<descent>\.\.)?\[\?\([ \t]{0,9}@(?<tested>(?:\.(?:[^.[\]\\()?@^~*'"`{}$\s=!<>]|\\.)+)+)[ \t]{0,9}(?:(?<operator>==|!=|<=|>=|<|>)[ \t]{0,9}(?<literal>"[^"\\]*"|'[^'\\]*'|-?\d{1,9}(?:\.\d{1,9})?|true|false)[ \t]{0,9})?\)\]/uy;
const nameInFilter = /\.((?:[^.\\]|\\.)+)/gu;

/** A field of the library's syntax; undefined for a name that this cannot express. */
function field(written: string): string | undefined {
  const text = written.replaceAll(/\\(.)/gu, '$1');
  return /['\\]/.test(text) ? undefined : `['${text}']`;
}

/** The groups of a step that begins at `start`, and its end. */
function stepAt(text: string, start: number): { groups: Partial<Record<string, string>>; end: number } | undefined {
  for (const step of [fieldStep, bracketStep, filterStep]) {
    step.lastIndex = start;
    const groups = step.exec(text)?.groups;
    if (groups !== undefined) {
      return { groups, end: step.lastIndex };
    }
  }
  return undefined;
}

/** A step in the library's syntax, without its descent; undefined for a name that this cannot express. */
function libraryStep(groups: Partial<Record<string, string>>): string | undefined {
  const { name, star, single, double, items, tested, operator = '', literal = '' } = groups;
  if (tested !== undefined) {
    const names = [...tested.matchAll(nameInFilter)].map(([, one = '']) => field(one));
    return names.includes(undefined) ? undefined : `[?(@${names.join('')}${operator}${literal})]`;
  }
  const selected = star ?? items;
  return selected === undefined ? field(name ?? single ?? double ?? '') : `[${selected}]`;
}

/**
 * The path of a column (a Kubernetes JSONPath) in the library's syntax.
 *
 * @returns undefined for anything beyond steps into fields and lists and comparisons with a literal, as Kubernetes has
 *   them: the library also evaluates JavaScript, whose regular expressions backtrack, and several `..` in a path visit a
 *   value as often as there are ways to it.
 */
export function libraryPath(path: string): string | undefined {
  if (path.length > maxLength) {
    return undefined;
  }
  const text = path.startsWith('.') || path.startsWith('[') ? path : `.${path}`;
  let result = '$';
  let descents = 0;
  for (let start = 0; start < text.length; ) {
    const step = stepAt(text, start);
    const next = step && libraryStep(step.groups);
    const isDescent = step?.groups.descent !== undefined;
    descents += isDescent ? 1 : 0;
    if (step === undefined || next === undefined || descents > 1) {
      return undefined;
    }
    result += `${isDescent ? '..' : ''}${next}`;
    start = step.end;
  }
  return result;
}
