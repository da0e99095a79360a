import { type Bytes, bytesOf, firstRunes, isPrintable, quoted, runeAt } from '../../../base/go-text/index.ts';

export interface Token {
  /** A keyword, a form such as `field` or `string`, `char` for a sign that has no type of its own, `eof`, or `error`. */
  type: string;
  at: number;
  /** Of an error, Go's message. */
  text: Bytes;
}

const keywords = new Set('block break continue . define else end if nil range template with'.split(' '));

/** A token as Go names it in errors. */
export function showToken({ type, text }: Token): Bytes {
  if (type === 'eof' || type === 'error') {
    return type === 'eof' ? 'EOF' : text;
  }
  if (keywords.has(type)) {
    return `<${text}>`;
  }
  const start = firstRunes(text, 10);
  return start === text ? quoted(text) : `${quoted(start)}...`;
}

const letterOrDigit = /^[\p{L}\p{Nd}_]$/u;
const isAlphanumeric = (code: number): boolean => letterOrDigit.test(String.fromCodePoint(code));

/** A character as %#U prints it. */
function showRune(code: number): Bytes {
  const number = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return isPrintable(code) ? `${number} '${bytesOf(String.fromCodePoint(code))}'` : number;
}

const space = /[ \t\r\n]/;
const spaces = /[ \t\r\n]*/y;
const size =
  '(?:0[xX][0-9a-fA-F_]*(?:\\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*(?:\\.[0-7_]*)?|0[bB][01_]*(?:\\.[01_]*)?|[0-9_]*(?:\\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?';
/** A second part makes it complex. */
const number = new RegExp(`[+-]?${size}([+-]${size})?`, 'y');

