import { bytesOf } from '../../../base/go-text/index.ts';
import { NotComputed, TemplateError } from '../budget.ts';

/** A text that is not YAML. */
export function notYaml(problem: string): TemplateError {
  return new TemplateError(`error converting YAML to JSON: ${bytesOf(problem)}`);
}

/** Types of tokens: most are named after the character or the line that they are. */
export type YamlTokenType =
  | 'end'
  | '%'
  | '---'
  | '...'
  | 'list'
  | 'map'
  | 'blockEnd'
  | '['
  | ']'
  | '{'
  | '}'
  | ','
  | '-'
  | '?'
  | ':'
  | '*'
  | '&'
  | '!'
  | 'scalar';

export interface YamlToken {
  type: YamlTokenType;
  /** The text of a scalar, the name of an anchor, a tag, the line of a directive. */
  text: string;
  isPlain: boolean;
}

/**
 * A place in the queue of tokens where a key may start that has no `?`: it becomes a `?` when a `:` follows what starts there,
 * and is removed when none can follow any more.
 */
interface SimpleKey {
  type: 'maybe' | 'removed' | '?';
  isRequired: boolean;
  at: number;
  line: number;
  column: number;
  /** Whether what follows it need not wait until it is known what it is. */
  isForgotten: boolean;
  isTaken: boolean;
}

/** Deepest nesting that is read. */
const maxDepth = 256;

export function checkDepth(depth: number): void {
  if (depth > maxDepth) {
    throw new NotComputed(`YAML nests deeper than ${maxDepth} levels`);
  }
}

/** A key without `?` is on one line, and not longer. */
const maxSimpleKey = 1_024;

const restOfLine = /[^\n\r\x85\u2028\u2029]*/y;
const blanks = /[ \t]*/y;
const directive =
  /^%(?:YAML[ \t]+[0-9]{1,2}\.[0-9]{1,2}|TAG[ \t]+!(?:[0-9A-Za-z_-]*!)?[ \t]+[0-9A-Za-z_;/?:@&=+$,.!~*'()[\]%-]+(?![^ \t]))[ \t]*(?:#.*)?$/;
const tag = /!(?:<[0-9A-Za-z_;/?:@&=+$,.!~*'()[\]%-]+>|[0-9A-Za-z_;/?:@&=+$,.!~*'()[\]%-]*)/y;
/** What a plain scalar has between gaps, in blocks and in brackets. */
const word = /(?:[^ \t\n\r\x85\u2028\u2029:]|:(?![ \t\n\r\x85\u2028\u2029]|$))*/y;
const wordInBrackets = /(?:[^ \t\n\r\x85\u2028\u2029:,?[\]{}]|:(?![ \t\n\r\x85\u2028\u2029]|$))*/y;
/** What a scalar in quotes has between gaps, quotes and escapes. */
const quotedRun = { '"': /[^ \t\n\r\x85\u2028\u2029"\\]*/y, "'": /(?:[^ \t\n\r\x85\u2028\u2029']|'')*/y };
const escaped = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|.)/sy;

function isBlank(char: string): boolean {
  return char === ' ' || char === '\t';
}

function isBreak(char: string): boolean {
  return char === '\n' || char === '\r' || char === '\x85' || char === '\u2028' || char === '\u2029';
}

function isBlankOrEnd(char: string): boolean {
  return char === '' || isBlank(char) || isBreak(char);
}

/** What blanks and line breaks within a scalar count as. */
function folded({ blanks, breaks }: { blanks: string[]; breaks: string[] }, isEscaped = false): string {
  const [first, ...others] = breaks;
  if (first === undefined) {
    return blanks.join('');
  }
  const leading = isEscaped ? '' : first !== '\n' ? first : others.length === 0 ? ' ' : '';
  return leading + others.join('');
}

const escapes: ReadonlyMap<string, string> = new Map([
  ...Array.from('"\'\\\t ', (char): [string, string] => [char, char]),
  ['0', '\0'],
  ['a', '\x07'],
  ['b', '\b'],
  ['t', '\t'],
  ['n', '\n'],
  ['v', '\v'],
  ['f', '\f'],
  ['r', '\r'],
  ['e', '\x1b'],
  ['N', '\x85'],
  ['_', '\xa0'],
  ['L', '\u2028'],
  ['P', '\u2029'],
]);

/** Characters that no plain scalar starts with, but for some of them before others. */
const indicators = '-?:,[]{}#&*!|>\'"%@`';

/**
 * Splits YAML into tokens as go-yaml v2 does, which reads YAML 1.1. It reads no further than is asked for: what follows the
 * first document does not count.
 */
