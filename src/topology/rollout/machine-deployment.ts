import { fieldAt, isSame, type JsonObject, nameOf, objectAt, textAt } from '../../kubernetes/index.ts';
import { machineFieldNames } from '../../runtimehooks/index.ts';
import {
  type Arrivals,
  afterPath,
  ageReasons,
  inRequest,
  shownMetadata,
  timeAt,
  type UpdateRequest,
} from '../control-planes/index.ts';
import { type Difference, differencesOf, isPath } from '../world/differences.ts';
import type { ExistingMachine, GroupObjects, PlanOptions, RolloutStep } from '../world/groups.ts';
import { inPlaceTexts, problemsOf, stepsText, verdictOf, waitingForDeletion, waitingProblems } from './explanations.ts';
import { causesOf, type GroupUpdate, isStaying, machineCounts, notBefore, type Rollout } from './group-plan.ts';
import { askForUpdate, type UpdateAnswer } from './in-place.ts';
import { comparedFields, fencepostsOf, machineSetId, machineSetOf, replicasOf, sum } from './machines.ts';

const specPath = ['spec', 'template', 'spec'] as const;
const references = {
  bootstrap: [...specPath, 'bootstrap', 'configRef', 'name'],
  infrastructure: [...specPath, 'infrastructureRef', 'name'],
};
const strategyPath = ['spec', 'rollout', 'strategy', 'type'] as const;

interface MadeSet {
  machineSet: GroupObjects | undefined;
  spec: JsonObject;
  /** In ms; undefined if it is not known. */
  createdAt: number | undefined;
  count: number;
  machines: ExistingMachine[];
}

/** In what Machines of a MachineSet differ from those of a MachineDeployment (MachineTemplateUpToDate, mdutil, v1.14). */
const specReasons = (spec: JsonObject, machineDeployment: JsonObject): Difference[] =>
  comparedFields.flatMap((field) =>
    differencesOf(spec[field], objectAt(machineDeployment, ...specPath)[field], [...specPath, field]),
  );

const setNameLabel = 'cluster.x-k8s.io/set-name';

function setNameOf({ machine }: ExistingMachine): string {
  const owners = fieldAt(machine, 'metadata', 'ownerReferences');
  const owner = Array.isArray(owners)
    ? owners.find((reference) => textAt(reference, 'kind') === 'MachineSet')
    : undefined;
  return textAt(owner, 'name') || textAt(machine, 'metadata', 'labels', setNameLabel);
}

/** The MachineSets that have Machines, or if none are known, one as the MachineDeployment has it before the change. */
function madeSets({ before, machineSets, machines: all }: GroupUpdate, count: number): MadeSet[] {
  const machines = all?.filter(isStaying);
  const spec = objectAt(before.object, ...specPath);
  const bySet = Map.groupBy(machines ?? [], setNameOf);
  const sets = machineSets.map((machineSet): MadeSet => {
    const { object } = machineSet;
    const own = bySet.get(nameOf(object)) ?? [];
    bySet.delete(nameOf(object));
    return {
      machineSet,
      spec: objectAt(object, ...specPath),
      createdAt: timeAt(object, 'metadata', 'creationTimestamp'),
      count: machines === undefined ? replicasOf(object) : own.length,
      machines: own,
    };
  });
  const rest = [...bySet.values()].flat();
  const unknown = machineSets.length === 0 && machines === undefined ? count : rest.length;
  return [...sets, { machineSet: undefined, spec, createdAt: undefined, count: unknown, machines: rest }].filter(
    (set) => set.count > 0,
  );
}

/** The MachineSets that are not the current one (FindNewAndOldMachineSets, mdutil, v1.14). */
function outdatedSets(
  sets: readonly MadeSet[],
  machineDeployment: JsonObject,
  previous: JsonObject,
): { set: MadeSet; reasons: Difference[]; isEligible: boolean }[] {
  const byReplicas = sets.toSorted((a, b) => b.count - a.count);
  const matching = byReplicas.filter((set) => specReasons(set.spec, machineDeployment).length === 0);
  const current = matching.find((set) => ageReasons(set.createdAt, machineDeployment, previous).length === 0);
  return sets
    .filter((set) => set !== current)
    .map((set) => {
      const times = ageReasons(set.createdAt, machineDeployment, previous);
      const reasons = [...specReasons(set.spec, machineDeployment), ...times];
      return { set, reasons, isEligible: times.length === 0 && !matching.includes(set) };
    });
}

