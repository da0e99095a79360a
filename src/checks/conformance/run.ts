import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import { quotable } from '../../runtimehooks/client/index.ts';
import type { Check, CheckGroup, CheckLevel, CheckProblem } from './check.ts';
import { checks as allChecks } from './checks.ts';
import { discoveryProblem } from './heard.ts';
import { createTrial, type TrialOptions } from './trial.ts';

/** How a check ended. `failed`: a `must` is violated; `warning`: a recommendation is not followed. */
export type CheckStatus = 'passed' | 'failed' | 'warning' | 'skipped';

/** A check with its result. */
export interface CheckResult {
  id: string;
  group: CheckGroup;
  level: CheckLevel;
  asks: string;
  status: CheckStatus;
  problems: CheckProblem[];
  /** Number of problems beyond those listed. */
  more?: number;
  /** Why the check was skipped. */
  because?: string;
  why: string;
  remedy: string;
  ms: number;
}

/** The results for an extension. */
export interface Conduct {
  extensionConfig: string;
  /** `failed`: a check failed or was not completed in time, or Discovery got no response. */
  verdict: 'passed' | 'failed';
  checks: CheckResult[];
  /** Why Discovery was not successful, if so: all checks that need an answer or handlers are skipped. */
  discoveryProblem?: string;
  /** Names of the handlers that were called. */
  called: string[];
  /** Handlers that were not called, and why. */
  notCalled: { name: string; because: string }[];
  calls: number;
  ms: number;
}

/** Options of a run. */
export interface ConformanceOptions extends TrialOptions {
  /** The checks to run; default: all. */
  checks?: readonly Check[];
  /** Time limit for one extension, in ms. */
  timeLimitMs: number;
  /** Called before each check. */
  onCheck?: (check: Check, index: number, count: number) => void;
}

/** Maximum number of problems that are listed for a check. */
const maxProblems = 10;
/** Longest message of a problem, in characters. */
const maxMessage = 500;
/** Maximum number of handlers that are listed as not called. */
const maxListed = 100;

function statusOf({ level }: Check, problems: readonly CheckProblem[], because: string | undefined): CheckStatus {
  if (problems.length > 0) {
    return level === 'must' && problems.some(({ isWarning }) => isWarning !== true) ? 'failed' : 'warning';
  }
  return because === undefined ? 'passed' : 'skipped';
}

/**
 * Runs all checks on an extension, one after the other.
 *
 * @throws the reason of `options.signal` when it is aborted. Never because of a server.
 */
export async function checkConduct(config: ExtensionConfig, options: ConformanceOptions): Promise<Conduct> {
  const { checks = allChecks, timeLimitMs, onCheck } = options;
  const started = performance.now();
  const limit = AbortSignal.timeout(timeLimitMs);
  const trial = await createTrial(config, { ...options, signal: AbortSignal.any([options.signal, limit]) });
  const results: CheckResult[] = [];
  try {
    for (const [index, check] of checks.entries()) {
      options.signal.throwIfAborted();
      onCheck?.(check, index, checks.length);
      const { id, group, level, asks, why, remedy } = check;
      const problems: CheckProblem[] = [];
      let more = 0;
      const begun = performance.now();
      const skipped = limit.aborted
        ? undefined
        : await check.run(trial, (problem) => {
            if (problems.length < maxProblems) {
              problems.push({ ...problem, message: quotable(problem.message, maxMessage) });
            } else {
              more++;
            }
          });
      options.signal.throwIfAborted();
      // A call that the time limit aborted would look like the extension's fault.
      const isLate = limit.aborted;
      const because = isLate ? 'the time limit has passed (--time-limit)' : skipped?.because;
      const found = isLate ? [] : problems;
      results.push({
        ...{ id, group, level, asks },
        status: statusOf(check, found, because),
        problems: found,
        ...(more > 0 && !isLate && { more }),
        ...(found.length === 0 && because !== undefined && { because }),
        ...{ why, remedy },
        ms: Math.round(performance.now() - begun),
      });
    }
  } finally {
    await trial.close();
  }
  const problem = limit.aborted ? undefined : discoveryProblem(trial.discovery.heard);
  const isComplete = !limit.aborted && problem === undefined;
  return {
    extensionConfig: trial.extension.name,
    verdict: isComplete && results.every(({ status }) => status !== 'failed') ? 'passed' : 'failed',
    checks: results,
    ...(problem !== undefined && { discoveryProblem: quotable(problem, maxMessage) }),
    called: trial.handlers.map(({ name }) => name),
    notCalled: trial.untried.slice(0, maxListed).map(({ name, because }) => ({ name, because })),
    calls: trial.calls(),
    ms: Math.round(performance.now() - started),
  };
}
