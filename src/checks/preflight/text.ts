import { count, type Paint, paragraph, type Style, shortList } from '../../base/index.ts';
import { inOrder, type PreflightFinding, type Verdict } from './examine.ts';
import type { PreflightReport } from './report.ts';

const verdicts: Record<Verdict, string> = { safe: 'safe', unsafe: 'NOT SAFE', unknown: 'NOT KNOWN' };
const styles: Record<Verdict, Style> = { safe: 'green', unsafe: 'red', unknown: 'yellow' };

const maxNames = 5;

/** Findings of several extensions that are dealt with in the same way. */
interface Group extends PreflightFinding {
  /** The names of the extensions, by message. */
  messages: Map<string, string[]>;
}

function groupsOf({ findings, extensions }: PreflightReport): Group[] {
  const groups = new Map<string, Group>();
  const add = (finding: PreflightFinding, names: readonly string[]) => {
    const { severity, message, remedy } = finding;
    const key = JSON.stringify([severity, remedy ?? message]);
    const group = groups.get(key) ?? { ...finding, messages: new Map() };
    groups.set(key, group);
    group.messages.set(message, [...(group.messages.get(message) ?? []), ...names]);
  };
  for (const finding of findings) {
    add(finding, []);
  }
  for (const { extensionConfig, findings: own } of extensions) {
    for (const finding of own) {
      add(finding, [extensionConfig]);
    }
  }
  return inOrder([...groups.values()]);
}

function groupLines({ messages, remedy }: Group, start: string, extensions: number): string[] {
  const margin = ' '.repeat(start.length);
  const lines = [...messages].flatMap(([message, names], index) => {
    const isAll = names.length > 1 && names.length === extensions;
    const who = names.length === 0 ? '' : `${isAll ? 'all extensions' : shortList(names, maxNames)}: `;
    return paragraph(index === 0 ? start : margin, `${who}${message}`, `${margin}  `);
  });
  return remedy === undefined ? lines : [...lines, ...paragraph(margin, `do: ${remedy}`, `${margin}    `)];
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
