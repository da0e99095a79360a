import { structuredPatch } from 'diff';
import { count, printable, shortList, truncated } from '../../base/index.ts';
import { withoutSecrets } from '../../base/secrets/index.ts';
import { readableYaml } from '../../base/yaml/index.ts';
import { isJsonObject, isSame, type Json } from '../../kubernetes/index.ts';
import type { Cause, ClusterPlan, GroupPlan, Plan, Problem, Verdict } from '../../topology/index.ts';

export function verdictText(plan: GroupPlan): string {
  const { held, verdict } = plan;
  const now = verdict === 'unchanged' && held !== undefined ? '' : `${outcomeText(plan)}; `;
  return held === undefined ? outcomeText(plan) : `${now}${held.is}; then: ${outcomeText(held)}`;
}

function outcomeText(plan: Pick<GroupPlan, 'verdict' | 'machines' | 'atLeast' | 'replaces'>) {
  const { verdict, machines, atLeast, replaces = [] } = plan;
  const { before, after, replaced, inPlace } = machines;
  const scaling = before === after ? '' : `, and scales from ${before} to ${after}`;
  switch (verdict) {
    case 'unchanged':
      return 'unchanged';
    case 'inPlace':
      return inPlace === 0
        ? 'updated in place, no Machine is replaced'
        : `updates ${count(inPlace, 'Machine')} in place`;
    case 'replaced':
      return `replaces ${replaced < before ? `${replaced} of ${count(before, 'Machine')}` : count(replaced, 'Machine')}${inPlace > 0 ? `, updates ${inPlace} in place` : ''}${scaling}`;
    case 'onDelete':
      return replaces.length === 0
        ? 'replaces Machines when you delete them'
        : `replaces ${count(replaces.length, 'Machine')} when you delete ${replaces.length === 1 ? 'it' : 'them'}`;
    case 'created':
      return `created with ${count(after, 'Machine')}`;
    case 'deleted':
      return `deleted with ${count(before, 'Machine')}`;
    case 'scaled':
      return `scales from ${before} to ${count(after, 'Machine')}`;
    case 'refused':
      return "can't be applied";
    case 'stopped':
      return 'stays: Cluster API stops';
    case 'unknown':
      return atLeast !== undefined
        ? `not known: replaces at least ${atLeast} of ${count(before, 'Machine')}`
        : before === 0
          ? 'not known'
          : `not known: ${count(before, 'Machine')}`;
  }
}

/** The verdicts that say nothing of single Machines, for legends. */
export const meanings = {
  refused: "can't be applied: Cluster API refuses the write",
  stopped: 'stays: Cluster API takes the write, and then stops with a condition',
  unknown: 'not known: it may be any of them',
} as const satisfies Partial<Record<Verdict, string>>;

export const severityOf: Readonly<Record<Verdict, 'none' | 'low' | 'medium' | 'high'>> = {
  unchanged: 'none',
  inPlace: 'low',
  scaled: 'low',
  created: 'low',
  deleted: 'high',
  onDelete: 'medium',
  replaced: 'high',
  refused: 'high',
  stopped: 'high',
  unknown: 'medium',
};

export const isQuiet = ({ verdict, held, healthCheck, problems = [] }: GroupPlan): boolean =>
  verdict === 'unchanged' && held === undefined && healthCheck === undefined && problems.length === 0;

export const isUnchanged = ({ groups, problems }: ClusterPlan): boolean =>
  problems.length === 0 && groups.every(isQuiet);

/** The control plane, or a group of workers: `md-0`. */
export const groupText = ({ group }: Pick<GroupPlan, 'group'>): string =>
  group === 'control-plane' ? 'control plane' : printable(group);

/** A cause in a line: the object, the field, and where its value comes from. */
export const causeText = ({ object, field, from }: Cause): string =>
  `${printable(object)}: ${printable(field)}${from === undefined ? '' : ` (${printable(from)})`}`;

/** Largest value that is compared, in characters of JSON, and the most lines that may differ. */
const maxCompared = 64 * 1024;
const maxEdits = 500;
const maxLine = 1000;

const yamlOf = (value: Json) =>
  typeof value === 'string'
    ? `${withoutSecrets(value).replace(/\n$/, '')}\n`
    : withoutSecrets(readableYaml(value as object));

