import { type Bytes, bytesOf, isPrintable, quoted, runeAt } from '../../../base/go-text/index.ts';

export type TokenType =
  | 'error'
  | 'bool'
  | 'char'
  | 'charConstant'
  | 'assign'
  | 'declare'
  | 'eof'
  | 'field'
  | 'identifier'
  | 'leftDelimiter'
  | 'leftParenthesis'
  | 'number'
  | 'pipe'
  | 'rawString'
  | 'rightDelimiter'
  | 'rightParenthesis'
  | 'space'
  | 'string'
  | 'text'
  | 'variable'
  | Keyword;

const keywords = [
  'block',
  'break',
  'continue',
  '.',
  'define',
  'else',
  'end',
  'if',
  'nil',
  'range',
  'template',
  'with',
] as const;
type Keyword = (typeof keywords)[number];

function isKeyword(text: string): text is Keyword {
  return (keywords as readonly string[]).includes(text);
}

export interface Token {
  type: TokenType;
  /** Offset in the text, in bytes. */
  at: number;
  text: Bytes;
  line: number;
}

/** A token as Go names it in errors. */
export function showToken({ type, text }: Token): Bytes {
  if (type === 'eof') {
    return 'EOF';
  }
  if (type === 'error') {
    return text;
  }
  if (isKeyword(type)) {
    return `<${text}>`;
  }
  if (text.length <= 10) {
    return quoted(text);
  }
  let end = 0;
  for (let count = 0; count < 10 && end < text.length; count++) {
    end += runeAt(text, end).size;
  }
  return `${quoted(text.slice(0, end))}...`;
}

const letterOrDigit = /^[\p{L}\p{Nd}_]$/u;

function isAlphanumeric(code: number): boolean {
  return letterOrDigit.test(String.fromCodePoint(code));
}

/** A character as %#U prints it. */
function showRune(code: number): Bytes {
  const number = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return isPrintable(code) ? `${number} '${bytesOf(String.fromCodePoint(code))}'` : number;
}

