import { problemAt, YamlError } from './problem.ts';
import { maxYamlDepth, YamlScanner, type YamlToken, type YamlTokenType } from './scan.ts';

/** A node of a YAML document. */
export type YamlNode =
  | { kind: 'scalar'; text: string; tag: string; isPlain: boolean }
  | { kind: 'sequence'; items: YamlNode[] }
  | { kind: 'mapping'; entries: [YamlNode, YamlNode][] }
  | { kind: 'alias'; name: string; node: YamlNode };

function emptyNode(): YamlNode {
  return { kind: 'scalar', text: '', tag: '', isPlain: true };
}

/** How a node may be written where it is. */
type Place = 'block' | 'blockOrList' | 'flow';

class Composer {
  readonly #scanner: YamlScanner;
  readonly #anchors = new Map<string, YamlNode>();
  readonly #tagPrefixes = new Map<string, string>();
  #depth = 0;

  constructor(text: string) {
    this.#scanner = new YamlScanner(text);
  }

  /** The first document; undefined if there is none. */
  document(): YamlNode | undefined {
    let token = this.#scanner.peek();
    const starts: readonly YamlTokenType[] = ['version', 'tagDirective', 'documentStart'];
    if (token.type === 'streamEnd') {
      return undefined;
    }
    const isExplicit = starts.includes(token.type);
    this.#directives();
    if (isExplicit) {
      token = this.#scanner.peek();
      if (token.type !== 'documentStart') {
        this.#fail('did not find expected <document start>', token);
      }
      this.#scanner.take();
      token = this.#scanner.peek();
      if ([...starts, 'documentEnd', 'streamEnd'].includes(token.type)) {
        return emptyNode();
      }
    }
    const node = this.#node('block');
    // What follows is looked at, as by Go, but may be anything.
    this.#scanner.peek();
    return node;
  }

