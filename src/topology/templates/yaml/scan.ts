/** Why a text is not YAML. */
export class YamlError extends Error {}

export type YamlTokenType =
  | 'streamEnd'
  | 'version'
  | 'tagDirective'
  | 'documentStart'
  | 'documentEnd'
  | 'blockSequence'
  | 'blockMapping'
  | 'blockEnd'
  | 'flowSequence'
  | 'flowSequenceEnd'
  | 'flowMapping'
  | 'flowMappingEnd'
  | 'blockEntry'
  | 'flowEntry'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar';

export interface YamlToken {
  type: YamlTokenType;
  /** The text of a scalar, the name of an anchor, the handle of a tag. */
  text: string;
  /** The rest of a tag; the prefix of a tag directive. */
  suffix: string;
  isPlain: boolean;
}

/** Where a key may have started that has no `?`. */
interface SimpleKey {
  isPossible: boolean;
  isRequired: boolean;
  token: number;
  at: number;
  line: number;
  column: number;
}

/** Deepest nesting that is read. */
export const maxYamlDepth = 256;

/** A key without `?` is on one line, and not longer. */
const maxSimpleKey = 1_024;

const words = /[0-9A-Za-z_-]*/y;
const restOfLine = /[^\n\r\x85\u2028\u2029]*/y;
const versionDirective = /^%YAML[ \t]+([0-9]{1,2})\.([0-9]{1,2})[ \t]*(?:#.*)?$/;
const tagDirective =
  /^%TAG[ \t]+(!(?:[0-9A-Za-z_-]*!)?)[ \t]+([0-9A-Za-z_;/?:@&=+$,.!~*'()[\]%-]+)(?:[ \t]+(?:#.*)?)?$/;
const uri = /[0-9A-Za-z_;/?:@&=+$,.!~*'()[\]%-]*/y;

function isBlank(char: string): boolean {
  return char === ' ' || char === '\t';
}

function isBreak(char: string): boolean {
  return char === '\n' || char === '\r' || char === '\x85' || char === '\u2028' || char === '\u2029';
}

/** Whether it is the end of the text or a line. */
function isBreakOrEnd(char: string): boolean {
  return char === '' || isBreak(char);
}

function isBlankOrEnd(char: string): boolean {
  return isBlank(char) || isBreakOrEnd(char);
}

const escapes: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  "'": "'",
  '\\': '\\',
  N: '\x85',
  _: '\xa0',
  L: '\u2028',
  P: '\u2029',
};
const escapeLengths: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

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
  #tokens: YamlToken[] = [];
  /** How many tokens were taken before those that are there. */
  #taken = 0;
  #indent = -1;
  readonly #indents: number[] = [];
  readonly #keys: SimpleKey[] = [];
  /** The keys by the number of their first token, which may not be taken as long as it may become one. */
  readonly #keyOfToken = new Map<number, SimpleKey>();
  #allowsKey = true;
  #flowDepth = 0;

  constructor(text: string) {
    this.#text = text;
    this.#keys.push({ isPossible: false, isRequired: false, token: 0, at: 0, line: 0, column: 0 });
  }

  peek(): YamlToken {
    while (this.#needsMore()) {
      this.#fetch();
    }
    return this.#tokens[0] as YamlToken;
  }

  take(): YamlToken {
    const token = this.peek();
    if (token.type !== 'streamEnd') {
      this.#tokens.shift();
      this.#taken++;
    }
    return token;
  }

  #needsMore(): boolean {
    if (this.#tokens.length === 0) {
      return true;
    }
    const key = this.#keyOfToken.get(this.#taken);
    return !this.#isAtEnd && key !== undefined && this.#isValid(key);
  }

  fail(problem: string): never {
    throw new YamlError(`yaml: line ${this.#line + 1}: ${problem}`);
  }

  #char(ahead = 0): string {
    return this.#text[this.#at + ahead] ?? '';
  }

  #skip(count = 1): void {
    this.#at += count;
    this.#column += count;
  }

  /** Takes a line break. @returns what it counts as in a scalar. */
  #takeBreak(): string {
    const char = this.#char();
    this.#at += char === '\r' && this.#char(1) === '\n' ? 2 : 1;
    this.#line++;
    this.#column = 0;
    return char === '\u2028' || char === '\u2029' ? char : '\n';
  }

  #emit(type: YamlTokenType, parts: Partial<YamlToken> = {}, at = this.#tokens.length): void {
    const token = { type, text: '', suffix: '', isPlain: false, ...parts };
    // The place of a key that was forgotten is gone.
    if (at < 0 || at === this.#tokens.length) {
      this.#tokens.push(token);
    } else {
      this.#tokens.splice(at, 0, token);
    }
  }

  #isValid(key: SimpleKey): boolean {
    if (!key.isPossible) {
      return false;
    }
    if (key.line < this.#line || key.at + maxSimpleKey < this.#at) {
      if (key.isRequired) {
        this.fail("could not find expected ':'");
      }
      key.isPossible = false;
      return false;
    }
    return true;
  }

  #key(): SimpleKey {
    return this.#keys.at(-1) as SimpleKey;
  }

  /** A key that would start with the next token. */
  #keyHere(isPossible: boolean, isRequired: boolean): SimpleKey {
    const token = this.#taken + this.#tokens.length;
    return { isPossible, isRequired, token, at: this.#at, line: this.#line, column: this.#column };
  }

  #saveKey(): void {
    if (!this.#allowsKey) {
      return;
    }
    const isRequired = this.#flowDepth === 0 && this.#indent === this.#column;
    this.#removeKey();
    const key = this.#keyHere(true, isRequired);
    this.#keys[this.#keys.length - 1] = key;
    this.#keyOfToken.set(key.token, key);
  }

  #removeKey(): void {
    const key = this.#key();
    if (key.isPossible) {
      if (key.isRequired) {
        this.fail("could not find expected ':'");
      }
      key.isPossible = false;
      this.#keyOfToken.delete(key.token);
    }
  }

  #checkDepth(depth: number): void {
    if (depth > maxYamlDepth) {
      this.fail(`exceeded max depth of ${maxYamlDepth}`);
    }
  }

  #rollIndent(column: number, type: 'blockSequence' | 'blockMapping', at?: number): void {
    if (this.#flowDepth === 0 && this.#indent < column) {
      this.#indents.push(this.#indent);
      this.#indent = column;
      this.#checkDepth(this.#indents.length);
      this.#emit(type, {}, at);
    }
  }

  #unrollIndent(column: number): void {
    while (this.#flowDepth === 0 && this.#indent > column) {
      this.#emit('blockEnd');
      this.#indent = this.#indents.pop() ?? -1;
    }
  }

  #skipToToken(): void {
    for (;;) {
      if (this.#column === 0 && this.#char() === '\ufeff') {
        this.#skip();
      }
      while (this.#char() === ' ' || ((this.#flowDepth > 0 || !this.#allowsKey) && this.#char() === '\t')) {
        this.#skip();
      }
      this.#skipComment();
      if (!isBreak(this.#char())) {
        return;
      }
      this.#takeBreak();
      if (this.#flowDepth === 0) {
        this.#allowsKey = true;
      }
    }
  }

  #skipComment(): void {
    if (this.#char() === '#') {
      while (!isBreakOrEnd(this.#char())) {
        this.#skip();
      }
    }
  }

  /** Whether a line is `---` or `...`, with anything after a blank. */
  #isIndicator(indicator: '---' | '...'): boolean {
    return this.#column === 0 && this.#text.startsWith(indicator, this.#at) && isBlankOrEnd(this.#char(3));
  }

  #fetch(): void {
    this.#skipToToken();
    this.#unrollIndent(this.#column);
    const char = this.#char();
    if (char === '') {
      this.#fetchEnd();
    } else if (this.#column === 0 && char === '%') {
      this.#fetchDirective();
    } else if (this.#isIndicator('---') || this.#isIndicator('...')) {
      this.#fetchIndicator(char === '-' ? 'documentStart' : 'documentEnd');
    } else if (char === '[' || char === '{') {
      this.#fetchFlowStart(char === '[' ? 'flowSequence' : 'flowMapping');
    } else if (char === ']' || char === '}') {
      this.#fetchFlowEnd(char === ']' ? 'flowSequenceEnd' : 'flowMappingEnd');
    } else if (char === ',') {
      this.#removeKey();
      this.#allowsKey = true;
      this.#fetchChar('flowEntry');
    } else if (char === '-' && isBlankOrEnd(this.#char(1))) {
      this.#fetchBlockEntry();
    } else if (char === '?' && (this.#flowDepth > 0 || isBlankOrEnd(this.#char(1)))) {
      this.#fetchKey();
    } else if (char === ':' && (this.#flowDepth > 0 || isBlankOrEnd(this.#char(1)))) {
      this.#fetchValue();
    } else {
      this.#fetchContent(char);
    }
  }

  #fetchContent(char: string): void {
    if ((char === '|' || char === '>') && this.#flowDepth === 0) {
      this.#removeKey();
      this.#allowsKey = true;
      this.#scanBlockScalar(char === '|');
      return;
    }
    this.#saveKey();
    this.#allowsKey = false;
    if (char === '*' || char === '&') {
      this.#scanAnchor(char === '*' ? 'alias' : 'anchor');
    } else if (char === '!') {
      this.#scanTag();
    } else if (char === "'" || char === '"') {
      this.#scanQuoted(char);
    } else if (this.#startsPlain(char)) {
      this.#scanPlain();
    } else {
      this.fail('found character that cannot start any token');
    }
  }

  #startsPlain(char: string): boolean {
    const next = this.#char(1);
    return (
      (!isBlankOrEnd(char) && !indicators.includes(char)) ||
      (char === '-' && !isBlank(next)) ||
      (this.#flowDepth === 0 && (char === '?' || char === ':') && !isBlankOrEnd(next))
    );
  }

  #fetchEnd(): void {
    if (this.#column !== 0) {
      this.#column = 0;
      this.#line++;
    }
    this.#endBlocks();
    this.#isAtEnd = true;
    this.#emit('streamEnd');
  }

  /** Ends all blocks that are open. */
  #endBlocks(): void {
    this.#unrollIndent(-1);
    this.#removeKey();
    this.#allowsKey = false;
  }

  #fetchChar(type: YamlTokenType): void {
    this.#skip();
    this.#emit(type);
  }

  #fetchIndicator(type: 'documentStart' | 'documentEnd'): void {
    this.#endBlocks();
    this.#skip(3);
    this.#emit(type);
  }

  #fetchFlowStart(type: 'flowSequence' | 'flowMapping'): void {
    this.#saveKey();
    // As in go-yaml, it has the number of the bracket: an empty collection is forgotten as a key when it ends.
    this.#keys.push(this.#keyHere(false, false));
    this.#flowDepth++;
    this.#checkDepth(this.#flowDepth);
    this.#allowsKey = true;
    this.#fetchChar(type);
  }

  #fetchFlowEnd(type: 'flowSequenceEnd' | 'flowMappingEnd'): void {
    this.#removeKey();
    if (this.#flowDepth > 0) {
      this.#flowDepth--;
      this.#keyOfToken.delete(this.#keys.pop()?.token ?? -1);
    }
    this.#allowsKey = false;
    this.#fetchChar(type);
  }

  /** Starts a block here, unless it has started or is in brackets. */
  #startBlock(type: 'blockSequence' | 'blockMapping', what: string): void {
    if (this.#flowDepth === 0 && !this.#allowsKey) {
      this.fail(`${what} are not allowed in this context`);
    }
    this.#rollIndent(this.#column, type);
  }

  #fetchBlockEntry(): void {
    this.#startBlock('blockSequence', 'block sequence entries');
    this.#removeKey();
    this.#allowsKey = true;
    this.#fetchChar('blockEntry');
  }

  #fetchKey(): void {
    this.#startBlock('blockMapping', 'mapping keys');
    this.#removeKey();
    this.#allowsKey = this.#flowDepth === 0;
    this.#fetchChar('key');
  }

  #fetchValue(): void {
    const key = this.#key();
    if (this.#isValid(key)) {
      const at = key.token - this.#taken;
      this.#emit('key', {}, at);
      this.#rollIndent(key.column, 'blockMapping', at);
      key.isPossible = false;
      this.#keyOfToken.delete(key.token);
      this.#allowsKey = false;
    } else {
      this.#startBlock('blockMapping', 'mapping values');
      this.#allowsKey = this.#flowDepth === 0;
    }
    this.#fetchChar('value');
  }

  #takeWhile(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#skip(found.length);
    return found;
  }

  #skipBlanks(): void {
    while (isBlank(this.#char())) {
      this.#skip();
    }
  }

  #fetchDirective(): void {
    this.#endBlocks();
    const line = this.#takeWhile(restOfLine);
    const [, major, minor] = versionDirective.exec(line) ?? [];
    const [, text = '', prefix] = tagDirective.exec(line) ?? [];
    if (major !== undefined) {
      this.#emit('version', { text: `${Number(major)}.${Number(minor)}` });
    } else if (prefix !== undefined) {
      this.#emit('tagDirective', { text, suffix: this.#decodedUri(prefix) });
    } else {
      this.fail('found an unknown or incomplete directive');
    }
    this.#endLine();
  }

  /** Takes the rest of a line, which may only be a comment. */
  #endLine(): void {
    this.#skipBlanks();
    this.#skipComment();
    if (!isBreakOrEnd(this.#char())) {
      this.fail('did not find expected comment or line break');
    }
    if (isBreak(this.#char())) {
      this.#takeBreak();
    }
  }

  #scanAnchor(type: 'alias' | 'anchor'): void {
    this.#skip();
    const text = this.#takeWhile(words);
    const next = this.#char();
    if (text === '' || !(isBlankOrEnd(next) || '?:,]}%@`'.includes(next))) {
      this.fail('did not find expected alphabetic or numeric character');
    }
    this.#emit(type, { text });
  }

  #scanTag(): void {
    let text = '';
    let suffix: string;
    if (this.#char(1) === '<') {
      this.#skip(2);
      suffix = this.#tagUri('');
      if (this.#char() !== '>') {
        this.fail("did not find the expected '>'");
      }
      this.#skip();
    } else {
      const handle = this.#tagHandle();
      if (handle.length > 1 && handle.endsWith('!')) {
        text = handle;
        suffix = this.#tagUri('');
      } else {
        suffix = this.#tagUri(handle);
        text = suffix === '' ? '' : '!';
        suffix = suffix === '' ? '!' : suffix;
      }
    }
    if (!isBlankOrEnd(this.#char())) {
      this.fail('did not find expected whitespace or line break');
    }
    this.#emit('tag', { text, suffix });
  }

  #tagHandle(): string {
    return this.#takeWhile(/![0-9A-Za-z_-]*!?/y);
  }

  #tagUri(head: string): string {
    const found = this.#takeWhile(uri);
    if (head === '' && found === '') {
      this.fail('did not find expected tag URI');
    }
    return head.slice(1) + this.#decodedUri(found);
  }

  #decodedUri(text: string): string {
    try {
      return decodeURIComponent(text);
    } catch {
      return this.fail('did not find URI escaped octet');
    }
  }

  #scanBlockScalar(isLiteral: boolean): void {
    this.#skip();
    const header = this.#takeWhile(/[+-][0-9]?|[0-9][+-]?|/y);
    if (header.includes('0')) {
      this.fail('found an indentation indicator equal to 0');
    }
    const increment = Number(header.replace(/[+-]/, '') || '0');
    this.#endLine();
    const base = Math.max(this.#indent, 0);
    const lead = this.#blockBreaks(increment > 0 ? base + increment : 0);
    const { indent } = lead;
    const parts: string[] = [];
    let leadingBreak = '';
    let trailing = lead.breaks;
    let isAfterBlank = false;
    while (this.#column === indent && this.#char() !== '') {
      const startsBlank = isBlank(this.#char());
      if (!isLiteral && !isAfterBlank && !startsBlank && leadingBreak.startsWith('\n')) {
        parts.push(trailing === '' ? ' ' : '');
      } else {
        parts.push(leadingBreak);
      }
      parts.push(trailing);
      isAfterBlank = startsBlank;
      const start = this.#at;
      while (!isBreakOrEnd(this.#char())) {
        this.#skip();
      }
      parts.push(this.#text.slice(start, this.#at));
      leadingBreak = this.#char() === '' ? '' : this.#takeBreak();
      trailing = this.#blockBreaks(indent).breaks;
    }
    if (!header.includes('-')) {
      parts.push(leadingBreak);
    }
    if (header.includes('+')) {
      parts.push(trailing);
    }
    this.#emit('scalar', { text: parts.join('') });
  }

  /** Takes indentation and empty lines; finds the indentation if it is 0. */
  #blockBreaks(known: number): { indent: number; breaks: string } {
    let deepest = 0;
    let breaks = '';
    for (;;) {
      while ((known === 0 || this.#column < known) && this.#char() === ' ') {
        this.#skip();
      }
      deepest = Math.max(deepest, this.#column);
      if ((known === 0 || this.#column < known) && this.#char() === '\t') {
        this.fail('found a tab character where an indentation space is expected');
      }
      if (!isBreak(this.#char())) {
        break;
      }
      breaks += this.#takeBreak();
    }
    return { indent: known === 0 ? Math.max(deepest, this.#indent + 1, 1) : known, breaks };
  }

  /** Takes blanks and line breaks within a scalar. @returns what they count as. */
  #fold(startsAfterBreak: boolean, onIndentation?: () => void): { text: string; hasBreak: boolean } {
    let isAfterBreak = startsAfterBreak;
    let hasBreak = startsAfterBreak;
    let blanks = '';
    let leading = '';
    const trailing: string[] = [];
    for (let char = this.#char(); isBlank(char) || isBreak(char); char = this.#char()) {
      if (isBlank(char)) {
        if (isAfterBreak) {
          onIndentation?.();
        } else {
          blanks += char;
        }
        this.#skip();
      } else if (isAfterBreak) {
        trailing.push(this.#takeBreak());
      } else {
        blanks = '';
        leading = this.#takeBreak();
        isAfterBreak = true;
        hasBreak = true;
      }
    }
    if (!hasBreak) {
      return { text: blanks, hasBreak };
    }
    const folded = leading === '\n' ? (trailing.length === 0 ? ' ' : '') : leading;
    return { text: folded + trailing.join(''), hasBreak };
  }

  #scanQuoted(quote: '"' | "'"): void {
    this.#skip();
    const parts: string[] = [];
    for (;;) {
      if (this.#isIndicator('---') || this.#isIndicator('...')) {
        this.fail('found unexpected document indicator');
      }
      if (this.#char() === '') {
        this.fail('found unexpected end of stream');
      }
      let isAfterBreak = false;
      for (let char = this.#char(); !isBlankOrEnd(char); char = this.#char()) {
        if (char === quote) {
          if (quote === '"' || this.#char(1) !== "'") {
            break;
          }
          parts.push("'");
          this.#skip(2);
        } else if (quote === '"' && char === '\\') {
          if (isBreak(this.#char(1))) {
            this.#skip();
            this.#takeBreak();
            isAfterBreak = true;
            break;
          }
          parts.push(this.#escape());
        } else {
          parts.push(char);
          this.#skip();
        }
      }
      if (this.#char() === quote) {
        break;
      }
      parts.push(this.#fold(isAfterBreak).text);
    }
    this.#skip();
    this.#emit('scalar', { text: parts.join('') });
  }

  #escape(): string {
    const letter = this.#char(1);
    const simple = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
    const length = Object.hasOwn(escapeLengths, letter) ? escapeLengths[letter] : undefined;
    if (simple === undefined && length === undefined) {
      this.fail('found unknown escape character');
    }
    this.#skip(2);
    if (length === undefined) {
      return simple ?? '';
    }
    const digits = this.#text.slice(this.#at, this.#at + length);
    if (digits.length < length || !/^[0-9a-fA-F]*$/.test(digits)) {
      this.fail('did not find expected hexdecimal number');
    }
    const code = Number.parseInt(digits, 16);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      this.fail('found invalid Unicode character escape code');
    }
    this.#skip(length);
    return String.fromCodePoint(code);
  }

  #scanPlain(): void {
    const indent = this.#indent + 1;
    const parts: string[] = [];
    let pending = '';
    let hasBreak = false;
    while (!this.#isIndicator('---') && !this.#isIndicator('...') && this.#char() !== '#') {
      const start = this.#at;
      for (let char = this.#char(); !isBlankOrEnd(char); char = this.#char()) {
        if ((char === ':' && isBlankOrEnd(this.#char(1))) || (this.#flowDepth > 0 && ',?[]{}'.includes(char))) {
          break;
        }
        this.#skip();
      }
      if (this.#at > start) {
        parts.push(pending, this.#text.slice(start, this.#at));
        pending = '';
        hasBreak = false;
      }
      if (!isBlank(this.#char()) && !isBreak(this.#char())) {
        break;
      }
      const folded = this.#fold(hasBreak, () => {
        if (this.#column < indent && this.#char() === '\t') {
          this.fail('found a tab character that violates indentation');
        }
      });
      pending = folded.text;
      hasBreak = folded.hasBreak;
      if (this.#flowDepth === 0 && this.#column < indent) {
        break;
      }
    }
    if (hasBreak) {
      this.#allowsKey = true;
    }
    this.#emit('scalar', { text: parts.join(''), isPlain: true });
  }
}
