import { count, type Paint, paragraph, printable, type Style, shortList } from '../../base/index.ts';
import type { Cause, GroupPlan, Plan } from '../../topology/index.ts';
import {
  causeText,
  changesOf,
  detailTexts,
  groupText,
  isUnchanged,
  peakText,
  problemText,
  type Section,
  sectionsOf,
  severityOf,
  sumText,
  valueLines,
  verdictText,
} from './describe.ts';

export interface Screen {
  paint: Paint;
  width: number;
}

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

const linesOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

const wrapped = (text: string, indent: string, { width }: Screen, start = '') =>
  linesOf(paragraph(`${indent}${start}`, text, `${indent}${' '.repeat(start.length)}`, width));

/** A line of a diff in pieces that fit; the text of a value has no words at whose end it could break. */
function piecesOf(line: string, room: number): string[] {
  const pieces = [line.slice(0, room)];
  for (let from = room; from < line.length; from += room - 1) {
    pieces.push(` ${line.slice(from, from + room - 1)}`);
  }
  return pieces;
}

function diffText(lines: readonly string[], column: number, { paint, width }: Screen): string {
  const indent = ' '.repeat(column);
  const shown = lines.slice(0, maxDiff).flatMap((line) => {
    const style = line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : 'dim';
    return piecesOf(line, width - column).map((piece) => `${indent}${paint(style, piece)}`);
  });
  const more = lines.length - maxDiff;
  return linesOf(
    more > 0
      ? [...shown, `${indent}${paint('dim', `… and ${count(more, 'more line')}: --output json has all of them`)}`]
      : shown,
  );
}

function causeLines(causes: readonly Cause[], column: number, screen: Screen): string[] {
  const indent = ' '.repeat(column);
  const shown = causes
    .slice(0, maxCauses)
    .flatMap((cause) => [
      linesOf(paragraph(indent, causeText(cause), `${indent}    `, screen.width)),
      diffText(valueLines(cause), column + 2, screen),
    ]);
  const more = causes.length - maxCauses;
  return more > 0 ? [...shown, `${indent}… and ${count(more, 'more field')}\n`] : shown;
}

function groupLines(plan: GroupPlan, screen: Screen): string {
  const { kind, name, verdict, problems = [] } = plan;
  const { paint, width } = screen;
  const [group, object, what] = [groupText(plan), `${printable(kind)} ${printable(name)}`.trim(), verdictText(plan)];
  const isShort = group.length + object.length + what.length + 6 <= width;
  const named = object === '' ? '' : `  ${paint('dim', object)}`;
  const head = `  ${paint('bold', group)}${named}${isShort ? '  ' : '\n    '}${paint(styles[severityOf[verdict]], what)}\n`;
  return [
    head,
    ...causeLines(changesOf(plan), 6, screen),
    ...detailTexts(plan).map((text) => paint('dim', wrapped(text, ' '.repeat(6), screen))),
    ...problems.flatMap((problem) => [
      paint('yellow', wrapped(problemText(problem), ' '.repeat(6), screen, '! ')),
      ...causeLines(problem.causes ?? [], 8, screen),
    ]),
  ].join('');
}

function sectionLines({ title, names, plan }: Section, screen: Screen): string {
  const { paint } = screen;
  const alike = `${shortList(names, maxNamed)}; the plan of the first:`;
  return [
    `${paint('bold', title)}\n`,
    names.length === 0 ? '' : paint('dim', wrapped(alike, '  ', screen)),
    ...plan.problems.map((problem) => paint('yellow', wrapped(problemText(problem), '  ', screen, '! '))),
    plan.peak === undefined ? '' : paint('dim', wrapped(peakText(plan.peak), '  ', screen)),
    ...plan.groups.map((group) => groupLines(group, screen)),
    '\n',
  ].join('');
}

/** The plan as text as wide as the screen; its last line is the sum. `classOf`: the class of a Cluster, for fleets. */
export function planText(plan: Plan, classOf: ReadonlyMap<string, string>, screen: Screen): string {
  // Without a change, how far each Cluster is was asked.
  const isShort = plan.clusters.length <= 3 || plan.clusters.some(({ groups }) => groups.some(({ now }) => now));
  const changed = isShort ? plan.clusters : plan.clusters.filter((cluster) => !isUnchanged(cluster));
  const unchanged = plan.clusters.length - changed.length;
  const names = plan.clusters
    .filter((cluster) => !isShort && isUnchanged(cluster))
    .map(({ cluster }) => printable(cluster));
  return [
    ...sectionsOf(changed, classOf).map((section) => sectionLines(section, screen)),
    unchanged === 0
      ? ''
      : `${wrapped(`${count(unchanged, 'Cluster')} unchanged: ${shortList(names, maxNamed)}`, '', screen)}\n`,
    `${screen.paint('bold', sumText(plan))}\n`,
  ].join('');
}
