import { type FieldPath, fieldAt, isSame, type JsonObject, objectAt, textAt } from '../../kubernetes/index.ts';
import { machineFieldNames } from '../../runtimehooks/index.ts';
import type { ExistingMachine, PlanOptions } from '../world/groups.ts';
import { nameOf } from '../world/objects.ts';
import { type Difference, differencesOf, isPath } from './differences.ts';
import {
  type Arrivals,
  afterPath,
  causesOf,
  type GroupUpdate,
  isStaying,
  isTooOld,
  machineCounts,
  notBefore,
  nothing,
  type Reason,
  type Rollout,
} from './group-plan.ts';
import {
  askForUpdate,
  knowsAvailability,
  type UpdateAnswer,
  type UpdateRequest,
  updateMachineRequest,
} from './in-place.ts';
import { comparedSpecs, isForInit, kubeadmConfigSpec } from './kubeadm-configs.ts';
import { controlPlaneMachine, timeAt } from './machines.ts';
import { inPlaceTexts, problemsOf, stepsText, verdictOf, waitingProblems } from './texts.ts';

/** What a Machine of a control plane was made with. */
interface MadeMachine {
  existing: ExistingMachine | undefined;
  /** Empty if it is not known. */
  name: string;
  version: string;
  /** The name of the template of its infrastructure, with kind and group. */
  template: string;
  config: JsonObject;
  /** In ms; undefined if it is not known. */
  createdAt: number | undefined;
  certificatesExpireAt: number | undefined;
}

const referencePath = ['spec', 'machineTemplate', 'spec', 'infrastructureRef'] as const;

/** The template that a control plane refers to. */
function templateOf(controlPlane: JsonObject): string {
  const reference = fieldAt(controlPlane, ...referencePath);
  return `${textAt(reference, 'kind')}.${textAt(reference, 'apiGroup')} ${textAt(reference, 'name')}`;
}

/** A Machine as a control plane makes it. */
const newMachine = (controlPlane: JsonObject, joins: boolean): MadeMachine => ({
  existing: undefined,
  name: '',
  version: textAt(controlPlane, 'spec', 'version'),
  template: templateOf(controlPlane),
  config: kubeadmConfigSpec(controlPlane, joins),
  createdAt: undefined,
  certificatesExpireAt: undefined,
});

/** The template that an infrastructure Machine says it was made of; empty if it does not: then it is up to date. */
function originOf(infrastructureMachine: JsonObject): string {
  const annotations = objectAt(infrastructureMachine, 'metadata', 'annotations');
  const groupKind = textAt(annotations, 'cluster.x-k8s.io/cloned-from-groupkind');
  const name = textAt(annotations, 'cluster.x-k8s.io/cloned-from-name');
  return name === '' || groupKind === '' ? '' : `${groupKind} ${name}`;
}

/** What an existing Machine was made with; what is not known of it is as the control plane makes it now. */
function madeMachine(existing: ExistingMachine, controlPlane: JsonObject): MadeMachine {
  const { machine, bootstrapConfig, infrastructureMachine } = existing;
  const made = newMachine(controlPlane, true);
  return {
    existing,
    name: textAt(machine, 'metadata', 'name'),
    version: textAt(machine, 'spec', 'version') || made.version,
    template: infrastructureMachine === undefined ? made.template : originOf(infrastructureMachine),
    config: bootstrapConfig === undefined ? made.config : objectAt(bootstrapConfig, 'spec'),
    createdAt: timeAt(machine, 'metadata', 'creationTimestamp'),
    certificatesExpireAt: timeAt(machine, 'status', 'certificatesExpiryDate'),
  };
}

/** The paths in which the configuration of a Machine differs from what the control plane wants (matchesKubeadmConfig). */
function configDifferences(config: JsonObject, controlPlane: JsonObject): Difference[] {
  const compare = (joins: boolean): Difference[] => {
    const { current, desired } = comparedSpecs(config, kubeadmConfigSpec(controlPlane, joins), joins);
    return differencesOf(current, desired);
  };
  const joined = compare(true);
  return joined.length > 0 && isForInit(config) ? compare(false) : joined;
}

/** Fields in which a Machine differs from what a control plane wants (matchesMachineSpec in filters.go, v1.14). */
function specReasons(made: MadeMachine, controlPlane: JsonObject): Reason[] {
  const template = made.template === '' ? undefined : templateOf(controlPlane);
  const nameIn = (text: string) => text.split(' ')[1];
  return [
    ...differencesOf(made.version, textAt(controlPlane, 'spec', 'version'), ['spec', 'version']),
    ...configDifferences(made.config, controlPlane).map((difference) => ({
      ...difference,
      path: ['spec', 'kubeadmConfigSpec', ...difference.path],
    })),
    ...(template === undefined || made.template === template
      ? []
      : [{ path: [...referencePath, 'name'], before: nameIn(made.template), after: nameIn(template) }]),
  ];
}

