import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { readDocument, type Source, SourceError, sourcesOf, splitDocuments } from '../../kubernetes/manifests/index.ts';
import { checkObject, type LintPolicy } from './check.ts';
import { createKindCheck } from './kind.ts';
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

/**
 * Number of documents between two turns of the event loop (a few milliseconds of work), so that signals are handled.
 */
const documentsPerTurn = 50;

/** For the first error in a file with the actions of a template, which is YAML only once it is rendered. */
const templateRemedy =
  '; this looks like a template: lint its output (helm template CHART | extensionconfig-webhook lint -)';

async function* lintSource(
  { file, read }: Source,
  { policyOf, signal, onSkipped }: LintRun,
  turn: () => Promise<void>,
): AsyncGenerator<LintResult> {
  let text: string;
  try {
    text = await read(signal);
  } catch (error) {
    if (signal.aborted) {
      return;
    }
    if (!(error instanceof SourceError)) {
      throw error;
    }
    const { line, message } = error;
    yield { error: { file, message, ...(line !== undefined && { line, column: 1 }) } };
    return;
  }
  const policy = policyOf(file);
  const kinds = createKindCheck(file);
  let remedy = text.includes('{{') ? templateRemedy : '';
  function unreadable(message: string): string {
    const whole = `${message}${remedy}`;
    remedy = '';
    return whole;
  }
  for (const part of splitDocuments(text)) {
    if ('error' in part) {
      yield { error: { file, line: part.line, column: 1, message: unreadable(part.error) } };
      continue;
    }
    const document = readDocument(part);
    if ('errors' in document) {
      for (const error of document.errors) {
        yield { error: { file, ...error, message: unreadable(error.message) } };
      }
    } else {
      for (const refusal of document.refusals) {
        yield { error: { file, ...refusal } };
      }
      for (const error of kinds.errorsOf(document, part.contentLine)) {
        yield { error };
      }
      for (const placed of document.objects) {
        const object = await checkObject(file, placed, policy);
        if (object !== undefined) {
          yield { object };
        }
      }
    }
    await turn();
    if (signal.aborted) {
      return;
    }
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
  let documents = 0;
  const turn = async () => {
    if (++documents % documentsPerTurn === 0) {
      await setImmediate();
    }
  };
  for (const source of sourcesOf(run.paths, run.stdin)) {
    if (run.signal.aborted) {
      return;
    }
    if ('read' in source) {
      run.onFile?.(source.file);
      yield* lintSource(source, run, turn);
    } else {
      yield { error: source };
    }
  }
}
