import { closeSync, createReadStream, openSync, readSync, type Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import type { LintError } from './result.ts';

/** One stream of manifests: a file, or standard input. */
export interface Source {
  /** The path as a user would write it, or `<stdin>`. */
  file: string;
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

const manifestName = /\.(ya?ml|json)$/i;

/** What a folder may hold beside manifests, and nobody wants linted: version control, editors, dependencies. */
const isSkipped = (name: string) => name.startsWith('.') || name === 'node_modules';

/** Deepest nesting of folders that is walked. */
const maxFolderDepth = 100;

/** Why the system refused something, without the path that the message begins with anyway. */
export function systemProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const known: Record<string, string> = {
    ENOENT: 'no such file or folder',
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    ELOOP: 'too many symbolic links',
    EISDIR: 'is a folder',
  };
  return known[code ?? ''] ?? message;
}

/** Most bytes of a file that are read at once. */
const maxChunkLength = 256 * 1024;

/**
 * The bytes of a regular file. Synchronous: for thousands of small files that takes half the time, and a disk does not
 * keep anybody waiting.
 */
async function* chunksOf(file: string, size: number): AsyncGenerator<Uint8Array> {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.allocUnsafe(Math.min(size + 1, maxChunkLength));
    for (let read = readSync(descriptor, buffer); read > 0; read = readSync(descriptor, buffer)) {
      yield buffer.subarray(0, read);
    }
  } finally {
    closeSync(descriptor);
  }
}

function fileSource(file: string, found: Stats): Source {
  // A pipe may have nothing to read for a long time.
  return { file, open: (signal) => (found.isFile() ? chunksOf(file, found.size) : createReadStream(file, { signal })) };
}

async function* walk(folder: string, depth: number, seen: Set<string>): AsyncGenerator<Source | LintError> {
  try {
    const real = await realpath(folder);
    if (seen.has(real)) {
      return;
    }
    seen.add(real);
    if (depth > maxFolderDepth) {
      yield { file: folder, message: `folders nest deeper than ${maxFolderDepth} levels` };
      return;
    }
    for (const name of (await readdir(folder)).filter((entry) => !isSkipped(entry)).sort()) {
      const path = join(folder, name);
      try {
        const found = await stat(path);
        if (found.isDirectory()) {
          yield* walk(path, depth + 1, seen);
        } else if (found.isFile() && manifestName.test(name)) {
          yield fileSource(path, found);
        }
      } catch (error) {
        // A dangling link that is named like no manifest would not have been read anyway.
        if (manifestName.test(name)) {
          yield { file: path, message: `cannot be read: ${systemProblem(error)}` };
        }
      }
    }
  } catch (error) {
    yield { file: folder, message: `cannot be read: ${systemProblem(error)}` };
  }
}

/**
 * The streams that paths stand for, in the order given: a file itself whatever its name (also a pipe), of a folder all
 * `*.yaml`, `*.yml` and `*.json` below it in order of their names, and standard input for `-`. A folder is walked once,
 * however many links lead to it. What cannot be read comes as an error, and the walk goes on.
 */
export async function* sourcesOf(paths: readonly string[], stdin: Readable): AsyncGenerator<Source | LintError> {
  const seen = new Set<string>();
  let isStdinRead = false;
  for (const path of paths) {
    if (path === '-') {
      if (!isStdinRead) {
        isStdinRead = true;
        yield { file: '<stdin>', open: (signal) => addAbortSignal(signal, stdin) };
      }
      continue;
    }
    try {
      const found = await stat(path);
      if (found.isDirectory()) {
        yield* walk(path, 0, seen);
      } else {
        yield fileSource(path, found);
      }
    } catch (error) {
      yield { file: path, message: `cannot be read: ${systemProblem(error)}` };
    }
  }
}