const dayMs = 24 * 60 * 60 * 1000;
const expiryPath = ['spec', 'rollout', 'before', 'certificatesExpiryDays'] as const;

/**
 * Why it is time to replace a Machine.
 *
 * @param previous the control plane before the change, for Machines of which nobody knows how old they are.
 */
function timeReasons(made: MadeMachine, controlPlane: JsonObject, previous: JsonObject, now: Date): Reason[] {
  const days = fieldAt(controlPlane, ...expiryPath);
  const expires =
    typeof days === 'number' &&
    made.certificatesExpireAt !== undefined &&
    now.getTime() + days * dayMs > made.certificatesExpireAt;
  const reason = (path: FieldPath): Reason => ({ path, before: undefined, after: fieldAt(controlPlane, ...path) });
  return [
    ...(expires ? [reason(expiryPath)] : []),
    ...(isTooOld(made, controlPlane, previous) ? [reason(afterPath)] : []),
  ];
}

/** A Machine that is not up to date after the change. */
interface OutdatedMachine {
  made: MadeMachine;
  reasons: Reason[];
  /** Whether it is so because of the change. */
  isCaused: boolean;
  /** Whether an extension may update it. */
  isEligible: boolean;
}

/** Annotations of Machines that make way for another in any case. */
const goingAnnotations = ['cluster.x-k8s.io/delete-machine', 'cluster.x-k8s.io/remediate-machine'];

function existingOutdated(
  { before, after }: GroupUpdate,
  existing: ExistingMachine,
  ofChange: (joins: boolean) => Reason[],
  now: Date,
): OutdatedMachine[] {
  const made = madeMachine(existing, before.object);
  const times = timeReasons(made, after.object, before.object, now);
  const reasons = [...specReasons(made, after.object), ...times];
  if (reasons.length === 0) {
    return [];
  }
  const timesBefore = timeReasons(made, before.object, before.object, now);
  const isNew = ({ path, after: value }: Reason) =>
    !timesBefore.some((known) => isPath(known.path, path) && isSame(known.after, value));
  const changed = [...ofChange(!isForInit(made.config)), ...times.filter(isNew)];
  const wasUpToDate = timesBefore.length === 0 && specReasons(made, before.object).length === 0;
  const annotations = objectAt(existing.machine, 'metadata', 'annotations');
  return [
    {
      made,
      reasons: changed.length > 0 ? changed : reasons,
      isCaused: wasUpToDate || changed.length > 0,
      isEligible: times.length === 0 && !goingAnnotations.some((name) => Object.hasOwn(annotations, name)),
    },
  ];
}

/** The Machines that are not up to date after the change. */
function outdatedMachines(update: GroupUpdate, count: number, now: Date): OutdatedMachine[] {
  const { before, after, change } = update;
  const ofNew = (joins: boolean) => specReasons(newMachine(before.object, joins), after.object);
  const [joined, first] = [ofNew(true), ofNew(false)];
  if (change.machines !== undefined) {
    const ofChange = (joins: boolean) => (joins ? joined : first);
    return change.machines.filter(isStaying).flatMap((existing) => existingOutdated(update, existing, ofChange, now));
  }
  const made = newMachine(before.object, true);
  const times = timeReasons(made, after.object, before.object, now);
  // The first Machine may still be the one that made the control plane.
  return Array.from({ length: count }, (_, index) => {
    const reasons = [...(index === 0 && joined.length === 0 ? first : joined), ...times];
    return { made, reasons, isCaused: true, isEligible: times.length === 0 };
  }).filter(({ reasons }) => reasons.length > 0);
}

/** Outdated Machines that are updated in place and deleted, in this order, and the extensions' answers about them. */
interface Rolled {
  updated: OutdatedMachine[];
  deleted: OutdatedMachine[];
  answers: UpdateAnswer[];
}

/** Machines in the order in which they are updated or deleted: the oldest first. */
const inOrder = (machines: readonly OutdatedMachine[]): OutdatedMachine[] => {
  const isGoing = ({ made }: OutdatedMachine) =>
    Object.hasOwn(objectAt(made.existing?.machine, 'metadata', 'annotations'), 'cluster.x-k8s.io/delete-machine');
  return machines.toSorted(
    (a, b) =>
      Number(isGoing(b)) - Number(isGoing(a)) ||
      (a.made.createdAt ?? 0) - (b.made.createdAt ?? 0) ||
      (a.made.name < b.made.name ? -1 : 1),
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
): Promise<Rolled> {
  const rolled: Rolled = { updated: [], deleted: [], answers: [] };
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
      await follow({ is: 'updated', name: machine.made.name });
      upToDate++;
    } else {
      rolled.deleted.push(machine);
      await follow({ is: 'deleted', name: machine.made.name });
      current--;
    }
  }
  return rolled;
}

