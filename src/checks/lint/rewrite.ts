import { apiVersionOf, isExtensionConfig, kind, type Version, versionOf } from '../../extensionconfig/index.ts';
import {
  ConversionError,
  fieldAt,
  formatFieldPath,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../kubernetes/index.ts';
import {
  type DocumentText,
  EditError,
  editDocument,
  type PlacedObject,
  type ReadDocument,
  readDocuments,
} from '../../kubernetes/manifests/index.ts';

export interface RewriteProblem {
  line?: number;
  column?: number;
  message: string;
  /** Whether the text could be read, but an object in it could not be changed. */
  isContent: boolean;
}

/** A text with changed ExtensionConfigs. */
export interface Rewritten {
  text: string;
  objects: number;
  /** If there are any, the text is of no use. */
  problems: RewriteProblem[];
}

/** Returns the converted ExtensionConfig; the same object if nothing changes. @throws {ConversionError} */
type ChangeObject = (object: JsonObject, placed: PlacedObject) => JsonObject;

async function rewriteDocument(
  read: ReadDocument,
  { text, firstLine }: DocumentText,
  change: ChangeObject,
  to: Version,
): Promise<Rewritten> {
  const problems: RewriteProblem[] = [];
  let objects = 0;
  let value = structuredClone(read.value) as Json;
  if (isJsonObject(value) && value.kind === `${kind}List` && versionOf(value.apiVersion) !== undefined) {
    value.apiVersion = apiVersionOf(to);
  }
  for (const placed of read.objects) {
    const { object, path, placeOf } = placed;
    if (!isExtensionConfig(object)) {
      continue;
    }
    try {
      const changed = change(object, placed);
      objects += changed === object ? 0 : 1;
      const written = fieldAt(value, ...path) as JsonObject;
      // Items of a typed list may omit the version and kind if the list has them.
      const names = Object.keys(changed).filter((name) => !Object.hasOwn(object, name) || Object.hasOwn(written, name));
      const next = Object.fromEntries(names.map((name) => [name, changed[name] as Json]));
      const last = path.at(-1);
      if (last === undefined) {
        value = next;
      } else {
        (fieldAt(value, ...path.slice(0, -1)) as Record<string | number, Json>)[last] = next;
      }
    } catch (error) {
      if (!(error instanceof ConversionError)) {
        throw error;
      }
      const message = `${formatFieldPath(error.path)}: ${error.message}`;
      problems.push({ ...placeOf(error.path), message, isContent: true });
    }
  }
  try {
    return { text: problems.length === 0 ? editDocument(text, read, value) : text, objects, problems };
  } catch (error) {
    if (!(error instanceof EditError)) {
      throw error;
    }
    return { text, objects, problems: [{ line: firstLine, column: 1, message: error.message, isContent: true }] };
  }
}

/**
 * Changes the ExtensionConfigs in a text; comments, the order of keys and other kinds are preserved.
 *
 * @param to the version that lists of ExtensionConfigs get.
 */
export async function rewriteManifests(text: string, change: ChangeObject, to: Version): Promise<Rewritten> {
  const pieces: string[] = [];
  const problems: RewriteProblem[] = [];
  let objects = 0;
  let done = 0;
  for (const read of readDocuments(text)) {
    if ('errors' in read) {
      problems.push(...read.errors.map((error) => ({ ...error, isContent: false })));
      continue;
    }
    const { document, part } = read;
    problems.push(...document.refusals.map((refusal) => ({ ...refusal, isContent: false })));
    // Text between two documents, such as comments, belongs to neither.
    const rewritten = await rewriteDocument(document, part, change, to);
    pieces.push(text.slice(done, part.start), rewritten.text);
    objects += rewritten.objects;
    for (const problem of rewritten.problems) {
      problems.push(problem);
    }
    done = part.start + part.text.length;
  }
  return { text: pieces.join('') + text.slice(done), objects, problems };
}
