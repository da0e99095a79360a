import type { Bytes } from '../../../base/go-text/index.ts';
import { type Json, type JsonObject, setOwn } from '../../../kubernetes/index.ts';
import { formatFloat } from '../values/numbers.ts';
import { composeYaml, type YamlNode } from './nodes.ts';
import { YamlError } from './problem.ts';
import { keyText, resolveScalar, type YamlScalar } from './resolve.ts';
import { decodeYaml } from './text.ts';

/** How much of what is read may come from aliases, as go-yaml limits it. */
function allowedAliasRatio(count: number): number {
  const low = 400_000;
  const high = 4_000_000;
  return count <= low ? 0.99 : count >= high ? 0.1 : 0.99 - (0.89 * (count - low)) / (high - low);
}

/** Deepest nesting of what is read; aliases may add to that of the text. */
const maxDepth = 256;

/** How much text is read; aliases may repeat that of the document. */
const maxTextLength = 8_388_608;

class Decoder {
  #textLength = 0;
  readonly #open = new Set<YamlNode>();
  #count = 0;
  #aliasCount = 0;
  #aliasDepth = 0;
  #depth = 0;

  decode(node: YamlNode): Json {
    this.#count++;
    this.#aliasCount += this.#aliasDepth > 0 ? 1 : 0;
    const ratio = this.#aliasCount / this.#count;
    if (this.#aliasCount > 100 && this.#count > 1_000 && ratio > allowedAliasRatio(this.#count)) {
      throw new YamlError('yaml: document contains excessive aliasing');
    }
    switch (node.kind) {
      case 'alias':
        return this.#alias(node, () => this.decode(node.node));
      case 'sequence':
        return this.#nested(() => node.items.map((item) => this.decode(item)));
      case 'mapping':
        return this.#nested(() => this.#mapping(node, {}));
      default:
        this.#textLength += node.text.length;
        if (this.#textLength > maxTextLength) {
          throw new YamlError(`yaml: document repeats its text to more than ${maxTextLength} characters`);
        }
        return jsonOf(resolveScalar(node));
    }
  }

  #nested<T>(read: () => T): T {
    if (this.#depth >= maxDepth) {
      throw new YamlError(`yaml: exceeded max depth of ${maxDepth}`);
    }
    this.#depth++;
    const value = read();
    this.#depth--;
    return value;
  }

  #alias<T>(node: YamlNode & { kind: 'alias' }, read: () => T): T {
    if (this.#open.has(node)) {
      throw new YamlError(`yaml: anchor '${node.name}' value contains itself`);
    }
    this.#open.add(node);
    this.#aliasDepth++;
    const value = read();
    this.#aliasDepth--;
    this.#open.delete(node);
    return value;
  }

  #mapping(node: YamlNode & { kind: 'mapping' }, object: JsonObject): JsonObject {
    for (const [keyNode, valueNode] of node.entries) {
      if (isMerge(keyNode)) {
        this.#merge(valueNode, object);
        continue;
      }
      const key = this.#key(keyNode);
      const value = this.decode(valueNode);
      const text = keyText(key);
      if (text === undefined) {
        const type = key === null ? '%!s(<nil>), key: <nil>' : `uint64, key: ${key}`;
        throw new YamlError(`unsupported map key of type: ${type}, value: ${JSON.stringify(value)}`);
      }
      setOwn(object, text, value);
    }
    return object;
  }

  #key(node: YamlNode): YamlScalar {
    const target = node.kind === 'alias' ? node.node : node;
    if (target.kind === 'scalar') {
      return resolveScalar(target);
    }
    const value = this.decode(node);
    throw new YamlError(`yaml: invalid map key: ${JSON.stringify(value)}`);
  }

  #merge(node: YamlNode, object: JsonObject): void {
    const fail = (): never => {
      throw new YamlError('yaml: map merge requires map or sequence of maps as the value');
    };
    if (node.kind === 'sequence') {
      for (const item of node.items.toReversed()) {
        if (item.kind === 'sequence') {
          fail();
        }
        this.#merge(item, object);
      }
    } else if (node.kind === 'alias') {
      const target = node.node;
      if (target.kind !== 'mapping') {
        fail();
      } else {
        this.#alias(node, () => this.#nested(() => this.#mapping(target, object)));
      }
    } else if (node.kind === 'mapping') {
      this.#nested(() => this.#mapping(node, object));
    } else {
      fail();
    }
  }
}

function isMerge(node: YamlNode): boolean {
  return node.kind === 'scalar' && node.text === '<<' && (node.isPlain || node.tag === 'tag:yaml.org,2002:merge');
}

function jsonOf(value: YamlScalar): Json {
  if (typeof value === 'bigint') {
    return Number(value);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new YamlError(`json: unsupported value: ${formatFloat(value, 'g', -1)}`);
  }
  return value;
}

/**
 * Reads the first document of YAML as sigs.k8s.io/yaml does: the last of two equal keys wins, and what follows the first
 * document is not read.
 *
 * @throws {YamlError} with Go's message, or one that is as clear.
 */
export function readYaml(bytes: Bytes): Json {
  const node = composeYaml(decodeYaml(bytes));
  return node === undefined ? null : new Decoder().decode(node);
}