const isOnDelete = (machineDeployment: JsonObject): boolean =>
  textAt(machineDeployment, ...strategyPath) === 'OnDelete';

function outdatedAfter({ before, after }: GroupUpdate, sets: readonly MadeSet[]) {
  const beforeChange = new Map(
    outdatedSets(sets, before.object, before.object).map(({ set, reasons }) => [set, reasons]),
  );
  const ofChange = specReasons(objectAt(before.object, ...specPath), after.object);
  const strategy: Difference[] =
    isOnDelete(before.object) && !isOnDelete(after.object)
      ? [{ path: strategyPath, before: 'OnDelete', after: textAt(after.object, ...strategyPath) }]
      : [];
  return outdatedSets(sets, after.object, before.object).map(({ set, reasons, isEligible }) => {
    const known = beforeChange.get(set);
    const isTime = ({ path }: Difference) => isPath(path, afterPath);
    const time = reasons.filter(
      (reason) => isTime(reason) && !known?.some((other) => isTime(other) && isSame(other.after, reason.after)),
    );
    const changed = [...ofChange, ...time, ...(known === undefined ? [] : strategy)];
    return {
      ...set,
      reasons: changed.length > 0 ? changed : reasons,
      isCaused: known === undefined || changed.length > 0,
      isEligible,
    };
  });
}

const revisionOf = (machineSet: JsonObject): number =>
  Number(textAt(machineSet, 'metadata', 'annotations', 'machinedeployment.clusters.x-k8s.io/revision')) || 1;

const machineSetParts = (
  machineSet: JsonObject,
  infrastructure: JsonObject,
  bootstrap: JsonObject | undefined,
): UpdateRequest['current'] => {
  const shown = (object: JsonObject) => inRequest(object, shownMetadata(object), objectAt(object, 'spec'));
  return {
    machineSet: shown(machineSet),
    infrastructureMachineTemplate: shown(infrastructure),
    ...(bootstrap !== undefined && { bootstrapConfigTemplate: shown(bootstrap) }),
  };
};

function requestFor(
  set: MadeSet,
  { before, after, name: ofGroup, machineSets }: GroupUpdate,
): UpdateRequest | undefined {
  const isOfBefore = specReasons(set.spec, before.object).length === 0;
  const hasBootstrap = before.bootstrap !== undefined;
  if (
    !isOfBefore ||
    before.infrastructure === undefined ||
    after.infrastructure === undefined ||
    hasBootstrap !== (after.bootstrap !== undefined)
  ) {
    return undefined;
  }
  const machineSet = set.machineSet?.object;
  const number = machineSet === undefined ? 1 : revisionOf(machineSet);
  const madeUp = machineSetId(ofGroup, number);
  const name = machineSet === undefined ? madeUp.name : nameOf(machineSet);
  const hash = textAt(machineSet, 'metadata', 'labels', 'machine-template-hash') || madeUp.hash;
  const newest = Math.max(...machineSets.map(({ object }) => revisionOf(object)), number) + 1;
  const current = machineSetOf(after.object, { name, hash, revision: number }, set.count, set.spec);
  const next = machineSetId(ofGroup, newest);
  return {
    current: machineSetParts(current, before.infrastructure, before.bootstrap),
    desired: machineSetParts(machineSetOf(after.object, next, 0), after.infrastructure, after.bootstrap),
  };
}

/** Names of Machines in the order in which their MachineSet lets go of them (machineset_deletion_order.go, v1.14). */
function namesInOrder({ machines }: MadeSet, order: string): string[] {
  const priorityOf = ({ machine }: ExistingMachine) => {
    const createdAt = timeAt(machine, 'metadata', 'creationTimestamp') ?? 0;
    const age = order === 'Oldest' ? -createdAt : order === 'Newest' ? createdAt : 0;
    const isFirst = Object.hasOwn(objectAt(machine, 'metadata', 'annotations'), 'cluster.x-k8s.io/delete-machine');
    return isFirst ? Number.MAX_VALUE : age;
  };
  return machines
    .toSorted((a, b) => priorityOf(b) - priorityOf(a) || (nameOf(a.machine) < nameOf(b.machine) ? -1 : 1))
    .map(({ machine }) => nameOf(machine));
}

function mannerOf({ after }: GroupUpdate): string {
  const { maxSurge, maxUnavailable } = fencepostsOf(after.object);
  const order =
    maxSurge === 0
      ? `${maxUnavailable} at a time: the old Machines go first`
      : `${maxSurge} at a time: new Machines come first`;
  return `up to ${order} (maxSurge ${maxSurge}, maxUnavailable ${maxUnavailable})`;
}

