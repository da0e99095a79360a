import { LineCounter } from 'yaml';
import { truncated } from '../../base/index.ts';
import type { FieldPath } from '../objects/errors/field-path.ts';
import { showValue } from '../objects/errors/status.ts';
import { isJsonObject, isTooDeep, type Json, type JsonObject } from '../objects/json/json.ts';
import { pathSegmentProblem } from '../objects/names.ts';
import { type Composed, ComposeError, compose, tooDeep } from './compose.ts';
import { Places } from './places.ts';
import type { DocumentText } from './split.ts';

export interface DocumentError {
  line: number;
  column: number;
  message: string;
}

/** One object in a document, and the positions of its fields in the stream. */
export interface PlacedObject {
  object: JsonObject;
  /** The path of the object in the document: empty, or that of a list item. */
  path: FieldPath;
  /** The position of a field, or of its deepest existing ancestor. */
  placeOf(path: FieldPath): { line: number; column: number };
  /** The position after the field, or after its deepest existing ancestor: the end of what it contains. */
  endOf(path: FieldPath): { line: number; column: number };
}

export interface ReadDocument {
  value: unknown;
  /** The document itself or, if it is a `List`, its items. */
  objects: PlacedObject[];
  /** Lists that kubectl refuses as a whole, each at the first item that is not an object; Lists in too many others; objects with impossible names. */
  refusals: DocumentError[];
  form: DocumentText['form'];
  /** The positions of the document's fields in its text, which JSON is composed for. None if only kubectl's JSON reader accepts it. */
  places: () => Places;
}

const maxListDepth = 5;

interface Refusal {
  path: FieldPath;
  message: string;
}

/** Why kubectl refuses a list, as it refuses a file that only contains `null`; or why it is not read. */
function refusalOf(list: JsonObject, path: FieldPath, depth: number): Refusal | undefined {
  const { apiVersion, kind, items } = list;
  if (Array.isArray(items) && depth >= maxListDepth) {
    return { path, message: `Lists nest deeper than ${maxListDepth} levels: write their items as documents instead` };
  }
  if (typeof apiVersion !== 'string') {
    return undefined;
  }
  if (!Array.isArray(items)) {
    // An object of any other kind may be called a list, and have no items.
    return kind === 'List' && apiVersion === 'v1'
      ? { path: [...path, 'items'], message: `items of a List must be a list of objects, got ${showValue(items)}` }
      : undefined;
  }
  const index = items.findIndex((item) => !isJsonObject(item));
  return index === -1
    ? undefined
    : {
        path: [...path, 'items', index],
        message: `items[${index}] of a list must be an object, got ${showValue(items[index])}: remove the item, because kubectl refuses the whole list`,
      };
}

/** Why the name or the namespace of an object is none that an API server takes, and that a path could be made of. */
function nameRefusal({ metadata }: JsonObject, path: FieldPath): Refusal | undefined {
  for (const field of ['name', 'namespace']) {
    const name = isJsonObject(metadata) ? metadata[field] : undefined;
    const problem = typeof name === 'string' ? pathSegmentProblem(name) : undefined;
    if (problem !== undefined) {
      const message = `metadata.${field}: ${JSON.stringify(truncated(String(name), 100))} is not a name of Kubernetes: it ${problem}`;
      return { path: [...path, 'metadata', field], message };
    }
  }
  return undefined;
}

function* objectsIn(
  value: unknown,
  path: FieldPath,
  depth: number,
  refusals: Refusal[],
): Generator<{ object: JsonObject; path: FieldPath }> {
  if (!isJsonObject(value)) {
    return;
  }
  const isList = typeof value.kind === 'string' && value.kind.endsWith('List');
  const refusal = isList ? refusalOf(value, path, depth) : undefined;
  if (refusal !== undefined) {
    refusals.push(refusal);
  }
  if (typeof value.kind === 'string' && isList && Array.isArray(value.items)) {
    if (depth < maxListDepth) {
      // Items of a typed list may omit apiVersion and kind.
      const inherited =
        value.kind === 'List'
          ? {}
          : { apiVersion: value.apiVersion ?? null, kind: value.kind.slice(0, -'List'.length) };
      for (const [index, item] of value.items.entries()) {
        const full = isJsonObject(item) ? { ...inherited, ...item } : item;
        yield* objectsIn(full, [...path, 'items', index], depth + 1, refusals);
      }
    }
    return;
  }
  const named = nameRefusal(value, path);
  if (named === undefined) {
    yield { object: value, path };
  } else {
    refusals.push(named);
  }
}

