import { count, type Paint, paragraph, type Style, shortList } from '../../base/index.ts';
import { inOrder, type PreflightFinding, type Verdict } from './examine.ts';
import type { PreflightReport } from './report.ts';

const verdicts: Record<Verdict, string> = { safe: 'safe', unsafe: 'NOT SAFE', unknown: 'NOT KNOWN' };
const styles: Record<Verdict, Style> = { safe: 'green', unsafe: 'red', unknown: 'yellow' };

const maxNames = 5;

/** A finding, and the names of the extensions that have it. */
interface Group extends PreflightFinding {
  names: string[];
}

function groupsOf({ findings, extensions }: PreflightReport): Group[] {
  const groups = new Map<string, Group>(
    findings.map((finding) => [JSON.stringify(finding), { ...finding, names: [] }]),
  );
  for (const { extensionConfig, findings: own } of extensions) {
    for (const finding of own) {
      const key = JSON.stringify(finding);
      groups.set(key, { ...finding, names: [...(groups.get(key)?.names ?? []), extensionConfig] });
    }
  }
  return inOrder([...groups.values()]);
}

function groupLines({ names, message, remedy }: Group, start: string, extensions: number): string[] {
  const margin = ' '.repeat(start.length);
  const isAll = names.length > 1 && names.length === extensions;
  const who = names.length === 0 ? '' : `${isAll ? 'all extensions' : shortList(names, maxNames)}: `;
  return [
    ...paragraph(start, `${who}${message}`, `${margin}  `),
    ...(remedy === undefined ? [] : paragraph(margin, `do: ${remedy}`, `${margin}    `)),
  ];
}

/** As text: the verdict, what to do first, and what else to know, each thing once for all extensions. */
export function preflightAsText(report: PreflightReport, paint: Paint): string {
  const { from, isFromKnown, to, verdict, extensions } = report;
  const withVerdict = (one: Verdict) =>
    extensions.filter((extension) => extension.verdict === one).map(({ extensionConfig }) => extensionConfig);
  const counts = [
    count(extensions.length, 'extension'),
    `${withVerdict('unsafe').length} not safe`,
    ...(withVerdict('unknown').length > 0 ? [`${withVerdict('unknown').length} not known`] : []),
  ];
  const lines = [
    `Cluster API ${isFromKnown ? from : 'of an unknown release'} to ${to}: ${paint(styles[verdict], verdicts[verdict])} (${counts.join(', ')})`,
  ];
  const groups = groupsOf(report);
  const isUrgent = ({ severity }: Group) => severity === 'error' || severity === 'unknown';
  const urgent = groups.filter(isUrgent);
  lines.push(
    ...(urgent.length > 0 ? ['first:'] : []),
    ...urgent.flatMap((group, index) => groupLines(group, `  ${index + 1}. `, extensions.length)),
    ...groups
      .filter((group) => !isUrgent(group))
      .flatMap((group) => groupLines(group, `${group.severity}: `, extensions.length)),
  );
  for (const one of ['unsafe', 'unknown', 'safe'] as const) {
    const names = withVerdict(one);
    if (names.length > 0) {
      const [first = '', ...rest] = paragraph(`${verdicts[one]}: `, shortList(names, 20), '  ');
      lines.push(first.replace(verdicts[one], paint(styles[one], verdicts[one])), ...rest);
    }
  }
  return lines.map((line) => `${line}\n`).join('');
}
