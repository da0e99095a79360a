import { type Bytes, quotedRune, textOf } from './bytes.ts';

// The errors of Go's encoding/json: users know them from the conditions that Cluster API writes.

/** The first byte at which a JSON text is wrong, which may be its end, and what Go says of that place. */
export interface JsonMistake {
  at: number;
  place: string;
}

type Next = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | 'more';

/** The parts of a number, as far as it goes: sign, whole part, fraction and exponent. */
const number = /(-?)(0|[1-9]\d*)?(\.\d*)?([eE][+-]?\d*)?/y;

/** Reads a string, number, true, false or null from `text` at `start`: where it ends, and what is wrong there. */
function scanScalar(text: Bytes, start: number): { at: number; wrong?: string } {
  let at = start;
  const isNext = (pattern: RegExp) => pattern.test(text[at] ?? '');
  if (text[at] === '"') {
    for (at++; text[at] !== '"'; at++) {
      if ((text[at] ?? '') < ' ') {
        return { at, wrong: 'in string literal' };
      }
      if (text[at] !== '\\') {
        continue;
      }
      at++;
      if (!isNext(/["\\/bfnrtu]/)) {
        return { at, wrong: 'in string escape code' };
      }
      for (const end = text[at] === 'u' ? at + 4 : at; at < end; ) {
        at++;
        if (!isNext(/[0-9A-Fa-f]/)) {
          return { at, wrong: 'in \\u hexadecimal character escape' };
        }
      }
    }
    return { at: at + 1 };
  }
  const literal = ['true', 'false', 'null'].find((word) => word[0] === text[at]);
  if (literal !== undefined) {
    for (const expected of literal) {
      if (text[at] !== expected) {
        return { at, wrong: `in literal ${literal} (expecting '${expected}')` };
      }
      at++;
    }
    return { at };
  }
  number.lastIndex = start;
  const [all = '', sign = '', whole, fraction, exponent] = number.exec(text) ?? [];
  if (whole === undefined) {
    return { at: start + sign.length, wrong: sign === '' ? 'looking for beginning of value' : 'in numeric literal' };
  }
  if (fraction === '.') {
    return { at: start + sign.length + whole.length + 1, wrong: 'after decimal point in numeric literal' };
  }
  const end = start + all.length;
  return exponent === undefined || /\d$/.test(exponent)
    ? { at: end }
    : { at: end, wrong: 'in exponent of numeric literal' };
}

function afterSpace(text: Bytes, from: number): number {
  let at = from;
  while (' \t\r\n'.includes(text[at] ?? '-')) {
    at++;
  }
  return at;
}

/** Why Go cannot read the first value of a JSON text; undefined if it can. @param isAlone whether nothing may follow. */
export function jsonMistake(text: Bytes, isAlone: boolean): JsonMistake | undefined {
  const open: string[] = [];
  let at = 0;
  let next: Next = 'value';
  do {
    at = afterSpace(text, at);
    const character = text[at] ?? '';
    const isInObject = open.at(-1) === '{';
    if (
      (character === '}' && isInObject && (next === 'key or }' || next === 'more')) ||
      (character === ']' && !isInObject && (next === 'value or ]' || (next === 'more' && open.length > 0)))
    ) {
      open.pop();
      at++;
      next = 'more';
    } else if (next === 'more') {
      if (character !== ',') {
        return { at, place: isInObject ? 'after object key:value pair' : 'after array element' };
      }
      at++;
      next = isInObject ? 'key' : 'value';
    } else if (next === ':') {
      if (character !== ':') {
        return { at, place: 'after object key' };
      }
      at++;
      next = 'value';
    } else if ((next === 'value' || next === 'value or ]') && (character === '{' || character === '[')) {
      open.push(character);
      at++;
      next = character === '{' ? 'key or }' : 'value or ]';
    } else {
      const isKey: boolean = next === 'key' || next === 'key or }';
      if (isKey && character !== '"') {
        return { at, place: 'looking for beginning of object key string' };
      }
      const scalar = scanScalar(text, at);
      at = scalar.at;
      if (scalar.wrong !== undefined) {
        return { at, place: scalar.wrong };
      }
      next = isKey ? ':' : 'more';
    }
  } while (open.length > 0 || next !== 'more');
  at = afterSpace(text, at);
  return isAlone && at < text.length ? { at, place: 'after top-level value' } : undefined;
}

/** Go's words for a character at which a JSON text is wrong. */
export function jsonSyntaxError(character: string, place: string): string {
  return `invalid character ${character === '"' ? `'"'` : textOf(quotedRune(character.charCodeAt(0)))} ${place}`;
}
