import { apiVersionOf, isExtensionConfig, kind, type Version, versionOf } from '../../extensionconfig/index.ts';
import { ConversionError, formatFieldPath, isJsonObject, type Json, type JsonObject } from '../../kubernetes/index.ts';
import {
  type DocumentText,
  type Edit,
  EditError,
  editDocument,
  editsBetween,
  type PlacedObject,
  type ReadDocument,
  readDocuments,
} from '../../kubernetes/manifests/index.ts';

/** Why a text cannot be rewritten. */
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
  /** Number of ExtensionConfigs that changed. */
  objects: number;
  /** If there are any, the text is of no use. */
  problems: RewriteProblem[];
}

/** What an ExtensionConfig becomes; the same object if nothing changes. @throws {ConversionError} */
type ChangeObject = (object: JsonObject, placed: PlacedObject) => JsonObject;

async function rewriteDocument(
  read: ReadDocument,
  { text, firstLine }: DocumentText,
  change: ChangeObject,
  to: Version,
): Promise<Rewritten> {
  const edits: Edit[] = [];
  const problems: RewriteProblem[] = [];
  let objects = 0;
  const root = read.value as Json;
  if (isJsonObject(root) && root.kind === `${kind}List` && versionOf(root.apiVersion) !== undefined) {
    edits.push(...editsBetween(root.apiVersion as Json, apiVersionOf(to), ['apiVersion']));
  }
  for (const placed of read.objects) {
    const { object, path, placeOf } = placed;
    if (!isExtensionConfig(object)) {
      continue;
    }
    try {
      const changed = change(object, placed);
      objects += changed === object ? 0 : 1;
      const written = path.reduce<Json | undefined>((at, step) => (at as Record<string, Json>)[step], root);
      // Items of a typed list may omit the version if the list has it.
      const inherits = isJsonObject(written) && !Object.hasOwn(written, 'apiVersion');
      for (const edit of editsBetween(object, changed, [...path])) {
        if (!(inherits && edit.path.length === path.length + 1 && edit.path.at(-1) === 'apiVersion')) {
          edits.push(edit);
        }
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
    return { text: problems.length === 0 ? await editDocument(text, read, edits) : text, objects, problems };
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
