import { isDeepStrictEqual } from 'node:util';
import { isAlias } from 'yaml';
import type { Json } from '../objects/json/json.ts';
import { type ReadDocument, readDocument } from './document.ts';
import { aliasError, type Edit, EditError, editsBetween } from './edits.ts';
import { type Places, textRange } from './places.ts';
import { rewritten } from './rewrite.ts';

/** Text that needs no quotes in YAML 1.1 and 1.2: an apiVersion. */
const plainText = /^[a-z][a-z0-9.-]*\/[a-z0-9]+$/;

/** The text with scalars replaced in place, or undefined if an edit is of another kind. */
function spliced(text: string, places: Places, edits: readonly Edit[]): string | undefined {
  const cuts: { from: number; to: number; value: string }[] = [];
  for (const { path, value } of edits) {
    const { node, depth } = places.nodeAt(path);
    if (isAlias(node) && depth < path.length) {
      throw aliasError(path, depth, node.source);
    }
    const range = depth < path.length ? undefined : textRange(node);
    if (range === undefined || typeof value !== 'string' || !plainText.test(value)) {
      return undefined;
    }
    cuts.push({ ...range, value });
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

/**
 * The text of one document with another value. If only the text of scalars changes, nothing else does; otherwise comments
 * and the order of keys are preserved, and JSON remains JSON. `read` is the result of `readDocument` for the text.
 *
 * @throws {EditError} when a field comes from an anchor, so that setting it would change something else.
 */
export function editDocument(text: string, read: ReadDocument, value: Json): string {
  const before = read.value as Json;
  const edits = [...editsBetween(before, value)];
  if (edits.length === 0) {
    return text;
  }
  let result = spliced(text, read.places, edits);
  if (result === undefined) {
    if (read.form === 'json') {
      const indent = /\n([ \t]+)"/.exec(text)?.[1];
      result = JSON.stringify(value, null, indent);
    } else {
      result = rewritten(text, before, edits);
    }
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
