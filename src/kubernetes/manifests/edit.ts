import { isDeepStrictEqual } from 'node:util';
import { type Document, isAlias, isCollection, isMap, isScalar, isSeq, type Node } from 'yaml';
import { formatFieldPath } from '../objects/errors/field-path.ts';
import type { Json } from '../objects/json/json.ts';
import { type JsonPatchOperation, jsonPatchOf, pointerKeys } from '../objects/json/json-patch.ts';
import { parseAsKubectl } from './compose.ts';
import { type ReadDocument, readDocument } from './document.ts';
import type { Places } from './places.ts';

/** A document cannot be edited without affecting other fields. */
export class EditError extends Error {}

/** The range of the text of a plain or quoted scalar without an anchor and a tag, inside its quotes. */
function textRange(node: unknown): { from: number; to: number } | undefined {
  if (!isScalar(node) || !node.range || node.anchor !== undefined || node.tag !== undefined) {
    return undefined;
  }
  const [from, to] = node.range;
  const quotes: Readonly<Record<string, number>> = { PLAIN: 0, QUOTE_DOUBLE: 1, QUOTE_SINGLE: 1 };
  const inset = quotes[node.type ?? ''];
  return inset === undefined ? undefined : { from: from + inset, to: to - inset };
}

/** Text that needs no quotes in YAML 1.1 and 1.2: an apiVersion. */
const plainText = /^[a-z][a-z0-9.-]*\/[a-z0-9]+$/;

/** The text with scalars replaced in place, or undefined if an edit is of another kind. */
function spliced(text: string, places: Places, edits: readonly JsonPatchOperation[]): string | undefined {
  const cuts: { from: number; to: number; value: string }[] = [];
  for (const edit of edits) {
    const path = pointerKeys(edit.path);
    const value = edit.op === 'replace' ? edit.value : undefined;
    const { node, depth } = places.nodeAt(path);
    const range = depth < path.length ? undefined : textRange(node);
    if (range === undefined || typeof value !== 'string' || !plainText.test(value)) {
      return undefined;
    }
    cuts.push({ ...range, value });
  }
  const pieces: string[] = [];
  let done = 0;
  for (const { from, to, value } of cuts.sort((a, b) => a.from - b.from)) {
    pieces.push(text.slice(done, from), value);
    done = to;
  }
  return pieces.join('') + text.slice(done);
}

function nodeAt(document: Document, path: readonly string[]): Node | undefined {
  let node: unknown = document.contents;
  for (const [depth, segment] of path.entries()) {
    if (isAlias(node)) {
      const field = formatFieldPath(path.slice(0, depth));
      const remedy = 'write its value there, since the anchor is elsewhere';
      throw new EditError(`${field} is an alias (*${node.source}); ${remedy}`);
    }
    node = isCollection(node) ? node.get(segment, true) : undefined;
  }
  return (node as Node | null | undefined) ?? undefined;
}

/** The text of a document in YAML with fields set and removed; comments and the order of keys are preserved. */
function rewritten(text: string, edits: readonly JsonPatchOperation[]): string {
  const document = parseAsKubectl(text);
  for (const edit of edits) {
    const path = pointerKeys(edit.path);
    const before = nodeAt(document, path);
    const parent = nodeAt(document, path.slice(0, -1));
    if (edit.op === 'remove') {
      document.deleteIn(path);
      continue;
    }
    if (isMap(parent) && parent.items.length === 0) {
      parent.flow = false;
    }
    const node = document.createNode(edit.value);
    if (isCollection(node)) {
      node.flow = node.items.length === 0;
    }
    if (isScalar(before) && before.comment) {
      // That of a field without a value stands below it.
      node.comment = before.comment;
    }
    if (edit.op === 'add' && isSeq(parent)) {
      parent.items.splice(Number(path.at(-1)), 0, node);
    } else {
      document.setIn(path, node);
    }
  }
  return document.toString({
    lineWidth: 0,
    // As in the text: how far its first indented line is, and whether items are further in than the key of their list.
    indent: Math.min(/^( +)[^\s#-]/m.exec(text)?.[1]?.length ?? 2, 8),
    indentSeq: !/^( *)[^\s#-][^\n]*:[ \t\r]*\n\1- /m.test(text.replaceAll(/^ *#.*\n/gm, '')),
    flowCollectionPadding: text.includes('{ '),
  });
}

/** The text of a document with another value; comments and the order of keys stay. @throws {EditError} for fields of anchors. */
export function editDocument(text: string, read: ReadDocument, value: Json): string {
  const edits = jsonPatchOf(read.value as Json, value);
  if (edits.length === 0) {
    return text;
  }
  let result = spliced(text, read.places(), edits);
  if (result === undefined) {
    result = read.form === 'json' ? JSON.stringify(value, null, /\n([ \t]+)"/.exec(text)?.[1]) : rewritten(text, edits);
    if (text.includes('\r\n')) {
      result = result.replaceAll(/\r?\n/g, '\r\n');
    }
    const mark = text.startsWith('\ufeff') ? '\ufeff' : '';
    result = mark + result.trimEnd() + text.slice(text.trimEnd().length);
  }
  const again = readDocument({ text: result, firstLine: 1, form: read.form });
  if ('errors' in again || !isDeepStrictEqual(JSON.parse(JSON.stringify(again.value)), value)) {
    throw new EditError(
      'cannot be rewritten without changing another part of the document; usually anchors and aliases are the cause',
    );
  }
  return result;
}
