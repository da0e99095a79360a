import { formatFieldPath, isSame, type JsonObject, nameOf, objectAt, textAt } from '../../kubernetes/index.ts';
import { newestKnownRelease, type Release } from '../../runtimehooks/index.ts';
import {
  afterPaths,
  type KindWithMachines,
  type MachineObjects,
  machineTemplatePath,
  timeAt,
} from '../control-planes/index.ts';
import { type Difference, isPath } from '../world/differences.ts';
import type { ExistingMachine, PlanOptions } from '../world/groups.ts';
import { NotKnown } from '../world/not-known.ts';
import {
  inPlaceTexts,
  machinesText,
  problemsOf,
  stepsText,
  verdictOf,
  waitingForDeletion,
  waitingProblems,
} from './explanations.ts';
import {
  causesOf,
  type GroupUpdate,
  isStaying,
  machineCounts,
  notBefore,
  nothing,
  objectDifferences,
  type Rollout,
} from './group-plan.ts';
import { askForUpdate, knowsAvailability, type UpdateAnswer } from './in-place.ts';

/** A Machine of a control plane: what exists of it, and the rest as the control plane makes it. */
interface MadeMachine {
  /** Undefined if none was given. */
  existing: ExistingMachine | undefined;
  objects: MachineObjects;
}

const nameOfMachine = ({ existing }: MadeMachine): string => (existing === undefined ? '' : nameOf(existing.machine));

interface ControlPlaneUpdate extends GroupUpdate {
  of: KindWithMachines;
  /** Of Cluster API, before and after. */
  releases: { before: Release; after: Release };
}

/** A Machine as the control plane made it before. */
function newMachine({ of, before, change }: ControlPlaneUpdate, isFirst: boolean, name?: string): MadeMachine {
  const names = { cluster: nameOf(change.cluster), machine: name ?? `${change.name}-machine` };
  return { existing: undefined, objects: of.machine(before.object, before.infrastructure, names, isFirst) };
}

function madeMachine(update: ControlPlaneUpdate, existing: ExistingMachine): MadeMachine {
  const { objects } = newMachine(update, false, nameOf(existing.machine));
  const { machine, bootstrapConfig, infrastructureMachine } = existing;
  return {
    existing,
    objects: {
      machine,
      bootstrapConfig: bootstrapConfig ?? objects.bootstrapConfig,
      infrastructureMachine: infrastructureMachine ?? objects.infrastructureMachine,
    },
  };
}

interface OutdatedMachine {
  made: MadeMachine;
  reasons: Difference[];
  /** Whether it is so because of the change. */
  isCaused: boolean;
  /** Whether an extension may update it. */
  isEligible: boolean;
  /** Who updates it in place, if its control plane arranges that without asking extensions. */
  updater: string | undefined;
}

/** Annotations of Machines that make way for another in any case. */
const goingAnnotations = ['cluster.x-k8s.io/delete-machine', 'cluster.x-k8s.io/remediate-machine'];

const timesOf = (
  { of, before }: ControlPlaneUpdate,
  { objects }: MadeMachine,
  wanted: JsonObject,
  now: Date,
): Difference[] => of.timeReasons?.(objects, wanted, before.object, now) ?? [];

/** A Machine, if it is not up to date after the change; `ofChange`: what a new one of before differs in. */
function outdatedMachine(
  update: ControlPlaneUpdate,
  made: MadeMachine,
  ofChange: (isFirst: boolean) => Difference[],
  now: Date,
): OutdatedMachine[] {
  const { of, before, after, releases } = update;
  const times = timesOf(update, made, after.object, now);
  const reasons = [...of.reasons(made.objects, after.object, releases.after), ...times];
  if (reasons.length === 0) {
    return [];
  }
  const timesBefore = timesOf(update, made, before.object, now);
  const isNew = ({ path, after: value }: Difference) =>
    !timesBefore.some((known) => isPath(known.path, path) && isSame(known.after, value));
  const changed = [...ofChange(of.isFirst?.(made.objects) ?? false), ...times.filter(isNew)];
  const wasUpToDate = () =>
    timesBefore.length === 0 && of.reasons(made.objects, before.object, releases.before).length === 0;
  const annotations = objectAt(made.existing?.machine, 'metadata', 'annotations');
  return [
    {
      made,
      reasons: changed.length > 0 ? changed : reasons,
      isCaused: changed.length > 0 || wasUpToDate(),
      isEligible: times.length === 0 && !goingAnnotations.some((name) => Object.hasOwn(annotations, name)),
      updater: of.updater?.(reasons, after.object),
    },
  ];
}

