import { LRUCache } from 'lru-cache';
import { CST, Lexer } from 'yaml';
import { type Bytes, bytesOf, invalidAt, textOf } from '../../base/go-text/index.ts';
import { copyOf, type Json } from '../../kubernetes/index.ts';
import { ComposeError, compose, plainValue } from '../../kubernetes/manifests/index.ts';
import { NotKnown } from '../world/not-known.ts';
import { TemplateError, tooMuch } from './budget.ts';

// sigs.k8s.io/yaml, which reads rendered templates, contains go-yaml v2: a reader of YAML 1.1 that is lenient where a document
// ends. `yaml` reads YAML 1.2. Where the two differ, or may differ, the value is not known.

/** YAML that both can read, but perhaps not alike. */
const notKnown = (problem: string): NotKnown =>
  new NotKnown(`the rendered template is YAML that Cluster API may read differently: ${problem}`, {
    remedy: 'print the value with "| quote" or "| toJson"',
  });

const notYaml = (problem: string): TemplateError =>
  new TemplateError(`error converting YAML to JSON: ${bytesOf(problem)}`);

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

/** The part of a text that go-yaml reads, as `yaml` has to get it. */
class Preparation {
  readonly #source: string;
  text: string;
  /** Whether it is a list or a map from its first column on: go-yaml then reads the text to its end. */
  isBlock = false;
  /** Whether the value is not known, should the text have one: a key is written with "?". */
  isDoubtful = false;
  #brackets = 0;
  /** The first lexeme of the document, the last one, and the last one that is not a space. */
  #first: Lexeme | undefined;
  #last: Lexeme | undefined;
  #word: Lexeme | undefined;
  #header: Lexeme | undefined;

  /** @throws {TemplateError | NotKnown} where go-yaml refuses the text, and where the two may differ. */
  constructor(source: string) {
    this.#source = source;
    const end = this.#end();
    this.text = end === undefined ? this.#withoutLineBreak() : source.slice(0, end);
  }

  #end(): number | undefined {
    let [isStarted, isRoot] = [false, true];
    for (const lexeme of lexemesOf(this.#source)) {
      const { type, text, at } = lexeme;
      if (type === 'doc-start' || type === 'doc-end') {
        if (!this.#isAtLineStart(at)) {
          this.#fail(lexeme);
        }
        if (isStarted) {
          return at;
        }
        if (type === 'doc-end') {
          throw notYaml('did not find expected node content');
        }
        isStarted = true;
      } else if (type === 'space' || type === 'newline' || type === 'comment') {
        if (!this.#isPlainTab(lexeme) && !isAlike(lexeme)) {
          this.#fail(lexeme);
        }
      } else {
        this.#read(lexeme);
        isStarted = true;
      }
      this.#last = lexeme;
      this.#word = type === 'space' ? this.#word : lexeme;
      const end = at + text.length;
      const isInRoot = lexeme === this.#first || this.#first?.type.startsWith('flow-') === true;
      if (isRoot && isInRoot && this.#brackets === 0 && /^(?:flow-.*|.*-quoted-scalar)$/.test(type)) {
        isRoot = false;
        if (ignored.test(this.#source.slice(end))) {
          return end;
        }
      }
    }
    return undefined;
  }

  #fail({ text, at }: Lexeme): never {
    const line = this.#source.slice(0, at).split('\n').length;
    throw notKnown(`line ${line}: ${JSON.stringify(text.slice(0, 50))}`);
  }

