import type { Readable } from 'node:stream';
import { readManifests } from '../../kubernetes/manifests/index.ts';
import { createManifestFacts } from '../../policy/index.ts';
import type { LintError } from './result.ts';

/** All manifests in files and folders as facts for rules. Files that cannot be read count as absent: a folder may contain templates. */
export async function readManifestFacts(paths: readonly string[], stdin: Readable, signal: AbortSignal) {
  const { facts, add } = createManifestFacts();
  const errors: LintError[] = [];
  let [files, objects] = [0, 0];
  for await (const manifest of readManifests(paths, stdin, signal, () => files++)) {
    if ('message' in manifest) {
      errors.push(manifest);
      continue;
    }
    const { file } = manifest;
    for await (const read of manifest.documents()) {
      const problems = 'errors' in read ? read.errors : read.document.refusals;
      errors.push(...problems.slice(0, 1).map((problem) => ({ file, ...problem })));
      for (const { object } of 'errors' in read ? [] : read.document.objects) {
        objects += add(object) ? 1 : 0;
      }
    }
  }
  return { facts, files, objects, errors };
}
