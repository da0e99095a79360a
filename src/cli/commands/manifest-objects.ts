import type { Readable } from 'node:stream';
import { printable } from '../../base/index.ts';
import type { JsonObject } from '../../kubernetes/index.ts';
import { readDocuments, readManifests } from '../../kubernetes/manifests/index.ts';
import { type Io, UsageError } from '../framework/program.ts';

interface ManifestObject {
  object: JsonObject;
  where: () => string;
}

/** The objects in YAML or JSON. @throws {UsageError} for text that cannot be read, with its name and the line. */
export function* objectsOf(text: string, name: string): Generator<ManifestObject> {
  for (const read of readDocuments(text)) {
    const [error] = 'errors' in read ? read.errors : read.document.refusals;
    if ('errors' in read || error !== undefined) {
      throw new UsageError(`${name}:${error?.line}: ${printable(error?.message ?? '')}`);
    }
    for (const { object, placeOf } of read.document.objects) {
      yield { object, where: () => `${name}:${placeOf([]).line}` };
    }
  }
}

/** The objects in files and folders, or in standard input for `-`. @throws {UsageError} for what cannot be read. */
export async function* manifestObjects(paths: readonly string[], io: Io): AsyncGenerator<ManifestObject> {
  for await (const manifest of readManifests(paths, io.stdin as Readable, io.signal)) {
    const file = printable(manifest.file);
    if ('message' in manifest) {
      throw new UsageError(`${file}: ${manifest.message}`);
    }
    yield* objectsOf(manifest.text, file);
  }
  io.signal.throwIfAborted();
}
