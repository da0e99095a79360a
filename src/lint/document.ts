import { type Document, LineCounter, parseDocument, type Tags, visit } from 'yaml';
import { type FieldPath, isJsonObject, type JsonObject, maxJsonDepth } from '../kubernetes/index.ts';
import { positionOf } from './position.ts';
import type { DocumentText } from './split.ts';

/** A mistake in the YAML itself, with its place in the stream. */
export interface DocumentError {
  line: number;
  column: number;
  message: string;
}

/** One object of a document, and where its fields stand in the stream. */
export interface PlacedObject {
  object: JsonObject;
  /** Where the object stands in the document: empty, or the item of a list. */
  path: FieldPath;
  /** The place of a field, or of its deepest ancestor that is there. */
  placeOf(path: FieldPath): { line: number; column: number };
}

/**
 * The tags of YAML 1.1 that kubectl's parser resolves, so that an unquoted `yes` is a boolean here too; it leaves dates
 * and times like 12:30:45 as strings.
 */
function tagsOfKubectl(tags: Tags): Tags {
  return tags.filter(
    (tag) =>
      typeof tag === 'string' ||
      !(tag.tag === 'tag:yaml.org,2002:timestamp' || ('format' in tag && tag.format === 'TIME')),
  );
}

/** Deepest nesting of `List`s in `List`s. */
const maxListDepth = 5;

/** Whether a value nests too deep, or (by an alias inside what it stands for) contains itself. */
function isTooDeep(value: unknown, ancestors = new Set<unknown>()): boolean {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  if (ancestors.size >= maxJsonDepth || ancestors.has(value)) {
    return true;
  }
  ancestors.add(value);
  const found = Object.values(value).some((child) => isTooDeep(child, ancestors));
  ancestors.delete(value);
  return found;
}

function* objectsIn(
  value: unknown,
  path: FieldPath,
  depth: number,
): Generator<{ object: JsonObject; path: FieldPath }> {
  if (!isJsonObject(value)) {
    return;
  }
  if (typeof value.kind === 'string' && value.kind.endsWith('List') && Array.isArray(value.items)) {
    if (depth < maxListDepth) {
      // Items of a typed list may leave out what the list says of them.
      const inherited =
        value.kind === 'List'
          ? {}
          : { apiVersion: value.apiVersion ?? null, kind: value.kind.slice(0, -'List'.length) };
      for (const [index, item] of value.items.entries()) {
        const full = isJsonObject(item) ? { ...inherited, ...item } : item;
        yield* objectsIn(full, [...path, 'items', index], depth + 1);
      }
    }
    return;
  }
  yield { object: value, path };
}

const tooDeep = `nests deeper than ${maxJsonDepth} levels, or contains itself`;

/** Most mistakes that are reported of one document: those further down mostly follow from the first. */
const maxErrors = 5;

/** The mistakes that the parser found, each once. */
function errorsOf({ errors }: Document.Parsed): { at: number; message: string }[] {
  if (errors.some(({ message }) => message.startsWith('Maximum call stack'))) {
    return [{ at: 0, message: tooDeep }];
  }
  return errors
    .slice(0, maxErrors)
    .map(({ pos, message }) => ({ at: pos[0], message: `YAML: ${message.split('\n')[0]}` }));
}

/** Offset of the first alias that stands for nothing; 0 when there is none. */
function unresolvedAlias(document: Document.Parsed): number {
  let offset = 0;
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) === undefined) {
        offset = alias.range?.[0] ?? 0;
        return visit.BREAK;
      }
      return undefined;
    },
  });
  return offset;
}

/** Reads the parser's result; the resolution of aliases may throw, by design, for alias bombs. */
function resolve(document: Document.Parsed): unknown {
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  if (isTooDeep(value)) {
    throw new RangeError(tooDeep);
  }
  return value;
}

/** The objects of one YAML (or JSON) document: itself, or the items of the `List` that it is. Or what is wrong with it. */
export function readDocument({
  text,
  firstLine,
}: DocumentText): { objects: PlacedObject[]; document: Document.Parsed } | { errors: DocumentError[] } {
  const lines = new LineCounter();
  const placeAt = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1) + firstLine - 1, column: Math.max(col, 1) };
  };
  let document: Document.Parsed | undefined;
  let value: unknown;
  try {
    document = parseDocument(text, {
      lineCounter: lines,
      logLevel: 'silent',
      prettyErrors: false,
      schema: 'yaml-1.1',
      customTags: tagsOfKubectl,
      merge: true,
    });
    if (document.errors.length > 0) {
      return { errors: errorsOf(document).map(({ at, message }) => ({ ...placeAt(at), message })) };
    }
    value = resolve(document);
  } catch (error) {
    // The parser and the converter are recursive: what nests too deep overflows the stack.
    const message = error instanceof RangeError ? tooDeep : `YAML: ${(error as Error).message}`;
    const at = error instanceof ReferenceError && document !== undefined ? unresolvedAlias(document) : 0;
    return { errors: [{ ...placeAt(at), message }] };
  }
  const parsed = document;
  return {
    document: parsed,
    objects: [...objectsIn(value, [], 0)].map(({ object, path }) => ({
      object,
      path,
      placeOf: (field) => placeAt(positionOf(parsed, [...path, ...field])),
    })),
  };
}