export class YamlScanner {
  readonly #text: string;
  #at = 0;
  #line = 0;
  #column = 0;
  #isAtEnd = false;
  readonly #tokens: (YamlToken | SimpleKey)[] = [];
  #indent = -1;
  readonly #indents: number[] = [];
  /** The last key outside of brackets, and in each that is open. */
  readonly #keys: (SimpleKey | undefined)[] = [undefined];
  /** Brackets that are open: the keys that may start with them. */
  readonly #brackets: (SimpleKey | undefined)[] = [];
  #allowsKey = true;

  constructor(text: string) {
    this.#text = text;
  }

  peek(): YamlToken {
    for (;;) {
      const [first] = this.#tokens;
      if (first === undefined) {
        this.#fetch();
      } else if ('text' in first) {
        return first;
      } else if (first.type === 'maybe' && !first.isForgotten && !this.#isAtEnd && this.#isPossible(first)) {
        this.#fetch();
      } else if (first.type === '?') {
        return { type: '?', text: '', isPlain: false };
      } else {
        first.isTaken = true;
        this.#tokens.shift();
      }
    }
  }

  take(): YamlToken {
    const token = this.peek();
    if (token.type !== 'end') {
      this.#tokens.shift();
    }
    return token;
  }

  fail(problem: string): never {
    throw notYaml(`yaml: line ${this.#line + 1}: ${problem}`);
  }