const space = /[ \t\r\n]/;
const spaces = /[ \t\r\n]+/y;
const number =
  /[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?/y;

/** Tokens between quotes: their type, their form, and Go's message where they have no end. */
const quotes: Readonly<Record<string, readonly [TokenType, RegExp, string]>> = {
  '"': ['string', /"(?:[^"\\\n]|\\[^\n])*"/y, 'unterminated quoted string'],
  "'": ['charConstant', /'(?:[^'\\\n]|\\[^\n])*'/y, 'unterminated character constant'],
  '`': ['rawString', /`[^`]*`/y, 'unterminated raw quoted string'],
};
const signs: Readonly<Record<string, TokenType>> = {
  '=': 'assign',
  '|': 'pipe',
  '(': 'leftParenthesis',
  ')': 'rightParenthesis',
};

/** Splits a template into tokens, as they are asked for. */
class Lexer {
  readonly #text: Bytes;
  /** Up to where lines are counted, and how many there are. */
  #counted = 0;
  #line = 1;
  /** How many parentheses are open. */
  #depth = 0;

  constructor(text: Bytes) {
    this.#text = text;
  }

  /** All tokens; the last one is of type eof or error. */
  *run(): Generator<Token> {
    const text = this.#text;
    for (let at = 0; ; ) {
      const open = text.indexOf('{{', at);
      const trims = open !== -1 && text[open + 2] === '-' && space.test(text[open + 3] ?? '');
      let end = open === -1 ? text.length : open;
      while (trims && end > at && space.test(text[end - 1] as string)) {
        end--;
      }
      if (end > at) {
        yield this.#token('text', at, end);
      }
      if (open === -1) {
        yield this.#token('eof', end, end);
        return;
      }
      at = open + (trims ? 4 : 2);
      if (text.startsWith('/*', at)) {
        const close = text.indexOf('*/', at + 2);
        const right = close === -1 ? undefined : this.#rightDelimiter(close + 2);
        if (right === undefined) {
          yield this.#error(at, close === -1 ? 'unclosed comment' : 'comment ends before closing delimiter');
          return;
        }
        at = right.next;
        continue;
      }
      yield this.#token('leftDelimiter', open, open + 2);
      this.#depth = 0;
      let right = this.#rightDelimiter(at);
      for (; right === undefined; right = this.#rightDelimiter(at)) {
        const token = this.#read(at);
        yield token;
        if (token.type === 'error') {
          return;
        }
        at += token.text.length;
      }
      if (this.#depth > 0) {
        yield this.#error(at, 'unclosed left paren');
        return;
      }
      yield this.#token('rightDelimiter', right.end - 2, right.end);
      at = right.next;
    }
  }

  #token(type: TokenType, at: number, end: number): Token {
    for (; this.#counted < at; this.#counted++) {
      this.#line += this.#text.charCodeAt(this.#counted) === 0x0a ? 1 : 0;
    }
    return { type, at, text: this.#text.slice(at, end), line: this.#line };
  }

  #error(at: number, message: Bytes): Token {
    return { ...this.#token('error', at, at), text: message };
  }

  /** Where a form that is there ends. */
  #endOf(form: RegExp, at: number): number {
    form.lastIndex = at;
    form.test(this.#text);
    return form.lastIndex;
  }

  /** The right delimiter that starts here, and where what follows it begins. */
  #rightDelimiter(at: number): { end: number; next: number } | undefined {
    if (space.test(this.#text[at] ?? '') && this.#text.startsWith('-}}', at + 1)) {
      return { end: at + 4, next: Math.max(this.#endOf(spaces, at + 4), at + 4) };
    }
    return this.#text.startsWith('}}', at) ? { end: at + 2, next: at + 2 } : undefined;
  }

  #read(at: number): Token {
    const text = this.#text;
    if (at >= text.length) {
      return this.#error(at, 'unclosed action');
    }
    const { code, size } = runeAt(text, at);
    const char = String.fromCodePoint(code);
    const next = text[at + 1] ?? '';
    if (space.test(char)) {
      const end = this.#endOf(spaces, at);
      // The last space may belong to a trim marker.
      return this.#token('space', at, text.startsWith('-}}', end) ? end - 1 : end);
    }
    if (/[0-9+-]/.test(char) || (char === '.' && (next === '' || /[0-9]/.test(next)))) {
      return this.#number(at);
    }
    if (isAlphanumeric(code) || char === '$' || char === '.') {
      return this.#word(at, at + size);
    }
    const quoted = quotes[char];
    if (quoted !== undefined) {
      const [type, form, message] = quoted;
      const end = this.#endOf(form, at);
      return end === 0 ? this.#error(at, message) : this.#token(type, at, end);
    }
    if (char === ':') {
      return next === '=' ? this.#token('declare', at, at + 2) : this.#error(at, 'expected :=');
    }
    this.#depth += char === '(' ? 1 : char === ')' ? -1 : 0;
    if (this.#depth < 0) {
      return this.#error(at, 'unexpected right paren');
    }
    return code >= 0x20 && code < 0x7f
      ? this.#token(signs[char] ?? 'char', at, at + 1)
      : this.#error(at, `unrecognized character in action: ${showRune(code)}`);
  }

  /** A name, with `.` or `$` before it. */
  #word(at: number, from: number): Token {
    const text = this.#text;
    let end = from;
    for (let rune = runeAt(text, end); end < text.length && isAlphanumeric(rune.code); rune = runeAt(text, end)) {
      end += rune.size;
    }
    if (end < text.length && !/[ \t\r\n.,|:()]/.test(text[end] as string) && !text.startsWith('}}', end)) {
      return this.#error(at, `bad character ${showRune(runeAt(text, end).code)}`);
    }
    const word = text.slice(at, end);
    const type = isKeyword(word)
      ? word
      : word.startsWith('$')
        ? 'variable'
        : word.startsWith('.')
          ? 'field'
          : word === 'true' || word === 'false'
            ? 'bool'
            : 'identifier';
    return this.#token(type, at, end);
  }

  #number(at: number): Token {
    const bad = (end: number) => this.#error(at, `bad number syntax: ${quoted(this.#text.slice(at, end))}`);
    /** Where a number ends; what is wrong if a letter or a digit follows it. */
    const scan = (from: number): number | Token => {
      const end = Math.max(this.#endOf(number, from), from);
      const { code, size } = runeAt(this.#text, end);
      return end < this.#text.length && isAlphanumeric(code) ? bad(end + size) : end;
    };
    const real = scan(at);
    // A second part makes it a complex number.
    const isWhole = typeof real !== 'number' || !/[+-]/.test(this.#text[real] ?? '');
    const end = isWhole ? real : scan(real);
    if (typeof end !== 'number') {
      return end;
    }
    return isWhole || this.#text[end - 1] === 'i' ? this.#token('number', at, end) : bad(end);
  }
}

/** Splits a template into tokens, as they are asked for; the last one is of type eof or error. */
export function tokensOf(text: Bytes): Generator<Token> {
  return new Lexer(text).run();
}
