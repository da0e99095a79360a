import { Buffer } from 'node:buffer';
import { type Bytes, invalidAt, textOf } from '../../../base/go-text/index.ts';
import { isJsonObject, type Json, type JsonObject, setOwn } from '../../../kubernetes/index.ts';
import { keyOf, type PlainValue, plainValue } from '../../../kubernetes/manifests/index.ts';
import { NotComputed } from '../budget.ts';
import { checkDepth, notYaml, YamlScanner, type YamlTokenType } from './scan.ts';

/** What was read of a node. */
interface YamlNode {
  value: Json;
  /** A scalar with all its digits, as a key needs it. */
  scalar?: PlainValue;
  isMergeKey?: boolean;
  isAlias?: boolean;
}

/** How a node may be written where it is. */
type Place = 'block' | 'blockOrList' | 'flow';

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

class Reader {
  readonly #scanner: YamlScanner;
  /** What anchors name: undefined as long as the node is not read to its end. */
  readonly #anchors = new Map<string, YamlNode | undefined>();
  #level = 0;
  #nodes = 0;
  #aliased = 0;
  #textLength = 0;

  constructor(text: string) {
    this.#scanner = new YamlScanner(text);
  }

  /** The first document; null if there is none. */
  document(): Json {
    let isStarted = false;
    while (this.#next('%', '---')) {
      isStarted = true;
      const { type, text } = this.#scanner.take();
      if (type === '---') {
        break;
      }
      if (!this.#next('%', '---') || (text.startsWith('%YAML') && !/^%YAML[ \t]+0?1\.0?1\b/.test(text))) {
        this.#scanner.fail('found incompatible YAML document');
      }
    }
    if (this.#next('end') || (isStarted && this.#next('%', '---', '...'))) {
      return null;
    }
    const value = jsonOf(this.#node('block'));
    // What follows is looked at, as by Go, but may be anything.
    this.#scanner.peek();
    return value;
  }

  #next(...types: readonly YamlTokenType[]): boolean {
    return types.includes(this.#scanner.peek().type);
  }

  #tagOf(text: string): string {
    const [, verbatim, handle, suffix = ''] = /^!(?:<(.*)>|([0-9A-Za-z_-]*!)?(.*))$/.exec(text) ?? [];
    if (verbatim !== undefined) {
      return verbatim;
    }
    if (handle !== undefined && (handle !== '!' || suffix === '')) {
      this.#scanner.fail('found undefined tag handle');
    }
    return handle === '!' ? tagPrefix + suffix : `!${suffix}`;
  }

  #node(place: Place): YamlNode {
    this.#nodes++;
    if (this.#next('*')) {
      return this.#alias(this.#scanner.take().text);
    }
    let name: string | undefined;
    let tag: string | undefined;
    while ((name === undefined && this.#next('&')) || (tag === undefined && this.#next('!'))) {
      const { type, text } = this.#scanner.take();
      if (type === '&') {
        name = text;
      } else {
        tag = this.#tagOf(text);
      }
    }
    if (name === undefined) {
      return this.#content(place, tag);
    }
    this.#anchors.set(name, undefined);
    const node = this.#content(place, tag ?? '');
    this.#anchors.set(name, node);
    return node;
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

  #scalar(text: string, tag: string, isPlain: boolean): YamlNode {
    this.#readText(text);
    const scalar = resolved(text, tag, isPlain);
    const isMergeKey = text === '<<' && (isPlain || tag === `${tagPrefix}merge`);
    return { value: typeof scalar === 'bigint' ? Number(scalar) : scalar, scalar, isMergeKey };
  }

