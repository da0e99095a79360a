import type { Bytes } from '../../../base/go-text/index.ts';
import { copyOf, isJsonObject, type Json, type JsonObject, setOwn } from '../../../kubernetes/index.ts';
import { keyOf, type PlainValue } from '../../../kubernetes/manifests/index.ts';
import { resolveScalar } from './resolve.ts';
import { maxYamlDepth, YamlError, YamlScanner, type YamlToken, type YamlTokenType } from './scan.ts';
import { decodeYaml } from './text.ts';

/** What was read of a node; what it amounts to counts what its aliases stand for. */
interface YamlNode {
  value: Json;
  /** A scalar with all its digits, as a key needs it. */
  scalar?: PlainValue;
  isMergeKey?: boolean;
  isAlias?: boolean;
  nodes: number;
  textLength: number;
  depth: number;
}

/** How a node may be written where it is. */
type Place = 'block' | 'blockOrList' | 'flow';

/** How much of what is read may come from aliases, as go-yaml limits it. */
function allowedAliasRatio(count: number): number {
  const low = 400_000;
  const high = 4_000_000;
  return count <= low ? 0.99 : count >= high ? 0.1 : 0.99 - (0.89 * (count - low)) / (high - low);
}

/** How much text is read; aliases may repeat that of the document. */
const maxTextLength = 8_388_608;

const documentStarts: readonly YamlTokenType[] = ['version', 'tagDirective', 'documentStart'];
const emptyNode: YamlNode = { value: null, scalar: null, nodes: 1, textLength: 0, depth: 0 };

class Reader {
  readonly #scanner: YamlScanner;
  /** What anchors name: undefined as long as the node is not read to its end. */
  readonly #anchors = new Map<string, { node: YamlNode | undefined }>();
  readonly #tagPrefixes = new Map<string, string>();
  /** The level of the current node, and the deepest one in what is read. */
  #level = 0;
  #deepest = 0;
  #nodes = 0;
  #aliased = 0;
  #textLength = 0;

  constructor(text: string) {
    this.#scanner = new YamlScanner(text);
  }

  /** The first document; null if there is none. */
  document(): Json {
    const { type } = this.#scanner.peek();
    if (type === 'streamEnd') {
      return null;
    }
    this.#directives();
    if (documentStarts.includes(type)) {
      if (this.#scanner.take().type !== 'documentStart') {
        this.#scanner.fail('did not find expected <document start>');
      }
      if ([...documentStarts, 'documentEnd', 'streamEnd'].includes(this.#scanner.peek().type)) {
        return null;
      }
    }
    const value = jsonOf(this.#node('block'));
    // What follows is looked at, as by Go, but may be anything.
    this.#scanner.peek();
    return value;
  }

  #directives(): void {
    let hasVersion = false;
    for (;;) {
      const { type, text, suffix } = this.#scanner.peek();
      if (type === 'version') {
        if (hasVersion || text !== '1.1') {
          this.#scanner.fail('found incompatible YAML document');
        }
        hasVersion = true;
      } else if (type === 'tagDirective') {
        if (this.#tagPrefixes.has(text)) {
          this.#scanner.fail('found duplicate %TAG directive');
        }
        this.#tagPrefixes.set(text, suffix);
      } else {
        return;
      }
      this.#scanner.take();
    }
  }

  #tagOf({ text, suffix }: YamlToken): string {
    const known: Readonly<Record<string, string>> = { '': '', '!': '!', '!!': 'tag:yaml.org,2002:' };
    const prefix = this.#tagPrefixes.get(text) ?? known[text];
    return prefix === undefined ? this.#scanner.fail('found undefined tag handle') : prefix + suffix;
  }