const arrivals: Arrivals = machineFieldNames('MachineDeployment', 'machines').map((field) => ({
  path: [...specPath, field],
  on: ['MachineSets', 'Machines'],
}));

export function machineDeploymentArrivals({ after }: GroupUpdate): Arrivals {
  const kinds = [references.bootstrap, references.infrastructure]
    .map((path) => textAt(after.object, ...path.slice(0, -1), 'kind').replace(/(?:Template)?$/, 's'))
    .filter((kind) => kind !== 's');
  return [{ path: ['spec', 'template', 'metadata'], on: ['MachineSets', 'Machines', ...kinds] }, ...arrivals];
}

/** The steps of a rollout: new Machines come first, and all of them do if others are updated in place. */
function stepsOf(updated: readonly string[], deleted: readonly string[]): RolloutStep[] {
  const made = { is: 'made' } as const;
  const gone = deleted.map((name) => ({ is: 'deleted', name }) as const);
  return updated.length > 0
    ? [...gone.map(() => made), ...updated.map((name) => ({ is: 'updated', name }) as const), ...gone]
    : gone.flatMap((step) => [made, step]);
}

export async function machineDeploymentRollout(update: GroupUpdate, options: PlanOptions): Promise<Rollout> {
  const { after } = update;
  const { now, updatesInPlace = false } = options;
  const counts = machineCounts(update);
  const outdated = outdatedAfter(update, madeSets(update, counts.before));
  const caused = outdated.filter(({ isCaused }) => isCaused);
  const removed = Math.max(0, counts.before - counts.after);
  const waiting = outdated.filter(({ isCaused }) => !isCaused);
  const problems = waitingProblems(
    waiting.flatMap((set) => {
      const names = set.machines.length > 0 ? namesInOrder(set, '') : Array<string>(set.count).fill('');
      const causes = causesOf({ ...update, before: set.machineSet ?? update.before }, set.reasons, references);
      return names.map((name) => ({ name, causes }));
    }),
    isOnDelete(after.object),
  );
  const remaining = Math.max(0, sum(caused.map(({ count }) => count)) - removed);
  if (remaining === 0) {
    return { problems };
  }
  const reasons = caused.flatMap((set) => set.reasons);
  const causes = causesOf(update, reasons, references);
  const order = textAt(after.object, 'spec', 'deletion', 'order');
  if (isOnDelete(after.object)) {
    const waits = caused.flatMap((set) => namesInOrder(set, order)).slice(removed);
    return {
      ...waitingForDeletion(waits.length === remaining ? waits : Array<string>(remaining).fill('')),
      causes,
      problems,
    };
  }
  const answers: UpdateAnswer[] = [];
  for (const set of caused) {
    const request = updatesInPlace && set.isEligible ? requestFor(set, update) : undefined;
    answers.push(
      request === undefined ? { is: 'none' } : await askForUpdate(update, options, 'CanUpdateMachineSet', request),
    );
  }
  const updatable = caused.filter((_, index) => answers[index]?.is === 'covered');
  const needsOther = answers.some((answer) => answer.is === 'covered' && answer.affectsAvailability);
  // If all must stay available, one new Machine comes first, and the last old one goes.
  const surplus = needsOther && removed === 0 && fencepostsOf(after.object).maxUnavailable === 0 ? 1 : 0;
  const updated = Math.max(0, Math.min(remaining, sum(updatable.map(({ count }) => count))) - surplus);
  const replaced = remaining - updated;
  const names = caused
    .toSorted((a, b) => Number(updatable.includes(b)) - Number(updatable.includes(a)))
    .flatMap((set) => namesInOrder(set, order));
  const isTimed = reasons.some(({ path }) => isPath(path, afterPath));
  if (verdictOf(answers) === undefined) {
    const kept = names.length - replaced;
    for (const step of stepsOf(names.slice(removed, kept), names.slice(kept))) {
      await options.follow?.(step);
    }
  }
  return {
    verdict: verdictOf(answers),
    replaced,
    replaces: names.length === replaced + updated + removed ? names.slice(names.length - replaced) : undefined,
    inPlace: updated,
    causes,
    manner: [
      ...(replaced > 0 && updated === 0
        ? [mannerOf(update), ...notBefore(update, isTimed ? afterPath : undefined, now)]
        : []),
      ...stepsText(update),
      ...inPlaceTexts(answers, updated, replaced, 'maxUnavailable: 1'),
    ],
    problems: [...problems, ...problemsOf(answers)],
  };
}
