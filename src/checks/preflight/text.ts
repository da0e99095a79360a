import { count, type Paint, type Style, withoutControls } from '../../base/index.ts';
import type { PreflightFinding, Verdict } from './finding.ts';
import type { PreflightReport } from './report.ts';

const verdicts: Record<Verdict, string> = { safe: 'safe', unsafe: 'NOT SAFE', unknown: 'NOT KNOWN' };
const styles: Record<Verdict, Style> = { safe: 'green', unsafe: 'red', unknown: 'yellow' };

function findingLines({ level, message, remedy }: PreflightFinding): string[] {
  return [`  ${level.padEnd(7)}  ${message}`, ...(remedy === undefined ? [] : [`           do: ${remedy}`])];
}

/** As text: the verdict, what to do first, and every extension with its findings. */
export function preflightAsText(report: PreflightReport, paint: Paint): string {
  const { from, isFromKnown, to, verdict, first, findings, extensions } = report;
  const verdictText = (one: Verdict) => paint(styles[one], verdicts[one]);
  const withVerdict = (one: Verdict) => extensions.filter((extension) => extension.verdict === one).length;
  const counts = [
    count(extensions.length, 'extension'),
    `${withVerdict('unsafe')} not safe`,
    ...(withVerdict('unknown') > 0 ? [`${withVerdict('unknown')} not known`] : []),
  ];
  const lines = [`Cluster API ${from} to ${to}: ${verdictText(verdict)} (${counts.join(', ')})`];
  if (!isFromKnown) {
    lines.push(`  the running release is unknown; set it with --current-cluster-api-version (${from} is assumed)`);
  }
  if (first.length > 0) {
    lines.push('first:', ...first.map((step, index) => withoutControls(`  ${index + 1}. ${step}`)));
  }
  lines.push(...findings.flatMap(findingLines).map(withoutControls));
  for (const extension of extensions) {
    lines.push(`${withoutControls(extension.extensionConfig)}: ${verdictText(extension.verdict)}`);
    lines.push(...extension.findings.flatMap(findingLines).map(withoutControls));
  }
  return lines.map((line) => `${line}\n`).join('');
}
