import {
  type FieldPath,
  fieldAt,
  formatFieldPath,
  isSame,
  type JsonObject,
  nameOf,
  objectAt,
  objectText,
  textAt,
} from '../../kubernetes/index.ts';
import { type Arrivals, timeAt } from '../control-planes/index.ts';
import { causeOf, type Difference, differencesOf, isPath, leadsTo } from '../world/differences.ts';
import {
  type ExistingMachine,
  type GroupChange,
  type GroupObjects,
  type GroupPart,
  groupParts,
} from '../world/groups.ts';
import type { Cause, GroupPlan, Problem, Verdict } from '../world/plan-document.ts';
import { listText } from './explanations.ts';
import { bookkeeping, hasMachines, replicasOf } from './machines.ts';

/** A change of a group that exists before and after. */
export type GroupUpdate = GroupChange & { before: GroupObjects; after: GroupObjects };

export const isStaying = ({ machine }: ExistingMachine): boolean =>
  objectAt(machine, 'metadata').deletionTimestamp === undefined;

/** The causes that reasons amount to; for a reference, they are in the content of the template, if it differs. */
export function causesOf(
  update: GroupUpdate,
  reasons: readonly Difference[],
  references: Partial<Record<'bootstrap' | 'infrastructure', FieldPath>>,
): Cause[] {
  const { before, after } = update;
  const causes = new Map<string, Cause>();
  const add = (part: GroupPart, difference: Difference) => {
    const cause = causeOf(part, difference, update);
    causes.set(`${cause.object} ${cause.field}`, cause);
  };
  const byPath = new Map(
    Object.entries(references).map(([part, path]) => [formatFieldPath(path), part as keyof typeof references]),
  );
  for (const reason of new Set(reasons)) {
    const part = byPath.get(formatFieldPath(reason.path));
    const [one, other] = part === undefined ? [] : [before[part], after[part]];
    const content = one && other ? differencesOf(one.spec, other.spec, ['spec']) : [];
    if (part !== undefined && content.length > 0) {
      for (const difference of content) {
        add(part, difference);
      }
    } else {
      const values = { before: fieldAt(before.object, ...reason.path), after: fieldAt(after.object, ...reason.path) };
      add('object', { ...reason, ...(isSame(values.before, values.after) ? {} : values) });
    }
  }
  return [...causes.values()];
}

/** Says that Machines stay until a time, which is at this path. */
export function notBefore({ after }: GroupUpdate, path: FieldPath | undefined, now: Date): string[] {
  const at = (path ?? []).map(String);
  const time = timeAt(after.object, ...at);
  return time !== undefined && time > now.getTime() ? [`not before ${textAt(after.object, ...at)}`] : [];
}

export interface Rollout {
  verdict?: Extract<Verdict, 'refused' | 'unknown' | 'onDelete'> | undefined;
  replaced?: number;
  replaces?: string[] | undefined;
  inPlace?: number;
  causes?: Cause[];
  manner?: string[];
  problems?: Problem[];
}

function settings(object: JsonObject): JsonObject {
  const { labels, annotations } = objectAt(object, 'metadata');
  const own = Object.entries(objectAt(annotations)).filter(([name]) => !bookkeeping.includes(name));
  return {
    metadata: { labels: objectAt(labels), annotations: Object.fromEntries(own) },
    spec: objectAt(object, 'spec'),
  };
}

/** The changes of the group's object itself. */
export const objectDifferences = ({ before, after }: Pick<GroupUpdate, 'before' | 'after'>): Difference[] =>
  differencesOf(settings(before.object), settings(after.object));

/** The changes of all objects of a group. */
export const partDifferences = ({ before, after }: Pick<GroupUpdate, 'before' | 'after'>) =>
  groupParts.flatMap((part) => {
    const differences =
      part === 'object'
        ? objectDifferences({ before, after })
        : differencesOf(before[part]?.spec, after[part]?.spec, ['spec']);
    return differences.map((difference) => ({ part, difference }));
  });

/** How many Machines a group has: those that exist and are not being deleted, or else its replicas. */
export function machinesBefore({ machines = [], before }: Pick<GroupChange, 'machines' | 'before'>): number {
  if (before === undefined) {
    return 0;
  }
  // A group that wants Machines, and of which none is known, has some that were not given.
  return machines.length === 0 ? replicasOf(before.object) : machines.filter(isStaying).length;
}

export const machineCounts = (update: GroupUpdate): { before: number; after: number } => ({
  before: machinesBefore(update),
  after: replicasOf(update.after.object),
});

const replicasPath: FieldPath = ['spec', 'replicas'];

/** Variables of patches that change with the number of Machines. */
const replicasVariable = /builtin\.(?:controlPlane|machineDeployment|machinePool)\.replicas/;