function outdatedMachines(update: ControlPlaneUpdate, count: number, now: Date): OutdatedMachine[] {
  const { of, after, change, releases } = update;
  const [first, joined] = [true, false].map((isFirst) => newMachine(update, isFirst)) as [MadeMachine, MadeMachine];
  const [ofFirst, ofJoined] = [first, joined].map(({ objects }) => of.reasons(objects, after.object, releases.after));
  const outdated = (made: MadeMachine) =>
    outdatedMachine(update, made, (isFirst) => (isFirst ? ofFirst : ofJoined) ?? [], now);
  if (change.machines !== undefined) {
    return change.machines.filter(isStaying).flatMap((existing) => outdated(madeMachine(update, existing)));
  }
  // The first Machine may still be the one that made the control plane.
  const made = outdated(joined);
  const one = made.length === 0 ? outdated(first) : made;
  return Array.from({ length: count }, (_, index) => (index === 0 ? one : made)).flat();
}

/** Machines in the order in which they are updated or deleted: the oldest first. */
const inOrder = (machines: readonly OutdatedMachine[]): OutdatedMachine[] => {
  const isGoing = ({ made }: OutdatedMachine) =>
    Object.hasOwn(objectAt(made.existing?.machine, 'metadata', 'annotations'), 'cluster.x-k8s.io/delete-machine');
  const createdAt = ({ made }: OutdatedMachine) => timeAt(made.existing?.machine, 'metadata', 'creationTimestamp') ?? 0;
  return machines.toSorted(
    (a, b) =>
      Number(isGoing(b)) - Number(isGoing(a)) ||
      createdAt(a) - createdAt(b) ||
      (nameOfMachine(a.made) < nameOfMachine(b.made) ? -1 : 1),
  );
};

/**
 * A rolling update (rollingUpdate in controlplane/kubeadm/reconcilers/kubeadmcontrolplane/update.go, v1.14): as many
 * Machines as allowed are made before one is updated or deleted, and none is updated once enough are up to date.
 *
 * @param maySaveSurge whether an answer may say that no Machine has to be made first.
 */
async function roll(
  outdated: readonly OutdatedMachine[],
  counts: { before: number; after: number },
  { maxSurge, maySaveSurge }: { maxSurge: number; maySaveSurge: boolean },
  ask: (machine: OutdatedMachine) => Promise<UpdateAnswer>,
  follow: NonNullable<PlanOptions['follow']>,
): Promise<{ updated: OutdatedMachine[]; deleted: OutdatedMachine[]; answers: UpdateAnswer[] }> {
  const rolled: Awaited<ReturnType<typeof roll>> = { updated: [], deleted: [], answers: [] };
  let current = counts.before;
  let upToDate = counts.before - outdated.length;
  const growTo = async (count: number) => {
    for (; current < count; current++) {
      await follow({ is: 'made' });
      upToDate++;
    }
  };
  for (const machine of inOrder(outdated)) {
    await growTo(counts.after + (maySaveSurge ? 0 : maxSurge));
    const isAsked = machine.isEligible && upToDate < counts.after;
    const answer: UpdateAnswer = isAsked ? await ask(machine) : { is: 'none' };
    rolled.answers.push(answer);
    if (answer.is !== 'covered' || answer.affectsAvailability) {
      await growTo(counts.after + maxSurge);
    }
    if (answer.is === 'covered' && upToDate < counts.after) {
      rolled.updated.push(machine);
      await follow({ is: 'updated', name: nameOfMachine(machine.made) });
      upToDate++;
    } else {
      rolled.deleted.push(machine);
      await follow({ is: 'deleted', name: nameOfMachine(machine.made) });
      current--;
    }
  }
  return rolled;
}

