import { Buffer } from 'node:buffer';
import { type Bytes, invalidAt, textOf } from '../../../base/go-text/index.ts';
import { isJsonObject, type Json, type JsonObject, setOwn } from '../../../kubernetes/index.ts';
import { keyOf, type PlainValue, plainValue } from '../../../kubernetes/manifests/index.ts';
import { NotComputed } from '../budget.ts';
import { checkDepth, maxSimpleKey, notYaml, YamlText } from './scan.ts';

/** What was read of a node. */
interface YamlNode {
  value: Json;
  /** A scalar with all its digits, as a key needs it. */
  scalar?: PlainValue;
  isMergeKey?: boolean;
  isAlias?: boolean;
}

/** How many nodes may come from aliases, and which share of all, as go-yaml limits it. */
const maxAliased = 400_000;
const maxAliasedShare = 0.99;

/** How much text is read; aliases may repeat that of the document. */
const maxTextLength = 8_388_608;

const emptyNode: YamlNode = { value: null, scalar: null };

const tagPrefix = 'tag:yaml.org,2002:';
const typeNames: Readonly<Record<string, string>> = {
  bigint: 'int',
  boolean: 'bool',
  number: 'float',
  object: 'null',
  string: 'str',
};
const timestamp =
  /^[0-9]{4}-[01]?[0-9]-[0-3]?[0-9](?:[Tt ][0-2]?[0-9]:[0-5]?[0-9]:[0-5]?[0-9](?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?$/;

/**
 * The value of a scalar, as go-yaml v2 reads it.
 *
 * @throws {TemplateError} when it does not have the type that its tag names.
 */
function resolved(text: string, tag: string, isPlain: boolean): PlainValue {
  if (tag === '') {
    return isPlain ? plainValue(text) : text;
  }
  const type = tag.startsWith(tagPrefix) ? tag.slice(tagPrefix.length) : '';
  if (type === 'binary') {
    const packed = text.replaceAll(/[\r\n]/g, '');
    if (packed.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(packed)) {
      throw notYaml('yaml: !!binary value contains invalid base64 data');
    }
    return Buffer.from(packed, 'base64').toString();
  }
  if (!['bool', 'int', 'float', 'null', 'timestamp'].includes(type) || (type === 'timestamp' && timestamp.test(text))) {
    return text;
  }
  const value = plainValue(text);
  if (type === typeNames[typeof value]) {
    return value;
  }
  if (type === 'float' && typeof value === 'bigint' && value < 2n ** 63n) {
    return Number(value);
  }
  throw notYaml(`yaml: cannot decode !!${typeNames[typeof value]} \`${text}\` as a !!${type}`);
}

/** Anchor and tag of a node. */
interface Properties {
  anchor?: string;
  tag?: string;
}

/** What is written of a node besides its properties: a scalar is read by its tag. */
type Content = YamlNode | { text: string; isPlain: boolean };

/** Reads YAML 1.1 as go-yaml v2 does. It reads no further than it has to: what follows the first document does not count. */
class Reader {
  readonly #text: YamlText;
  /** What anchors name: undefined as long as the node is not read to its end. */
  readonly #anchors = new Map<string, YamlNode | undefined>();
  #level = 0;
  #nodes = 0;
  #aliased = 0;
  #textLength = 0;

  constructor(text: string) {
    this.#text = new YamlText(text);
  }

  /** The first document; null if there is none. */
  document(): Json {
    const text = this.#text;
    text.skipToToken(true);
    let isStarted = false;
    while (text.char() === '%' && text.isEnd()) {
      isStarted = true;
      const directive = text.directive();
      text.skipToToken(true);
      const isFollowed = text.isEnd() && '%-'.includes(text.char() || ' ');
      if (!isFollowed || (directive.startsWith('%YAML') && !/^%YAML[ \t]+0?1\.0?1\b/.test(directive))) {
        text.fail('found incompatible YAML document');
      }
    }
    if (text.char() === '-' && text.isEnd()) {
      isStarted = true;
      text.take(3, false);
      text.skipToToken(true);
    }
    const isEmpty = text.isEnd();
    if (isEmpty && !isStarted && text.char() !== '') {
      text.fail('did not find expected node content');
    }
    const { line, startsLine } = text;
    const value = isEmpty ? null : jsonOf(this.#blockNode(-1, false));
    text.skipToToken(true);
    // As by Go, what follows is looked at, but may be anything: on the line of the document, it must not make that a key.
    while (startsLine && text.line === line && !text.isEnd() && !',[]{}|>'.includes(text.char())) {
      this.#lookAtToken();
      text.skipToToken(true);
    }
    this.#lookAtToken();
    return value;
  }

  #lookAtToken(): void {
    const text = this.#text;
    const char = text.char();
    if (text.isSign('-') || text.isSign('?') || text.isSign(':')) {
      if (!text.startsLine) {
        text.fail(`'${char}' is not allowed in this context`);
      }
      text.take(1, true);
    } else if (char === '*' || char === '&') {
      text.anchor();
    } else if (char === '!') {
      text.tag();
    } else if (text.isBlockScalar()) {
      text.blockScalar(-1);
    } else if (char === '%' && text.isEnd()) {
      text.directive();
    } else if (',[]{}'.includes(char)) {
      text.take(char.length, false);
    } else if (!text.isEnd()) {
      this.#content(-1, true, false);
    }
  }

  #tagOf(text: string): string {
    const [, verbatim, handle, suffix = ''] = /^!(?:<(.*)>|([0-9A-Za-z_-]*!)?(.*))$/.exec(text) ?? [];
    if (verbatim !== undefined) {
      return verbatim;
    }
    if (handle !== undefined && (handle !== '!' || suffix === '')) {
      this.#text.fail('found undefined tag handle');
    }
    return handle === '!' ? tagPrefix + suffix : `!${suffix}`;
  }

  /** Takes anchor and tag as far as they are on this line. */
  #properties(isInBlock: boolean): Properties {
    const text = this.#text;
    const { line } = text;
    const own: Properties = {};
    while (text.line === line) {
      if (text.char() === '&' && own.anchor === undefined) {
        own.anchor = text.anchor();
        this.#anchors.set(own.anchor, undefined);
      } else if (text.char() === '!' && own.tag === undefined) {
        own.tag = this.#tagOf(text.tag());
      } else {
        break;
      }
      text.skipToToken(isInBlock);
    }
    return own;
  }

  /** What is read with its properties. */
  #made(content: Content, { anchor, tag = '' }: Properties): YamlNode {
    this.#nodes++;
    const node =
      'text' in content ? this.#scalar(content.text, tag, tag === '' ? content.isPlain : tag === '!') : content;
    if (anchor !== undefined) {
      this.#anchors.set(anchor, node);
    }
    return node;
  }

  #scalar(text: string, tag: string, isPlain: boolean): YamlNode {
    this.#readText(text);
    const scalar = resolved(text, tag, isPlain);
    const isMergeKey = text === '<<' && (isPlain || tag === `${tagPrefix}merge`);
    return { value: typeof scalar === 'bigint' ? Number(scalar) : scalar, scalar, isMergeKey };
  }

  /** Reads one level of lists and mappings. */
  #nested(read: () => Json): { value: Json } {
    this.#level++;
    checkDepth(this.#level);
    const value = read();
    this.#level--;
    return { value };
  }

  /** What starts on this line and is not a block. @param mayBeEmpty whether it has properties. */
  #content(indent: number, isInBlock: boolean, mayBeEmpty: boolean): Content {
    const text = this.#text;
    const char = text.char();
    if (char === '*') {
      return mayBeEmpty ? text.fail('did not expect properties of an alias') : this.#alias(text.anchor());
    }
    if (char === '[' || char === '{') {
      return this.#nested(() => this.#flow(indent, char === '['));
    }
    if (char === '"' || char === "'") {
      return { text: text.quoted(char), isPlain: false };
    }
    if (text.isPlain(isInBlock)) {
      return { text: text.plain(indent, isInBlock), isPlain: true };
    }
    return mayBeEmpty ? { text: '', isPlain: true } : text.fail('did not find expected node content');
  }

  #alias(name: string): YamlNode {
    const node = this.#anchors.get(name);
    if (node === undefined) {
      const problem = this.#anchors.has(name) ? 'value contains itself' : 'is not there';
      throw notYaml(`yaml: anchor '${name}' ${problem}`);
    }
    return { ...node, value: this.#copied(node.value, this.#level), isMergeKey: false, isAlias: true };
  }

  /** A copy of what an alias stands for, which counts as if it was written there. */
  #copied(value: Json, level: number): Json {
    this.#nodes++;
    this.#aliased++;
    const isExcessive = this.#aliased > maxAliased || this.#aliased / this.#nodes > maxAliasedShare;
    if (isExcessive && this.#aliased > 100 && this.#nodes > 1_000) {
      throw notYaml('yaml: document contains excessive aliasing');
    }
    if (typeof value !== 'object' || value === null) {
      this.#readText(String(value));
      return value;
    }
    checkDepth(level + 1);
    if (Array.isArray(value)) {
      return value.map((item) => this.#copied(item, level + 1));
    }
    const copy: JsonObject = {};
    for (const [key, item] of Object.entries(value)) {
      this.#readText(key);
      setOwn(copy, key, this.#copied(item, level + 1));
    }
    return copy;
  }

  #readText(text: string): void {
    this.#textLength += text.length;
    if (this.#textLength > maxTextLength) {
      throw new NotComputed(`YAML repeats its text to more than ${maxTextLength} characters`);
    }
  }

  /** What starts on a line of a block: properties and content, and whether it is a key. */
  #line(indent: number): { own: Properties; content: Content | undefined; isKey: boolean } {
    const text = this.#text;
    const { line, at, startsLine } = text;
    const own = this.#properties(true);
    if (text.line > line || text.isBlockScalar()) {
      return { own, content: undefined, isKey: false };
    }
    const content = this.#content(indent, true, Object.keys(own).length > 0);
    text.skipToToken(true);
    const isKey = startsLine && text.line === line && text.at - at <= maxSimpleKey && text.isSign(':');
    return { own, content, isKey };
  }

  /** Whether a node in a block starts here, and not what comes after it. @param mayBeList as in `#blockNode`. */
  #isWithin(indent: number, mayBeList: boolean): boolean {
    const text = this.#text;
    return (
      !text.isEnd() &&
      (text.column > indent || (text.column === indent && (text.isBlockScalar() || (mayBeList && text.isSign('-')))))
    );
  }

  /**
   * A node in a block.
   *
   * @param indent the column of that block: the node's own lines are further in.
   * @param mayBeList whether it may be a list that is not.
   * @param outer properties on lines above.
   */
  #blockNode(indent: number, mayBeList: boolean, outer: Properties = {}): YamlNode {
    const text = this.#text;
    const { column } = text;
    if (text.startsLine && (text.isSign('-') || text.isSign('?'))) {
      const isList = text.isSign('-');
      const content = this.#nested(() => (isList ? this.#blockList(column) : this.#blockMapping(column)));
      if (isList && column > indent && !text.isEnd() && text.column === column) {
        text.fail("did not find expected '-' indicator");
      }
      return this.#made(content, outer);
    }
    const { own, content, isKey } = this.#line(indent);
    if (isKey && content !== undefined) {
      return this.#made(
        this.#nested(() => this.#blockMapping(column, this.#made(content, own))),
        outer,
      );
    }
    if (Object.keys(own).some((name) => Object.hasOwn(outer, name))) {
      text.fail('did not find expected node content');
    }
    const all = { ...outer, ...own };
    if (content !== undefined) {
      return 'isAlias' in content && Object.keys(outer).length > 0
        ? text.fail('did not expect properties of an alias')
        : this.#made(content, all);
    }
    if (text.isBlockScalar()) {
      return this.#made({ text: text.blockScalar(indent), isPlain: false }, all);
    }
    return this.#isWithin(indent, mayBeList)
      ? this.#blockNode(indent, mayBeList, all)
      : this.#made({ text: '', isPlain: true }, all);
  }

  /** What comes after an indicator, which may be nothing. */
  #valueAfter(startsLine: boolean, indent: number, mayBeList: boolean): YamlNode {
    this.#text.take(1, startsLine);
    this.#text.skipToToken(true);
    return this.#isWithin(indent, mayBeList) ? this.#blockNode(indent, mayBeList) : emptyNode;
  }

  #blockList(column: number): Json[] {
    const text = this.#text;
    const items: Json[] = [];
    while (!text.isEnd() && text.column === column && text.isSign('-')) {
      items.push(jsonOf(this.#valueAfter(true, column, false)));
      text.skipToToken(true);
    }
    return text.isEnd() || text.column <= column ? items : text.fail("did not find expected '-' indicator");
  }

  /** @param first its first key, if that is read already. */
  #blockMapping(column: number, first?: YamlNode): JsonObject {
    const text = this.#text;
    const object: JsonObject = {};
    let key = first;
    while (key !== undefined || (!text.isEnd() && text.column === column)) {
      if (key === undefined && text.isSign('?')) {
        key = this.#valueAfter(true, column, true);
        text.skipToToken(true);
        const hasValue = !text.isEnd() && text.column === column && text.isSign(':');
        put(object, key, hasValue ? this.#valueAfter(true, column, true) : emptyNode);
      } else {
        put(object, key ?? this.#key(column), this.#valueAfter(false, column, true));
      }
      key = undefined;
      text.skipToToken(true);
    }
    return text.isEnd() || text.column < column ? object : text.fail('did not find expected key');
  }

  #key(column: number): YamlNode {
    const { own, content, isKey } = this.#line(column);
    return content === undefined || !isKey ? this.#text.fail("could not find expected ':'") : this.#made(content, own);
  }

  #flowNode(indent: number): YamlNode {
    const text = this.#text;
    const all: Properties = {};
    for (let own = this.#properties(false); Object.keys(own).length > 0; own = this.#properties(false)) {
      Object.assign(all, own);
    }
    const content = text.isEnd() ? undefined : this.#content(indent, false, Object.keys(all).length > 0);
    return content === undefined ? text.fail('did not find expected node content') : this.#made(content, all);
  }

  /** What comes after an indicator in brackets, which may be nothing. */
  #flowValueAfter(indent: number, ends: string): YamlNode {
    const text = this.#text;
    text.take(1, false);
    text.skipToToken(false);
    return text.char() !== '' && ends.includes(text.char()) ? emptyNode : this.#flowNode(indent);
  }

  /** A list or a mapping in brackets. A pair in a list is a mapping of its own. */
  #flow(indent: number, isList: boolean): Json {
    const text = this.#text;
    const close = isList ? ']' : '}';
    const items: Json[] = [];
    const object: JsonObject = {};
    do {
      text.take(1, false);
      text.skipToToken(false);
      if (text.char() === close) {
        break;
      }
      const { line, at } = text;
      const isExplicit = text.char() === '?';
      const key = isExplicit ? this.#flowValueAfter(indent, `:,${close}`) : this.#flowNode(indent);
      text.skipToToken(false);
      const isPossible = isExplicit || (text.line === line && text.at - at <= maxSimpleKey);
      const hasValue = isPossible && text.char() === ':';
      const value = hasValue ? this.#flowValueAfter(indent, `,${close}`) : emptyNode;
      text.skipToToken(false);
      if (isList && !isExplicit && !hasValue) {
        items.push(jsonOf(key));
      } else {
        const pair = isList ? {} : object;
        put(pair, key, value);
        items.push(pair);
      }
    } while (text.char() === ',');
    if (text.char() !== close) {
      text.fail(`did not find expected ',' or '${close}'`);
    }
    text.take(1, false);
    return isList ? items : object;
  }
}