  #node(place: Place): YamlNode {
    this.#nodes++;
    if (this.#scanner.peek().type === 'alias') {
      return this.#alias(this.#scanner.take().text);
    }
    const anchor: { node: YamlNode | undefined } = { node: undefined };
    let name: string | undefined;
    let tag: string | undefined;
    for (;;) {
      const token = this.#scanner.peek();
      if (token.type === 'anchor' && name === undefined) {
        name = token.text;
      } else if (token.type === 'tag' && tag === undefined) {
        tag = this.#tagOf(token);
      } else {
        break;
      }
      this.#scanner.take();
    }
    if (name !== undefined) {
      this.#anchors.set(name, anchor);
    }
    const before = { nodes: this.#nodes, textLength: this.#textLength };
    const node = this.#content(place, tag ?? '', name !== undefined || (tag ?? '') !== '');
    node.nodes = this.#nodes - before.nodes + 1;
    node.textLength = this.#textLength - before.textLength;
    anchor.node = node;
    return node;
  }

  #alias(name: string): YamlNode {
    const anchor = this.#anchors.get(name);
    if (anchor?.node === undefined) {
      throw new YamlError(
        anchor === undefined
          ? `yaml: unknown anchor '${name}' referenced`
          : `yaml: anchor '${name}' value contains itself`,
      );
    }
    const { node } = anchor;
    this.#nodes += node.nodes;
    this.#aliased += node.nodes;
    if (this.#aliased > 100 && this.#nodes > 1_000 && this.#aliased / this.#nodes > allowedAliasRatio(this.#nodes)) {
      throw new YamlError('yaml: document contains excessive aliasing');
    }
    this.#readText(node.textLength);
    this.#checkDepth(this.#level + node.depth);
    this.#deepest = Math.max(this.#deepest, this.#level + node.depth);
    return { ...node, value: copyOf(node.value), isMergeKey: false, isAlias: true };
  }

  #readText(length: number): void {
    this.#textLength += length;
    if (this.#textLength > maxTextLength) {
      throw new YamlError(`yaml: document repeats its text to more than ${maxTextLength} characters`);
    }
  }

  #checkDepth(depth: number): void {
    if (depth > maxYamlDepth) {
      throw new YamlError(`yaml: exceeded max depth of ${maxYamlDepth}`);
    }
  }

  #scalar(text: string, tag: string, isPlain: boolean): YamlNode {
    this.#readText(text.length);
    const scalar = resolveScalar(text, tag, isPlain);
    const isMergeKey = text === '<<' && (isPlain || tag === 'tag:yaml.org,2002:merge');
    const value = typeof scalar === 'bigint' ? Number(scalar) : scalar;
    return { value, scalar, isMergeKey, nodes: 1, textLength: 0, depth: 0 };
  }

  /** @param isNamed whether it has an anchor or a tag: then it may be empty. */
  #content(place: Place, tag: string, isNamed: boolean): YamlNode {
    const { type, text, isPlain } = this.#scanner.peek();
    switch (type) {
      case 'scalar':
        this.#scanner.take();
        return this.#scalar(text, tag, (tag === '' && isPlain) || tag === '!');
      case 'blockEntry':
        if (place === 'blockOrList') {
          return this.#collection(() => this.#blockList());
        }
        break;
      case 'flowSequence':
        return this.#collection(() => this.#flowList());
      case 'flowMapping':
        return this.#collection(() => this.#flowMapping());
      case 'blockSequence':
        if (place !== 'flow') {
          this.#scanner.take();
          const list = this.#collection(() => this.#blockList());
          this.#end("did not find expected '-' indicator");
          return list;
        }
        break;
      case 'blockMapping':
        if (place !== 'flow') {
          return this.#collection(() => this.#blockMapping());
        }
        break;
    }
    return isNamed ? this.#scalar('', tag, tag === '') : this.#scanner.fail('did not find expected node content');
  }

  #collection(read: () => Json): YamlNode {
    const before = this.#deepest;
    this.#level++;
    this.#checkDepth(this.#level);
    this.#deepest = this.#level;
    const value = read();
    const depth = this.#deepest - this.#level + 1;
    this.#deepest = Math.max(this.#deepest, before);
    this.#level--;
    return { value, nodes: 1, textLength: 0, depth };
  }

  #nodeUnless(place: Place, ...ends: readonly YamlTokenType[]): YamlNode {
    return ends.includes(this.#scanner.peek().type) ? emptyNode : this.#node(place);
  }

  /** The value of a key, which may have none. */
  #valueUnless(place: Place, ...ends: readonly YamlTokenType[]): YamlNode {
    if (this.#scanner.peek().type !== 'value') {
      return emptyNode;
    }
    this.#scanner.take();
    return this.#nodeUnless(place, ...ends);
  }

  #blockList(): Json[] {
    const items: Json[] = [];
    while (this.#scanner.peek().type === 'blockEntry') {
      this.#scanner.take();
      items.push(jsonOf(this.#nodeUnless('block', 'blockEntry', 'key', 'value', 'blockEnd')));
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
    while (this.#scanner.peek().type === 'key') {
      this.#scanner.take();
      const key = this.#nodeUnless('blockOrList', 'key', 'value', 'blockEnd');
      put(object, key, this.#valueUnless('blockOrList', 'key', 'value', 'blockEnd'));
    }
    this.#end('did not find expected key');
    return object;
  }

  /** Reads the items of a collection in brackets. */
  #flow(end: YamlTokenType, close: string, readItem: (startsWithKey: boolean) => void): void {
    this.#scanner.take();
    for (let isFirst = true; this.#scanner.peek().type !== end; isFirst = false) {
      if (!isFirst && this.#scanner.take().type !== 'flowEntry') {
        this.#scanner.fail(`did not find expected ',' or '${close}'`);
      }
      const { type } = this.#scanner.peek();
      if (type === end) {
        break;
      }
      if (type === 'key') {
        this.#scanner.take();
      }
      readItem(type === 'key');
    }
    this.#scanner.take();
  }

  #flowList(): Json[] {
    const items: Json[] = [];
    this.#flow('flowSequenceEnd', ']', (startsWithKey) => {
      items.push(startsWithKey ? this.#pair() : jsonOf(this.#node('flow')));
    });
    return items;
  }

  /** A mapping of one key in a list. */
  #pair(): JsonObject {
    let key = emptyNode;
    if (['value', 'flowEntry', 'flowSequenceEnd'].includes(this.#scanner.peek().type)) {
      // As in go-yaml, whatever follows an empty key is taken.
      this.#scanner.take();
    } else {
      key = this.#node('flow');
    }
    const object: JsonObject = {};
    put(object, key, this.#valueUnless('flow', 'flowEntry', 'flowSequenceEnd'));
    return object;
  }

  #flowMapping(): JsonObject {
    const object: JsonObject = {};
    this.#flow('flowMappingEnd', '}', (startsWithKey) => {
      const key = startsWithKey ? this.#nodeUnless('flow', 'value', 'flowEntry', 'flowMappingEnd') : this.#node('flow');
      put(object, key, startsWithKey ? this.#valueUnless('flow', 'flowEntry', 'flowMappingEnd') : emptyNode);
    });
    return object;
  }
}

function jsonOf({ value }: YamlNode): Json {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new YamlError(`json: unsupported value: ${value}`);
  }
  return value;
}

/** Sets a field of an object; the key << merges others into it, of which the first one wins. */
function put(object: JsonObject, key: YamlNode, node: YamlNode): void {
  const value = jsonOf(node);
  if (key.isMergeKey !== true) {
    const name = key.scalar === undefined ? undefined : keyOf(key.scalar);
    if (name === undefined) {
      throw new YamlError('unsupported map key: it is null, a list, a map or more than 63 bits long');
    }
    setOwn(object, name, value);
    return;
  }
  for (const one of Array.isArray(value) && node.isAlias !== true ? value.toReversed() : [value]) {
    if (!isJsonObject(one)) {
      throw new YamlError('yaml: map merge requires map or sequence of maps as the value');
    }
    for (const [name, item] of Object.entries(one)) {
      setOwn(object, name, item);
    }
  }
}

/**
 * Reads the first document of YAML as sigs.k8s.io/yaml does: the last of two equal keys wins, and what follows the first
 * document is not read.
 *
 * @throws {YamlError} when Go cannot read it either.
 */
export function readYaml(bytes: Bytes): Json {
  return new Reader(decodeYaml(bytes)).document();
}
