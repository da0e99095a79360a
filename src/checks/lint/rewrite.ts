import {
  apiVersionOf,
  convert,
  hubVersion,
  isExtensionConfig,
  kind,
  type Version,
  versionOf,
  withDefaults,
} from '../../extensionconfig/index.ts';
import {
  ConversionError,
  copyOf,
  fieldAt,
  formatFieldPath,
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
} from '../../kubernetes/index.ts';
import {
  type DocumentText,
  EditError,
  editDocument,
  type PlacedObject,
  type ReadDocument,
  readDocuments,
} from '../../kubernetes/manifests/index.ts';
import { type LintPolicy, reportsOf } from './check-object.ts';
import { readSuppressions } from './suppressions.ts';

export interface RewriteProblem {
  line?: number;
  column?: number;
  message: string;
  /** Whether the text could be read, but an object in it could not be changed. */
  isContent: boolean;
}

/** A text with changed ExtensionConfigs. */
interface Rewritten {
  text: string;
  objects: number;
  /** If there are any, the text is of no use. */
  problems: RewriteProblem[];
}

/** Returns the converted ExtensionConfig; the same object if nothing changes. @throws {ConversionError} */
type ChangeObject = (object: JsonObject, placed: PlacedObject) => JsonObject;

function rewriteDocument(
  read: ReadDocument,
  { text, firstLine }: DocumentText,
  change: ChangeObject,
  to: Version,
): Rewritten {
  const problems: RewriteProblem[] = [];
  let objects = 0;
  let value = structuredClone(read.value) as Json;
  if (isJsonObject(value) && value.kind === `${kind}List` && versionOf(value.apiVersion) !== undefined) {
    value.apiVersion = apiVersionOf(to);
  }
  for (const placed of read.objects.filter(({ object }) => isExtensionConfig(object))) {
    const { object, path, placeOf } = placed;
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

/** Changes the ExtensionConfigs in a text, and their lists into version `to`; comments and the order of keys stay. */
export function rewriteManifests(text: string, change: ChangeObject, to: Version): Rewritten {
  const pieces: string[] = [];
  const problems: RewriteProblem[] = [];
  let [objects, done] = [0, 0];
  for (const read of readDocuments(text)) {
    const unread = 'errors' in read ? read.errors : read.document.refusals;
    unread.forEach((problem) => void problems.push({ ...problem, isContent: false }));
    if (!('errors' in read)) {
      // Text between two documents, such as comments, belongs to neither.
      const rewritten = rewriteDocument(read.document, read.part, change, to);
      pieces.push(text.slice(done, read.part.start), rewritten.text);
      objects += rewritten.objects;
      rewritten.problems.forEach((problem) => void problems.push(problem));
      done = read.part.start + read.part.text.length;
    }
  }
  return { text: pieces.join('') + text.slice(done), objects, problems };
}

function withoutNamespace(object: JsonObject): JsonObject {
  const changed = copyOf(object);
  delete objectAt(changed, 'metadata').namespace;
  return changed;
}

/** The object with the port of its Service as a number, if it is one in quotes. */
function withNumericPort(object: JsonObject): JsonObject {
  const changed = copyOf(object);
  const service = objectAt(changed, 'spec', 'clientConfig', 'service');
  if (typeof service.port !== 'string' || !/^[1-9]\d{0,4}$/.test(service.port)) {
    return object;
  }
  service.port = Number(service.port);
  return changed;
}

/** Fixes with only one right answer, by the rule that asks for them. */
const fixes: Readonly<Record<string, (object: JsonObject) => JsonObject>> = {
  'metadata-namespace': withoutNamespace,
  'field-type': withNumericPort,
  'api-version-deprecated': (object) => convert(object, apiVersionOf(hubVersion)),
};

/**
 * Fixes in a text what has only one right answer and a rule reports, unless a comment turns the rule off: the version,
 * the namespace, a port in quotes; and writes the defaults that the webhook would set.
 */
export function fixManifests(text: string, policy: LintPolicy): Rewritten {
  const suppressions = readSuppressions(text);
  const change = (object: JsonObject, { placeOf }: PlacedObject) => {
    if (versionOf(object.apiVersion) === undefined) {
      return object;
    }
    const reports = reportsOf(object, policy).filter(
      ({ rule, path }) => !suppressions.cover(rule.id, placeOf(path).line, placeOf([]).line),
    );
    const reported = new Set(reports.map(({ rule }) => rule.id));
    const wanted = Object.entries(fixes).filter(([id]) => reported.has(id));
    const fixed = wanted.reduce((at, [, fix]) => fix(at), object);
    return withDefaults(fixed, 'object');
  };
  return rewriteManifests(text, change, hubVersion);
}
