import { count, type Paint, type Style, shortList, withoutControls } from '../../base/index.ts';
import type { CheckResult, CheckStatus, ConformanceReport } from './report.ts';

const words: Record<CheckStatus, string> = { passed: 'ok', failed: 'FAILED', warning: 'warning', skipped: 'skipped' };
const styles: Record<CheckStatus, Style> = { passed: 'green', failed: 'red', warning: 'yellow', skipped: 'gray' };
const statusWidth = 8;
const margin = ' '.repeat(statusWidth + 3);

const labelOf = (status: CheckStatus, paint: Paint) => paint(styles[status], words[status].padEnd(statusWidth));

function linesOf(result: CheckResult, widest: number): string[] {
  const { id, status, requirement, skipReason, problems, more, reason, remedy } = result;
  return [
    `${id.padEnd(widest)}  ${status === 'skipped' ? skipReason : requirement}`,
    ...problems.map(({ handler, message }) => `${margin}- ${handler === undefined ? '' : `${handler}: `}${message}`),
    ...(more === undefined ? [] : [`${margin}- and ${more} more`]),
    ...(problems.length === 0 ? [] : [`${margin}why: ${reason}`, `${margin}do: ${remedy}`]),
  ].map(withoutControls);
}

function notCalledLines({ notCalled }: ConformanceReport): string[] {
  return [...Map.groupBy(notCalled, ({ reason }) => reason)].map(([reason, list]) => {
    const names = list.map(({ name }) => name);
    return withoutControls(`  not called: ${shortList(names, 10)}: ${reason}`);
  });
}

/** As text: a line for each check, and below it any problems, why they matter, and what to do. */
export function reportAsText(report: ConformanceReport, paint: Paint): string {
  const { extensionConfig, checks, called, calls, ms, verdict } = report;
  const of = (status: CheckStatus) => checks.filter((result) => result.status === status).length;
  const widest = Math.max(0, ...checks.map(({ id }) => id.length));
  const name = withoutControls(extensionConfig);
  const lines = [`${name}: ${count(called.length, 'handler')} called, ${calls} calls, ${(ms / 1000).toFixed(1)} s`];
  for (const result of checks) {
    const [first = '', ...rest] = linesOf(result, widest);
    lines.push(`  ${labelOf(result.status, paint)} ${first}`, ...rest);
  }
  lines.push(
    ...notCalledLines(report),
    `${name}: ${verdict === 'passed' ? 'passed' : 'FAILED'}: ${of('passed')} ok, ${of('failed')} failed, ${count(of('warning'), 'warning')}, ${of('skipped')} skipped`,
  );
  return lines.map((line) => `${line}\n`).join('');
}
