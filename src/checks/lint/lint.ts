import type { Readable } from 'node:stream';
import { type ManifestFile, readManifests } from '../../kubernetes/manifests/index.ts';
import { checkObject, type LintPolicy } from './check.ts';
import { createKindCheck } from './kind.ts';
import { createNames, type Names } from './names.ts';
import type { LintResult } from './result.ts';

/** The input of a run. */
export interface LintRun {
  /** Files, folders, and `-` for standard input. */
  paths: readonly string[];
  stdin: Readable;
  /** Returns the policy for the objects in a file. */
  policyOf: (file: string) => LintPolicy;
  /** Stops the run; results so far have been yielded. */
  signal: AbortSignal;
  /** Called before each file is read. */
  onFile?: (file: string) => void;
  /** Called after a file without Kubernetes objects: the number of its documents, and the line of the first. */
  onSkipped?: (file: string, documents: number, line: number) => void;
}

/** For the first error in a file with the actions of a template, which is YAML only once it is rendered. */
const templateRemedy =
  '; this looks like a template: lint its output (helm template CHART | extensionconfig-webhook lint -)';

async function* lintFile(
  { file, text, documents }: ManifestFile,
  { policyOf, signal, onSkipped }: LintRun,
  names: Names,
): AsyncGenerator<LintResult> {
  const policy = policyOf(file);
  const kinds = createKindCheck(file);
  let remedy = text.includes('{{') ? templateRemedy : '';
  function unreadable(message: string): string {
    const whole = `${message}${remedy}`;
    remedy = '';
    return whole;
  }
  for await (const read of documents()) {
    if ('errors' in read) {
      for (const error of read.errors) {
        yield { error: { file, ...error, message: unreadable(error.message) } };
      }
    } else {
      const { document, part } = read;
      for (const refusal of document.refusals) {
        yield { error: { file, ...refusal } };
      }
      for (const error of kinds.errorsOf(document, part.contentLine)) {
        yield { error };
      }
      for (const placed of document.objects) {
        const object = await checkObject(file, placed, policy, names);
        if (object !== undefined) {
          yield { object };
        }
      }
    }
  }
  if (signal.aborted) {
    return;
  }
  const skipped = kinds.skipped();
  if (skipped !== undefined) {
    onSkipped?.(file, skipped.documents, skipped.line);
  }
}

/**
 * Checks all ExtensionConfigs in files, one document at a time. Files that cannot be read, and documents that are not
 * valid YAML or that kubectl refuses, are yielded as errors; everything else is still checked.
 */
export async function* lint(run: LintRun): AsyncGenerator<LintResult> {
  const names = createNames();
  for await (const manifest of readManifests(run.paths, run.stdin, run.signal, run.onFile)) {
    if ('message' in manifest) {
      yield { error: manifest };
    } else {
      yield* lintFile(manifest, run, names);
    }
  }
}
