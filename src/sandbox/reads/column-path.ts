/** Longest path of a column that is read, in characters. */
const maxLength = 1024;

/** A name in which a backslash makes the next character part of it. */
const name = String.raw`((?:[^.[\]\\()?@^~*'"\u0060{}$\s]|\\.)+)`;
const quoted = String.raw`(?:'((?:[^'\\]|\\.)+)'|"((?:[^"\\]|\\.)+)")`;
const index = String.raw`-?\d{1,9}`;
const literal = String.raw`"[^"\\]*"|'[^'\\]*'|${index}(?:\.\d{1,9})?|true|false`;
const space = String.raw`[ \t]{0,9}`;

/** One step: the values of a field, of a list or of both, or those for which a comparison holds. */
const step = new RegExp(
  [
    String.raw`(\.{1,2})(?:${name}|(\*))`,
    String.raw`(\.\.)?\[(?:${quoted}|(\*|${index}(?:,${index}){0,9}|(?:${index})?:(?:${index})?))\]`,
    String.raw`(\.\.)?\[\?\(${space}@((?:\.(?:[^.[\]\\()?@^~*'"\u0060{}$\s=!<>]|\\.)+)+)${space}(?:(==|!=|<=|>=|<|>)${space}(${literal})${space})?\)\]`,
  ].join('|'),
  'uy',
);
const nameInFilter = /\.((?:[^.\\]|\\.)+)/gu;

/** A field of the library's syntax; undefined for a name that this cannot express. */
function field(written: string): string | undefined {
  const text = written.replaceAll(/\\(.)/gu, '$1');
  return /['\\]/.test(text) ? undefined : `['${text}']`;
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
  for (step.lastIndex = 0; step.lastIndex < text.length; ) {
    const match = step.exec(text);
    if (match === null) {
      return undefined;
    }
    const [, dots, plain, star, descent, single, double, inList, descentToFilter, tested, operator = '', value = ''] =
      match;
    const isDescent = dots === '..' || descent !== undefined || descentToFilter !== undefined;
    descents += isDescent ? 1 : 0;
    let next: string | undefined;
    if (tested !== undefined) {
      const names = [...tested.matchAll(nameInFilter)].map(([, one = '']) => field(one));
      next = names.includes(undefined) ? undefined : `[?(@${names.join('')}${operator}${value})]`;
    } else if (star !== undefined || inList !== undefined) {
      next = `[${star ?? inList}]`;
    } else {
      next = field(plain ?? single ?? double ?? '');
    }
    if (next === undefined || descents > 1) {
      return undefined;
    }
    result += `${isDescent ? '..' : ''}${next}`;
  }
  return result;
}
