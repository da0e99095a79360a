import type { Readable } from 'node:stream';
import { type ManifestFile, readDocuments, readManifests, replaceFile } from '../../kubernetes/manifests/index.ts';
import { createManifestFacts, type Facts } from '../../policy/index.ts';
import { checkObject, type LintPolicy } from './check-object.ts';
import { createKindCheck } from './kind.ts';
import { createPatchCheck } from './kustomize-patches.ts';
import type { LintResult } from './result.ts';
import { fixManifests } from './rewrite.ts';
import { readSuppressions } from './suppressions.ts';

interface LintRun {
  /** Files, folders, and `-` for standard input. */
  paths: readonly string[];
  stdin: Readable;
  /** Undefined for a file that is left out. */
  policyOf: (file: string) => LintPolicy | undefined;
  /** Stops the run; results so far have been yielded. */
  signal: AbortSignal;
  onFile?: (file: string) => void;
  /** Whether to change, in the files, what has only one right answer. */
  fix: boolean;
}

/** Largest request body of an API server, in bytes. */
const maxObjectBytes = 3 * 1024 * 1024;

/** For the first error in a file with the actions of a template, which is YAML only once it is rendered. */
const templateRemedy =
  '; this looks like a template: lint its output (helm template CHART | extensionconfig-webhook lint -)';

/** The Certificates of a file, for what names their Secrets there; nothing else in it says what a cluster has. */
async function certificatesIn(documents: ManifestFile['documents']): Promise<Facts> {
  const { facts, add } = createManifestFacts();
  for await (const read of documents()) {
    const objects = 'errors' in read ? [] : read.document.objects;
    objects.forEach(({ object }) => void add(object));
  }
  return { certificates: facts.certificates };
}

async function* lintFile(
  { file, text, documents }: ManifestFile,
  given: LintPolicy,
  signal: AbortSignal,
  places: Map<string, string>,
): AsyncGenerator<LintResult> {
  const hasCertificates = /^kind:\s*Certificate\b/m.test(text);
  const policy = hasCertificates ? { ...given, facts: given.facts ?? (await certificatesIn(documents)) } : given;
  const kinds = createKindCheck(file);
  const suppressions = readSuppressions(text);
  for (const mistake of suppressions.mistakes) {
    yield { error: { file, column: 1, ...mistake } };
  }
  let remedy = text.includes('{{') ? templateRemedy : '';
  for await (const read of documents()) {
    if ('errors' in read) {
      for (const error of read.errors) {
        yield { error: { file, ...error, message: `${error.message}${remedy}` } };
        remedy = '';
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
        const object = checkObject(file, placed, policy, places);
        if (object !== undefined) {
          const bytes = Buffer.byteLength(JSON.stringify(placed.object));
          if (bytes > maxObjectBytes) {
            const message = `the object has ${bytes} bytes as JSON, and API servers accept at most ${maxObjectBytes} (3 MiB)`;
            yield { error: { file, ...placed.placeOf([]), message } };
          }
          const findings = object.findings.filter(({ ruleId, line }) => !suppressions.cover(ruleId, line, object.line));
          yield { object: { ...object, findings } };
        }
      }
    }
  }
  if (signal.aborted) {
    return;
  }
  for (const { line, ruleId } of suppressions.unused()) {
    yield { unused: { file, line, ruleId } };
  }
  const skipped = kinds.skipped();
  if (skipped !== undefined) {
    yield { skipped: { file, ...skipped } };
  }
}

/** Fixes a file, and returns it as it is then. */
async function* fixFile(manifest: ManifestFile, policy: LintPolicy): AsyncGenerator<LintResult, ManifestFile> {
  const { file, text } = manifest;
  const { text: fixed, objects, problems } = fixManifests(text, policy);
  const problem = problems.find(({ isContent }) => isContent);
  if (problem !== undefined) {
    const { isContent: _, ...placed } = problem;
    yield { error: { file, ...placed, message: `cannot be fixed: ${problem.message}` } };
  }
  // One that cannot be read is reported when it is checked.
  if (problems.length > 0 || fixed === text) {
    return manifest;
  }
  try {
    await replaceFile(manifest, fixed);
  } catch (error) {
    yield { error: { file, message: `cannot be written: ${(error as Error).message}` } };
    return manifest;
  }
  yield { fixed: { file, objects } };
  return {
    ...manifest,
    text: fixed,
    async *documents() {
      yield* readDocuments(fixed);
    },
  };
}

/**
 * Checks all ExtensionConfigs in files, one document at a time. Files that cannot be read, and documents that are not
 * valid YAML or that kubectl refuses, are yielded as errors; everything else is still checked.
 */
export async function* lint(run: LintRun): AsyncGenerator<LintResult> {
  const places = new Map<string, string>();
  const isPatch = createPatchCheck();
  for await (const manifest of readManifests(run.paths, run.stdin, run.signal, run.onFile)) {
    if ('message' in manifest) {
      yield { error: manifest };
    } else if (isPatch(manifest.file)) {
      yield { patch: manifest.file };
    } else {
      const policy = run.policyOf(manifest.file);
      if (policy !== undefined) {
        yield* lintFile(run.fix ? yield* fixFile(manifest, policy) : manifest, policy, run.signal, places);
      }
    }
  }
}
