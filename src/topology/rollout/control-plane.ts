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
  failureIn,
  inPlaceTexts,
  machinesText,
  stepsText,
  waitingForDeletion,
  waitingProblems,
} from './explanations.ts';
import {
  causesOf,
  type GroupUpdate,
  isStaying,
  machineCounts,
  notBefore,
  objectDifferences,
  type Rollout,
} from './group-plan.ts';
import { askForUpdate, knowsAvailability, type UpdateAnswer } from './in-place.ts';

interface ControlPlaneUpdate extends GroupUpdate {
  of: KindWithMachines;
  releases: { before: Release; after: Release };
  now: Date;
}

/** A Machine, and what is not given of it, as the control plane made it before. */
function madeMachine(update: ControlPlaneUpdate, existing?: ExistingMachine, isFirst = false): MachineObjects {
  const { of, before, cluster } = update;
  const name = existing === undefined ? `${update.name}-machine` : nameOf(existing.machine);
  const names = { cluster: nameOf(cluster), machine: name };
  const made = of.machine(before.object, before.infrastructure, names, isFirst);
  return {
    machine: existing?.machine ?? made.machine,
    bootstrapConfig: existing?.bootstrapConfig ?? made.bootstrapConfig,
    infrastructureMachine: existing?.infrastructureMachine ?? made.infrastructureMachine,
  };
}

interface OutdatedMachine {
  /** Empty if it is not known. */
  name: string;
  objects: MachineObjects;
  reasons: Difference[];
  isCaused: boolean;
  /** Whether an extension may update it. */
  isEligible: boolean;
  /** Who updates it in place, if its control plane arranges that without asking extensions. */
  updater: string | undefined;
}

const deleteAnnotation = 'cluster.x-k8s.io/delete-machine';

const hasAnnotation = ({ machine }: MachineObjects, ...names: readonly string[]): boolean =>
  names.some((name) => Object.hasOwn(objectAt(machine, 'metadata', 'annotations'), name));

/** A Machine, if it is not up to date after the change; `ofChange`: what a new one of before differs in. */
function outdatedMachine(
  update: ControlPlaneUpdate,
  name: string,
  objects: MachineObjects,
  ofChange: (isFirst: boolean) => Difference[],
): OutdatedMachine[] {
  const { of, before, after, releases, now } = update;
  const timesOf = (wanted: JsonObject) => of.timeReasons?.(objects, wanted, before.object, now) ?? [];
  const times = timesOf(after.object);
  const reasons = [...of.reasons(objects, after.object, releases.after), ...times];
  if (reasons.length === 0) {
    return [];
  }
  const timesBefore = timesOf(before.object);
  const isNew = ({ path, after: value }: Difference) =>
    !timesBefore.some((known) => isPath(known.path, path) && isSame(known.after, value));
  const changed = [...ofChange(of.isFirst?.(objects) ?? false), ...times.filter(isNew)];
  const wasUpToDate = () =>
    timesBefore.length === 0 && of.reasons(objects, before.object, releases.before).length === 0;
  return [
    {
      name,
      objects,
      reasons: changed.length > 0 ? changed : reasons,
      isCaused: changed.length > 0 || wasUpToDate(),
      // The others make way for another in any case.
      isEligible: times.length === 0 && !hasAnnotation(objects, deleteAnnotation, 'cluster.x-k8s.io/remediate-machine'),
      updater: of.updater?.(reasons, after.object),
    },
  ];
}

function outdatedMachines(update: ControlPlaneUpdate, count: number): OutdatedMachine[] {
  const { of, after, machines, releases } = update;
  const [first, joined] = [madeMachine(update, undefined, true), madeMachine(update)];
  const [ofFirst, ofJoined] = [first, joined].map((objects) => of.reasons(objects, after.object, releases.after));
  const outdated = (name: string, objects: MachineObjects) =>
    outdatedMachine(update, name, objects, (isFirst) => (isFirst ? ofFirst : ofJoined) ?? []);
  if (machines !== undefined) {
    return machines
      .filter(isStaying)
      .flatMap((existing) => outdated(nameOf(existing.machine), madeMachine(update, existing)));
  }
  // The first Machine may still be the one that made the control plane.
  const made = outdated('', joined);
  const one = made.length === 0 ? outdated('', first) : made;
  return Array.from({ length: count }, (_, index) => (index === 0 ? one : made)).flat();
}

/** Machines in the order in which they are updated or deleted: the oldest first. */
const inOrder = (machines: readonly OutdatedMachine[]): OutdatedMachine[] => {
  const createdAt = ({ objects }: OutdatedMachine) => timeAt(objects.machine, 'metadata', 'creationTimestamp') ?? 0;
  return machines.toSorted(
    (a, b) =>
      Number(hasAnnotation(b.objects, deleteAnnotation)) - Number(hasAnnotation(a.objects, deleteAnnotation)) ||
      createdAt(a) - createdAt(b) ||
      (a.name < b.name ? -1 : 1),
  );
};

/**
 * A rolling update (rollingUpdate in controlplane/kubeadm/reconcilers/kubeadmcontrolplane/update.go, v1.14): as many
 * Machines as allowed are made before one is updated or deleted, and none is updated once enough are up to date.
 */
