import { type Document, isAlias, isCollection, isMap, isScalar, type Node, Pair, Scalar, YAMLMap } from 'yaml';
import { fieldAt, type Json } from '../objects/json/json.ts';
import { parseAsKubectl } from './compose.ts';
import { aliasError, type Edit, type Path } from './edits.ts';

/** The node of a field; undefined if it does not exist, or comes from an anchor by `<<`. */
function nodeAt(document: Document, path: Path): Node | undefined {
  let node: unknown = document.contents;
  for (const [depth, segment] of path.entries()) {
    if (isAlias(node)) {
      throw aliasError(path, depth, node.source);
    }
    node = isCollection(node) ? node.get(segment, true) : undefined;
  }
  return (node as Node | null | undefined) ?? undefined;
}

/** Creates a node for a value; parts that existed elsewhere in the document are reused, with their comments. */
function nodeFor(document: Document, value: Json, pool: ReadonlyMap<string, Node>): Node {
  if (typeof value !== 'object' || value === null) {
    return new Scalar(value);
  }
  const known = pool.get(JSON.stringify(value));
  if (known !== undefined) {
    return known;
  }
  if (Array.isArray(value)) {
    const list = document.createNode([]) as unknown as Node & { items: unknown[] };
    list.items = value.map((item) => nodeFor(document, item, pool));
    return list;
  }
  const map = new YAMLMap(document.schema);
  map.items = Object.entries(value).map(([key, item]) => new Pair(new Scalar(key), nodeFor(document, item, pool)));
  map.flow = map.items.length === 0;
  return map;
}

/** Collects the collections below a node by content. */
function collect(node: unknown, value: Json | undefined, pool: Map<string, Node>): void {
  if (typeof value !== 'object' || value === null || !isCollection(node)) {
    return;
  }
  pool.set(JSON.stringify(value), node);
  for (const [key, item] of Object.entries(value)) {
    if (typeof item === 'object') {
      collect(node.get(Array.isArray(value) ? Number(key) : key, true), item, pool);
    }
  }
}

/** How far the first map and the first list of a text are indented, which stand below their key. */
function layoutOf(text: string): { indent: number; indentSeq: boolean } {
  let indent: number | undefined;
  let indentSeq: boolean | undefined;
  let keyIndent: number | undefined;
  for (const line of text.split('\n')) {
    const trimmed = line.trimStart();
    const at = line.length - trimmed.length;
    if (trimmed.startsWith('#') || trimmed === '') {
      continue;
    }
    const isItem = trimmed.startsWith('- ');
    if (keyIndent !== undefined && isItem) {
      indentSeq ??= at > keyIndent;
    } else if (keyIndent !== undefined && at > keyIndent) {
      indent ??= at - keyIndent;
    }
    keyIndent = trimmed.trimEnd().endsWith(':') ? at + (isItem ? 2 : 0) : undefined;
  }
  return { indent: Math.min(indent ?? 2, 8), indentSeq: indentSeq ?? true };
}

/** The text of a document in YAML with fields set and removed; comments and the order of keys are preserved. */
export function rewritten(text: string, before: Json, edits: readonly Edit[]): string {
  const document = parseAsKubectl(text);
  const pool = new Map<string, Node>();
  for (const { path } of edits) {
    collect(nodeAt(document, path), fieldAt(before, ...path), pool);
  }
  for (const { path } of edits.filter(({ value }) => value === undefined)) {
    document.deleteIn(path);
  }
  for (const { path, value } of edits) {
    if (value !== undefined) {
      const parent = nodeAt(document, path.slice(0, -1));
      if (isMap(parent) && parent.items.length === 0) {
        parent.flow = false;
      }
      const before = nodeAt(document, path);
      const node = nodeFor(document, value, pool);
      if (isScalar(before) && before.comment) {
        // That of a field without a value stands below it.
        node.comment ??= before.comment;
      }
      document.setIn(path, node);
    }
  }
  return document.toString({
    lineWidth: 0,
    ...layoutOf(text),
    flowCollectionPadding: text.includes('{ '),
  });
}