  #isAtLineStart(at: number): boolean {
    return at === 0 || this.#source[at - 1] === '\n';
  }

  /** Whether tabs are between words, or at the end of a line. */
  #isPlainTab({ type, text, at }: Lexeme): boolean {
    if (type !== 'space' || !text.includes('\t')) {
      return false;
    }
    if (this.isBlock && this.#word?.type === 'seq-item-ind') {
      throw notYaml('found character that cannot start any token');
    }
    return this.#brackets > 0
      ? this.#last?.type !== 'newline'
      : /scalar$|end$|alias/.test(this.#word?.type ?? '') && /[#\r\n]/.test(this.#source[at + text.length] ?? '\n');
  }

  #startsBlock({ type }: Lexeme): boolean {
    const first = this.#first;
    if (first === undefined) {
      return type === 'seq-item-ind' && (this.#last === undefined || this.#last.type === 'newline');
    }
    const isKey = first.type === 'scalar' && !first.text.includes('\n') && this.#isAtLineStart(first.at);
    return isKey && type === 'map-value-ind' && this.#word === first;
  }

  #read(lexeme: Lexeme): void {
    const { type, text, at } = lexeme;
    const [first, key] = [this.#first, type === 'map-value-ind' ? this.#word : undefined];
    if ((first === undefined || (this.isBlock && this.#brackets === 0)) && refused[type]?.test(text) === true) {
      throw notYaml(`did not expect ${text.slice(0, 50)}`);
    }
    if (first === undefined && /^flow-.*end$/.test(type)) {
      throw notYaml('did not find expected node content');
    }
    const startsLine = (this.#last?.type ?? 'newline') === 'newline';
    const isLoneValue = type === 'map-value-ind' && (key?.type ?? 'newline') === 'newline';
    this.isDoubtful ||= this.#brackets === 0 && (isLoneValue || type === 'explicit-key-ind');
    const isOutside = startsLine && type !== 'body' && first !== undefined && !this.#isAtLineStart(first.at);
    const isLongKey = key !== undefined && at - key.at > maxKey;
    const isProperty = type === 'tag' || type === 'anchor';
    const isApart =
      (startsLine || this.#last?.type === 'space') && /[ \r\n]/.test(this.#source[at + text.length] ?? '\n');
    const isMisplaced =
      this.#brackets > 0 ? key?.text.includes('\n') || isProperty : isOutside || (isProperty && !isApart);
    if (isMisplaced || isLongKey || !isAlike(lexeme)) {
      this.#fail(lexeme);
    }
    this.isBlock ||= this.#startsBlock(lexeme);
    this.#brackets += !type.startsWith('flow-') ? 0 : type.endsWith('start') ? 1 : -1;
    this.#first ??= lexeme;
    this.#header = type === 'block-scalar-header' ? lexeme : this.#header;
  }

  /** The text; go-yaml adds no line break to a literal or folded text that ends without one, as if that was asked for. */
  #withoutLineBreak(): string {
    const [text, header] = [this.#source, this.#header];
    if (header === undefined || this.#last?.type !== 'body' || text.endsWith('\n')) {
      return text;
    }
    if (/^ *$/.test(text.slice(text.lastIndexOf('\n') + 1))) {
      throw notKnown('it ends with a line of spaces');
    }
    return `${text.slice(0, header.at + 1)}-${text.slice(header.at + header.text.length)}`;
  }
}

/** Longest text that is read, in characters: as long as the files of a large class. */
const maxLength = 131_072;

/** Characters that go-yaml refuses anywhere. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
const forbidden = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

/** Beginnings of errors for which go-yaml refuses a text, too. */
const refusals = new RegExp(
  [
    '^Invalid escape sequence',
    'Plain value cannot start with (?:reserved|directive indicator) character',
    'Nested mappings are not allowed',
    'All (?:mapping|sequence) items must start at the same column',
    'Unexpected block-seq-ind on same line with key',
    'Flow (?:map|sequence) must end',
    'Implicit map keys need to be followed by map values',
    'Missing , ',
    'Unexpected , in flow ',
    '.{1,200} is not a JSON number',
    'the alias ',
    'a key must be text',
    'the key .{1,200} is not text',
  ].join('|^'),
  's',
);

function isRefused({ message, offset }: ComposeError, { text, isBlock, isDoubtful }: Preparation): boolean {
  if (isDoubtful) {
    return /^(?:a key must be text|the key )/.test(message);
  }
  return (
    refusals.test(message) ||
    (message.startsWith('Implicit keys need') && /[0-9A-Za-z]/.test(text[offset] ?? '')) ||
    (/^Flow (?:map|sequence) in block/.test(message) && !/[\]}]/.test(text)) ||
    (isBlock && /^Unexpected (?!block-scalar).*(?:at node end|token in YAML)/.test(message))
  );
}

function parsed(bytes: Bytes): Json {
  const text = textOf(bytes).replace(/^\ufeff/, '');
  if (invalidAt(bytes) !== -1 || forbidden.test(text)) {
    throw notYaml('control characters and what is not UTF-8 are not allowed');
  }
  if (text.length > maxLength) {
    throw tooMuch(`the template renders to more than ${maxLength} characters`);
  }
  if (/\r(?!\n)|[\x85\u2028\u2029]/.test(text)) {
    throw notKnown('a line ends with a character that ends none in YAML 1.2');
  }
  const prepared = new Preparation(text);
  let value: Json;
  try {
    value = (compose(prepared.text).value ?? null) as Json;
  } catch (error) {
    if (!(error instanceof ComposeError)) {
      throw error;
    }
    throw isRefused(error, prepared) ? notYaml(error.message) : notKnown(error.message);
  }
  if (prepared.isDoubtful) {
    throw notKnown('a key is written with "?"');
  }
  return value;
}

/** Characters of rendered texts whose values are kept: Clusters of a class mostly render the same ones. */
const maxKept = 1_048_576;
const values = new LRUCache<Bytes, { value: Json }>({
  maxSize: maxKept,
  sizeCalculation: (_value, text) => text.length + 1,
});

/**
 * Reads the first document of YAML as sigs.k8s.io/yaml does: the last of two equal keys wins, and what follows the document does
 * not count.
 *
 * @throws {TemplateError} when Go cannot read it either.
 * @throws {NotKnown} when it is too long, or go-yaml may read it differently.
 */
export function readYaml(bytes: Bytes): Json {
  const known = values.get(bytes) ?? { value: parsed(bytes) };
  values.set(bytes, known);
  return copyOf(known.value);
}