  #char(ahead = 0): string {
    return this.#text[this.#at + ahead] ?? '';
  }

  /** Takes what is here of a form without line breaks. */
  #takeForm(form: RegExp): string {
    form.lastIndex = this.#at;
    const [found = ''] = form.exec(this.#text) ?? [];
    this.#skip(found.length);
    return found;
  }

  /** Takes a line break. @returns what it counts as in a scalar; nothing if there is none. */
  #takeBreak(): string {
    const char = this.#char();
    if (!isBreak(char)) {
      return '';
    }
    this.#at += char === '\r' && this.#char(1) === '\n' ? 2 : 1;
    this.#line++;
    this.#column = 0;
    return char === '\u2028' || char === '\u2029' ? char : '\n';
  }

  /** Takes blanks and line breaks. @returns the blanks before each line break, and after the last; and the line breaks. */
  #takeGap(): { blanks: string[]; breaks: string[] } {
    const gap = { blanks: [this.#takeForm(blanks)], breaks: [] as string[] };
    for (let end = this.#takeBreak(); end !== ''; end = this.#takeBreak()) {
      gap.breaks.push(end);
      gap.blanks.push(this.#takeForm(blanks));
    }
    return gap;
  }

  #skip(count = 1): void {
    this.#at += count;
    this.#column += count;
  }

  #emit(type: YamlTokenType, text = '', isPlain = false): void {
    this.#tokens.push({ type, text, isPlain });
  }

  #isPossible(key: SimpleKey): boolean {
    if (key.type === 'maybe' && (key.line < this.#line || key.at + maxSimpleKey < this.#at)) {
      this.#remove(key);
    }
    return key.type === 'maybe';
  }

  #remove(key: SimpleKey | undefined): void {
    if (key?.type === 'maybe') {
      if (key.isRequired) {
        this.fail("could not find expected ':'");
      }
      key.type = 'removed';
    }
  }

  #removeKey(): void {
    this.#remove(this.#keys.at(-1));
  }

  /** Notes that a key may start here. */
  #saveKey(): SimpleKey | undefined {
    if (!this.#allowsKey) {
      return undefined;
    }
    this.#removeKey();
    const [line, column, at] = [this.#line, this.#column, this.#at];
    const isRequired = this.#isInBlock && this.#indent === column;
    const key: SimpleKey = { type: 'maybe', isRequired, at, line, column, isForgotten: false, isTaken: false };
    this.#keys[this.#keys.length - 1] = key;
    this.#tokens.push(key);
    return key;
  }

  get #isInBlock(): boolean {
    return this.#brackets.length === 0;
  }

  /** Starts a block at a column, if that is further in than the one around it. */
  #roll(column: number, type: 'list' | 'map', at = this.#tokens.length): void {
    if (this.#isInBlock && this.#indent < column) {
      this.#indents.push(this.#indent);
      this.#indent = column;
      checkDepth(this.#indents.length);
      this.#tokens.splice(at, 0, { type, text: '', isPlain: false });
    }
  }

  /** Ends the blocks that are further in than a column. */
  #unroll(column: number): void {
    while (this.#isInBlock && this.#indent > column) {
      this.#emit('blockEnd');
      this.#indent = this.#indents.pop() ?? -1;
    }
  }

  #skipToToken(): void {
    for (;;) {
      if (this.#column === 0 && this.#char() === '\ufeff') {
        this.#skip();
      }
      this.#takeForm(this.#isInBlock && this.#allowsKey ? / */y : blanks);
      this.#skipComment();
      if (this.#takeBreak() === '') {
        return;
      }
      this.#allowsKey ||= this.#isInBlock;
    }
  }

  #skipComment(): void {
    if (this.#char() === '#') {
      this.#takeForm(restOfLine);
    }
  }

  /** Whether a line is `---` or `...`, with anything after a blank. */
  #isDocumentLine(): boolean {
    const start = this.#text.slice(this.#at, this.#at + 3);
    return this.#column === 0 && (start === '---' || start === '...') && isBlankOrEnd(this.#char(3));
  }

  #fetch(): void {
    this.#skipToToken();
    this.#unroll(this.#column);
    const char = this.#char();
    const isAlone = isBlankOrEnd(this.#char(1));
    if (char === '') {
      this.#endBlocks();
      this.#isAtEnd = true;
      this.#emit('end');
    } else if (this.#column === 0 && char === '%') {
      this.#endBlocks();
      const line = this.#takeForm(restOfLine);
      if (!directive.test(line)) {
        this.fail('found an unknown or incomplete directive');
      }
      this.#emit('%', line);
    } else if (this.#isDocumentLine()) {
      this.#endBlocks();
      this.#emit(char === '-' ? '---' : '...');
      this.#skip(3);
    } else if (char === '[' || char === '{') {
      this.#brackets.push(this.#saveKey());
      this.#keys.push(undefined);
      checkDepth(this.#brackets.length);
      this.#fetchSign(char, true);
    } else if (char === ']' || char === '}') {
      this.#closeBracket();
      this.#fetchSign(char, false);
    } else if (char === ',') {
      this.#removeKey();
      this.#fetchSign(char, true);
    } else if (char === '-' && isAlone) {
      this.#startBlock('list', 'block sequence entries');
      this.#removeKey();
      this.#fetchSign(char, true);
    } else if (char === '?' && (!this.#isInBlock || isAlone)) {
      this.#startBlock('map', 'mapping keys');
      this.#removeKey();
      this.#fetchSign(char, this.#isInBlock);
    } else if (char === ':' && (!this.#isInBlock || isAlone)) {
      this.#fetchSign(char, !this.#becomesKey() && this.#isInBlock);
    } else if ((char === '|' || char === '>') && this.#isInBlock) {
      this.#removeKey();
      this.#allowsKey = true;
      this.#scanBlockScalar(char === '|');
    } else {
      this.#saveKey();
      this.#allowsKey = false;
      this.#scanContent(char);
    }
  }

  #fetchSign(char: YamlTokenType, allowsKey: boolean): void {
    this.#allowsKey = allowsKey;
    this.#emit(char);
    this.#skip();
  }

  /** Ends all blocks that are open. */
  #endBlocks(): void {
    this.#unroll(-1);
    this.#removeKey();
    this.#allowsKey = false;
  }

  #closeBracket(): void {
    this.#removeKey();
    if (this.#isInBlock) {
      return;
    }
    const opener = this.#brackets.pop();
    // As in go-yaml, a collection without keys of its own need not wait whether it is one.
    if (this.#keys.pop() === undefined && opener !== undefined) {
      opener.isForgotten = true;
    }
  }

  /** Starts a block here, unless it has started or is in brackets. */
  #startBlock(type: 'list' | 'map', what: string): void {
    if (this.#isInBlock && !this.#allowsKey) {
      this.fail(`${what} are not allowed in this context`);
    }
    this.#roll(this.#column, type);
  }

  /** Makes what is before a `:` a key, or starts a mapping where there is none. */
  #becomesKey(): boolean {
    const key = this.#keys.at(-1);
    if (key === undefined || !this.#isPossible(key)) {
      this.#startBlock('map', 'mapping values');
      return false;
    }
    key.type = '?';
    if (key.isTaken) {
      this.#tokens.push(key);
      this.#roll(key.column, 'map');
    } else {
      this.#roll(key.column, 'map', this.#tokens.indexOf(key));
    }
    return true;
  }

  #scanContent(char: string): void {
    const next = this.#char(1);
    if (char === '*' || char === '&') {
      this.#skip();
      const text = this.#takeForm(/[0-9A-Za-z_-]*/y);
      const after = this.#char();
      if (text === '' || !(isBlankOrEnd(after) || '?:,]}%@`'.includes(after))) {
        this.fail('did not find expected alphabetic or numeric character');
      }
      this.#emit(char, text);
    } else if (char === '!') {
      const text = this.#takeForm(tag);
      if (!isBlankOrEnd(this.#char()) || /^![0-9A-Za-z_-]*!$|%(?![0-9a-fA-F]{2})/.test(text)) {
        this.fail('did not find expected whitespace or line break after a tag');
      }
      this.#emit('!', text);
    } else if (char === "'" || char === '"') {
      this.#scanQuoted(char);
    } else if (
      (!isBlank(char) && !indicators.includes(char)) ||
      (char === '-' && !isBlank(next)) ||
      (this.#isInBlock && (char === '?' || char === ':') && !isBlankOrEnd(next))
    ) {
      this.#scanPlain();
    } else {
      this.fail('found character that cannot start any token');
    }
  }

  #scanBlockScalar(isLiteral: boolean): void {
    this.#skip();
    const header = this.#takeForm(/[+-][0-9]?|[0-9][+-]?|/y);
    const increment = Number(header.replace(/[+-]/, ''));
    this.#takeForm(blanks);
    this.#skipComment();
    if (header.includes('0') || (this.#takeBreak() === '' && this.#char() !== '')) {
      this.fail('did not find expected comment or line break');
    }
    const lead = this.#blockBreaks(increment > 0 ? Math.max(this.#indent, 0) + increment : 0);
    const parts: string[] = [];
    let leading = '';
    let trailing = lead.text;
    let isAfterBlank = false;
    while (this.#column === lead.indent && this.#char() !== '') {
      const startsBlank = isBlank(this.#char());
      const isFolded = !isLiteral && !isAfterBlank && !startsBlank && leading === '\n';
      parts.push(isFolded ? (trailing === '' ? ' ' : '') : leading, trailing, this.#takeForm(restOfLine));
      isAfterBlank = startsBlank;
      leading = this.#takeBreak();
      trailing = this.#blockBreaks(lead.indent).text;
    }
    this.#emit(
      'scalar',
      parts.join('') + (header.includes('-') ? '' : leading) + (header.includes('+') ? trailing : ''),
    );
  }

  /** Takes indentation and empty lines; finds the indentation if it is 0. */
  #blockBreaks(known: number): { indent: number; text: string } {
    let deepest = 0;
    let text = '';
    for (;;) {
      while ((known === 0 || this.#column < known) && this.#char() === ' ') {
        this.#skip();
      }
      deepest = Math.max(deepest, this.#column);
      if ((known === 0 || this.#column < known) && this.#char() === '\t') {
        this.fail('found a tab character where an indentation space is expected');
      }
      const end = this.#takeBreak();
      if (end === '') {
        return { indent: known === 0 ? Math.max(deepest, this.#indent + 1, 1) : known, text };
      }
      text += end;
    }
  }

  #scanQuoted(quote: '"' | "'"): void {
    this.#skip();
    const parts: string[] = [];
    for (;;) {
      if (this.#isDocumentLine() || this.#char() === '') {
        this.fail('found unexpected end of a text in quotes');
      }
      const run = this.#takeForm(quotedRun[quote]);
      parts.push(quote === "'" ? run.replaceAll("''", "'") : run);
      const char = this.#char();
      if (char === quote) {
        break;
      }
      const isEscaped = char === '\\' && isBreak(this.#char(1));
      if (char === '\\' && !isEscaped) {
        parts.push(this.#escape());
      } else {
        this.#skip(isEscaped ? 1 : 0);
        parts.push(folded(this.#takeGap(), isEscaped));
      }
    }
    this.#skip();
    this.#emit('scalar', parts.join(''));
  }

  #escape(): string {
    escaped.lastIndex = this.#at;
    const [found = '', ...digits] = escaped.exec(this.#text) ?? [];
    this.#skip(found.length);
    const hex = digits.find((one) => one !== undefined);
    const code = Number.parseInt(hex ?? '', 16);
    const text = hex === undefined ? escapes.get(found.slice(1)) : undefined;
    if (text === undefined && !(code <= 0x10ffff && (code < 0xd800 || code > 0xdfff))) {
      this.fail('found unknown escape character');
    }
    return text ?? String.fromCodePoint(code);
  }

  #scanPlain(): void {
    const parts: string[] = [];
    let pending = '';
    let hasBreak = false;
    while (!this.#isDocumentLine() && this.#char() !== '#') {
      const chunk = this.#takeForm(this.#isInBlock ? word : wordInBrackets);
      if (chunk !== '') {
        parts.push(pending, chunk);
        hasBreak = false;
      }
      const gap = this.#takeGap();
      const lines = gap.blanks.slice(1);
      if (lines.length === 0 && gap.blanks[0] === '') {
        break;
      }
      if (lines.some((line) => line.slice(0, this.#indent + 1).includes('\t'))) {
        this.fail('found a tab character that violates indentation');
      }
      pending = folded(gap);
      hasBreak = lines.length > 0;
      if (this.#isInBlock && this.#column < this.#indent + 1) {
        break;
      }
    }
    this.#allowsKey ||= hasBreak;
    this.#emit('scalar', parts.join(''), true);
  }
}
