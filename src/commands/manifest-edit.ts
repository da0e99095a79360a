import { isDeepStrictEqual } from 'node:util';
import { type Document, isAlias, isCollection, isMap, isScalar, type Node, Pair, visit, YAMLMap } from 'yaml';
import { formatFieldPath, isJsonObject, type Json, type JsonObject } from '../kubernetes/index.ts';
import { readDocument } from '../lint/index.ts';

type Path = (string | number)[];

/** One field that is set, or removed when it has no value. */
export interface Edit {
  path: Path;
  value?: Json;
}

/** A document that cannot be edited without touching more than the fields in question. */
export class EditError extends Error {}

/** The fewest fields to set or remove that make one value of another. Lists of different length are set as a whole. */
export function editsBetween(before: Json, after: Json, path: Path = []): Edit[] {
  if (isDeepStrictEqual(before, after)) {
    return [];
  }
  if (isJsonObject(before) && isJsonObject(after)) {
    const keys = [...Object.keys(before), ...Object.keys(after).filter((key) => !Object.hasOwn(before, key))];
    return keys.flatMap((key): Edit[] => {
      const inner = [...path, key];
      if (!Object.hasOwn(after, key)) {
        return [{ path: inner }];
      }
      return Object.hasOwn(before, key)
        ? editsBetween(before[key] as Json, after[key] as Json, inner)
        : [{ path: inner, value: after[key] as Json }];
    });
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, index) => editsBetween(item, after[index] as Json, [...path, index]));
  }
  return [{ path, value: after }];
}

/** The node of a field; undefined when it is not there, or comes from an anchor by `<<`. */
function nodeAt(document: Document, path: Path): Node | undefined {
  let node: unknown = document.contents;
  for (const [depth, segment] of path.entries()) {
    if (isAlias(node)) {
      const field = formatFieldPath(path.slice(0, depth));
      throw new EditError(`${field} is an alias (*${node.source}); write it out, since its anchor stands elsewhere`);
    }
    node = isCollection(node) ? node.get(segment, true) : undefined;
  }
  return (node as Node | null | undefined) ?? undefined;
}

/** What needs no quotes, in YAML 1.1 and 1.2: an apiVersion. */
const plainText = /^[a-z][a-z0-9.-]*\/[a-z0-9]+$/;

/** The text with scalars replaced in place, or undefined when an edit is of another sort. */
function spliced(text: string, document: Document, edits: readonly Edit[]): string | undefined {
  const cuts: { from: number; to: number; value: string }[] = [];
  for (const { path, value } of edits) {
    const node = nodeAt(document, path);
    if (
      !isScalar(node) ||
      !node.range ||
      node.anchor ||
      node.tag ||
      typeof value !== 'string' ||
      !plainText.test(value)
    ) {
      return undefined;
    }
    const [from, to] = node.range;
    const quote = /^["']/.exec(text.slice(from, to))?.[0] ?? '';
    cuts.push({ from, to, value: `${quote}${value}${quote}` });
  }
  let result = text;
  for (const { from, to, value } of cuts.sort((a, b) => b.from - a.from)) {
    result = result.slice(0, from) + value + result.slice(to);
  }
  return result;
}

function setInJson(root: Json, { path, value }: Edit): Json {
  const [key, ...rest] = path;
  if (key === undefined) {
    return value ?? null;
  }
  const copy = (Array.isArray(root) ? [...root] : { ...(root as JsonObject) }) as JsonObject;
  if (rest.length === 0 && value === undefined) {
    delete copy[key];
  } else {
    copy[key] = setInJson(copy[key] ?? {}, { path: rest, ...(value !== undefined && { value }) });
  }
  return copy;
}

/** A node for a value; pieces that stood elsewhere in the document are taken from there, with their comments. */
function nodeFor(document: Document, value: Json, pool: readonly { json: Json; node: Node }[]): Node {
  const known = pool.find(({ json }) => isDeepStrictEqual(json, value));
  if (known !== undefined) {
    return known.node;
  }
  if (isJsonObject(value) && Object.keys(value).length > 0) {
    const map = new YAMLMap(document.schema);
    map.items = Object.entries(value).map(
      ([key, item]) => new Pair(document.createNode(key), nodeFor(document, item, pool)),
    );
    return map;
  }
  return document.createNode(value);
}

function rewritten(text: string, document: Document, edits: readonly Edit[]): string {
  const pool: { json: Json; node: Node }[] = [];
  for (const { path } of edits) {
    const node = nodeAt(document, path);
    if (isCollection(node)) {
      visit(node, {
        Collection: (_key, collection) => {
          pool.push({ json: collection.toJS(document) as Json, node: collection });
        },
      });
    }
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
      document.setIn(path, nodeFor(document, value, pool));
    }
  }
  const isSequenceIndented = !/^( *)(?:- )?[^\s#-][^\n]*:[ \t]*\r?\n(?:[ \t]*#[^\n]*\n)*\1- /m.test(text);
  return document.toString({ lineWidth: 0, indentSeq: isSequenceIndented, flowCollectionPadding: /\{ /.test(text) });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * The text of one document with fields set and removed. Where only the text of scalars changes, nothing else does; else
 * comments and the order of keys stay, and JSON stays JSON. `document` is what `readDocument` made of the text, and is
 * used up.
 *
 * @throws {EditError} when a field comes from an anchor, so that setting it would change something else.
 */
export function editDocument(text: string, document: Document, edits: readonly Edit[]): string {
  if (edits.length === 0) {
    return text;
  }
  const before = document.toJS({ maxAliasCount: 100 }) as Json;
  const expected = edits.reduce(setInJson, before);
  let result = spliced(text, document, edits);
  if (result === undefined && isJson(text)) {
    const indent = /\n([ \t]+)"/.exec(text)?.[1];
    result = JSON.stringify(expected, null, indent);
  }
  result ??= rewritten(text, document, edits);
  if (text.includes('\r\n')) {
    result = result.replaceAll(/\r?\n/g, '\r\n');
  }
  result = result.trimEnd() + text.slice(text.trimEnd().length);
  const read = readDocument({ text: result, firstLine: 1 });
  if ('errors' in read || !isDeepStrictEqual(read.document.toJS({ maxAliasCount: 100 }), expected)) {
    throw new EditError('cannot be rewritten without changing something else; anchors and aliases are the usual cause');
  }
  return result;
}
