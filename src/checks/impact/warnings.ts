import { Buffer } from 'node:buffer';
import { count, withoutControls } from '../../base/index.ts';
import type { Cause, ClusterPlan, Verdict } from '../../topology/index.ts';
import type { Impact } from './impact.ts';
import type { Loss } from './losses.ts';

/** Warnings, and bytes of each: API servers and kubectl cut longer ones. */
const maxLines = 3;
const maxBytes = 256;
/** Bytes of why something is not known, so that Clusters can be named beside it. */
const maxReasonBytes = 160;

export const planCommand = 'kubectl extensionconfig plan -f FILE';

type Hide = (text: string, cluster: string) => string;

/** Losses of groups of one kind, for the same reason. */
interface Sum {
  what: string;
  kind: string;
  groups: Set<string>;
  why: string;
  machines: Map<string, number>;
  total: number;
}

const controlPlane = 'control plane';
const kinds: Readonly<Record<string, string>> = { MachineDeployment: 'md', MachinePool: 'mp' };

const maxGroups = 3;

/** `control plane`, `md "md-0" and "md-1"`. */
function groupsText({ kind, groups }: Sum): string {
  if (kind === controlPlane) {
    return kind;
  }
  const names = [...groups].map((name) => `"${withoutControls(name)}"`);
  return `${kinds[kind] ?? kind} ${listText(names, maxGroups)}`;
}

/** `a`, `a and b`, `a, b and 3 more`. */
function listText(names: readonly string[], shown: number): string {
  const left = names.length - shown;
  const first = names.slice(0, left > 0 ? shown : names.length - 1).join(', ');
  const last = left > 0 ? `${left} more` : (names.at(-1) ?? '');
  return first === '' ? last : `${first} and ${last}`;
}

/** The first field, without the path of a template, and how many more there are. */
function fieldsText(causes: readonly Cause[]): string {
  const fields = causes.map(({ object, field }) =>
    withoutControls(/^\w*Template /.test(object) ? field.replace(/^spec\.template\./, '') : field),
  );
  const [first, ...others] = new Set(fields);
  return first === undefined ? 'outdated already' : others.length === 0 ? first : `${first} and ${others.length} more`;
}

function sumsOf(losses: readonly Loss[]): Sum[] {
  const sums = new Map<string, Sum>();
  for (const { cluster, group, verb, machines, causes, why = fieldsText(causes), isLater, ...loss } of losses) {
    const kind = group === 'control-plane' ? controlPlane : loss.kind;
    const what = isLater ? `when the pause ends, ${verb}` : verb;
    const key = JSON.stringify([what, kind, why]);
    const sum = sums.get(key) ?? { what, kind, groups: new Set(), why, machines: new Map(), total: 0 };
    sum.groups.add(group);
    sum.machines.set(cluster, (sum.machines.get(cluster) ?? 0) + machines);
    sum.total += machines;
    sums.set(key, sum);
  }
  return [...sums.values()].toSorted((one, other) => other.total - one.total);
}

/** A text of at most so many bytes of UTF-8, cut between characters. */
export function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) {
    return text;
  }
  const kept = Buffer.from(text).subarray(0, bytes - 3);
  // Part of a character at the end becomes U+FFFD.
  return `${kept.toString().replace(/\uFFFD$/u, '')}…`;
}

/** As many names as fit with what is around them; the others are counted. */
function named(names: readonly string[], around: (list: string) => string): string {
  for (let shown = Math.min(names.length, 10); shown > 0; shown--) {
    const line = around(listText(names, shown));
    if (Buffer.byteLength(line) <= maxBytes) {
      return line;
    }
  }
  return cut(around(count(names.length, 'Cluster')), maxBytes);
}

function sumText(sum: Sum, isCutOff: boolean): string {
  const { what, why, machines, total } = sum;
  const clusters = [...machines].toSorted(([, one], [, other]) => other - one);
  const number = `${isCutOff ? 'at least ' : ''}${count(total, 'Machine')}`;
  return named(
    clusters.map(([cluster, some]) => `${cluster} (${some})`),
    (list) => `${what} ${number} in ${count(clusters.length, 'Cluster')}: ${groupsText(sum)} of ${list}: ${why}`,
  );
}

/** Why groups of a Cluster have one of these verdicts; undefined if none has. */
export function unknownOf({ groups, problems }: ClusterPlan, verdicts: readonly Verdict[] = ['unknown', 'stopped']) {
  const unknown = groups.filter(({ verdict }) => verdicts.includes(verdict));
  if (unknown.length === 0) {
    return undefined;
  }
  const [problem] = [...unknown.flatMap(({ problems: own = [] }) => own), ...problems];
  return problem?.text ?? `the ${unknown[0]?.kind} decides for itself`;
}

function unknownLine({ clusters, total, unasked, unplanned }: Impact, hide: Hide): string | undefined {
  if (unasked !== undefined) {
    const { extension, clusters: names } = unasked;
    return named(
      names,
      (list) =>
        `what extension ${extension} does to the Machines of ${list} is not known before it is asked: ${planCommand}`,
    );
  }
  const reasons = clusters.map((cluster) => ({ cluster: cluster.cluster, why: unknownOf(cluster) }));
  const unknown = reasons.filter(({ why }) => why !== undefined);
  const [first] = unknown;
  const left = unplanned.length;
  if (left > 0 && (first === undefined || left > unknown.length)) {
    return cut(`${left} of ${count(total, 'Cluster')} were not planned in time: ${planCommand}`, maxBytes);
  }
  return first === undefined
    ? undefined
    : named(
        unknown.map(({ cluster }) => cluster),
        (list) =>
          `what happens to Machines of ${list} is not known: ${cut(withoutControls(hide(first.why ?? '', first.cluster)), maxReasonBytes)}`,
      );
}

/** The effect of a write on Machines, in at most three lines of 256 bytes. @param hide leaves secrets out of reasons. */
export function impactLines(impact: Impact, hide: Hide): string[] {
  const unknown = unknownLine(impact, hide);
  const sums = sumsOf(impact.losses);
  const room = maxLines - (unknown === undefined ? 0 : 1);
  const isCutOff = impact.unplanned.length > 0;
  const shown = sums.length <= room ? sums : sums.slice(0, room - 1);
  const hidden = sums.slice(shown.length);
  const lines = shown.map((sum) => sumText(sum, isCutOff));
  if (hidden.length > 0) {
    const before = new Set(shown.flatMap(({ machines }) => [...machines.keys()]));
    const clusters = new Set(hidden.flatMap(({ machines }) => [...machines.keys()]));
    const others = [...clusters].filter((cluster) => !before.has(cluster)).length;
    const machines = hidden.reduce((sum, { total }) => sum + total, 0);
    const more =
      others === 0
        ? count(machines, 'more Machine')
        : `${count(others, 'more Cluster')} (${count(machines, 'Machine')})`;
    lines.push(`…and ${more}: ${planCommand}`);
  }
  return [...lines, ...(unknown === undefined ? [] : [unknown])];
}
