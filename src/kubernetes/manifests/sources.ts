import { isUtf8 } from 'node:buffer';
import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { FileError, readLimited, readRegularFileSync, systemProblem } from '../../base/index.ts';

/** One stream of manifests: a file, or standard input. */
interface Source {
  file: string;
  /** Reads the whole text, including a byte order mark. @throws {SourceError} that says why it cannot be read. */
  read(signal: AbortSignal): Promise<string>;
}

/** Why a stream cannot be read. Without a line if it concerns the whole stream. */
export class SourceError extends Error {
  readonly line: number | undefined;

  constructor(message: string, line?: number) {
    super(message);
    this.line = line;
  }
}

interface Unreadable {
  file: string;
  message: string;
}

/** Largest stream, in bytes (64 MiB), since all of it is kept in memory. */
const maxStreamBytes = 64 * 1024 * 1024;

const tooLarge = `is larger than ${maxStreamBytes / 1024 / 1024} MiB; split it into several files`;

const manifestName = /\.(ya?ml|json)$/i;

/** Folders to skip, which contain no manifests: version control, editors, dependencies. */
const isSkipped = (name: string) => name.startsWith('.') || name === 'node_modules';

const maxFolderDepth = 100;

const unreadable = (file: string, error: unknown): Unreadable => ({
  file,
  message: `cannot be read: ${systemProblem(error)}`,
});

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** UTF-16, in which PowerShell writes, by the two bytes of its byte order mark. */
const utf16: Readonly<Record<number, string>> = { 65534: 'utf-16le', 65279: 'utf-16be' };

/** The text of bytes in UTF-8, or in UTF-16 with a byte order mark, as kubectl reads them. */
function decode(bytes: Buffer): string {
  const encoding = bytes.length < 2 ? undefined : utf16[bytes.readUInt16BE()];
  if (encoding !== undefined) {
    try {
      return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new SourceError('is not valid UTF-16, as which it begins: save it as UTF-8');
    }
  }
  const [a, b, c, d] = bytes;
  if ((a === 0 && c === 0 && b && d) || (b === 0 && d === 0 && a && c)) {
    throw new SourceError('is UTF-16 without a byte order mark, which kubectl does not read: save it as UTF-8');
  }
  if (isUtf8(bytes)) {
    return utf8.decode(bytes);
  }
  // No multi-byte character contains the byte of a newline, so each line can be checked separately.
  let line = 1;
  for (let start = 0, end = 0; start < bytes.length; start = end, line++) {
    const lineBreak = bytes.indexOf(0x0a, start);
    end = lineBreak === -1 ? bytes.length : lineBreak + 1;
    if (!isUtf8(bytes.subarray(start, end))) {
      break;
    }
  }
  throw new SourceError('is not valid UTF-8', line);
}

/** Synchronous: that takes half the time for thousands of small files, and reading a regular file does not block. */
function readFile(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readRegularFileSync(file, maxStreamBytes);
  } catch (error) {
    if (!(error instanceof FileError)) {
      throw error;
    }
    if (error.code === 'EFBIG') {
      throw new SourceError(tooLarge);
    }
    throw new SourceError(
      error.code === 'ENOTREG'
        ? `${error.problem}; write it to one, or pipe it in and name "-"`
        : error.code === 'ENOENT'
          ? 'cannot be read: no such file or folder'
          : error.problem,
    );
  }
  return decode(bytes);
}

async function readStream(stream: Readable, signal: AbortSignal): Promise<string> {
  const bytes = await readLimited(addAbortSignal(signal, stream), maxStreamBytes);
  if (bytes === undefined) {
    throw new SourceError(tooLarge);
  }
  return decode(bytes);
}

const fileSource = (file: string): Source => ({ file, read: async () => readFile(file) });

/** The type of a folder entry, following links. */
function kindOf(path: string, entry: Dirent): 'folder' | 'file' | 'other' {
  const target = entry.isSymbolicLink() ? statSync(path) : entry;
  return target.isDirectory() ? 'folder' : target.isFile() ? 'file' : 'other';
}

/** A file, unless it has been read: by its path, or one through links. */
function* unseen(path: string, real: string, seen: Set<string>): Generator<Source> {
  if (!seen.has(real)) {
    seen.add(real);
    yield fileSource(path);
  }
}

function* walk(folder: string, depth: number, seen: Set<string>): Generator<Source | Unreadable> {
  let entries: Dirent[];
  let real: string;
  try {
    real = realpathSync(folder);
    if (seen.has(real)) {
      return;
    }
    seen.add(real);
    if (depth > maxFolderDepth) {
      yield { file: folder, message: `folders nest deeper than ${maxFolderDepth} levels` };
      return;
    }
    entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !isSkipped(name));
  } catch (error) {
    yield unreadable(folder, error);
    return;
  }
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(folder, entry.name);
    const isManifest = manifestName.test(entry.name);
    try {
      const kind = kindOf(path, entry);
      if (kind === 'folder') {
        yield* walk(path, depth + 1, seen);
      } else if (kind === 'file' && isManifest) {
        yield* unseen(path, entry.isSymbolicLink() ? realpathSync(path) : join(real, entry.name), seen);
      }
    } catch (error) {
      // A dangling link without the name of a manifest would not have been read anyway.
      if (isManifest) {
        yield unreadable(path, error);
      }
    }
  }
}

/**
 * The streams for the given paths, in order: a regular file whatever its name, all `*.yaml`, `*.yml` and `*.json` files
 * below a folder, sorted by name, and standard input for `-`. A file is read once, and a folder visited once, however
 * often it is named and however many links lead to it.
 * What cannot be read is returned as an error, and the traversal continues.
 */
export function* sourcesOf(paths: readonly string[], stdin: Readable): Generator<Source | Unreadable> {
  const seen = new Set<string>();
  let isStdinRead = false;
  for (const path of paths) {
    if (path === '-') {
      if (!isStdinRead) {
        isStdinRead = true;
        yield { file: '<stdin>', read: (signal) => readStream(stdin, signal) };
      }
      continue;
    }
    if (path === '') {
      yield { file: '""', message: 'names no file: write "." for this folder' };
      continue;
    }
    try {
      const stats = statSync(path);
      if (stats.isDirectory()) {
        yield* walk(path, 0, seen);
      } else if (stats.isFile()) {
        yield* unseen(path, realpathSync(path), seen);
      } else {
        // Reading it says what it is.
        yield fileSource(path);
      }
    } catch (error) {
      yield unreadable(path, error);
    }
  }
}
