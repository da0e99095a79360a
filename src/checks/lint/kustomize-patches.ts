import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readRegularFileSync } from '../../base/index.ts';
import { fieldAt, isJsonObject, itemsAt, type Json } from '../../kubernetes/index.ts';
import { onlyValue } from '../../kubernetes/manifests/index.ts';

/** The names of a kustomization, in the order in which kustomize looks for them. */
const kustomizationNames = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'];

/** Whether kustomize composes what is in the folder of a file, or it is in none. */
export const isAlone = (file: string): boolean =>
  file === '<stdin>' || kustomizationNames.some((name) => existsSync(join(dirname(file), name)));

/** Largest kustomization that is read, in bytes. */
const maxBytes = 256 * 1024;

/** The files of the patches that the kustomization of a folder lists, if it has one that can be read. */
function patchesIn(folder: string): string[] {
  const name = kustomizationNames.find((one) => existsSync(join(folder, one)));
  let content: unknown;
  try {
    const text = name === undefined ? '' : readRegularFileSync(join(folder, name), maxBytes).toString('utf8');
    content = onlyValue(text, maxBytes);
  } catch {
    // It is for kustomize to say what is wrong with it.
    return [];
  }
  const kustomization = isJsonObject(content) ? content : {};
  const paths: (Json | undefined)[] = [
    ...itemsAt(kustomization.patchesStrategicMerge),
    ...[...itemsAt(kustomization.patches), ...itemsAt(kustomization.patchesJson6902)].map((patch) =>
      fieldAt(patch, 'path'),
    ),
  ];
  return paths.filter((path) => typeof path === 'string').map((path) => resolve(folder, path));
}

/** Tells which files are patches of a kustomization in their folder or above it, up to the root of the git repository. */
export function createPatchCheck(): (file: string) => boolean {
  const known = new Map<string, ReadonlySet<string>>();
  function patchesFor(folder: string): ReadonlySet<string> {
    let patches = known.get(folder);
    if (patches === undefined) {
      const parent = dirname(folder);
      const isRoot = parent === folder || existsSync(join(folder, '.git'));
      patches = new Set([...patchesIn(folder), ...(isRoot ? [] : patchesFor(parent))]);
      known.set(folder, patches);
    }
    return patches;
  }
  return (file) => file !== '<stdin>' && patchesFor(dirname(resolve(file))).has(resolve(file));
}
