import type { Readable } from 'node:stream';
import { count, withoutControls } from '../../../base/index.ts';
import { readManifestFacts } from '../../../checks/lint/index.ts';
import { showPlace } from '../../../kubernetes/manifests/index.ts';
import type { Facts } from '../../../policy/index.ts';
import { type Io, UsageError } from '../../framework/program.ts';

/** The facts about the cluster in manifests; undefined without any. @throws {UsageError} */
export async function factsIn(paths: readonly string[], io: Io): Promise<Facts | undefined> {
  if (paths.length === 0) {
    return undefined;
  }
  if (paths.includes('-')) {
    throw new UsageError('--facts: standard input is already being checked: name a file or a folder');
  }
  const { facts, files, objects, errors } = await readManifestFacts(paths, io.stdin as Readable, io.signal);
  const [first] = errors;
  const named = errors.find(({ file }) => paths.includes(file));
  if (named !== undefined && named.line === undefined) {
    throw new UsageError(`--facts: ${showPlace(named)}: ${withoutControls(named.message)}`);
  }
  if (first !== undefined) {
    io.stderr.write(
      `lint: --facts: ${count(errors.length, 'document')} could not be read and are left out; the first is ${showPlace(first)}: ${withoutControls(first.message)}\n`,
    );
  }
  if (objects === 0) {
    throw new UsageError(
      `--facts: no object in ${count(files, 'file')} that rules know about: ExtensionConfig, ClusterClass, Cluster, Namespace, Service, Secret`,
    );
  }
  return facts;
}