function scalingReplaces(causes: readonly Cause[], { before, after }: { before: number; after: number }): string[] {
  const cause = causes.find(({ from = '' }) => replicasVariable.test(from));
  const variable = replicasVariable.exec(cause?.from ?? '')?.[0];
  return cause === undefined || variable === undefined || before === after
    ? []
    : [
        `scaling from ${before} to ${after} changes ${variable}, which ${cause.field} depends on: so it replaces Machines`,
      ];
}

function verdictOf(verdict: Rollout['verdict'], replaced: number, isScaled: boolean, isChanged: boolean): Verdict {
  if (verdict === 'unknown' || verdict === 'refused') {
    return verdict;
  }
  if (replaced > 0) {
    return 'replaced';
  }
  return verdict ?? (isScaled ? 'scaled' : isChanged ? 'inPlace' : 'unchanged');
}

/** The fields of an arrival that differ: parts of it, or itself in an object that is added or removed. */
const arriving = (written: readonly Difference[], arrival: FieldPath): FieldPath[] =>
  written.flatMap(({ path, before, after }) => {
    if (leadsTo(path, arrival)) {
      return [path];
    }
    const inside = arrival.slice(path.length);
    const isInside = leadsTo(arrival, path) && [before, after].some((value) => fieldAt(value, ...inside) !== undefined);
    return isInside ? [arrival] : [];
  });

const arrivalTexts = (written: readonly Difference[], arrivals: Arrivals): string[] =>
  arrivals.flatMap(({ path, on }) => {
    const names = arriving(written, path).map(formatFieldPath);
    return names.length === 0 ? [] : [`${listText(names)}: written to ${listText(on)}`];
  });

/** Templates that change without another name: Cluster API does not compare their content. */
const changedTemplates = ({ before, after, kind }: GroupUpdate): string[] =>
  (['bootstrap', 'infrastructure'] as const).flatMap((part) => {
    const [one, other] = [before[part], after[part]];
    // A MachinePool does not refer to templates: its provider reads the objects again.
    const isSameObject =
      kind !== 'MachinePool' && one !== undefined && other !== undefined && nameOf(one) === nameOf(other);
    return isSameObject && differencesOf(one.spec, other.spec).length > 0
      ? [`${objectText(other)} changes under its name: Machines keep what they were made of, and new ones get it`]
      : [];
  });

const referenceNames = ['configRef', 'infrastructureRef', 'infrastructureTemplate'];

const isReference = ({ path }: Difference): boolean => referenceNames.some((name) => path.includes(name));

/** The plan of a group that exists before and after; `arrivals`: where fields that are written in place arrive. */
export function groupPlan(update: GroupUpdate, rollout: Rollout, arrivals: Arrivals): GroupPlan {
  const { group, kind, name, notes } = update;
  const { replaced = 0, replaces, inPlace: updated = 0, causes = [], problems = [] } = rollout;
  const counts = machineCounts(update);
  const differences = objectDifferences(update);
  const isCause = ({ path }: Difference) => causes.some(({ field }) => field === formatFieldPath(path));
  const written = differences.filter((difference) => !isCause(difference));
  const scaling = differences.filter(({ path }) => hasMachines(update.after.object) && isPath(path, replicasPath));
  const isChanged = differences.length > 0 || updated > 0 || causes.length > 0;
  const verdict = verdictOf(rollout.verdict, replaced, scaling.length > 0, isChanged);
  const toMachines = arrivals.filter(({ on }) => on.includes('Machines'));
  const reachesMachines = toMachines.some(({ path }) => arriving(written, path).length > 0);
  const isKnown = verdict !== 'unknown' && verdict !== 'refused';
  const isInPlace = verdict === 'inPlace' || verdict === 'scaled';
  const inPlace = isInPlace && updated === 0 && reachesMachines ? Math.min(counts.before, counts.after) : updated;
  const ofObject = verdict === 'scaled' ? scaling : written.filter((one) => !isReference(one));
  const manner = [
    ...(rollout.manner ?? []),
    ...scalingReplaces(causes, counts),
    ...arrivalTexts(written, arrivals),
    ...changedTemplates(update),
    ...notes,
  ];
  return {
    group,
    kind,
    name,
    verdict,
    machines: { ...counts, replaced: isKnown ? replaced : 0, inPlace: isKnown ? inPlace : 0 },
    causes: isInPlace ? [...causes, ...ofObject.map((difference) => causeOf('object', difference, update))] : causes,
    ...(replaces !== undefined && ((isKnown && replaced > 0) || verdict === 'onDelete') && { replaces }),
    ...(manner.length > 0 && { manner }),
    ...(problems.length > 0 && { problems }),
  };
}
