import type { CheckedHandler, Trial } from './trial.ts';

/**
 * Reports a problem, of a handler if it is about one: as an error if the check is a `must`, unless it is only a
 * recommendation.
 */
export type ReportProblem = (message: string, handler?: { name: string | undefined }, isWarning?: boolean) => void;

/** One property of a well-behaved extension: data plus one function, like a rule. */
export interface Check {
  id: string;
  /** `must`: otherwise Cluster API, or the Clusters, would suffer. `should`: a recommendation of the Runtime SDK. */
  level: 'must' | 'should';
  /** One sentence: what the extension has to do. */
  requirement: string;
  /** What happens otherwise. */
  reason: string;
  /** What the extension's author should do. */
  remedy: string;
  /** Returns why it was skipped, if it was. */
  run(trial: Trial, report: ReportProblem): Promise<string | undefined>;
}

type Look = (handler: CheckedHandler, report: (message: string, isWarning?: boolean) => void) => Promise<void>;

/** Checks the handlers that respond, one after the other; skipped for `reason` if none of them is selected. */
export const ofAnswering =
  (look: Look, reason = 'no handler answers', isSelected: (handler: CheckedHandler) => boolean = () => true) =>
  async (trial: Trial, report: ReportProblem): Promise<string | undefined> => {
    const handlers = (await trial.answering()).filter(isSelected);
    for (const handler of handlers) {
      await look(handler, (message, isWarning) => report(message, handler, isWarning));
    }
    return handlers.length === 0 ? reason : undefined;
  };

/** As `ofAnswering`, for the handlers of one hook. */
export const ofHook = (hook: string, look: Look) =>
  ofAnswering(look, `no handler of ${hook} answers`, (handler) => handler.hook.name === hook);
