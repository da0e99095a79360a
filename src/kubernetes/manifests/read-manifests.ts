import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { type DocumentError, type ReadDocument, readDocument } from './document.ts';
import { SourceError, sourcesOf } from './sources.ts';
import { type DocumentText, splitDocuments } from './split.ts';

/** Why a file or a folder cannot be read. Without a line if it concerns all of it. */
interface ManifestError {
  file: string;
  message: string;
  line?: number;
  column?: number;
}

/** A document with its place in the text; or why it cannot be read. */
type ManifestDocument = { document: ReadDocument; part: DocumentText } | { errors: DocumentError[] };

/** A file with manifests; `<stdin>` for standard input. */
export interface ManifestFile {
  file: string;
  text: string;
  /** Its documents, with a turn of the event loop now and then, so that signals are handled; none once it is aborted. */
  documents(): AsyncGenerator<ManifestDocument>;
}

/** Number of documents between two turns of the event loop: a few milliseconds of work. */
const documentsPerTurn = 50;

/**
 * Reads the files of paths, as they are named: files, `*.yaml`, `*.yml` and `*.json` below folders, `-` for standard
 * input. What cannot be read is an error among them. Ends when the signal is aborted.
 *
 * @param onFile called before each file is read.
 */
export async function* readManifests(
  paths: readonly string[],
  stdin: Readable,
  signal: AbortSignal,
  onFile: (file: string) => void = () => {},
): AsyncGenerator<ManifestFile | ManifestError> {
  let count = 0;
  async function* documents(text: string): AsyncGenerator<ManifestDocument> {
    for (const document of readDocuments(text)) {
      yield document;
      if (++count % documentsPerTurn === 0) {
        await setImmediate();
      }
      if (signal.aborted) {
        return;
      }
    }
  }
  for (const source of sourcesOf(paths, stdin)) {
    if (signal.aborted) {
      return;
    }
    if ('message' in source) {
      yield source;
      continue;
    }
    const { file } = source;
    onFile(file);
    let read: ManifestFile | ManifestError;
    try {
      const text = await source.read(signal);
      read = { file, text, documents: () => documents(text) };
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      if (!(error instanceof SourceError)) {
        throw error;
      }
      const { line, message } = error;
      read = { file, message, ...(line !== undefined && { line, column: 1 }) };
    }
    yield read;
  }
}

export function* readDocuments(text: string): Generator<ManifestDocument> {
  for (const part of splitDocuments(text)) {
    if ('error' in part) {
      yield { errors: [{ line: part.line, column: 1, message: part.error }] };
      continue;
    }
    const document = readDocument(part);
    yield 'errors' in document ? document : { document, part };
  }
}