/** Decides what happens to a control plane's Machines. */
export async function controlPlaneRollout(
  { of, ...given }: Omit<ControlPlaneUpdate, 'releases'>,
  options: PlanOptions,
): Promise<Rollout> {
  const release = options.clusterApiVersion ?? newestKnownRelease;
  const update = { of, ...given, releases: { before: options.clusterApiVersionBefore ?? release, after: release } };
  const unknown = objectDifferences(given).find(
    ({ path: [top, field] }) => top === 'spec' && of.fields !== undefined && !of.fields.includes(String(field)),
  );
  if (unknown !== undefined) {
    throw new NotKnown(`what ${formatFieldPath(unknown.path)} of ${of.kind} does to Machines is not known`);
  }
  const { now, updatesInPlace = false } = options;
  const counts = machineCounts(update);
  const maxSurge = of.maxSurge(update.after.object);
  const removed = Math.max(0, counts.before - counts.after);
  const all = outdatedMachines(update, counts.before, now);
  const caused = all.filter(({ isCaused }) => isCaused);
  const waiting = all.filter(({ isCaused }) => !isCaused);
  const problems = waitingProblems(
    waiting.map(({ made, reasons }) => ({ name: nameOfMachine(made), causes: causesOf(update, reasons, {}) })),
    maxSurge === undefined,
  );
  if (caused.length === 0) {
    return { ...nothing(), problems };
  }
  const reasons = caused.flatMap((machine) => machine.reasons);
  const causes = causesOf(update, reasons, { infrastructure: [...machineTemplatePath(update.after.object), 'name'] });
  if (maxSurge === undefined) {
    return { ...waitingForDeletion(caused.map(({ made }) => nameOfMachine(made)).slice(removed)), causes, problems };
  }
  const surge = { maxSurge, maySaveSurge: knowsAvailability(options) };
  const asked = new Map<MadeMachine, UpdateAnswer>();
  const first = caused.filter(({ updater }) => updater !== undefined);
  const updatedFirst = Math.min(first.length, counts.after);
  const { updated, deleted, answers } = await roll(
    all.filter(({ updater }) => updater === undefined),
    counts,
    surge,
    async ({ made }) => {
      if (updatesInPlace && of.asksExtensions === true && of.updateRequest === undefined) {
        throw new NotKnown(`whether an extension updates Machines of ${of.kind} in place is not known`);
      }
      const isAsked = updatesInPlace && !asked.has(made);
      const { before, after } = update;
      const request = isAsked
        ? of.updateRequest?.(made.objects, before, after, nameOf(update.change.cluster))
        : undefined;
      const answer = request && (await askForUpdate(update.change, options, 'CanUpdateMachine', request));
      asked.set(made, asked.get(made) ?? answer ?? { is: 'none' });
      return asked.get(made) as UpdateAnswer;
    },
    options.follow ?? (async () => {}),
  );
  const replaced = Math.min(caused.length - first.length, Math.max(0, deleted.length - removed));
  const age = reasons.find(({ path }) => afterPaths.some((after) => isPath(path, after)));
  const names = deleted
    .slice(removed)
    .filter(({ isCaused }) => isCaused)
    .map(({ made }) => nameOfMachine(made));
  // With failure domains, the order depends on where new Machines are made.
  const hasDomains = updated.some(({ made }) => textAt(made.existing?.machine, 'spec', 'failureDomain') !== '');
  const order = maxSurge === 0 ? 'the old Machine goes first' : 'a new Machine comes first';
  return {
    verdict: verdictOf(answers),
    replaced,
    replaces: names.includes('') || hasDomains ? undefined : names,
    inPlace: updated.length + updatedFirst,
    causes,
    manner: [
      ...(updatedFirst === 0 ? [] : [`${machinesText(updatedFirst)} updated in place by ${first[0]?.updater}`]),
      ...(deleted.length === 0
        ? []
        : [`one after the other, ${order} (maxSurge ${maxSurge})`, ...notBefore(update, age?.path, now)]),
      ...stepsText(update.change, replaced === 0 && updatedFirst > 0 ? 'updated' : 'replaced'),
      ...inPlaceTexts(answers, updated.length, replaced, 'maxSurge: 0 of the control plane'),
    ],
    problems: [...problems, ...problemsOf(answers)],
  };
}
