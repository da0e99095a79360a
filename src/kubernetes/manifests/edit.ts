import { isDeepStrictEqual } from 'node:util';
import type { Document, Node, Scalar, ScalarTag } from 'yaml';
import { yaml } from '../../base/index.ts';
import { formatFieldPath } from '../objects/errors/field-path.ts';
import { isJsonObject, type Json, type JsonObject } from '../objects/json/json.ts';
import type { NodePosition } from './compose.ts';
import { type ReadDocument, readDocument } from './document.ts';
import { plainValue } from './scalar.ts';

type Path = (string | number)[];

/** One field to set, or to remove if it has no value. */
export interface Edit {
  path: Path;
  value?: Json;
}

/** A document cannot be edited without affecting other fields. */
export class EditError extends Error {}

function* findEdits(before: Json, after: Json, path: Path): Generator<Edit> {
  if (before === after) {
    return;
  }
  if (isJsonObject(before) && isJsonObject(after)) {
    for (const key of Object.keys(before)) {
      if (Object.hasOwn(after, key)) {
        yield* findEdits(before[key] as Json, after[key] as Json, [...path, key]);
      } else {
        yield { path: [...path, key] };
      }
    }
    for (const key of Object.keys(after)) {
      if (!Object.hasOwn(before, key)) {
        yield { path: [...path, key], value: after[key] as Json };
      }
    }
  } else if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (const [index, item] of before.entries()) {
      yield* findEdits(item, after[index] as Json, [...path, index]);
    }
  } else if (!isDeepStrictEqual(before, after)) {
    yield { path, value: after };
  }
}

/**
 * The smallest set of fields to set or remove that turns one value into another. Lists of different length are set as a
 * whole.
 */
export function editsBetween(before: Json, after: Json, path: Path = []): Edit[] {
  return [...findEdits(before, after, path)];
}

/** Text that needs no quotes in YAML 1.1 and 1.2: an apiVersion. */
const plainText = /^[a-z][a-z0-9.-]*\/[a-z0-9]+$/;

function aliasError(path: Path, depth: number, alias: string): EditError {
  const field = formatFieldPath(path.slice(0, depth));
  return new EditError(`${field} is an alias (*${alias}); write its value there, since the anchor is elsewhere`);
}

/** The text with scalars replaced in place, or undefined if an edit is of another kind. */
function spliced(text: string, root: NodePosition | undefined, edits: readonly Edit[]): string | undefined {
  const cuts: { from: number; to: number; value: string }[] = [];
  for (const { path, value } of edits) {
    let place = root;
    for (const [depth, segment] of path.entries()) {
      if (place?.alias !== undefined) {
        throw aliasError(path, depth, place.alias);
      }
      place = typeof segment === 'number' ? place?.items?.[segment] : place?.fields?.get(segment)?.value;
    }
    if (place?.text === undefined || place.alias !== undefined || typeof value !== 'string' || !plainText.test(value)) {
      return undefined;
    }
    cuts.push({ ...place.text, value });
  }
  const pieces: string[] = [];
  let done = 0;
  for (const { from, to, value } of cuts.sort((a, b) => a.from - b.from)) {
    if (from < done) {
      return undefined;
    }
    pieces.push(text.slice(done, from), value);
    done = to;
  }
  return pieces.join('') + text.slice(done);
}

/** Applies an edit to a value, in place. */
function applyEdit(root: Json, { path, value }: Edit): Json {
  const last = path.at(-1);
  if (last === undefined) {
    return value ?? null;
  }
  let parent = root as JsonObject;
  for (const segment of path.slice(0, -1)) {
    const next = Object.hasOwn(parent, segment) ? parent[segment] : undefined;
    if (typeof next !== 'object' || next === null) {
      parent[segment] = {};
    }
    parent = parent[segment] as JsonObject;
  }
  if (value === undefined) {
    delete parent[last];
  } else {
    parent[last] = structuredClone(value);
  }
  return root;
}