/**
 * The request about a Machine; undefined if a template is not known. What is not given of the Machine is as its control
 * plane makes it.
 */
function requestFor(made: MadeMachine, { before, after, change }: GroupUpdate): UpdateRequest | undefined {
  const clusterName = nameOf(change.cluster);
  if (before.infrastructure === undefined || after.infrastructure === undefined) {
    return undefined;
  }
  const [from, to] = [
    { object: before.object, infrastructure: before.infrastructure },
    { object: after.object, infrastructure: after.infrastructure },
  ];
  const name = made.name || `${change.name}-machine`;
  const { machine, ...others } = controlPlaneMachine(before.object, before.infrastructure, clusterName, name);
  const objects = {
    machine: made.existing?.machine ?? machine,
    bootstrapConfig: made.existing?.bootstrapConfig ?? others.bootstrapConfig,
    infrastructureMachine: made.existing?.infrastructureMachine ?? others.infrastructureMachine,
  };
  return updateMachineRequest(objects, from, to, clusterName);
}

const arrivals: Arrivals = [
  ...machineFieldNames('ControlPlane', 'machines').map((field) => ({
    path: ['spec', 'machineTemplate', 'spec', field],
    on: ['Machines'],
  })),
  { path: ['spec', 'kubeadmConfigSpec', 'clusterConfiguration', 'dns'], on: ['CoreDNS in the Cluster'] },
  ...[
    'machineNaming',
    'kubeadmConfigSpec.joinConfiguration.discovery',
    'kubeadmConfigSpec.joinConfiguration.timeouts',
  ].map((path) => ({ path: ['spec', ...path.split('.')], on: ['new Machines only'] })),
];

/** Where fields of a KubeadmControlPlane arrive that it writes in place. */
export function controlPlaneArrivals({ after }: GroupUpdate): Arrivals {
  const infrastructure = textAt(after.object, ...referencePath, 'kind').replace(/Template$/, 's');
  const metadata = ['spec', 'machineTemplate', 'metadata'];
  return [{ path: metadata, on: ['Machines', 'KubeadmConfigs', infrastructure] }, ...arrivals];
}

/** What becomes of the Machines of a KubeadmControlPlane. */
export async function controlPlaneRollout(update: GroupUpdate, options: PlanOptions): Promise<Rollout> {
  const { now, updatesInPlace = false } = options;
  const counts = machineCounts(update);
  const all = outdatedMachines(update, counts.before, now);
  const caused = all.filter(({ isCaused }) => isCaused);
  const waiting = all.filter(({ isCaused }) => !isCaused);
  const problems = waitingProblems(
    waiting.map(({ made, reasons }) => ({ name: made.name, causes: causesOf(update, reasons, {}) })),
  );
  if (caused.length === 0) {
    return { ...nothing(), problems };
  }
  const maxSurge = Number(
    fieldAt(update.after.object, 'spec', 'rollout', 'strategy', 'rollingUpdate', 'maxSurge') ?? 1,
  );
  const surge = { maxSurge, maySaveSurge: knowsAvailability(options) };
  const asked = new Map<MadeMachine, UpdateAnswer>();
  const { updated, deleted, answers } = await roll(
    all,
    counts,
    surge,
    async ({ made }) => {
      const request = updatesInPlace && !asked.has(made) ? requestFor(made, update) : undefined;
      const answer = request && (await askForUpdate(update.change, options, 'CanUpdateMachine', request));
      asked.set(made, asked.get(made) ?? answer ?? { is: 'none' });
      return asked.get(made) as UpdateAnswer;
    },
    options.follow ?? (async () => {}),
  );
  const removed = Math.max(0, counts.before - counts.after);
  const replaced = Math.min(caused.length, Math.max(0, deleted.length - removed));
  const reasons = caused.flatMap((machine) => machine.reasons);
  const isTimed = reasons.some(({ path }) => isPath(path, afterPath));
  const names = deleted
    .slice(removed)
    .filter(({ isCaused }) => isCaused)
    .map(({ made }) => made.name);
  // With failure domains, the order depends on where new Machines are made.
  const hasDomains = updated.some(({ made }) => textAt(made.existing?.machine, 'spec', 'failureDomain') !== '');
  const order = maxSurge === 0 ? 'the old Machine goes first' : 'a new Machine comes first';
  return {
    verdict: verdictOf(answers),
    replaced,
    replaces: names.includes('') || hasDomains ? undefined : names,
    inPlace: updated.length,
    causes: causesOf(update, reasons, { infrastructure: [...referencePath, 'name'] }),
    manner: [
      ...(deleted.length === 0
        ? []
        : [`one after the other, ${order} (maxSurge ${maxSurge})`, ...notBefore(update, isTimed, now)]),
      ...stepsText(update.change),
      ...inPlaceTexts(answers, updated.length, replaced, 'maxSurge: 0 of the control plane'),
    ],
    problems: [...problems, ...problemsOf(answers)],
  };
}