  #fail(problem: string, { mark }: YamlToken, context?: YamlToken): never {
    throw problemAt(problem, mark, context?.mark, false);
  }

  #directives(): void {
    let hasVersion = false;
    for (let token = this.#scanner.peek(); ; token = this.#scanner.peek()) {
      if (token.type === 'version') {
        if (hasVersion) {
          this.#fail('found duplicate %YAML directive', token);
        }
        if (token.text !== '1.1') {
          this.#fail('found incompatible YAML document', token);
        }
        hasVersion = true;
      } else if (token.type === 'tagDirective') {
        if (this.#tagPrefixes.has(token.text)) {
          this.#fail('found duplicate %TAG directive', token);
        }
        this.#tagPrefixes.set(token.text, token.suffix);
      } else {
        break;
      }
      this.#scanner.take();
    }
    for (const [handle, prefix] of [
      ['!', '!'],
      ['!!', 'tag:yaml.org,2002:'],
    ] as const) {
      if (!this.#tagPrefixes.has(handle)) {
        this.#tagPrefixes.set(handle, prefix);
      }
    }
  }

  #tagOf(token: YamlToken, start: YamlToken): string {
    if (token.text === '') {
      return token.suffix;
    }
    const prefix = this.#tagPrefixes.get(token.text);
    return prefix === undefined ? this.#fail('found undefined tag handle', token, start) : prefix + token.suffix;
  }

  #node(place: Place): YamlNode {
    const start = this.#scanner.peek();
    if (start.type === 'alias') {
      this.#scanner.take();
      const node = this.#anchors.get(start.text);
      if (node === undefined) {
        throw new YamlError(`yaml: unknown anchor '${start.text}' referenced`);
      }
      return { kind: 'alias', name: start.text, node };
    }
    let anchor: string | undefined;
    let tag: YamlToken | undefined;
    let token = start;
    while ((token.type === 'anchor' && anchor === undefined) || (token.type === 'tag' && tag === undefined)) {
      if (token.type === 'anchor') {
        anchor = token.text;
      } else {
        tag = token;
      }
      this.#scanner.take();
      token = this.#scanner.peek();
    }
    return this.#content(place, token, start, anchor, tag === undefined ? '' : this.#tagOf(tag, start));
  }

  #content(place: Place, token: YamlToken, start: YamlToken, anchor: string | undefined, tag: string): YamlNode {
    const named = <T extends YamlNode>(node: T): T => {
      if (anchor !== undefined) {
        this.#anchors.set(anchor, node);
      }
      return node;
    };
    switch (token.type) {
      case 'scalar': {
        this.#scanner.take();
        const isPlain = (tag === '' && token.isPlain) || tag === '!';
        return named({ kind: 'scalar', text: token.text, tag, isPlain });
      }
      case 'blockEntry':
        if (place === 'blockOrList') {
          return this.#nested(() => this.#indentlessList(named({ kind: 'sequence', items: [] })));
        }
        break;
      case 'flowSequence':
        return this.#nested(() => this.#flowList(named({ kind: 'sequence', items: [] })));
      case 'flowMapping':
        return this.#nested(() => this.#flowMapping(named({ kind: 'mapping', entries: [] })));
      case 'blockSequence':
        if (place !== 'flow') {
          return this.#nested(() => this.#blockList(named({ kind: 'sequence', items: [] })));
        }
        break;
      case 'blockMapping':
        if (place !== 'flow') {
          return this.#nested(() => this.#blockMapping(named({ kind: 'mapping', entries: [] })));
        }
        break;
    }
    if (anchor !== undefined || tag !== '') {
      return named({ kind: 'scalar', text: '', tag, isPlain: tag === '' });
    }
    return this.#fail('did not find expected node content', token, start);
  }

  #nested<T>(read: () => T): T {
    if (this.#depth >= maxYamlDepth) {
      throw new YamlError(`yaml: exceeded max depth of ${maxYamlDepth}`);
    }
    this.#depth++;
    const node = read();
    this.#depth--;
    return node;
  }

  #nodeUnless(place: Place, ...ends: readonly YamlTokenType[]): YamlNode {
    return ends.includes(this.#scanner.peek().type) ? emptyNode() : this.#node(place);
  }

  #blockList(list: YamlNode & { kind: 'sequence' }): YamlNode {
    const start = this.#scanner.take();
    for (;;) {
      const token = this.#scanner.peek();
      if (token.type === 'blockEntry') {
        this.#scanner.take();
        list.items.push(this.#nodeUnless('block', 'blockEntry', 'blockEnd'));
      } else if (token.type === 'blockEnd') {
        this.#scanner.take();
        return list;
      } else {
        this.#fail("did not find expected '-' indicator", token, start);
      }
    }
  }

  #indentlessList(list: YamlNode & { kind: 'sequence' }): YamlNode {
    while (this.#scanner.peek().type === 'blockEntry') {
      this.#scanner.take();
      list.items.push(this.#nodeUnless('block', 'blockEntry', 'key', 'value', 'blockEnd'));
    }
    return list;
  }

  #blockMapping(mapping: YamlNode & { kind: 'mapping' }): YamlNode {
    const start = this.#scanner.take();
    for (;;) {
      const token = this.#scanner.peek();
      if (token.type === 'blockEnd') {
        this.#scanner.take();
        return mapping;
      }
      if (token.type !== 'key') {
        this.#fail('did not find expected key', token, start);
      }
      this.#scanner.take();
      const key = this.#nodeUnless('blockOrList', 'key', 'value', 'blockEnd');
      let value = emptyNode();
      if (this.#scanner.peek().type === 'value') {
        this.#scanner.take();
        value = this.#nodeUnless('blockOrList', 'key', 'value', 'blockEnd');
      }
      mapping.entries.push([key, value]);
    }
  }

  /** Takes the comma between two items. @returns false at the end of the collection. */
  #separate(isFirst: boolean, end: YamlTokenType, close: string, start: YamlToken): boolean {
    const token = this.#scanner.peek();
    if (token.type !== end && !isFirst) {
      if (token.type !== 'flowEntry') {
        this.#fail(`did not find expected ',' or '${close}'`, token, start);
      }
      this.#scanner.take();
    }
    if (this.#scanner.peek().type === end) {
      this.#scanner.take();
      return false;
    }
    return true;
  }

  #flowList(list: YamlNode & { kind: 'sequence' }): YamlNode {
    const start = this.#scanner.take();
    for (let isFirst = true; this.#separate(isFirst, 'flowSequenceEnd', ']', start); isFirst = false) {
      const token = this.#scanner.peek();
      if (token.type !== 'key') {
        list.items.push(this.#node('flow'));
        continue;
      }
      this.#scanner.take();
      list.items.push({ kind: 'mapping', entries: [this.#pair()] });
    }
    return list;
  }

  /** One key with its value within brackets. */
  #pair(): [YamlNode, YamlNode] {
    const next = this.#scanner.peek().type;
    let key = emptyNode();
    if (next === 'value' || next === 'flowEntry' || next === 'flowSequenceEnd') {
      // As in go-yaml, whatever follows an empty key is taken.
      this.#scanner.take();
    } else {
      key = this.#node('flow');
    }
    let value = emptyNode();
    if (this.#scanner.peek().type === 'value') {
      this.#scanner.take();
      value = this.#nodeUnless('flow', 'flowEntry', 'flowSequenceEnd');
    }
    return [key, value];
  }

  #flowMapping(mapping: YamlNode & { kind: 'mapping' }): YamlNode {
    const start = this.#scanner.take();
    for (let isFirst = true; this.#separate(isFirst, 'flowMappingEnd', '}', start); isFirst = false) {
      if (this.#scanner.peek().type !== 'key') {
        mapping.entries.push([this.#node('flow'), emptyNode()]);
        continue;
      }
      this.#scanner.take();
      const key = this.#nodeUnless('flow', 'value', 'flowEntry', 'flowMappingEnd');
      let value = emptyNode();
      if (this.#scanner.peek().type === 'value') {
        this.#scanner.take();
        value = this.#nodeUnless('flow', 'flowEntry', 'flowMappingEnd');
      }
      mapping.entries.push([key, value]);
    }
    return mapping;
  }
}

/**
 * The first document of a text; undefined if there is none. What follows it is not read.
 *
 * @throws {YamlError} with Go's message.
 */
export function composeYaml(text: string): YamlNode | undefined {
  return new Composer(text).document();
}