/** Tokens between quotes: their type, their form, and Go's message where they have no end. */
const quotes: Readonly<Record<string, readonly [type: string, form: RegExp, message: string]>> = {
  '"': ['string', /"(?:[^"\\\n]|\\[^\n])*"/y, 'unterminated quoted string'],
  "'": ['charConstant', /'(?:[^'\\\n]|\\[^\n])*'/y, 'unterminated character constant'],
  '`': ['string', /`[^`]*`/y, 'unterminated raw quoted string'],
};
const signs: Readonly<Record<string, string>> = {
  '=': 'assign',
  '|': 'pipe',
  '(': 'leftParenthesis',
  ')': 'rightParenthesis',
};

const errorAt = (at: number, text: Bytes): Token => ({ type: 'error', at, text });

/** Where a form that starts at an index ends; 0 if it does not start there. */
function endOf(form: RegExp, text: Bytes, at: number): number {
  form.lastIndex = at;
  form.test(text);
  return form.lastIndex;
}

function tokenAt(text: Bytes, at: number): Token {
  const token = (type: string, end: number): Token => ({ type, at, text: text.slice(at, end) });
  if (at >= text.length) {
    return errorAt(at, 'unclosed action');
  }
  const { code, size } = runeAt(text, at);
  const char = String.fromCodePoint(code);
  const next = text[at + 1] ?? '';
  if (space.test(char)) {
    const end = endOf(spaces, text, at);
    // The last space may belong to a trim marker.
    return token('space', text.startsWith('-}}', end) ? end - 1 : end);
  }
  if (/[0-9+-]/.test(char) || (char === '.' && (next === '' || /[0-9]/.test(next)))) {
    return numberAt(text, at);
  }
  if (isAlphanumeric(code) || char === '$' || char === '.') {
    return wordAt(text, at, at + size);
  }
  const quoted = quotes[char];
  if (quoted !== undefined) {
    const [type, form, message] = quoted;
    const end = endOf(form, text, at);
    return end === 0 ? errorAt(at, message) : token(type, end);
  }
  if (char === ':') {
    return next === '=' ? token('declare', at + 2) : errorAt(at, 'expected :=');
  }
  return code >= 0x20 && code < 0x7f
    ? token(signs[char] ?? 'char', at + 1)
    : errorAt(at, `unrecognized character in action: ${showRune(code)}`);
}

/** A name, with `.` or `$` before it. */
function wordAt(text: Bytes, at: number, from: number): Token {
  let end = from;
  for (let rune = runeAt(text, end); end < text.length && isAlphanumeric(rune.code); rune = runeAt(text, end)) {
    end += rune.size;
  }
  if (end < text.length && !/[ \t\r\n.,|:()]/.test(text[end] as string) && !text.startsWith('}}', end)) {
    return errorAt(at, `bad character ${showRune(runeAt(text, end).code)}`);
  }
  const word = text.slice(at, end);
  const isBool = word === 'true' || word === 'false';
  const types: Readonly<Record<string, string>> = { $: 'variable', '.': 'field' };
  const type = keywords.has(word) ? word : isBool ? 'bool' : (types[word.charAt(0)] ?? 'identifier');
  return { type, at, text: word };
}

function numberAt(text: Bytes, at: number): Token {
  number.lastIndex = at;
  const [whole = '', second] = number.exec(text) ?? [];
  const end = at + whole.length;
  const { code, size } = runeAt(text, end);
  const goesOn = end < text.length && isAlphanumeric(code);
  return goesOn || (second !== undefined && !whole.endsWith('i'))
    ? errorAt(at, `bad number syntax: ${quoted(text.slice(at, goesOn ? end + size : end))}`)
    : { type: 'number', at, text: whole };
}

/** The right delimiter that starts here, and where what follows it begins. */
function rightDelimiterAt(text: Bytes, at: number): { end: number; next: number } | undefined {
  if (space.test(text[at] ?? '') && text.startsWith('-}}', at + 1)) {
    return { end: at + 4, next: endOf(spaces, text, at + 4) };
  }
  return text.startsWith('}}', at) ? { end: at + 2, next: at + 2 } : undefined;
}

/** Splits a template into tokens; the last one is of type eof or error. */
export function* tokensOf(text: Bytes): Generator<Token> {
  for (let at = 0; ; ) {
    const open = text.indexOf('{{', at);
    const trims = open !== -1 && text[open + 2] === '-' && space.test(text[open + 3] ?? '');
    let end = open === -1 ? text.length : open;
    while (trims && end > at && space.test(text[end - 1] as string)) {
      end--;
    }
    if (end > at) {
      yield { type: 'text', at, text: text.slice(at, end) };
    }
    if (open === -1) {
      return yield { type: 'eof', at: end, text: '' };
    }
    at = open + (trims ? 4 : 2);
    if (text.startsWith('/*', at)) {
      const close = text.indexOf('*/', at + 2);
      const right = close === -1 ? undefined : rightDelimiterAt(text, close + 2);
      if (right === undefined) {
        return yield errorAt(at, close === -1 ? 'unclosed comment' : 'comment ends before closing delimiter');
      }
      at = right.next;
      continue;
    }
    yield { type: 'leftDelimiter', at: open, text: '{{' };
    let depth = 0;
    let right = rightDelimiterAt(text, at);
    for (; right === undefined; right = rightDelimiterAt(text, at)) {
      const token = tokenAt(text, at);
      depth += token.text === '(' ? 1 : token.text === ')' ? -1 : 0;
      if (token.type === 'error' || depth < 0) {
        return yield depth < 0 ? errorAt(at, 'unexpected right paren') : token;
      }
      yield token;
      at += token.text.length;
    }
    if (depth > 0) {
      return yield errorAt(at, 'unclosed left paren');
    }
    yield { type: 'rightDelimiter', at: right.end - 2, text: '}}' };
    at = right.next;
  }
}

/** What is around tokens where Go writes a part of an action in errors; by default as it is there. */
const gaps: Readonly<Record<string, readonly [before: string | undefined, after: string | undefined]>> = {
  assign: [' ', ' '],
  char: ['', ' '],
  declare: [' ', ' '],
  leftParenthesis: [undefined, ''],
  pipe: [' ', ' '],
  rightParenthesis: ['', undefined],
};

/** A part of an action as Go writes it in errors: with one space between operands. */
export function shown(source: Bytes): Bytes {
  let text = '';
  let gap: string | undefined = '';
  for (const { type, text: token } of tokensOf(`{{ ${source}}}`).drop(1)) {
    if (type === 'rightDelimiter') {
      break;
    }
    if (type === 'space') {
      gap ??= ' ';
    } else {
      const [before, after] = gaps[type] ?? [];
      text += (before ?? gap ?? '') + token;
      gap = after;
    }
  }
  return text;
}
