import { isSame, type JsonObject, nameOf, objectAt, objectsAt, textAt } from '../../kubernetes/index.ts';
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
import { failureIn, inPlaceTexts, stepsText, waitingForDeletion, waitingProblems } from './explanations.ts';
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

function setNameOf({ machine }: ExistingMachine): string {
  const owner = objectsAt(machine, 'metadata', 'ownerReferences').find(({ kind }) => kind === 'MachineSet');
  return textAt(owner, 'name') || textAt(machine, 'metadata', 'labels', 'cluster.x-k8s.io/set-name');
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

const isOnDelete = (machineDeployment: JsonObject): boolean =>
  textAt(machineDeployment, ...strategyPath) === 'OnDelete';

/** The MachineSets that are not the current one after the change (FindNewAndOldMachineSets, mdutil, v1.14). */
function outdatedSets({ before, after }: GroupUpdate, sets: readonly MadeSet[]) {
  const timesOf = ({ createdAt }: MadeSet, wanted: JsonObject) => ageReasons(createdAt, wanted, before.object);
  const byReplicas = sets.toSorted((a, b) => b.count - a.count);
  const [wasCurrent, current] = [before.object, after.object].map((wanted) =>
    byReplicas.find((set) => specReasons(set.spec, wanted).length + timesOf(set, wanted).length === 0),
  );
  const ofChange = specReasons(objectAt(before.object, ...specPath), after.object);
  const strategy: Difference[] =
    isOnDelete(before.object) && !isOnDelete(after.object)
      ? [{ path: strategyPath, before: 'OnDelete', after: textAt(after.object, ...strategyPath) }]
      : [];
  return sets
    .filter((set) => set !== current)
    .map((set) => {
      const [ofSpec, times] = [specReasons(set.spec, after.object), timesOf(set, after.object)];
      const known = timesOf(set, before.object);
      const newTimes = times.filter((time) => !known.some((other) => isSame(other.after, time.after)));
      const changed = [...ofChange, ...newTimes, ...(set === wasCurrent ? [] : strategy)];
      return {
        ...set,
        reasons: changed.length > 0 ? changed : [...ofSpec, ...times],
        isCaused: set === wasCurrent || changed.length > 0,
        isEligible: times.length === 0 && ofSpec.length > 0,
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

/** Where fields of a MachineDeployment arrive that it writes in place. */
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

/** Decides what happens to a MachineDeployment's Machines. @throws {NotKnown} if an extension cannot be asked. */
export async function machineDeploymentRollout(update: GroupUpdate, options: PlanOptions): Promise<Rollout> {
  const { after } = update;
  const { now, updatesInPlace = false } = options;
  const counts = machineCounts(update);
  const outdated = outdatedSets(update, madeSets(update, counts.before));
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
  const failed = failureIn(answers);
  if (failed === undefined) {
    const kept = names.length - replaced;
    for (const step of stepsOf(names.slice(removed, kept), names.slice(kept))) {
      await options.follow?.(step);
    }
  }
  return {
    verdict: failed && 'refused',
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
    problems: [...problems, ...(failed ? [failed] : [])],
  };
}
