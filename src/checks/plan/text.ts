import { count, type Paint, paragraph, printable, type Style, shortList, truncated } from '../../base/index.ts';
import type { Cause, ClusterPlan, GroupPlan, Plan } from '../../topology/index.ts';
import {
  causeText,
  detailTexts,
  type Fleet,
  fleetsOf,
  fleetText,
  groupText,
  isUnchanged,
  problemText,
  severityOf,
  sumText,
  valueLines,
  verdictText,
} from './words.ts';

const width = 100;
/** Maximum number of lines of the diff of a cause; JSON has all of it. */
const maxDiff = 30;
const maxCauses = 20;
const maxNamed = 8;

const styles: Readonly<Record<(typeof severityOf)[GroupPlan['verdict']], Style>> = {
  none: 'dim',
  low: 'green',
  medium: 'yellow',
  high: 'red',
};

const wrapped = (text: string, indent: string, start = '') =>
  paragraph(`${indent}${start}`, text, `${indent}${' '.repeat(start.length)}`)
    .map((line) => `${line}\n`)
    .join('');

function diffText(lines: readonly string[], column: number, paint: Paint): string {
  const indent = ' '.repeat(column);
  const shown = lines.slice(0, maxDiff).map((line) => {
    const style = line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : 'dim';
    return `${indent}${paint(style, line.slice(0, width - indent.length))}\n`;
  });
  const more = lines.length - shown.length;
  return `${shown.join('')}${more > 0 ? `${indent}${paint('dim', `… and ${count(more, 'more line')}: --output json has all of them`)}\n` : ''}`;
}

function causeLines(causes: readonly Cause[], column: number, paint: Paint): string[] {
  const indent = ' '.repeat(column);
  const shown = causes
    .slice(0, maxCauses)
    .flatMap((cause) => [
      `${indent}${causeText(cause, width - column)}\n`,
      diffText(valueLines(cause), column + 2, paint),
    ]);
  const more = causes.length - maxCauses;
  return more > 0 ? [...shown, `${indent}… and ${count(more, 'more field')}\n`] : shown;
}

function groupLines(plan: GroupPlan, paint: Paint): string {
  const { kind, name, verdict, causes, problems = [] } = plan;
  const group = groupText(plan);
  const object = truncated(`${printable(kind)} ${printable(name)}`, width - group.length - 5);
  const what = verdictText(plan);
  const isShort = group.length + object.length + what.length + 6 <= width;
  const head = `  ${paint('bold', group)}  ${paint('dim', object)}${isShort ? '  ' : '\n    '}${paint(styles[severityOf[verdict]], what)}\n`;
  return [
    head,
    ...causeLines(causes, 6, paint),
    ...detailTexts(plan).map((text) => paint('dim', wrapped(text, ' '.repeat(6)))),
    ...problems.flatMap((problem) => [
      paint('yellow', wrapped(problemText(problem), ' '.repeat(6), '! ')),
      ...causeLines(problem.causes ?? [], 8, paint),
    ]),
  ].join('');
}

function clusterLines({ cluster, groups, problems }: ClusterPlan, paint: Paint): string {
  return [
    `${paint('bold', printable(cluster))}\n`,
    ...problems.map((problem) => paint('yellow', wrapped(problemText(problem), '  ', '! '))),
    ...groups.map((group) => groupLines(group, paint)),
    '\n',
  ].join('');
}

/** `37 Clusters of class fleet: md "default-worker" replaces 3 Machines each`, and the causes of the first. */
function fleetLines(fleet: Fleet, paint: Paint): string {
  const [first] = fleet.clusters;
  const names = shortList(
    fleet.clusters.map(({ cluster }) => printable(cluster)),
    maxNamed,
  );
  const changed =
    first?.groups.filter(({ verdict, problems = [] }) => verdict !== 'unchanged' || problems.length > 0) ?? [];
  return [
    ...changed.map((group) => wrapped(`${fleetText(fleet)}: ${groupText(group)} ${verdictText(group)} each`, '')),
    paint('dim', wrapped(`${names}; the plan of the first:`, '  ')),
    ...changed.map((group) => groupLines(group, paint)),
    '\n',
  ].join('');
}

/** The plan as text, at most 100 columns wide; its last line is the sum. `classOf`: the class of a Cluster, for fleets. */
export function planText(plan: Plan, classOf: ReadonlyMap<string, string>, paint: Paint): string {
  const isShort = plan.clusters.length <= 3;
  const changed = isShort ? plan.clusters : plan.clusters.filter((cluster) => !isUnchanged(cluster));
  const unchanged = plan.clusters.length - changed.length;
  const { single, fleets } = fleetsOf(changed, classOf);
  const names = plan.clusters
    .filter((cluster) => !isShort && isUnchanged(cluster))
    .map(({ cluster }) => printable(cluster));
  return [
    ...single.map((cluster) => clusterLines(cluster, paint)),
    ...fleets.map((fleet) => fleetLines(fleet, paint)),
    unchanged === 0
      ? ''
      : `${wrapped(`${count(unchanged, 'Cluster')} unchanged: ${shortList(names, maxNamed)}`, '')}\n`,
    `${paint('bold', sumText(plan))}\n`,
  ].join('');
}
