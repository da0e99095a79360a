import type { Readable } from 'node:stream';
import { printable } from '../../base/index.ts';
import type { JsonObject } from '../../kubernetes/index.ts';
import { readDocuments, readManifests } from '../../kubernetes/manifests/index.ts';
import { listFlag } from '../framework/flags.ts';
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
export async function manifestObjects(paths: readonly string[], io: Io): Promise<ManifestObject[]> {
  const objects: ManifestObject[] = [];
  for await (const manifest of readManifests(paths, io.stdin as Readable, io.signal)) {
    const file = printable(manifest.file);
    if ('message' in manifest) {
      throw new UsageError(`${file}: ${manifest.message}`);
    }
    for (const object of objectsOf(manifest.text, file)) {
      objects.push(object);
    }
  }
  io.signal.throwIfAborted();
  return objects;
}

export const crdsFlag = listFlag(
  'PATH',
  'file or folder with CustomResourceDefinitions of providers, which patched templates must match; may be repeated',
  { defaultText: 'none' },
);

/** The CustomResourceDefinitions in files. @throws {UsageError} for a file that cannot be read, and if there are none. */
export async function readCrds(paths: readonly string[], io: Io): Promise<JsonObject[]> {
  const objects = (await manifestObjects(paths, io)).map(({ object }) => object);
  const crds = objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
  if (paths.length > 0 && crds.length === 0) {
    throw new UsageError(
      `--crds: there is no CustomResourceDefinition in ${printable(paths.join(', ').slice(0, 500))}`,
    );
  }
  return crds;
}
