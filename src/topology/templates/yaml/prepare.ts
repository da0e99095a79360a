import { CST, Lexer } from 'yaml';
import { bytesOf } from '../../../base/go-text/index.ts';
import { plainValue } from '../../../kubernetes/manifests/index.ts';
import { NotKnown } from '../../world/not-known.ts';
import { TemplateError } from '../budget.ts';

// sigs.k8s.io/yaml, which reads rendered templates, contains go-yaml v2: a reader of YAML 1.1 that is lenient where a document
// ends. `yaml` reads YAML 1.2. Where the two differ, or may differ, the value is not known.

/** YAML that both can read, but perhaps not alike. */
export function notKnown(problem: string): NotKnown {
  return new NotKnown(`the rendered template is YAML that Cluster API may read differently: ${problem}`, {
    remedy: 'print the value with "| quote" or "| toJson"',
  });
}

/** A text that go-yaml refuses. */
export function notYaml(problem: string): TemplateError {
  return new TemplateError(`error converting YAML to JSON: ${bytesOf(problem)}`);
}

interface Lexeme {
  /** The type that `yaml` gives it; `body` for the lines of a literal or folded text. */
  type: CST.TokenType | 'body' | 'unknown';
  text: string;
  at: number;
}

/** Forms that both read alike. Lexemes that are not here have only one form. */
const alike: Readonly<Record<string, RegExp>> = {
  space: /^ +$/,
  newline: /^\r?\n$/,
  anchor: /^&[0-9A-Za-z_-]{1,20}$/,
  tag: /^!!(?:str|bool|null|seq|map)$/,
  'single-quoted-scalar': /^'(?:[^']|'')*'$/,
  // go-yaml reads \' as '.
  'double-quoted-scalar': /^"(?:[^"\\]|\\[^'/u]|\\u(?![dD][89a-fA-F]))*"$/s,
  // An indentation that is given counts from another column.
  'block-scalar-header': /^[|>][+-]?$/,
  'directive-line': /^$/,
  unknown: /^$/,
};

/** Forms that go-yaml refuses where it reads them. */
const refused: Readonly<Record<string, RegExp>> = {
  anchor: /^&(?![0-9A-Za-z_-])/,
  alias: /^\*(?![0-9A-Za-z_-])/,
  'double-quoted-scalar': /^"(?:[^"\\]|\\[^/u]|\\u(?![dD][89a-fA-F]))*\\(?:\/|u[dD][89a-fA-F])/s,
  'block-scalar-header': /^[|>][+-]?[^0-9+-]/,
  'directive-line': /^%(?!YAML[ \t]+0?1|TAG)/,
};

/** Longest key, in characters, as far as both agree: go-yaml also counts an anchor and a tag before it. */
const maxKey = 900;

const blanks: ReadonlySet<string> = new Set(['space', 'newline', 'comment']);

/** Text that go-yaml does not read after a document in quotes or brackets. */
const ignored = /^[ 0-9A-Za-z[\]{},]*\n?$/;

function* lexemesOf(text: string): Generator<Lexeme> {
  let at = 0;
  let isScalar = false;
  let isBody = false;
  for (const lexeme of new Lexer().lex(text)) {
    // Marks of the lexer that are not in the text.
    if (lexeme === CST.DOCUMENT || lexeme === CST.FLOW_END || lexeme === CST.SCALAR) {
      isScalar = lexeme === CST.SCALAR;
      continue;
    }
    const type: Lexeme['type'] = isScalar ? (isBody ? 'body' : 'scalar') : (CST.tokenType(lexeme) ?? 'unknown');
    yield { type, text: lexeme, at };
    isBody = type === 'block-scalar-header' || (isBody && !isScalar);
    isScalar = false;
    at += lexeme.length;
  }
}

function isAlike({ type, text }: Lexeme): boolean {
  if (type === 'scalar') {
    // The zero of a float may be negative in JSON. No tab may indent a line.
    return !Object.is(plainValue(text), -0) && !(text.includes('\n') && text.includes('\t'));
  }
  if (type === 'body') {
    const [, indent = ''] = /^(?: *\r?\n)*( *)/.exec(text) ?? [];
    const isIndented = indent !== '' || text.trim() === '';
    return isIndented && text.split('\n').every((line) => line.search(/[^ ]|$/) > indent.length || !/^ *\t/.test(line));
  }
  return alike[type]?.test(text) !== false;
}

/** A text for `yaml`. */
export interface Prepared {
  text: string;
  /** Whether it is a list or a map from its first column on: go-yaml then reads the text to its end. */
  isBlock: boolean;
  /** Whether the value is not known, should the text have one: a key is written with "?". */
  isDoubtful: boolean;
}

