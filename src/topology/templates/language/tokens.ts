import { type Bytes, bytesOf, isPrintable, quoted, runeAt } from '../../../base/go-text/index.ts';

export type TokenType =
  | 'error'
  | 'bool'
  | 'char'
  | 'charConstant'
  | 'complex'
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

const spaces = /[ \t\r\n]*/y;
const letterOrDigit = /^[\p{L}\p{Nd}_]$/u;

function isAlphanumeric(code: number): boolean {
  return letterOrDigit.test(String.fromCodePoint(code));
}

/** A character as %#U prints it. */
function showRune(code: number): Bytes {
  const number = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  return isPrintable(code) ? `${number} '${bytesOf(String.fromCodePoint(code))}'` : number;
}

/** Splits a template into tokens. Stops at the first error, which is the last token. */
class Lexer {
  readonly #text: Bytes;
  #tokens: Token[] = [];
  #at = 0;
  #start = 0;
  #line = 1;
  #startLine = 1;
  #depth = 0;

  constructor(text: Bytes) {
    this.#text = text;
  }

  *run(): Generator<Token> {
    try {
      while (this.#readText()) {
        yield* this.#read();
        while (!this.#readRightDelimiter()) {
          this.#readToken();
          yield* this.#read();
        }
      }
      this.#emit('eof');
    } catch (error) {
      if (error !== this.#failed) {
        throw error;
      }
    }
    yield* this.#read();
  }

