import { bytesOf } from '../../../base/go-text/index.ts';
import { NotComputed, TemplateError } from '../budget.ts';

/** A text that is not YAML. */
export function notYaml(problem: string): TemplateError {
  return new TemplateError(`error converting YAML to JSON: ${bytesOf(problem)}`);
}

/** Deepest nesting that is read. */
const maxDepth = 256;

export function checkDepth(depth: number): void {
  if (depth > maxDepth) {
    throw new NotComputed(`YAML nests deeper than ${maxDepth} levels`);
  }
}

/** A key without `?` is on one line, and not longer. */
export const maxSimpleKey = 1_024;

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

/** A place in YAML 1.1, and what go-yaml v2 takes for a scalar, an anchor or a tag there. */
export class YamlText {
  readonly #text: string;
  at = 0;
  line = 0;
  column = 0;
  /** Whether a key without `?`, or an item of a list, may start here: at most indicators are before it on the line. */
  startsLine = true;

  constructor(text: string) {
    this.#text = text;
  }

  fail(problem: string): never {
    throw notYaml(`yaml: line ${this.line + 1}: ${problem}`);
  }

  char(ahead = 0): string {
    return this.#text[this.at + ahead] ?? '';
  }

  #skip(count: number): void {
    this.at += count;
    this.column += count;
  }

  /** Takes an indicator. */
  take(length: number, startsLine: boolean): void {
    this.#skip(length);
    this.startsLine = startsLine;
  }

  /** Takes what is here of a form without line breaks. */
  #takeForm(form: RegExp): string {
    form.lastIndex = this.at;
    const [found = ''] = form.exec(this.#text) ?? [];
    this.#skip(found.length);
    return found;
  }

  /** Takes a line break. @returns what it counts as in a scalar; nothing if there is none. */
  #takeBreak(): string {
    const char = this.char();
    if (!isBreak(char)) {
      return '';
    }
    this.at += char === '\r' && this.char(1) === '\n' ? 2 : 1;
    this.line++;
    this.column = 0;
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

  /** Skips to what is neither blank nor a comment. */
  skipToToken(isInBlock: boolean): void {
    do {
      if (this.column === 0 && this.char() === '\ufeff') {
        this.#skip(1);
      }
      // No tab may indent what starts a line.
      this.#takeForm(isInBlock && this.startsLine ? / */y : blanks);
      this.#skipComment();
    } while (this.#endsLine(isInBlock));
  }

  #endsLine(isInBlock: boolean): boolean {
    const isEnded = this.#takeBreak() !== '';
    this.startsLine ||= isEnded && isInBlock;
    return isEnded;
  }

  #skipComment(): void {
    if (this.char() === '#') {
      this.#takeForm(restOfLine);
    }
  }

  /** Whether a line is `---` or `...`, with anything after a blank. */
  isDocumentLine(): boolean {
    const start = this.#text.slice(this.at, this.at + 3);
    return this.column === 0 && (start === '---' || start === '...') && isBlankOrEnd(this.char(3));
  }

  /** Whether all blocks end here. */
  isEnd(): boolean {
    return this.char() === '' || (this.column === 0 && this.char() === '%') || this.isDocumentLine();
  }

  /** Whether a character stands here alone. */
  isSign(sign: '-' | '?' | ':'): boolean {
    return this.char() === sign && isBlankOrEnd(this.char(1));
  }

  /** Takes the line of a directive. */
  directive(): string {
    const line = this.#takeForm(restOfLine);
    return directive.test(line) ? line : this.fail('found an unknown or incomplete directive');
  }

  /** Takes the name of an anchor, with the sign before it. */
  anchor(): string {
    this.take(1, false);
    const name = this.#takeForm(/[0-9A-Za-z_-]*/y);
    const after = this.char();
    if (name === '' || !(isBlankOrEnd(after) || '?:,]}%@`'.includes(after))) {
      this.fail('did not find expected alphabetic or numeric character');
    }
    return name;
  }

  tag(): string {
    this.startsLine = false;
    const text = this.#takeForm(tag);
    if (!isBlankOrEnd(this.char()) || /^![0-9A-Za-z_-]*!$|%(?![0-9a-fA-F]{2})/.test(text)) {
      this.fail('did not find expected whitespace or line break after a tag');
    }
    return text;
  }

  isBlockScalar(): boolean {
    return this.char() === '|' || this.char() === '>';
  }

  /** Whether a plain scalar starts here. */
  isPlain(isInBlock: boolean): boolean {
    const [char, next] = [this.char(), this.char(1)];
    return (
      (!isBlank(char) && !indicators.includes(char)) ||
      (char === '-' && !isBlankOrEnd(next)) ||
      (isInBlock && (char === '?' || char === ':') && !isBlankOrEnd(next))
    );
  }

  /** Takes a literal or folded scalar. @param indent of the block that it is in. */
  blockScalar(indent: number): string {
    const isLiteral = this.char() === '|';
    this.take(1, true);
    const header = this.#takeForm(/[+-][0-9]?|[0-9][+-]?|/y);
    const increment = Number(header.replace(/[+-]/, ''));
    this.#takeForm(blanks);
    this.#skipComment();
    if (header.includes('0') || (this.#takeBreak() === '' && this.char() !== '')) {
      this.fail('did not find expected comment or line break');
    }
    const lead = this.#blockBreaks(indent, increment > 0 ? Math.max(indent, 0) + increment : 0);
    const parts: string[] = [];
    let leading = '';
    let trailing = lead.text;
    let isAfterBlank = false;
    while (this.column === lead.indent && this.char() !== '') {
      const startsBlank = isBlank(this.char());
      const isFolded = !isLiteral && !isAfterBlank && !startsBlank && leading === '\n';
      parts.push(isFolded ? (trailing === '' ? ' ' : '') : leading, trailing, this.#takeForm(restOfLine));
      isAfterBlank = startsBlank;
      leading = this.#takeBreak();
      trailing = this.#blockBreaks(indent, lead.indent).text;
    }
    return parts.join('') + (header.includes('-') ? '' : leading) + (header.includes('+') ? trailing : '');
  }

  /** Takes indentation and empty lines; finds the indentation if it is 0. */
  #blockBreaks(outer: number, known: number): { indent: number; text: string } {
    let deepest = 0;
    let text = '';
    for (;;) {
      while ((known === 0 || this.column < known) && this.char() === ' ') {
        this.#skip(1);
      }
      deepest = Math.max(deepest, this.column);
      if ((known === 0 || this.column < known) && this.char() === '\t') {
        this.fail('found a tab character where an indentation space is expected');
      }
      const end = this.#takeBreak();
      if (end === '') {
        return { indent: known === 0 ? Math.max(deepest, outer + 1, 1) : known, text };
      }
      text += end;
    }
  }

  quoted(quote: '"' | "'"): string {
    this.take(1, false);
    const parts: string[] = [];
    for (;;) {
      if (this.isDocumentLine() || this.char() === '') {
        this.fail('found unexpected end of a text in quotes');
      }
      const run = this.#takeForm(quotedRun[quote]);
      parts.push(quote === "'" ? run.replaceAll("''", "'") : run);
      const char = this.char();
      if (char === quote) {
        break;
      }
      const isEscaped = char === '\\' && isBreak(this.char(1));
      if (char === '\\' && !isEscaped) {
        parts.push(this.#escape());
      } else {
        this.#skip(isEscaped ? 1 : 0);
        parts.push(folded(this.#takeGap(), isEscaped));
      }
    }
    this.#skip(1);
    return parts.join('');
  }

  #escape(): string {
    escaped.lastIndex = this.at;
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

  /** Takes a plain scalar. @param indent of the block that it is in. */
  plain(indent: number, isInBlock: boolean): string {
    const parts: string[] = [];
    let pending = '';
    this.startsLine = false;
    while (!this.isDocumentLine() && this.char() !== '#') {
      const chunk = this.#takeForm(isInBlock ? word : wordInBrackets);
      if (chunk !== '') {
        parts.push(pending, chunk);
        this.startsLine = false;
      }
      const gap = this.#takeGap();
      const lines = gap.blanks.slice(1);
      if (lines.length === 0 && gap.blanks[0] === '') {
        break;
      }
      if (lines.some((line) => line.slice(0, indent + 1).includes('\t'))) {
        this.fail('found a tab character that violates indentation');
      }
      pending = folded(gap);
      this.startsLine = lines.length > 0;
      if (isInBlock && this.column < indent + 1) {
        break;
      }
    }
    return parts.join('');
  }
}