class Preparation {
  readonly #text: string;
  /** How many brackets are open. */
  #brackets = 0;
  #isStarted = false;
  #isBlock = false;
  #isDoubtful = false;
  /** The first lexeme of the document, the last one, and the last one that is not a space. */
  #first: Lexeme | undefined;
  #last: Lexeme | undefined;
  #word: Lexeme | undefined;
  /** The last header of a literal or folded text. */
  #header: Lexeme | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  run(): Prepared {
    let isRoot = true;
    for (const lexeme of lexemesOf(this.#text)) {
      const { type, text, at } = lexeme;
      if (type === 'doc-start' || type === 'doc-end') {
        if (this.#endsAt(lexeme)) {
          return this.#prepared(this.#text.slice(0, at));
        }
      } else {
        this.#read(lexeme);
      }
      this.#last = lexeme;
      this.#word = type === 'space' ? this.#word : lexeme;
      const end = at + text.length;
      const isInRoot = lexeme === this.#first || this.#first?.type.startsWith('flow-') === true;
      if (isRoot && isInRoot && this.#brackets === 0 && /^(?:flow-.*|.*-quoted-scalar)$/.test(type)) {
        isRoot = false;
        if (ignored.test(this.#text.slice(end))) {
          return this.#prepared(this.#text.slice(0, end));
        }
      }
    }
    return this.#prepared(this.#withoutLineBreak());
  }

  #prepared(text: string): Prepared {
    return { text, isBlock: this.#isBlock, isDoubtful: this.#isDoubtful };
  }

  /** Reads what is not a marker. */
  #read(lexeme: Lexeme): void {
    const { type } = lexeme;
    if (blanks.has(type)) {
      if (!this.#isPlainTab(lexeme) && !isAlike(lexeme)) {
        this.#fail(lexeme);
      }
      return;
    }
    this.#check(lexeme);
    this.#isBlock ||= this.#startsBlock(lexeme);
    this.#brackets += !type.startsWith('flow-') ? 0 : type.endsWith('start') ? 1 : -1;
    this.#isStarted = true;
    this.#first ??= lexeme;
    this.#header = type === 'block-scalar-header' ? lexeme : this.#header;
  }

  #fail({ text, at }: Lexeme): never {
    const line = this.#text.slice(0, at).split('\n').length;
    throw notKnown(`line ${line}: ${JSON.stringify(text.slice(0, 50))}`);
  }

  #isAtLineStart(at: number): boolean {
    return at === 0 || this.#text[at - 1] === '\n';
  }

  /** Whether the line `---` or `...` ends the document. */
  #endsAt(marker: Lexeme): boolean {
    if (!this.#isAtLineStart(marker.at)) {
      this.#fail(marker);
    }
    const isEnd = this.#isStarted;
    if (!isEnd && marker.type === 'doc-end') {
      throw notYaml('did not find expected node content');
    }
    this.#isStarted = true;
    return isEnd;
  }

  /** Whether tabs are between words, or at the end of a line. */
  #isPlainTab({ type, text, at }: Lexeme): boolean {
    if (type !== 'space' || !text.includes('\t')) {
      return false;
    }
    if (this.#isBlock && this.#word?.type === 'seq-item-ind') {
      throw notYaml('found character that cannot start any token');
    }
    return this.#brackets > 0
      ? this.#last?.type !== 'newline'
      : /scalar$|end$|alias/.test(this.#word?.type ?? '') && /[#\r\n]/.test(this.#text[at + text.length] ?? '\n');
  }

  #startsBlock({ type }: Lexeme): boolean {
    const first = this.#first;
    if (first === undefined) {
      return type === 'seq-item-ind' && (this.#last === undefined || this.#last.type === 'newline');
    }
    const isKey = first.type === 'scalar' && !first.text.includes('\n') && this.#isAtLineStart(first.at);
    return isKey && type === 'map-value-ind' && this.#word === first;
  }

  /** @throws where a lexeme is refused, or may be read differently. */
  #check(lexeme: Lexeme): void {
    const { type, text, at } = lexeme;
    const isFirst = this.#first === undefined;
    if ((isFirst || (this.#isBlock && this.#brackets === 0)) && refused[type]?.test(text) === true) {
      throw notYaml(`did not expect ${text.slice(0, 50)}`);
    }
    if (isFirst && /^flow-.*end$/.test(type)) {
      throw notYaml('did not find expected node content');
    }
    const startsLine = (this.#last?.type ?? 'newline') === 'newline';
    const isValue = type === 'map-value-ind';
    const isLoneValue = isValue && (this.#word?.type ?? 'newline') === 'newline';
    this.#isDoubtful ||= this.#brackets === 0 && (isLoneValue || type === 'explicit-key-ind');
    const isOutside =
      startsLine && type !== 'body' && this.#first !== undefined && !this.#isAtLineStart(this.#first.at);
    const key = isValue ? this.#word : undefined;
    const isLongKey = key !== undefined && at - key.at > maxKey;
    const isKeyOfLines = key?.text.includes('\n') === true;
    const isProperty = type === 'tag' || type === 'anchor';
    const isApart =
      (startsLine || this.#last?.type === 'space') && /[ \r\n]/.test(this.#text[at + text.length] ?? '\n');
    const isMisplaced = this.#brackets > 0 ? isKeyOfLines || isProperty : isOutside || (isProperty && !isApart);
    if (isMisplaced || isLongKey || !isAlike(lexeme)) {
      this.#fail(lexeme);
    }
  }

  /** The text; go-yaml adds no line break to a literal or folded text that ends without one, as if that was asked for. */
  #withoutLineBreak(): string {
    const text = this.#text;
    const header = this.#header;
    if (header === undefined || this.#last?.type !== 'body' || text.endsWith('\n')) {
      return text;
    }
    if (/^ *$/.test(text.slice(text.lastIndexOf('\n') + 1))) {
      throw notKnown('it ends with a line of spaces');
    }
    return `${text.slice(0, header.at + 1)}-${text.slice(header.at + header.text.length)}`;
  }
}

/**
 * Prepares a text that is read by `yaml`, but has to be read as by go-yaml.
 *
 * @throws {TemplateError} where go-yaml refuses it.
 * @throws {NotKnown} where the two may differ.
 */
export function prepare(text: string): Prepared {
  return new Preparation(text).run();
}