/** A plain scalar that is not a string for kubectl: it is written back unchanged. */
class Raw {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

/**
 * Recognizes plain scalars that are not strings for kubectl. The library only calls `test`, both to parse and to write.
 */
class NotText extends RegExp {
  override test(text: string): boolean {
    return plainValue(text) !== text;
  }
}

/** Tells the rewriting library how to interpret plain scalars: by kubectl's rules, not its own. */
const rawTag: ScalarTag = {
  identify: (value) => value instanceof Raw,
  default: true,
  tag: 'tag:yaml.org,2002:raw',
  test: new NotText(''),
  resolve: (source) => new Raw(source),
  stringify: ({ value }) => (value as Raw).source,
};

/** The rewriting library's document, in which plain scalars remain as they are written. */
function parseForRewriting(text: string): Document {
  return yaml().parseDocument(text, {
    schema: 'failsafe',
    customTags: [rawTag],
    logLevel: 'silent',
    prettyErrors: false,
    // Already checked when the document was read, and the library's check takes quadratic time.
    uniqueKeys: false,
  });
}

/** The node of a field; undefined if it does not exist, or comes from an anchor by `<<`. */
function nodeAt(document: Document, path: Path): Node | undefined {
  let node: unknown = document.contents;
  for (const [depth, segment] of path.entries()) {
    if (yaml().isAlias(node)) {
      throw aliasError(path, depth, node.source);
    }
    node = yaml().isCollection(node) ? node.get(segment, true) : undefined;
  }
  return (node as Node | null | undefined) ?? undefined;
}

function nodeOfScalar(value: Exclude<Json, object> | null): Scalar {
  if (typeof value !== 'string') {
    return new (yaml().Scalar)(value === null ? new Raw('null') : new Raw(JSON.stringify(value)));
  }
  // The library quotes it if needed, by the rule of `rawTag`.
  return new (yaml().Scalar)(value);
}

/** Creates a node for a value; parts that existed elsewhere in the document are reused, with their comments. */
function nodeFor(document: Document, value: Json, pool: ReadonlyMap<string, Node>): Node {
  if (typeof value !== 'object' || value === null) {
    return nodeOfScalar(value);
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
  const map = new (yaml().YAMLMap)(document.schema);
  map.items = Object.entries(value).map(
    ([key, item]) => new (yaml().Pair)(nodeOfScalar(key), nodeFor(document, item, pool)),
  );
  map.flow = map.items.length === 0;
  return map;
}

function valueAt(root: Json, path: Path): Json | undefined {
  let value: Json | undefined = root;
  for (const segment of path) {
    value = typeof value === 'object' && value !== null ? (value as JsonObject)[segment] : undefined;
  }
  return value;
}

/** Collects the collections below a node by content. */
function collect(node: unknown, value: Json | undefined, pool: Map<string, Node>): void {
  if (typeof value !== 'object' || value === null || !yaml().isCollection(node)) {
    return;
  }
  pool.set(JSON.stringify(value), node);
  for (const [key, item] of Object.entries(value)) {
    if (typeof item === 'object') {
      collect(node.get(Array.isArray(value) ? Number(key) : key, true), item, pool);
    }
  }
}

/** Whether list items are indented relative to their key, as in the first list of the text. */
function isSequenceIndented(text: string): boolean {
  let keyIndent: number | undefined;
  for (const line of text.split('\n')) {
    const trimmed = line.trimStart();
    const indent = line.length - trimmed.length;
    if (trimmed.startsWith('#') || trimmed === '') {
      continue;
    }
    if (trimmed.startsWith('- ') && keyIndent !== undefined) {
      return indent > keyIndent;
    }
    const isItem = trimmed.startsWith('- ');
    keyIndent = trimmed.trimEnd().endsWith(':') ? indent + (isItem ? 2 : 0) : undefined;
  }
  return true;
}

function rewritten(text: string, before: Json, edits: readonly Edit[]): string {
  const document = parseForRewriting(text);
  const pool = new Map<string, Node>();
  for (const { path } of edits) {
    collect(nodeAt(document, path), valueAt(before, path), pool);
  }
  for (const { path } of edits.filter(({ value }) => value === undefined)) {
    document.deleteIn(path);
  }
  for (const { path, value } of edits) {
    if (value !== undefined) {
      const parent = nodeAt(document, path.slice(0, -1));
      if (yaml().isMap(parent) && parent.items.length === 0) {
        parent.flow = false;
      }
      document.setIn(path, nodeFor(document, value, pool));
    }
  }
  return document.toString({
    lineWidth: 0,
    indentSeq: isSequenceIndented(text),
    flowCollectionPadding: text.includes('{ '),
  });
}

/** The value of a document that was read, as JSON. */
function jsonOf(read: ReadDocument): Json {
  return read.value as Json;
}

/**
 * The text of one document with fields set and removed. If only the text of scalars changes, nothing else does;
 * otherwise comments and the order of keys are preserved, and JSON remains JSON. `read` is the result of `readDocument`
 * for the text.
 *
 * @throws {EditError} when a field comes from an anchor, so that setting it would change something else.
 */
export function editDocument(text: string, read: ReadDocument, edits: readonly Edit[]): string {
  if (edits.length === 0) {
    return text;
  }
  const before = jsonOf(read);
  // Via JSON, so that no values are shared.
  const expected = edits.reduce(applyEdit, JSON.parse(JSON.stringify(before)) as Json);
  let result = spliced(text, read.places(), edits);
  if (result === undefined) {
    if (read.form === 'json') {
      const indent = /\n([ \t]+)"/.exec(text)?.[1];
      result = JSON.stringify(expected, null, indent);
    } else {
      result = rewritten(text, before, edits);
    }
    if (text.includes('\r\n')) {
      result = result.replaceAll(/\r?\n/g, '\r\n');
    }
    const end = text.length - text.trimEnd().length;
    result = result.trimEnd() + text.slice(text.length - end);
  }
  const again = readDocument({ text: result, firstLine: 1, form: read.form });
  if ('errors' in again || !isDeepStrictEqual(JSON.parse(JSON.stringify(again.value)), expected)) {
    throw new EditError(
      'cannot be rewritten without changing another part of the document; usually anchors and aliases are the cause',
    );
  }
  return result;
}
