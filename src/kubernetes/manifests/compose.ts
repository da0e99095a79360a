import {
  type Alias,
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  Parser,
  Scalar,
} from 'yaml';
import { truncated } from '../../base/index.ts';
import { isJsonObject, isTooDeep, type Json, maxJsonDepth, setOwn } from '../objects/json/json.ts';
import { keyText, kubectlOptions } from './kubectl-schema.ts';

/** Why a document cannot be read; `offset` is in characters of its text. */
export class ComposeError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** A document as values, as kubectl reads it. */
export interface Composed {
  value: unknown;
  /** Duplicate keys. kubectl silently uses the last one. */
  duplicates: { offset: number; message: string }[];
  root: Node | null;
}

interface Anchor {
  node: Node;
  value: unknown;
  /** The number of nodes and characters in it, including those of aliases; once it is read. */
  size: number;
  isOpen: boolean;
}

export const tooDeep = `nests deeper than ${maxJsonDepth} levels`;

/** The rest of a plain key whose colon kubectl reads as text. */
const glued = /\s*:[,[\]{}]/y;

/** Maximum number of nodes and characters that may come from aliases. */
const maxAliased = 1024 * 1024;

export const startOf = (node: unknown): number => (node as Node | null)?.range?.[0] ?? 0;

const isMerge = ({ key }: Pair): boolean =>
  isScalar(key) && key.value === '<<' && key.type === Scalar.PLAIN && key.tag === undefined;

class Reader {
  readonly duplicates: Composed['duplicates'] = [];
  /** Nodes and characters read so far, including those of aliases, and how many of them came from aliases. */
  #size = 0;
  #aliased = 0;
  #brackets = 0;
  readonly #anchors = new Map<string, Anchor>();
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Refuses what kubectl's parser, which implements YAML 1.1, reads differently. */
  #check(scalar: Scalar, isKey: boolean): void {
    const { type, value, source = '' } = scalar;
    const [start, end] = scalar.range ?? [0, 0];
    glued.lastIndex = end;
    if (type === Scalar.PLAIN && this.#brackets > 0) {
      if (source.startsWith(':') || source.includes('?') || (isKey && glued.test(this.#text))) {
        throw new ComposeError('text with ":" or "?" in brackets is ambiguous; put it in quotes', start);
      }
    } else if (type === Scalar.QUOTE_DOUBLE) {
      if (!String(value).isWellFormed()) {
        throw new ComposeError('an escape is half of a character, which kubectl does not read', start);
      }
      if (/\\\r?\n[ \t]*\r?\n/.test(this.#text.slice(start, end))) {
        throw new ComposeError('a blank line follows a backslash; write the line break as \\n', start);
      }
    }
  }

  value(node: unknown, level = 0): unknown {
    if (isAlias(node)) {
      return this.#alias(node).value;
    }
    if (isScalar(node)) {
      return this.#scalar(node);
    }
    if (isMap(node) || isSeq(node)) {
      if (level === maxJsonDepth) {
        throw new ComposeError(tooDeep, startOf(node));
      }
      const value = isMap(node) ? {} : [];
      this.#brackets += node.flow ? 1 : 0;
      this.#open(node, value, 1, () => {
        if (isMap(node)) {
          this.#fillMap(value as Record<string, unknown>, node.items, level + 1);
        } else {
          for (const item of node.items) {
            (value as unknown[]).push(this.value(item, level + 1));
          }
        }
      });
      this.#brackets -= node.flow ? 1 : 0;
      return value;
    }
    this.#size++;
    return null;
  }