function jsonOf({ value }: YamlNode): Json {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw notYaml(`json: unsupported value: ${value}`);
  }
  return value;
}

/** Sets a field of an object; the key << merges others into it, of which the first one wins. */
function put(object: JsonObject, key: YamlNode, node: YamlNode): void {
  const value = jsonOf(node);
  if (key.isMergeKey !== true) {
    const name = key.scalar === undefined ? undefined : keyOf(key.scalar);
    if (name === undefined) {
      throw notYaml('unsupported map key: it is null, a list, a map or more than 63 bits long');
    }
    setOwn(object, name, value);
    return;
  }
  for (const one of Array.isArray(value) && node.isAlias !== true ? value.toReversed() : [value]) {
    if (!isJsonObject(one)) {
      throw notYaml('yaml: map merge requires map or sequence of maps as the value');
    }
    for (const [name, item] of Object.entries(one)) {
      setOwn(object, name, item);
    }
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
const forbidden = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

/**
 * Reads the first document of YAML as sigs.k8s.io/yaml does: the last of two equal keys wins, and what follows the first
 * document is not read.
 *
 * @throws {TemplateError} when Go cannot read it either.
 */
export function readYaml(bytes: Bytes): Json {
  const text = textOf(bytes);
  if (invalidAt(bytes) !== -1 || forbidden.test(text)) {
    throw notYaml('yaml: control characters and what is not UTF-8 are not allowed');
  }
  return new Reader(text.startsWith('\ufeff') ? text.slice(1) : text).document();
}
