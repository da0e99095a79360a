import { count, shortList } from '../../base/index.ts';
import type { Cause, GroupPlan, Plan, Problem } from '../../topology/index.ts';
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
  sumText,
  valueLines,
  verdictText,
} from './describe.ts';

/** Maximum number of characters: GitHub takes comments of 65,536, and a pipeline may add some of its own. */
const maxLength = 60_000;
const maxCauses = 20;
const maxDiff = 60;
const maxNamed = 20;

/** Untrusted text in a line of Markdown: nothing in it is markup, a mention, a cell's end or a link. */
const escaped = (text: string): string =>
  text.replaceAll(/[&<>\\`*_~|[\]{}#@!]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Lines of untrusted text as a block of code; the fence is longer than any within it. */
function code(lines: readonly string[], language: string): string {
  const longest = Math.max(2, ...lines.map((line) => /^[ +-]*(`*)/.exec(line)?.[1]?.length ?? 0));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${lines.join('\n')}\n${fence}\n`;
}

function causeMarkdown(cause: Cause): string {
  const lines = valueLines(cause);
  const more = lines.length - maxDiff;
  const shown = more > 0 ? [...lines.slice(0, maxDiff), ` … and ${count(more, 'more line')}`] : lines;
  return `${escaped(causeText(cause))}\n${shown.length === 0 ? '' : `\n${code(shown, 'diff')}`}`;
}

const problemMarkdown = (problem: Problem): string =>
  `> [!WARNING]\n> ${escaped(problemText(problem))}\n\n${(problem.causes ?? []).map(causeMarkdown).join('\n')}`;

function reasonsOf(plan: GroupPlan): string {
  const { problems = [] } = plan;
  const causes = changesOf(plan);
  const more = causes.length - maxCauses;
  const parts = [
    ...problems.map(problemMarkdown),
    ...causes.slice(0, maxCauses).map(causeMarkdown),
    ...(more > 0 ? [`and ${count(more, 'more field')}\n`] : []),
    ...detailTexts(plan).map((text) => `${escaped(text)}\n`),
  ];
  return parts.length === 0
    ? ''
    : `<details><summary>${escaped(groupText(plan))}: ${escaped(verdictText(plan))}</summary>\n\n${parts.join('\n')}\n</details>\n`;
}

const table = (groups: readonly GroupPlan[]): string =>
  [
    '| group | object | what happens |',
    '| --- | --- | --- |',
    ...groups.map(
      (plan) =>
        `| ${escaped(groupText(plan))} | ${escaped(`${plan.kind} ${plan.name}`)} | ${escaped(verdictText(plan))} |`,
    ),
  ].join('\n');

function sectionMarkdown({ title, names, plan: { groups, peak, problems } }: Section): string {
  const alike = names.length === 0 ? '' : `, each as ${escaped(shortList(names, maxNamed))}`;
  return `### ${escaped(title)}${alike}\n\n${problems.map(problemMarkdown).join('')}${peak === undefined ? '' : `${escaped(peakText(peak))}\n\n`}${table(groups)}\n\n${groups.map(reasonsOf).filter(Boolean).join('\n')}`;
}

/** The plan for a comment on a pull request: the sum, a table for each Cluster, causes folded, as far as there is room. */
export function planMarkdown(plan: Plan, classOf: ReadonlyMap<string, string>): string {
  const changed = plan.clusters.filter((cluster) => !isUnchanged(cluster));
  const unchanged = plan.clusters.filter(isUnchanged).map(({ cluster }) => cluster);
  const sections = sectionsOf(changed, classOf).map(sectionMarkdown);
  const rest =
    unchanged.length === 0
      ? ''
      : `\n${count(unchanged.length, 'Cluster')} unchanged: ${escaped(shortList(unchanged, maxNamed))}\n`;
  let text = `**${escaped(sumText(plan))}**\n`;
  let left = sections.length;
  for (const one of sections) {
    if (text.length + one.length + rest.length > maxLength) {
      break;
    }
    text += `\n${one}`;
    left--;
  }
  return `${text}${left > 0 ? `\n${count(left, 'more section')}: \`--output json\` has all of them\n` : ''}${rest}`;
}
