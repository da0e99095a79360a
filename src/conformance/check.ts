import type { Trial } from './trial.ts';
import type { TriedHandler } from './tried.ts';

/** What a check is about, for the order and the headings of reports. */
export type CheckGroup = 'TLS' | 'Discovery' | 'Calls' | 'Answers' | 'Patches' | 'Variables' | 'Upgrade plans' | 'Load';

/** `must`: Cluster API, or the Clusters, would suffer. `should`: advice of the Runtime SDK. */
export type CheckLevel = 'must' | 'should';

/** One problem that a check found. */
export interface CheckProblem {
  /** Name of the handler without that of the ExtensionConfig, where it is about one. */
  handler?: string;
  /** One line; text from the server is truncated and has no control characters. */
  message: string;
  /** Whether the problem is advice only, in a check that is a `must`. */
  isWarning?: boolean;
}

/** A check that could not be made, and why. */
export interface Skipped {
  because: string;
}

/** One thing that a well-behaved extension does: data plus one function, like a rule. */
export interface Check {
  id: string;
  group: CheckGroup;
  level: CheckLevel;
  /** One sentence: what the extension has to do. */
  asks: string;
  /** Why it matters: what happens otherwise. */
  why: string;
  /** The remedy for its author. */
  remedy: string;
  /** Reports every problem that it finds. */
  run(trial: Trial, report: (problem: CheckProblem) => void): Promise<Skipped | undefined>;
}

/** Checks the handlers that respond, one after the other. Without any the check cannot be made. */
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