/** The difference as lines of YAML without secrets, each with `+`, `-`, a space or `@` in front; none if they are equal. */
function diffLines(before: Json, after: Json, context = 3): string[] {
  if (isSame(before, after)) {
    return [];
  }
  const isSmall = [before, after].every((value) => JSON.stringify(value).length <= maxCompared);
  const options = { context, maxEditLength: maxEdits };
  const patch = isSmall ? structuredPatch('', '', yamlOf(before), yamlOf(after), '', '', options) : undefined;
  if (patch === undefined) {
    return [' too many lines differ to show them'];
  }
  const lines = patch.hunks.flatMap((hunk) => [`@ line ${hunk.oldStart}, now ${hunk.newStart}`, ...hunk.lines]);
  return lines.length === 0
    ? [' only values that are not shown here']
    : lines.map((line) => printable(truncated(line, maxLine)));
}

/** Longest value that is shown within a line, in characters. */
const maxInline = 40;

function inline(value: Json | undefined): string | undefined {
  if (value === undefined) {
    return '(none)';
  }
  if (typeof value === 'string' && value.includes('\n')) {
    return undefined;
  }
  const text = isJsonObject(value) || Array.isArray(value) ? undefined : JSON.stringify(value);
  return text === undefined || text.length > maxInline ? undefined : printable(text);
}

export const changesOf = ({ causes, healthCheck = [] }: GroupPlan): Cause[] => [...causes, ...healthCheck];

/** The values before and after: one line `"v1.34.0" → "v1.35.0"` for short ones, else a diff. None if nothing is known. */
export function valueLines({ before, after }: Cause): string[] {
  if (before === undefined && after === undefined) {
    return [];
  }
  const [shownBefore, shownAfter] = [inline(before), inline(after)];
  if (shownBefore !== undefined && shownAfter !== undefined) {
    return [`  ${shownBefore} → ${shownAfter}`];
  }
  // Line numbers of a value say nothing about a file; they only part the hunks.
  return diffLines(before ?? '', after ?? '', 1).flatMap((line, index) =>
    line.startsWith('@') ? (index === 0 ? [] : [' …']) : /^[-+](?:\[\]|\{\}|)$/.test(line) ? [] : [line],
  );
}

const maxNamed = 6;

/** How far a group is: `v1.34.0, 2 of 3 Machines ready, 3 up to date`. */
function nowText({ version, wanted, ready, upToDate }: NonNullable<GroupPlan['now']>): string {
  const parts = [
    version === undefined ? '' : printable(version),
    ready === undefined ? count(wanted, 'Machine') : `${ready} of ${count(wanted, 'Machine')} ready`,
    upToDate === undefined ? '' : `${upToDate} up to date`,
  ];
  return parts.filter((part) => part !== '').join(', ');
}

export function detailTexts({ now, replaces, manner = [] }: GroupPlan): string[] {
  const machines =
    replaces === undefined || replaces.length === 0 ? [] : [`Machines ${shortList(replaces.map(printable), maxNamed)}`];
  return [...(now === undefined ? [] : [nowText(now)]), ...machines, ...manner.map(printable)];
}

export const problemText = ({ text, remedy }: Problem): string =>
  `${printable(text)}${remedy === undefined ? '' : `: ${printable(remedy)}`}`;

/** How groups roll together: `3 groups roll at once: up to 3 Machines more`. */
export function peakText({ order, atOnce, surge, versions = [] }: NonNullable<ClusterPlan['peak']>): string {
  const [first = [], workers] = order;
  const all = (workers ?? first).length;
  const pace = atOnce === 1 ? 'one after the other' : atOnce < all ? `${atOnce} at a time` : 'at once';
  const names = (groups: readonly string[]) =>
    shortList(
      groups.map((group) => groupText({ group })),
      maxNamed,
    );
  const rolls =
    workers === undefined
      ? `${count(first.length, 'group')} roll ${pace}`
      : `${names(first)} first, then ${names(workers)}${all === 1 ? '' : `, ${pace}`}`;
  const steps = versions.length === 0 ? '' : `${versions.map(printable).join(' → ')}: `;
  return `${steps}${rolls}: ${surge === 0 ? 'no Machine' : `up to ${count(surge, 'Machine')}`} more`;
}

/** Clusters of which no Machine exists or is made: managed control planes without workers. */
function withoutMachinesText({ clusters: plans }: Plan): string {
  const changed = plans.flatMap(({ groups }) => groups).filter(({ verdict }) => verdict === 'inPlace').length;
  const inPlace = `; ${count(changed, 'group')} ${changed === 1 ? 'is' : 'are'} updated in place`;
  return `${plans.length === 1 ? 'the Cluster has' : 'the Clusters have'} no Machines${changed === 0 ? '' : inPlace}`;
}

