import { printable } from '../../base/index.ts';
import type { JsonObject } from '../../kubernetes/index.ts';
import { listFlag } from '../framework/flags.ts';
import { type Io, UsageError } from '../framework/program.ts';
import { manifestObjects } from './manifest-objects.ts';

export const crdsFlag = listFlag(
  'PATH',
  'file or folder with CustomResourceDefinitions of providers, which patched templates must match; may be repeated',
  { defaultText: 'none' },
);

/** The CustomResourceDefinitions in files. @throws {UsageError} for a file that cannot be read, and if there are none. */
export async function readCrds(paths: readonly string[], io: Io): Promise<JsonObject[]> {
  const crds: JsonObject[] = [];
  for await (const { object } of manifestObjects(paths, io)) {
    if (object.kind === 'CustomResourceDefinition') {
      crds.push(object);
    }
  }
  if (paths.length > 0 && crds.length === 0) {
    throw new UsageError(
      `--crds: there is no CustomResourceDefinition in ${printable(paths.join(', ').slice(0, 500))}`,
    );
  }
  return crds;
}
