import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { checkObject, type LintPolicy } from './check.ts';
import { readDocument } from './document.ts';
import type { LintResult } from './result.ts';
import { type Source, sourcesOf, systemProblem } from './sources.ts';
import { SplitError, splitDocuments } from './split.ts';

/** What a run works on. */
export interface LintRun {
  /** Files, folders, and `-` for standard input. */
  paths: readonly string[];
  stdin: Readable;
  policy: LintPolicy;
  /** Ends the run early: what has been found so far has been yielded. */
  signal: AbortSignal;
  /** Called for each file before it is read. */
  onFile?: (file: string) => void;
}

/** Documents between two turns of the event loop, so that a signal to stop is heard: some milliseconds' work. */
const documentsPerTurn = 50;

async function* lintSource(
  source: Source,
  { policy, signal }: LintRun,
  turn: () => Promise<void>,
): AsyncGenerator<LintResult> {
  const { file } = source;
  try {
    for await (const text of splitDocuments(source.open(signal))) {
      const read = readDocument(text);
      if ('errors' in read) {
        for (const error of read.errors) {
          yield { error: { file, ...error } };
        }
      } else {
        for (const placed of read.objects) {
          const object = checkObject(file, placed, policy);
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
  } catch (error) {
    if (signal.aborted) {
      return;
    }
    if (error instanceof SplitError) {
      yield { error: { file, line: error.line, column: 1, message: error.message } };
    } else if ((error as NodeJS.ErrnoException).code !== undefined) {
      yield { error: { file, message: `cannot be read: ${systemProblem(error)}` } };
    } else {
      throw error;
    }
  }
}

/**
 * Checks all ExtensionConfigs in files, one document at a time. A file that cannot be read and a document that is no
 * YAML come as errors; everything else is checked still.
 */
export async function* lint(run: LintRun): AsyncGenerator<LintResult> {
  let documents = 0;
  const turn = async () => {
    if (++documents % documentsPerTurn === 0) {
      await setImmediate();
    }
  };
  for await (const source of sourcesOf(run.paths, run.stdin)) {
    if (run.signal.aborted) {
      return;
    }
    if ('open' in source) {
      run.onFile?.(source.file);
      yield* lintSource(source, run, turn);
    } else {
      yield { error: source };
    }
  }
}