  /** The tokens that were read since the last call. */
  #read(): Token[] {
    const tokens = this.#tokens;
    this.#tokens = [];
    return tokens;
  }

  readonly #failed = new Error('the text after an error is not read');

  #fail(message: Bytes): never {
    this.#tokens.push({ type: 'error', at: this.#start, text: message, line: this.#startLine });
    throw this.#failed;
  }

  /** Counts lines up to where it is. */
  #pass(): void {
    for (let at = this.#start; at < this.#at; at++) {
      this.#line += this.#text.charCodeAt(at) === 0x0a ? 1 : 0;
    }
    this.#start = this.#at;
  }

  #emit(type: TokenType): void {
    const { at, line } = { at: this.#start, line: this.#startLine };
    const text = this.#text.slice(this.#start, this.#at);
    this.#pass();
    this.#startLine = this.#line;
    this.#tokens.push({ type, at, text, line });
  }

  #ignore(): void {
    this.#pass();
    this.#startLine = this.#line;
  }

  #skipSpaces(): void {
    spaces.lastIndex = this.#at;
    spaces.exec(this.#text);
    this.#at = spaces.lastIndex;
  }

  #isSpace(at: number): boolean {
    const char = this.#text[at];
    return char === ' ' || char === '\t' || char === '\r' || char === '\n';
  }

  #startsWith(text: string): boolean {
    return this.#text.startsWith(text, this.#at);
  }

  /** Reads text up to the next action. @returns whether there is one. */
  #readText(): boolean {
    for (;;) {
      const found = this.#text.indexOf('{{', this.#at);
      if (found === -1) {
        this.#at = this.#text.length;
        if (this.#at > this.#start) {
          this.#emit('text');
        }
        return false;
      }
      const trims = this.#text[found + 2] === '-' && this.#isSpace(found + 3);
      let end = found;
      while (trims && end > this.#start && this.#isSpace(end - 1)) {
        end--;
      }
      this.#at = end;
      if (end > this.#start) {
        this.#emit('text');
      }
      this.#at = found;
      this.#ignore();
      const afterMarker = found + 2 + (trims ? 2 : 0);
      if (!this.#text.startsWith('/*', afterMarker)) {
        this.#at = found + 2;
        this.#emit('leftDelimiter');
        this.#at = afterMarker;
        this.#ignore();
        this.#depth = 0;
        return true;
      }
      this.#at = afterMarker;
      this.#ignore();
      this.#skipComment();
    }
  }

  #skipComment(): void {
    const end = this.#text.indexOf('*/', this.#at + 2);
    if (end === -1) {
      this.#fail('unclosed comment');
    }
    this.#at = end + 2;
    const delimiter = this.#rightDelimiter();
    if (delimiter === undefined) {
      this.#fail('comment ends before closing delimiter');
    }
    this.#at = delimiter.end;
    if (delimiter.trims) {
      this.#skipSpaces();
    }
    this.#ignore();
  }

  /** The right delimiter that starts here. */
  #rightDelimiter(): { trims: boolean; end: number } | undefined {
    if (this.#isSpace(this.#at) && this.#text.startsWith('-}}', this.#at + 1)) {
      return { trims: true, end: this.#at + 4 };
    }
    return this.#startsWith('}}') ? { trims: false, end: this.#at + 2 } : undefined;
  }

  /** Reads the end of an action. @returns whether it is here. */
  #readRightDelimiter(): boolean {
    const delimiter = this.#rightDelimiter();
    if (delimiter === undefined) {
      return false;
    }
    if (this.#depth > 0) {
      this.#fail('unclosed left paren');
    }
    if (delimiter.trims) {
      this.#at += 2;
      this.#ignore();
    }
    this.#at = delimiter.end;
    this.#emit('rightDelimiter');
    if (delimiter.trims) {
      this.#skipSpaces();
      this.#ignore();
    }
    return true;
  }

  #readToken(): void {
    if (this.#at >= this.#text.length) {
      this.#fail('unclosed action');
    }
    if (this.#isSpace(this.#at)) {
      this.#readSpace();
      return;
    }
    const { code, size } = runeAt(this.#text, this.#at);
    const char = String.fromCodePoint(code);
    const next = this.#text[this.#at + 1] ?? '';
    if (/[0-9+-]/.test(char) || (char === '.' && (next === '' || /[0-9]/.test(next)))) {
      this.#readNumber();
      return;
    }
    if (isAlphanumeric(code)) {
      this.#readWord(0);
      return;
    }
    this.#at += size;
    switch (char) {
      case '=':
        this.#emit('assign');
        return;
      case ':':
        if (next !== '=') {
          // Go has read the character that it does not like.
          this.#fail('expected :=');
        }
        this.#at++;
        this.#emit('declare');
        return;
      case '|':
        this.#emit('pipe');
        return;
      case '"':
        this.#readQuoted('"', 'string', 'unterminated quoted string');
        return;
      case "'":
        this.#readQuoted("'", 'charConstant', 'unterminated character constant');
        return;
      case '`': {
        const end = this.#text.indexOf('`', this.#at);
        if (end === -1) {
          this.#fail('unterminated raw quoted string');
        }
        this.#at = end + 1;
        this.#emit('rawString');
        return;
      }
      case '$':
      case '.':
        this.#readWord(1);
        return;
      case '(':
        this.#depth++;
        this.#emit('leftParenthesis');
        return;
      case ')':
        this.#depth--;
        if (this.#depth < 0) {
          this.#fail('unexpected right paren');
        }
        this.#emit('rightParenthesis');
        return;
      default:
        if (code >= 0x20 && code < 0x7f) {
          this.#emit('char');
          return;
        }
        this.#fail(`unrecognized character in action: ${showRune(code)}`);
    }
  }

  #readSpace(): void {
    const start = this.#at;
    this.#skipSpaces();
    // The last space may belong to a trim marker.
    this.#at--;
    const isMarker = this.#rightDelimiter()?.trims === true;
    if (!isMarker) {
      this.#at++;
    }
    if (this.#at > start) {
      this.#emit('space');
    }
  }

  #readQuoted(quote: string, type: TokenType, message: string): void {
    for (;;) {
      const char = this.#text[this.#at];
      const escaped = char === '\\' ? this.#text[this.#at + 1] : char;
      if (char === undefined || char === '\n' || escaped === undefined || escaped === '\n') {
        this.#fail(message);
      }
      this.#at += char === '\\' ? 2 : 1;
      if (char === quote) {
        this.#emit(type);
        return;
      }
    }
  }

  /** Reads a name; its sign, `.` or `$`, was read if there is one. */
  #readWord(sign: number): void {
    while (this.#at < this.#text.length) {
      const { code, size } = runeAt(this.#text, this.#at);
      if (!isAlphanumeric(code)) {
        break;
      }
      this.#at += size;
    }
    if (
      this.#at < this.#text.length &&
      !/[ \t\r\n.,|:()]/.test(this.#text[this.#at] as string) &&
      !this.#startsWith('}}')
    ) {
      this.#fail(`bad character ${showRune(runeAt(this.#text, this.#at).code)}`);
    }
    const word = this.#text.slice(this.#start, this.#at);
    if (sign === 1) {
      this.#emit(word === '.' ? '.' : word.startsWith('$') ? 'variable' : 'field');
    } else if (isKeyword(word)) {
      this.#emit(word);
    } else {
      this.#emit(word === 'true' || word === 'false' ? 'bool' : 'identifier');
    }
  }

  #readNumber(): void {
    if (!this.#scanNumber()) {
      this.#fail(`bad number syntax: ${quoted(this.#text.slice(this.#start, this.#at))}`);
    }
    if (/[+-]/.test(this.#text[this.#at] ?? '')) {
      if (!this.#scanNumber() || this.#text[this.#at - 1] !== 'i') {
        this.#fail(`bad number syntax: ${quoted(this.#text.slice(this.#start, this.#at))}`);
      }
      this.#emit('complex');
    } else {
      this.#emit('number');
    }
  }

  #scanNumber(): boolean {
    const number =
      /[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?/y;
    number.lastIndex = this.#at;
    number.exec(this.#text);
    this.#at = number.lastIndex;
    if (this.#at >= this.#text.length) {
      return true;
    }
    const { code, size } = runeAt(this.#text, this.#at);
    if (isAlphanumeric(code)) {
      this.#at += size;
      return false;
    }
    return true;
  }
}

/** Splits a template into tokens, as they are asked for; the last one is of type eof or error. */
export function tokensOf(text: Bytes): Generator<Token> {
  return new Lexer(text).run();
}