  /** @param tag undefined if it has neither an anchor nor a tag: then it may not be empty. */
  #content(place: Place, tag: string | undefined): YamlNode {
    const { type, text, isPlain } = this.#scanner.peek();
    if (type === 'scalar') {
      this.#scanner.take();
      return this.#scalar(text, tag ?? '', ((tag ?? '') === '' && isPlain) || tag === '!');
    }
    const read =
      type === '['
        ? () => this.#flowList()
        : type === '{'
          ? () => this.#flowMapping()
          : (type === 'list' && place !== 'flow') || (type === '-' && place === 'blockOrList')
            ? () => this.#blockList(type === 'list')
            : type === 'map' && place !== 'flow'
              ? () => this.#blockMapping()
              : undefined;
    if (read === undefined) {
      return tag === undefined
        ? this.#scanner.fail('did not find expected node content')
        : this.#scalar('', tag, tag === '' || tag === '!');
    }
    this.#level++;
    checkDepth(this.#level);
    const value = read();
    this.#level--;
    return { value };
  }

  #nodeUnless(place: Place, ...ends: readonly YamlTokenType[]): YamlNode {
    return this.#next(...ends) ? emptyNode : this.#node(place);
  }

  /** The value of a key, which may have none. */
  #valueUnless(place: Place, ...ends: readonly YamlTokenType[]): YamlNode {
    if (!this.#next(':')) {
      return emptyNode;
    }
    this.#scanner.take();
    return this.#nodeUnless(place, ...ends);
  }

  /** @param hasEnd whether the list has an end of its own: that of one as far out as its key is the mapping's. */
  #blockList(hasEnd: boolean): Json[] {
    const items: Json[] = [];
    if (hasEnd) {
      this.#scanner.take();
    }
    while (this.#next('-')) {
      this.#scanner.take();
      items.push(jsonOf(this.#nodeUnless('block', '-', '?', ':', 'blockEnd')));
    }
    if (hasEnd) {
      this.#end("did not find expected '-' indicator");
    }
    return items;
  }

  /** Takes the end of a list or a mapping. */
  #end(problem: string): void {
    if (this.#scanner.take().type !== 'blockEnd') {
      this.#scanner.fail(problem);
    }
  }

  #blockMapping(): JsonObject {
    const object: JsonObject = {};
    this.#scanner.take();
    while (this.#next('?')) {
      this.#scanner.take();
      const key = this.#nodeUnless('blockOrList', '?', ':', 'blockEnd');
      put(object, key, this.#valueUnless('blockOrList', '?', ':', 'blockEnd'));
    }
    this.#end('did not find expected key');
    return object;
  }

  /** Reads the items of a collection in brackets. */
  #flow(close: ']' | '}', readItem: (startsWithKey: boolean) => void): void {
    this.#scanner.take();
    for (let isFirst = true; !this.#next(close); isFirst = false) {
      if (!isFirst && this.#scanner.take().type !== ',') {
        this.#scanner.fail(`did not find expected ',' or '${close}'`);
      }
      if (this.#next(close)) {
        break;
      }
      const startsWithKey = this.#next('?');
      if (startsWithKey) {
        this.#scanner.take();
      }
      readItem(startsWithKey);
    }
    this.#scanner.take();
  }

  #flowList(): Json[] {
    const items: Json[] = [];
    this.#flow(']', (startsWithKey) => {
      items.push(startsWithKey ? this.#pair() : jsonOf(this.#node('flow')));
    });
    return items;
  }

  /** A mapping of one key in a list. */
  #pair(): JsonObject {
    const object: JsonObject = {};
    const key = this.#nodeUnless('flow', ':', ',', ']');
    if (key === emptyNode) {
      // As in go-yaml, whatever follows an empty key is taken.
      this.#scanner.take();
    }
    put(object, key, this.#valueUnless('flow', ',', ']'));
    return object;
  }

  #flowMapping(): JsonObject {
    const object: JsonObject = {};
    this.#flow('}', (startsWithKey) => {
      const key = startsWithKey ? this.#nodeUnless('flow', ':', ',', '}') : this.#node('flow');
      put(object, key, startsWithKey ? this.#valueUnless('flow', ',', '}') : emptyNode);
    });
    return object;
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
