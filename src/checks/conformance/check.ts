import type { Trial } from './trial.ts';
import type { TriedHandler } from './tried.ts';

/** The subject of a check, which determines the order and the headings in reports. */
export type CheckGroup = 'TLS' | 'Discovery' | 'Calls' | 'Answers' | 'Patches' | 'Variables' | 'Upgrade plans' | 'Load';

/** `must`: otherwise Cluster API, or the Clusters, would suffer. `should`: a recommendation of the Runtime SDK. */
export type CheckLevel = 'must' | 'should';

/** One problem that a check found. */
export interface CheckProblem {
  /** Name of the handler without that of the ExtensionConfig, if the problem is about one handler. */
  handler?: string;
  /** One line; text from the server is truncated and contains no control characters. */
  message: string;
  /** Whether the problem is only a recommendation, in a check that is a `must`. */
  isWarning?: boolean;
}

/** Why a check was skipped. */
export interface Skipped {
  because: string;
}

/** One property of a well-behaved extension: data plus one function, like a rule. */
export interface Check {
  id: string;
  group: CheckGroup;
  level: CheckLevel;
  /** One sentence: what the extension has to do. */
  asks: string;
  /** What happens otherwise. */
  why: string;
  /** What the extension's author should do. */
  remedy: string;
  /** Reports every problem that it finds. */
  run(trial: Trial, report: (problem: CheckProblem) => void): Promise<Skipped | undefined>;
}

/** Checks the handlers that respond, one after the other. The check is skipped if none does. */
export async function ofAnswering(
  { answering }: Trial,
  look: (handler: TriedHandler) => Promise<void>,
): Promise<Skipped | undefined> {
  const handlers = await answering();
  if (handlers.length === 0) {
    return { because: 'no handler answers' };
  }
  for (const handler of handlers) {
    await look(handler);
  }
  return undefined;
}