/** The effect on Machines, in one clause; it says that none is replaced only if nothing else happens. */
function machinesText(plan: Plan, isToldOtherwise: boolean): string {
  const { machines, replaced, deleted, created, inPlace, onDelete } = plan.sum;
  const others = [
    [deleted, 'deleted'],
    [onDelete, 'replaced when you delete them'],
    [created, 'created'],
    [inPlace, 'updated in place'],
  ] as const;
  const said = others.flatMap(([number, what]) => (number === 0 ? [] : [`${number} ${what}`]));
  if (replaced === 0 && said.length === 0 && (isToldOtherwise || machines === 0)) {
    return isToldOtherwise ? '' : withoutMachinesText(plan);
  }
  return [
    `${replaced} of ${count(machines, 'Machine')} ${replaced === 1 || machines === 1 ? 'is' : 'are'} replaced`,
    ...said,
  ].join(', ');
}

function unknownText({ clusters: plans, sum }: Plan, isAlone: boolean): string {
  const { clusters, machines, unknown } = sum;
  const concerned = plans.filter(({ groups }) => groups.some(({ verdict }) => verdict === 'unknown')).length;
  if (concerned === 0) {
    return '';
  }
  const [number, all] = unknown > 0 ? [unknown, count(machines, 'Machine')] : [concerned, count(clusters, 'Cluster')];
  return `not known for ${number}${isAlone || unknown === 0 ? ` of ${all}` : ''}`;
}

/** All that happens, the worst first: `1 of 3 Clusters can't be applied; 5 of 33 Machines are replaced; not known for 11`. */
export function sumText(plan: Plan): string {
  const { clusters: plans, sum, unusable = 0 } = plan;
  const { clusters, notApplied } = sum;
  if (clusters === 0) {
    return 'no Cluster was planned';
  }
  const isUnknown = unknownText(plan, true) !== '';
  const ofMachines = machinesText(plan, isUnknown || notApplied > 0);
  const text = [
    notApplied === 0 ? '' : `${notApplied} of ${count(clusters, 'Cluster')} can't be applied`,
    ofMachines,
    unknownText(plan, ofMachines === ''),
  ]
    .filter((part) => part !== '')
    .join('; ');
  const isSample = plans.every(({ sample }) => sample === true);
  const start = unusable === 0 ? '' : `incomplete, ${count(unusable, 'problem')}: `;
  return `${start}${isSample ? `for a Cluster of ${clusters === 1 ? 'this class' : 'each class'}: ` : ''}${text}`;
}

/** What is shown of a Cluster, or of Clusters that fare alike. */
export interface Section {
  title: string;
  /** The Clusters, if there are several. */
  names: readonly string[];
  plan: ClusterPlan;
}

const maxAlike = 20;

const outcomeOf = (className: string, { groups, peak, problems }: ClusterPlan): string =>
  JSON.stringify([
    className,
    groups.map(({ group, verdict, machines, held, healthCheck, causes, problems: own }) => [
      group,
      verdict,
      machines,
      held ?? '',
      healthCheck ?? '',
      causes.map(({ object, field, from }) => [object.split(' ')[0] ?? '', field, from ?? '']),
      own?.map(({ text }) => text) ?? [],
    ]),
    peak ?? '',
    problems.length,
  ]);

/** One section for more than 20 Clusters of a class with the same verdicts and causes, and one for each of the others. */
export function sectionsOf(clusters: readonly ClusterPlan[], classOf: ReadonlyMap<string, string>): Section[] {
  const byOutcome = Map.groupBy(clusters, (one) => outcomeOf(classOf.get(one.cluster) ?? '', one));
  const alike = [...byOutcome.values()];
  const fleets = alike.filter(({ length }) => length > maxAlike);
  const single = alike.filter(({ length }) => length <= maxAlike).flat();
  return [
    ...fleets.map((some): Section => {
      const plan = some[0] as ClusterPlan;
      const className = classOf.get(plan.cluster) ?? '';
      const title = `${some.length} Clusters${className === '' ? '' : ` of class ${printable(className)}`}`;
      return { title, names: some.map(({ cluster }) => printable(cluster)), plan };
    }),
    ...single.map((plan): Section => {
      const name = printable(plan.cluster);
      return { title: plan.sample === true ? `for a Cluster of ClusterClass ${name}` : name, names: [], plan };
    }),
  ];
}