async function roll(
  outdated: readonly OutdatedMachine[],
  counts: { before: number; after: number },
  { maxSurge, maySaveSurge }: { maxSurge: number; maySaveSurge: boolean },
  ask: (machine: OutdatedMachine) => Promise<UpdateAnswer>,
  follow: PlanOptions['follow'],
) {
  const [updated, deleted, answers]: [OutdatedMachine[], OutdatedMachine[], UpdateAnswer[]] = [[], [], []];
  let current = counts.before;
  let upToDate = counts.before - outdated.length;
  const growTo = async (count: number) => {
    for (; current < count; current++) {
      await follow?.({ is: 'made' });
      upToDate++;
    }
  };
  for (const machine of inOrder(outdated)) {
    await growTo(counts.after + (maySaveSurge ? 0 : maxSurge));
    const isAsked = machine.isEligible && upToDate < counts.after;
    const answer: UpdateAnswer = isAsked ? await ask(machine) : { is: 'none' };
    answers.push(answer);
    if (answer.is !== 'covered' || answer.affectsAvailability) {
      await growTo(counts.after + maxSurge);
    }
    const isUpdated = answer.is === 'covered' && upToDate < counts.after;
    (isUpdated ? updated : deleted).push(machine);
    await follow?.({ is: isUpdated ? 'updated' : 'deleted', name: machine.name });
    upToDate += isUpdated ? 1 : 0;
    current -= isUpdated ? 0 : 1;
  }
  return { updated, deleted, answers };
}

/** Decides what happens to a control plane's Machines. @throws {NotKnown} for a field whose effect is not known. */
export async function controlPlaneRollout(
  { of, ...given }: GroupUpdate & Pick<ControlPlaneUpdate, 'of'>,
  options: PlanOptions,
): Promise<Rollout> {
  const release = options.clusterApiVersion ?? newestKnownRelease;
  const releases = { before: options.clusterApiVersionBefore ?? release, after: release };
  const { now, updatesInPlace = false } = options;
  const update = { of, ...given, releases, now };
  const unknown = objectDifferences(given).find(
    ({ path: [top, field] }) => top === 'spec' && of.fields !== undefined && !of.fields.includes(String(field)),
  );
  if (unknown !== undefined) {
    throw new NotKnown(`what ${formatFieldPath(unknown.path)} of ${of.kind} does to Machines is not known`);
  }
  const counts = machineCounts(update);
  const wantedSurge = of.maxSurge(update.after.object);
  // Providers take 0 and 1; a number in a file must not decide how much work there is.
  const maxSurge = wantedSurge === undefined ? undefined : Math.min(wantedSurge, Math.max(1, counts.after));
  const removed = Math.max(0, counts.before - counts.after);
  const all = outdatedMachines(update, counts.before);
  const caused = all.filter(({ isCaused }) => isCaused);
  const waiting = all.filter(({ isCaused }) => !isCaused);
  const problems = waitingProblems(
    waiting.map(({ name, reasons }) => ({ name, causes: causesOf(update, reasons, {}) })),
    maxSurge === undefined,
  );
  if (caused.length === 0) {
    return { problems };
  }
  const reasons = caused.flatMap((machine) => machine.reasons);
  const causes = causesOf(update, reasons, { infrastructure: [...machineTemplatePath(update.after.object), 'name'] });
  if (maxSurge === undefined) {
    return { ...waitingForDeletion(caused.map(({ name }) => name).slice(removed)), causes, problems };
  }
  const surge = { maxSurge, maySaveSurge: knowsAvailability(options) };
  const asked = new Map<OutdatedMachine, UpdateAnswer>();
  const first = caused.filter(({ updater }) => updater !== undefined);
  const updatedFirst = Math.min(first.length, counts.after);
  const { updated, deleted, answers } = await roll(
    all.filter(({ updater }) => updater === undefined),
    counts,
    surge,
    async (machine) => {
      if (updatesInPlace && of.asksExtensions === true && of.updateRequest === undefined) {
        throw new NotKnown(`whether an extension updates Machines of ${of.kind} in place is not known`);
      }
      const { before, after, cluster } = update;
      const isAsked = updatesInPlace && !asked.has(machine);
      const request = isAsked ? of.updateRequest?.(machine.objects, before, after, nameOf(cluster)) : undefined;
      const answer = request && (await askForUpdate(update, options, 'CanUpdateMachine', request));
      const known = asked.get(machine) ?? answer ?? { is: 'none' };
      asked.set(machine, known);
      return known;
    },
    options.follow,
  );
  const replaced = Math.min(caused.length - first.length, Math.max(0, deleted.length - removed));
  const age = reasons.find(({ path }) => afterPaths.some((after) => isPath(path, after)));
  const names = deleted.slice(removed).flatMap(({ isCaused, name }) => (isCaused ? [name] : []));
  // With failure domains, the order depends on where new Machines are made.
  const hasDomains = updated.some(({ objects }) => textAt(objects.machine, 'spec', 'failureDomain') !== '');
  const failed = failureIn(answers);
  const order = maxSurge === 0 ? 'the old Machine goes first' : 'a new Machine comes first';
  return {
    verdict: failed && 'refused',
    replaced,
    replaces: names.includes('') || hasDomains ? undefined : names,
    inPlace: updated.length + updatedFirst,
    causes,
    manner: [
      ...(updatedFirst === 0 ? [] : [`${machinesText(updatedFirst)} updated in place by ${first[0]?.updater}`]),
      ...(deleted.length === 0
        ? []
        : [`one after the other, ${order} (maxSurge ${maxSurge})`, ...notBefore(update, age?.path, now)]),
      ...stepsText(update, replaced === 0 && updatedFirst > 0 ? 'updated' : 'replaced'),
      ...inPlaceTexts(answers, updated.length, replaced, 'maxSurge: 0 of the control plane'),
    ],
    problems: [...problems, ...(failed ? [failed] : [])],
  };
}
