import { count, type Paint, type Style, shortList, withoutControls } from '../../base/index.ts';
import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import { type ExtensionFinding, quotable } from '../../runtimehooks/client/index.ts';
import { isSuccess } from './outcome.ts';
import { answerChecks } from './requirements/answers.ts';
import { patchChecks } from './requirements/patches.ts';
import { wireChecks } from './requirements/wire.ts';
import { type Check, createTrial, type ReportProblem, type Trial, type TrialOptions } from './trial.ts';

/** All checks, in the order in which they run and are reported. */
export const checks: readonly Check[] = [...wireChecks, ...answerChecks, ...patchChecks];

/** How a check ended. `failed`: a `must` is violated; `warning`: a recommendation is not followed. */
type CheckStatus = 'passed' | 'failed' | 'warning' | 'skipped';

interface CheckResult extends Omit<Check, 'run'> {
  status: CheckStatus;
  problems: ExtensionFinding[];
  /** Number of problems beyond those listed. */
  more?: number;
  skipReason?: string;
  ms: number;
}

/** The findings about an extension's behaviour. */
export interface ConformanceReport {
  extensionConfig: string;
  /** `failed`: a check failed, or was not completed in time. */
  verdict: 'passed' | 'failed';
  checks: CheckResult[];
  called: string[];
  notCalled: Trial['notCalled'];
  calls: number;
  ms: number;
}

interface ConformanceOptions extends TrialOptions {
  checks?: readonly Check[];
  /** Time limit for one extension, in ms. */
  timeLimitMs: number;
  onCheck?: (check: Check, index: number, count: number) => void;
}

const maxProblems = 10;
const maxMessage = 500;
const maxListed = 100;

const tooLate = 'the time limit of five minutes has passed';

/** Runs a check; the problems of one that is not completed before the limit would look like the extension's fault. */
async function runCheck(check: Check, trial: Trial, limit: AbortSignal): Promise<CheckResult> {
  const { run, ...about } = check;
  let problems: ExtensionFinding[] = [];
  let more = 0;
  const started = performance.now();
  const report: ReportProblem = (message, { name: handler } = { name: undefined }, isWarning = false) => {
    const severity = check.level === 'should' || isWarning ? 'warning' : 'error';
    if (problems.length < maxProblems) {
      problems.push({ severity, ...(handler && { handler }), message: quotable(message, maxMessage) });
    } else {
      more++;
    }
  };
  let skipReason = limit.aborted ? tooLate : await run(trial, report);
  if (limit.aborted) {
    [problems, skipReason] = [[], tooLate];
  }
  const result = { ...about, ms: Math.round(performance.now() - started) };
  if (problems.length > 0) {
    const status = problems.some(({ severity }) => severity === 'error') ? 'failed' : 'warning';
    return { ...result, status, problems, ...(more > 0 && { more }) };
  }
  return { ...result, status: skipReason ? 'skipped' : 'passed', problems, ...(skipReason && { skipReason }) };
}

/** Runs all checks, one after the other. @throws the reason of `options.signal` when it is aborted. Never because of a server. */
export async function testConformance(
  config: ExtensionConfig,
  options: ConformanceOptions,
): Promise<ConformanceReport> {
  const { timeLimitMs, onCheck } = options;
  const started = performance.now();
  const limit = AbortSignal.timeout(timeLimitMs);
  const trial = await createTrial(config, { ...options, signal: AbortSignal.any([options.signal, limit]) });
  // Without handlers, only this one says why.
  const first = isSuccess(trial.discovered.outcome) ? [] : checks.filter(({ id }) => id === 'discovery-valid');
  const chosen = options.checks === undefined ? checks : [...new Set([...first, ...options.checks])];
  const results: CheckResult[] = [];
  try {
    for (const [index, check] of chosen.entries()) {
      options.signal.throwIfAborted();
      onCheck?.(check, index, chosen.length);
      results.push(await runCheck(check, trial, limit));
    }
    options.signal.throwIfAborted();
    const late = results.find(({ skipReason }) => skipReason === tooLate);
    if (late !== undefined) {
      Object.assign(late, { status: 'failed', problems: [{ severity: 'error', message: tooLate }] });
    }
  } finally {
    await trial.close();
  }
  return {
    extensionConfig: trial.extension.name,
    verdict: results.every(({ status }) => status !== 'failed') ? 'passed' : 'failed',
    checks: results,
    called: trial.handlers.map(({ name = '' }) => name),
    notCalled: trial.notCalled.slice(0, maxListed),
    calls: trial.calls(),
    ms: Math.round(performance.now() - started),
  };
}

const words: Record<CheckStatus, string> = { passed: 'ok', failed: 'FAILED', warning: 'warning', skipped: 'skipped' };
const styles: Record<CheckStatus, Style> = { passed: 'green', failed: 'red', warning: 'yellow', skipped: 'gray' };
const statusWidth = 8;
const margin = ' '.repeat(statusWidth + 3);

function linesOf(result: CheckResult, widest: number): string[] {
  const { id, status, requirement, skipReason, problems, more, reason, remedy } = result;
  return [
    `${id.padEnd(widest)}  ${status === 'skipped' ? skipReason : requirement}`,
    ...problems.map(({ handler, message }) => `${margin}- ${handler === undefined ? '' : `${handler}: `}${message}`),
    ...(more === undefined ? [] : [`${margin}- and ${more} more`]),
    ...(problems.length === 0 ? [] : [`${margin}why: ${reason}`, `${margin}do: ${remedy}`]),
  ].map(withoutControls);
}

/** As text: a line for each check, and below it any problems, why they matter, and what to do. */
export function reportAsText(report: ConformanceReport, paint: Paint): string {
  const { extensionConfig, checks, called, notCalled, calls, ms, verdict } = report;
  const of = (status: CheckStatus) => checks.filter((result) => result.status === status).length;
  const widest = Math.max(0, ...checks.map(({ id }) => id.length));
  const name = withoutControls(extensionConfig);
  const lines = [`${name}: ${count(called.length, 'handler')} called, ${calls} calls, ${(ms / 1000).toFixed(1)} s`];
  for (const result of checks) {
    const [first = '', ...rest] = linesOf(result, widest);
    lines.push(`  ${paint(styles[result.status], words[result.status].padEnd(statusWidth))} ${first}`, ...rest);
  }
  for (const [reason, list] of Map.groupBy(notCalled, (one) => one.reason)) {
    const names = list.map((one) => one.name);
    lines.push(withoutControls(`  not called: ${shortList(names, 10)}: ${reason}`));
  }
  lines.push(
    `${name}: ${verdict === 'passed' ? 'passed' : 'FAILED'}: ${of('passed')} ok, ${of('failed')} failed, ${count(of('warning'), 'warning')}, ${of('skipped')} skipped`,
  );
  return lines.map((line) => `${line}\n`).join('');
}
