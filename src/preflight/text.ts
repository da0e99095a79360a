import { count, printable } from '../lint/index.ts';
import type { PreflightFinding, Verdict } from './finding.ts';
import type { PreflightReport } from './report.ts';

const verdicts: Record<Verdict, string> = { safe: 'safe', unsafe: 'NOT SAFE', unknown: 'NOT KNOWN' };
const colors: Record<Verdict, number> = { safe: 32, unsafe: 31, unknown: 33 };

function findingLines({ level, message, remedy }: PreflightFinding): string[] {
  return [`  ${level.padEnd(7)}  ${message}`, ...(remedy === undefined ? [] : [`           do: ${remedy}`])];
}

/** For people: the verdict, what to do first, and every extension with its findings. */
export function preflightAsText(report: PreflightReport, useColor: boolean): string {
  const { from, isFromKnown, to, verdict, first, findings, extensions } = report;
  const paint = (one: Verdict) => (useColor ? `\u001b[${colors[one]}m${verdicts[one]}\u001b[0m` : verdicts[one]);
  const withVerdict = (one: Verdict) => extensions.filter((extension) => extension.verdict === one).length;
  const counts = [
    count(extensions.length, 'extension'),
    `${withVerdict('unsafe')} not safe`,
    ...(withVerdict('unknown') > 0 ? [`${withVerdict('unknown')} not known`] : []),
  ];
  const lines = [`Cluster API ${from} to ${to}: ${paint(verdict)} (${counts.join(', ')})`];
  if (!isFromKnown) {
    lines.push(`  which release runs is not known: --current-cluster-api-version says it (${from} is assumed)`);
  }
  if (first.length > 0) {
    lines.push('first:', ...first.map((step, index) => printable(`  ${index + 1}. ${step}`)));
  }
  lines.push(...findings.flatMap(findingLines).map(printable));
  for (const extension of extensions) {
    lines.push(`${printable(extension.extensionConfig)}: ${paint(extension.verdict)}`);
    lines.push(...extension.findings.flatMap(findingLines).map(printable));
  }
  return lines.map((line) => `${line}\n`).join('');
}