  #scalar(node: Scalar): unknown {
    this.#check(node, false);
    const { value, source = '' } = node;
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new ComposeError(`${source} is not a JSON number; put it in quotes if it is text`, startOf(node));
    }
    // JSON's integers have no negative zero.
    const own = value === 0 ? 0 : value;
    this.#open(node, own, 1 + source.length);
    return own;
  }

  /** Counts a node, and notes its anchor, if it has one, while its content is read. */
  #open(node: Node & { anchor?: string }, value: unknown, size: number, fill: () => void = () => {}): void {
    const before = this.#size;
    this.#size += size;
    const anchor = { node, value, size: 0, isOpen: true };
    if (node.anchor !== undefined) {
      this.#anchors.set(node.anchor, anchor);
    }
    fill();
    anchor.size = this.#size - before;
    anchor.isOpen = false;
  }

  #alias(node: Alias): Anchor {
    const name = node.source.slice(0, 100);
    const anchor = this.#anchors.get(node.source);
    if (anchor === undefined || anchor.isOpen) {
      const problem = anchor === undefined ? 'has no anchor before it' : 'contains itself';
      throw new ComposeError(`the alias *${name} ${problem}`, startOf(node));
    }
    this.#size += anchor.size;
    this.#aliased += anchor.size;
    if (this.#aliased > maxAliased) {
      throw new ComposeError('too much of the document comes from aliases; write it out, or split it', startOf(node));
    }
    return anchor;
  }

  #key(key: unknown): string {
    const scalar = isAlias(key) ? this.#alias(key).node : key;
    const text = isScalar(scalar) ? keyText(scalar) : undefined;
    if (text === undefined) {
      const problem = isScalar(scalar)
        ? `the key ${scalar.value === null ? 'null' : scalar.source} is not text; put it in quotes`
        : 'a key must be text, not a map or a list';
      throw new ComposeError(problem, startOf(key));
    }
    if (key === scalar) {
      this.#check(scalar as Scalar, true);
      this.#open(scalar as Scalar, (scalar as Scalar).value, 1 + text.length);
    }
    return text;
  }

  /** Merges the maps of a "<<" as kubectl does: they override the keys before it, and of several maps the first wins. */
  #mergeInto(map: Record<string, unknown>, { key, value: node }: Pair, level: number): void {
    const value = this.value(node, level);
    const from = isSeq(node) ? (value as unknown[]) : [value];
    for (const one of from.toReversed()) {
      if (!isJsonObject(one)) {
        throw new ComposeError('"<<" needs a map, an alias of one, or a list of these', startOf(key));
      }
      for (const [name, item] of Object.entries(one)) {
        setOwn(map, name, item);
      }
    }
  }

  #fillMap(map: Record<string, unknown>, items: readonly Pair[], level: number): void {
    const own = new Set<string>();
    for (const pair of items) {
      if (isMerge(pair)) {
        this.#mergeInto(map, pair, level);
        continue;
      }
      const key = this.#key(pair.key);
      if (own.has(key) && this.duplicates.length < 5) {
        const message = `duplicate key ${JSON.stringify(truncated(key, 100))} in a map`;
        this.duplicates.push({ offset: startOf(pair.key), message });
      }
      own.add(key);
      setOwn(map, key, this.value(pair.value, level));
    }
  }
}

/** Maximum number of words, signs, blanks and line breaks of a document: as many as 8 MiB of manifests have. */
const maxLexemes = 3_000_000;

function* tokensOf(text: string): Generator<CST.Token> {
  const parser = new Parser();
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (++count > maxLexemes) {
      throw new ComposeError(`a document has more than ${maxLexemes} words and signs; split it with "---" lines`, 0);
    }
    yield* parser.next(lexeme);
  }
  yield* parser.end();
}

/** Control characters, which kubectl's parser does not allow anywhere in YAML. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\ufffe\uffff]/;
const oldLineBreak = /[\u0085\u2028\u2029]/;

function codeOf(text: string, index: number): string {
  return `U+${text.charCodeAt(index).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Makes checks that the parser omits, or explains badly. */
function checkText(text: string): void {
  const control = forbidden.exec(text);
  if (control !== null) {
    throw new ComposeError(`the control character ${codeOf(text, control.index)} is not allowed`, control.index);
  }
  const lineBreak = oldLineBreak.exec(text);
  if (lineBreak !== null) {
    const problem = 'is a line break for kubectl; write it as an escape in double quotes';
    throw new ComposeError(`${codeOf(text, lineBreak.index)} ${problem}`, lineBreak.index);
  }
}

/** Parses a text as kubectl does, as far as `yaml` does. @throws {ComposeError} */
export function parseAsKubectl(text: string): Document.Parsed {
  checkText(text);
  const { stackTraceLimit } = Error;
  // A text may have as many errors as characters, and each would take a kilobyte.
  Error.stackTraceLimit = 0;
  let document: Document.Parsed;
  try {
    const documents = new Composer(kubectlOptions).compose(tokensOf(text), true, text.length);
    [document] = documents as unknown as [Document.Parsed];
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  // An unknown tag is only a warning; so is a bracket that is indented less than its line.
  const mistake =
    document.errors[0] ??
    document.warnings.find(({ code }) => code === 'BAD_DIRECTIVE' || code === 'TAG_RESOLVE_FAILED');
  if (mistake !== undefined) {
    const { code, message, pos } = mistake;
    if (/directive(?! indicator)/i.test(message)) {
      const remedy = 'kubectl does not read directives (%YAML, %TAG); remove the line';
      throw new ComposeError(remedy, text.search(/^%/m));
    }
    const shown: Readonly<Record<string, string>> = {
      RESOURCE_EXHAUSTION: tooDeep,
      TAG_RESOLVE_FAILED: `${message.slice(0, 100)}: remove the tag`,
    };
    throw new ComposeError(shown[code] ?? message.slice(0, 300), pos[0]);
  }
  return document;
}

/** The values of one document, as kubectl reads them. @throws {ComposeError} for what kubectl's parser rejects. */
export function compose(text: string): Composed {
  const root = parseAsKubectl(text).contents;
  const reader = new Reader(text);
  const value = reader.value(root);
  // Aliases may nest deeper than the text.
  if (isTooDeep(value as Json)) {
    throw new ComposeError(tooDeep, 0);
  }
  return { value, duplicates: reader.duplicates, root };
}
