import { readdirSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import {
  FileError,
  readLimited,
  readRegularFileSync,
  systemProblem,
  UsageError,
  withoutControls,
} from '../../base/index.ts';
import { copyOf, type Json } from '../objects/json/json.ts';
import { type DocumentError, type ReadDocument, readDocument } from './document.ts';
import { type DocumentText, splitDocuments } from './split.ts';

interface ManifestError {
  file: string;
  message: string;
}

type ManifestDocument = { document: ReadDocument; part: DocumentText } | { errors: DocumentError[] };

/** A file with manifests; `<stdin>` for standard input. */
export interface ManifestFile {
  file: string;
  text: string;
  /** Whether it was found in a folder, and is a symbolic link to a file outside of it, which must not be written. */
  isLinkOut: boolean;
  /** Its documents, with a turn of the event loop now and then, so that signals are handled; none once it is aborted. */
  documents(): AsyncGenerator<ManifestDocument>;
}

/** Largest stream, in bytes (64 MiB), since all of it is kept in memory. */
const maxStreamBytes = 64 * 1024 * 1024;

const tooLarge = `is larger than ${maxStreamBytes / 1024 / 1024} MiB; split it into several files`;

/** Number of documents between two turns of the event loop: a few milliseconds of work. */
const documentsPerTurn = 50;

/** Folders to skip, which contain no manifests: version control, editors, dependencies. */
const isSkipped = (name: string) => name.startsWith('.') || name === 'node_modules';

class SourceError extends Error {}

/** UTF-16, in which PowerShell writes, by the two bytes of its byte order mark. */
const utf16: Readonly<Record<number, string>> = { 65534: 'utf-16le', 65279: 'utf-16be' };

/** The text of bytes in UTF-8, or in UTF-16 with a byte order mark, as kubectl reads them. */
function decode(bytes: Buffer): string {
  const encoding = bytes.length < 2 ? undefined : utf16[bytes.readUInt16BE()];
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const hint = 'is not valid UTF-16, as which it begins: save it as UTF-8';
    throw new SourceError(encoding === undefined ? 'is not valid UTF-8' : hint);
  }
}

/** Synchronous: that takes half the time for thousands of small files, and reading a regular file does not block. */
function readFile(file: string): string {
  try {
    return decode(readRegularFileSync(file, maxStreamBytes));
  } catch (error) {
    if (!(error instanceof FileError)) {
      throw error;
    }
    const { code, problem } = error;
    const ends: Readonly<Record<string, string>> = {
      EFBIG: tooLarge,
      ENOTREG: `${problem}; write it to one, or pipe it in and name "-"`,
    };
    throw new SourceError(ends[code] ?? problem);
  }
}

async function readStream(stream: Readable, signal: AbortSignal): Promise<string> {
  const bytes = await readLimited(addAbortSignal(signal, stream), maxStreamBytes);
  if (bytes === undefined) {
    throw new SourceError(tooLarge);
  }
  return decode(bytes);
}

/** The manifests below a folder, sorted by name. Links to folders are not followed, as by kubectl. */
function* filesIn(folder: string): Generator<string | ManifestError> {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !isSkipped(name));
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        yield* filesIn(path);
      } else if (/\.(ya?ml|json)$/i.test(entry.name)) {
        yield path;
      }
    }
  } catch (error) {
    yield { file: folder, message: `cannot be read: ${systemProblem(error)}` };
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function* filesOf(paths: readonly string[]): Generator<Pick<ManifestFile, 'file' | 'isLinkOut'> | ManifestError> {
  const seen = new Set<string>();
  for (const named of paths) {
    if (named === '') {
      yield { file: '""', message: 'names no file: write "." for this folder' };
      continue;
    }
    for (const file of isFolder(named) ? filesIn(named) : [named]) {
      if (typeof file !== 'string') {
        yield file;
        continue;
      }
      try {
        const real = file === '-' ? file : realpathSync(file);
        if (!seen.has(real)) {
          seen.add(real);
          yield { file, isLinkOut: file !== named && !real.startsWith(join(realpathSync(named), sep)) };
        }
      } catch (error) {
        yield { file, message: `cannot be read: ${systemProblem(error)}` };
      }
    }
  }
}

/**
 * The files of paths, each once, or why one cannot be read, until the signal is aborted: files, `*.yaml`, `*.yml` and `*.json` below
 * folders, `-` for standard input. `onFile` is called before each file is read.
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
  for (const source of filesOf(paths)) {
    if (signal.aborted) {
      return;
    }
    if ('message' in source) {
      yield source;
      continue;
    }
    const isStdin = source.file === '-';
    const file = isStdin ? '<stdin>' : source.file;
    onFile(file);
    let read: ManifestFile | ManifestError;
    try {
      const text = isStdin ? await readStream(stdin, signal) : readFile(file);
      read = { ...source, file, text, documents: () => documents(text) };
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      if (!(error instanceof SourceError)) {
        throw error;
      }
      read = { file, message: error.message };
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

/** The value of the only document in a text; null without one. @throws {UsageError} if it is longer, invalid or not alone. */
export function onlyValue(text: string, maxLength: number): Json {
  if (text.length > maxLength) {
    throw new UsageError(`is longer than ${maxLength} characters`);
  }
  const [first, second] = readDocuments(text);
  if (second !== undefined) {
    throw new UsageError('contains more than one document');
  }
  if (first !== undefined && 'errors' in first) {
    throw new UsageError(first.errors.map(({ line, message }) => `line ${line}: ${message}`).join('; '));
  }
  return copyOf((first?.document.value ?? null) as Json);
}

/** `file:line:column`, to begin a line: the runner of a workflow would take a file `::stop-commands::` for its own. */
export function showPlace({ file, line, column }: { file: string; line?: number; column?: number }): string {
  const path = /^[\w./~<"]/.test(file) ? file : `./${file}`;
  return [withoutControls(path), line, column].filter((part) => part !== undefined).join(':');
}
