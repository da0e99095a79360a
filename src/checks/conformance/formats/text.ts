import { count, type Paint, type Style, withoutControls } from '../../../base/index.ts';
import { check as discoveryValid } from '../checks/discovery-valid.ts';
import type { CheckResult, CheckStatus, Conduct } from '../run.ts';

const words: Record<CheckStatus, string> = { passed: 'ok', failed: 'FAILED', warning: 'warning', skipped: 'skipped' };
const styles: Record<CheckStatus, Style> = { passed: 'green', failed: 'red', warning: 'yellow', skipped: 'gray' };
/** Width of the status column. */
const statusWidth = 8;
const margin = ' '.repeat(statusWidth + 3);

const labelOf = (status: CheckStatus, paint: Paint) => paint(styles[status], words[status].padEnd(statusWidth));

function linesOf({ id, status, asks, because, problems, more, why, remedy }: CheckResult, widest: number): string[] {
  return [
    `${id.padEnd(widest)}  ${status === 'skipped' ? (because ?? '') : asks}`,
    ...problems.map(({ handler, message }) => `${margin}- ${handler === undefined ? '' : `${handler}: `}${message}`),
    ...(more === undefined ? [] : [`${margin}- and ${more} more`]),
    ...(problems.length === 0 ? [] : [`${margin}why: ${why}`, `${margin}do: ${remedy}`]),
  ].map(withoutControls);
}

/** Handlers that were not called, grouped by reason. */
function notCalledLines({ notCalled }: Conduct): string[] {
  const names = new Map<string, string[]>();
  for (const { name, because } of notCalled) {
    const known = names.get(because) ?? [];
    known.push(name);
    names.set(because, known);
  }
  return [...names].map(([because, list]) =>
    withoutControls(`  not called: ${list.slice(0, 10).join(', ')}: ${because}`),
  );
}

/**
 * The checks that were not run because Discovery was not successful, as one line: the cause of each would hide the
 * failure. It comes first if no check that was asked for reports it.
 */
function undiscoveredLines({ discoveryProblem, checks }: Conduct, paint: Paint): string[] {
  const skipped = checks.filter(({ status }) => status === 'skipped').length;
  return [
    ...(checks.some(({ status }) => status === 'failed')
      ? []
      : [
          `  ${labelOf('failed', paint)} ${withoutControls(String(discoveryProblem))}`,
          `${margin}do: ${discoveryValid.remedy}`,
        ]),
    ...(skipped === 0
      ? []
      : [
          `  ${labelOf('skipped', paint)} ${count(skipped, 'check')} not run, because Discovery failed: --output json lists them`,
        ]),
  ];
}

/** As text: a line for each check, and below it any problems, why they matter, and what to do. */
export function conductAsText(conduct: Conduct, paint: Paint): string {
  const { extensionConfig, checks, called, calls, ms, verdict } = conduct;
  const of = (status: CheckStatus) => checks.filter((result) => result.status === status).length;
  const widest = Math.max(0, ...checks.map(({ id }) => id.length));
  const name = withoutControls(extensionConfig);
  const lines = [`${name}: ${count(called.length, 'handler')} called, ${calls} calls, ${(ms / 1000).toFixed(1)} s`];
  const isDiscovered = conduct.discoveryProblem === undefined;
  for (const result of checks.filter(({ status }) => isDiscovered || status !== 'skipped')) {
    const [first = '', ...rest] = linesOf(result, widest);
    lines.push(`  ${labelOf(result.status, paint)} ${first}`, ...rest);
  }
  lines.push(
    ...(isDiscovered ? [] : undiscoveredLines(conduct, paint)),
    ...notCalledLines(conduct),
    `${name}: ${verdict === 'passed' ? 'passed' : 'FAILED'}: ${of('passed')} ok, ${of('failed')} failed, ${count(of('warning'), 'warning')}, ${of('skipped')} skipped`,
  );
  return lines.map((line) => `${line}\n`).join('');
}