/** Converts offsets in a text to lines and columns. Takes as many steps as the text has characters, once. */
function createLines(text: string, firstLine: number) {
  let counter: LineCounter | undefined;
  return (offset: number): { line: number; column: number } => {
    if (counter === undefined) {
      counter = new LineCounter();
      counter.addNewLine(text.startsWith('\ufeff') ? 1 : 0);
      for (let lineBreak = text.indexOf('\n'); lineBreak !== -1; lineBreak = text.indexOf('\n', lineBreak + 1)) {
        counter.addNewLine(lineBreak + 1);
      }
    }
    const { line, col } = counter.linePos(offset);
    return { line: Math.max(line, 1) - 1 + firstLine, column: Math.max(col, 1) };
  };
}

/** Largest JSON document in which places of fields are known, in characters: of larger ones, all are its first line. */
const maxPlaced = 8 * 1024 * 1024;

function readJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    const offset = Number(/ at position (\d+)/.exec(message)?.[1] ?? text.length);
    throw new ComposeError(
      `${message.split(/ (?:in JSON )?at position /)[0]?.slice(0, 200)} (kubectl reads a file that begins with "{" as JSON)`,
      offset,
    );
  }
  if (isTooDeep(value as Json)) {
    throw new ComposeError(tooDeep, 0);
  }
  if (/\\u[dD][89a-fA-F]/.test(text)) {
    // Go's strings cannot represent lone surrogates: only these are still escaped when the value is written again.
    const escapes = /\\(?:ud[89a-f]..|.)/g;
    value = JSON.parse(JSON.stringify(value).replaceAll(escapes, (one) => (one.length > 2 ? '\ufffd' : one)));
  }
  return value;
}

/** The nodes of JSON, if it is not too large. That takes a hundred times as long as reading it. */
function nodesOfJson(text: string): Composed['root'] {
  try {
    return text.length <= maxPlaced ? compose(text).root : null;
  } catch {
    // Only kubectl's JSON reader accepts it.
    return null;
  }
}

/** Reads one document as kubectl does, but reports duplicate keys of YAML. Linear, and so are all lookups of positions. */
export function readDocument({
  text,
  firstLine,
  form,
}: Pick<DocumentText, 'text' | 'firstLine' | 'form'>): ReadDocument | { errors: DocumentError[] } {
  const placeAt = createLines(text, firstLine);
  const kind = form === 'json' ? 'JSON' : 'YAML';
  let read: Omit<Composed, 'root'> & { root?: Composed['root'] };
  try {
    read = form === 'json' ? { value: readJson(text), duplicates: [] } : compose(text);
  } catch (error) {
    if (!(error instanceof ComposeError)) {
      throw error;
    }
    const { offset, message } = error;
    return { errors: [{ ...placeAt(offset), message: message === tooDeep ? message : `${kind}: ${message}` }] };
  }
  const { value, duplicates } = read;
  if (duplicates.length > 0) {
    return { errors: duplicates.map(({ offset, message }) => ({ ...placeAt(offset), message: `YAML: ${message}` })) };
  }
  let known: Places | undefined;
  const places = () => {
    known ??= new Places(read.root === undefined ? nodesOfJson(text) : read.root);
    return known;
  };
  const refusals: Refusal[] = [];
  const objects = [...objectsIn(value, [], 0, refusals)];
  return {
    value,
    form,
    places,
    refusals: refusals.map(({ path, message }) => ({ ...placeAt(places().nodeAt(path).at), message })),
    objects: objects.map(({ object, path }) => ({
      object,
      path,
      placeOf: (field) => placeAt(places().nodeAt([...path, ...field]).at),
      endOf(field) {
        const start = places().nodeAt([...path, ...field]).at;
        // An alias is where it is written, whatever its anchor has. A block of text ends before its last line break.
        const end = Math.max(start, places().endOf([...path, ...field]));
        return placeAt(text.slice(start, end).trimEnd().length + start);
      },
    })),
  };
}
