import type { Readable } from 'node:stream';
import { printable } from '../../base/index.ts';
import type { JsonObject } from '../../kubernetes/index.ts';
import { readDocument, SourceError, sourcesOf, splitDocuments } from '../../kubernetes/manifests/index.ts';
import { type Io, UsageError } from '../framework/program.ts';

/** An object in a file, and its location. */
export interface ManifestObject {
  object: JsonObject;
  /** `FILE:LINE` of the object. */
  where: () => string;
}

/**
 * The objects in a text in YAML or JSON.
 *
 * @param name the name of the source in messages.
 * @throws {UsageError} for text that cannot be read, with name and line.
 */
export function* objectsOf(text: string, name: string): Generator<ManifestObject> {
  for (const part of splitDocuments(text)) {
    if ('error' in part) {
      throw new UsageError(`${name}:${part.line}: ${part.error}`);
    }
    const document = readDocument(part);
    const [error] = 'errors' in document ? document.errors : document.refusals;
    if ('errors' in document || error !== undefined) {
      throw new UsageError(`${name}:${error?.line}: ${printable(error?.message ?? '')}`);
    }
    for (const { object, placeOf } of document.objects) {
      yield { object, where: () => `${name}:${placeOf([]).line}` };
    }
  }
}

/**
 * The objects in files and folders, or in standard input for `-`.
 *
 * @throws {UsageError} for what cannot be read, with file and line.
 */
export async function* manifestObjects(paths: readonly string[], io: Io): AsyncGenerator<ManifestObject> {
  for (const source of sourcesOf(paths, io.stdin as Readable)) {
    const file = printable(source.file);
    if ('message' in source) {
      throw new UsageError(`${file}: ${source.message}`);
    }
    let text: string;
    try {
      text = await source.read(io.signal);
    } catch (error) {
      io.signal.throwIfAborted();
      throw error instanceof SourceError ? new UsageError(`${file}: ${error.message}`) : error;
    }
    yield* objectsOf(text, file);
  }
}
