import {
  copyOf,
  fieldAt,
  isJsonObject,
  isSame,
  type Json,
  type JsonObject,
  objectAt,
  textAt,
} from '../../../kubernetes/index.ts';
import { applyPatch, BadPatch, isEmptyPatch } from '../../../runtimehooks/index.ts';
import { call, type Reconcile, reportNegative } from '../cluster/ask.ts';
import { ControllerRestart, type SimulatedEvent, type Simulation, SimulationStopped } from '../cluster/effects.ts';
import {
  findOnce,
  type GroupMachines,
  type Machine,
  type MachineSet,
  replicasOf,
  type State,
  tell,
  type WorkerGroup,
} from '../cluster/state.ts';
import { backoffMs, passUntil, restartMs, waitMs } from '../cluster/time.ts';
import {
  controlPlaneObjects,
  controlPlaneOf,
  differences,
  hasTemplates,
  machineObjects,
  machineSetObjects,
  newMachine,
  strategyOf,
  waitsForDeletion,
} from './machines.ts';

/** How long it takes until a new Machine is available, and until a kubelet reports its new version, in ms. */
const durations = { machine: 60_000, kubelet: 60_000 } as const;

/** Fields of a Machine's spec that the comparison ignores. */
const notCompared = [
  'clusterName',
  'bootstrap',
  'infrastructureRef',
  'providerID',
  'minReadySeconds',
  'readinessGates',
  'deletion',
  'taints',
];

/** An object with the patch of an answer applied to it (ApplyPatchToObject in internal/util/patch, v1.14). */
function patchedBy(answer: JsonObject, field: string, object: JsonObject): JsonObject {
  const patch = objectAt(answer, field);
  const { patchType = '', patch: encoded = '' } = patch;
  if ((patchType === '' && encoded === '') || isEmptyPatch(patch)) {
    return object;
  }
  if (patchType !== 'JSONPatch' && patchType !== 'JSONMergePatch') {
    const why = patchType === '' ? 'patchType is not set' : `unknown patchType ${patchType}`;
    throw new BadPatch(`failed to apply patch: ${why}`);
  }
  return applyPatch(object, patch);
}

const compared = (spec: Json | undefined): JsonObject => {
  const copy = isJsonObject(spec) ? copyOf(spec) : {};
  for (const field of notCompared) {
    delete copy[field];
  }
  return copy;
};

/** Whether the patches of an answer cover all differences between objects. */
function covers(answer: JsonObject | undefined, current: JsonObject, desired: JsonObject, ...path: string[]): boolean {
  return (
    answer !== undefined &&
    Object.keys(desired).every((part) => {
      const patched = patchedBy(answer, `${part}Patch`, objectAt(current, part));
      const [one, other] = [fieldAt(patched, ...path), fieldAt(desired, part, ...path)];
      return part.startsWith('machine') ? isSame(compared(one), compared(other)) : isSame(one ?? {}, other ?? {});
    })
  );
}

/** Makes a call, and repeats it when the controller restarts: the marks on a machine survive that. */
function* callAcrossRestarts(
  reconcile: Reconcile,
  hook: 'CanUpdateMachine' | 'CanUpdateMachineSet' | 'UpdateMachine',
  request: JsonObject,
): ReturnType<typeof call> {
  for (;;) {
    try {
      return yield* call(reconcile, hook, request);
    } catch (error) {
      if (!(error instanceof ControllerRestart)) {
        throw error;
      }
      yield* passUntil(reconcile.state, reconcile.state.now + restartMs);
    }
  }
}

/**
 * The answer to a question about an update in place, which is repeated while it fails; undefined if there is no
 * handler.
 */
function* answerTo(
  reconcile: Reconcile,
  hook: 'CanUpdateMachine' | 'CanUpdateMachineSet',
  request: JsonObject,
): Simulation<JsonObject | undefined> {
  for (let failures = 1; ; failures++) {
    const answer = yield* callAcrossRestarts(reconcile, hook, request);
    if (answer.ok) {
      return answer.calls.length === 0 ? undefined : answer.response;
    }
    if (failures >= reconcile.limits.maxFailures) {
      throw new SimulationStopped(`${hook} failed ${failures} times in a row: ${answer.error}`);
    }
    yield* passUntil(reconcile.state, reconcile.state.now + backoffMs(failures));
  }
}

/** What users see of the Machines of a group during a rollout. */
class Rollout {
  readonly #state: State;
  readonly #worker: WorkerGroup;
  readonly #notUpToDate = new Map<string, string>();
  #told = '';

  constructor(state: State, worker: WorkerGroup) {
    this.#state = state;
    this.#worker = worker;
  }

  #condition(
    object: string,
    type: string,
    status: 'True' | 'False',
    reason: string,
    message: string,
  ): { do: 'tell'; at: number; event: SimulatedEvent } {
    const event: SimulatedEvent = { kind: 'object-condition', object, type, status, reason, message };
    return { do: 'tell', at: this.#state.now, event };
  }

  /** The condition UpToDate of a Machine; without reasons it is up to date. */
  *upToDate(machine: string, reason: string, messages: readonly string[]): Simulation {
    const text = messages.map((message) => `* ${message}`).join('\n');
    if (text === '') {
      this.#notUpToDate.delete(machine);
    } else {
      this.#notUpToDate.set(machine, text);
    }
    yield this.#condition(`Machine ${machine}`, 'UpToDate', text === '' ? 'True' : 'False', reason, text);
  }

  /** The condition Updating of a Machine. */
  *updating(machine: string, reason: string, message = ''): Simulation {
    const status = reason === 'NotUpdating' ? 'False' : 'True';
    yield this.#condition(`Machine ${machine}`, 'Updating', status, reason, message);
  }

  /** An update in place that goes on or failed. */
  *inProgress(machine: string, reason: 'InPlaceUpdating' | 'InPlaceUpdateFailed', message: string): Simulation {
    yield* this.upToDate(machine, 'Updating', [message]);
    yield* this.updating(machine, reason, message);
    yield* this.rollingOut();
  }

  /** Whether only the kubelet of a Machine has not reported its new version. */
  isLate(machine: string): boolean {
    return this.#notUpToDate.get(machine)?.startsWith('* Node.') === true;
  }

  *created(machine: string): Simulation {
    yield tell(this.#state, { kind: 'machine', state: 'creating', name: machine });
    yield* this.upToDate(machine, 'UpToDate', []);
    yield* this.updating(machine, 'NotUpdating');
  }

  *gone(machine: string): Simulation {
    this.#notUpToDate.delete(machine);
    yield tell(this.#state, { kind: 'machine', state: 'gone', name: machine });
    yield* this.rollingOut();
  }

  /** The condition RollingOut of the MachineDeployment, when it has changed: differences of versions come first. */
  *rollingOut(): Simulation {
    const count = this.#notUpToDate.size;
    const isVersion = (line: string) => line.startsWith('* Version ');
    const lines = [...new Set([...this.#notUpToDate.values()].flatMap((text) => text.split('\n')))].sort((a, b) =>
      isVersion(a) === isVersion(b) ? (a < b ? -1 : 1) : isVersion(a) ? -1 : 1,
    );
    const message = [`Rolling out ${count} not up-to-date replicas`, ...lines].join('\n');
    if (message !== this.#told) {
      this.#told = message;
      const object = `MachineDeployment ${this.#worker.name}`;
      yield count === 0
        ? this.#condition(object, 'RollingOut', 'False', 'NotRollingOut', '')
        : this.#condition(object, 'RollingOut', 'True', 'RollingOut', message);
    }
  }
}

const inProgressText = 'In-place update in progress';

/** Calls UpdateMachine until it is done: once a machine is marked, the update must be finished. */
function* updateMachine(reconcile: Reconcile, desired: JsonObject, rollout?: Rollout): Simulation {
  const { state, limits } = reconcile;
  const name = textAt(desired, 'machine', 'metadata', 'name');
  const shown = function* (reason: 'InPlaceUpdating' | 'InPlaceUpdateFailed', message: string): Simulation {
    if (rollout !== undefined) {
      yield* rollout.inProgress(name, reason, message);
    }
  };
  yield* shown('InPlaceUpdating', inProgressText);
  let reported = inProgressText;
  let failures = 0;
  for (;;) {
    const answer = yield* callAcrossRestarts(reconcile, 'UpdateMachine', { desired: copyOf(desired) });
    if (!answer.ok) {
      failures++;
      reported = '';
      yield* shown('InPlaceUpdateFailed', 'UpdateMachine hook failed: please check controller logs for errors');
      if (failures >= limits.maxFailures) {
        throw new SimulationStopped(
          `Machine ${name} is not updated, UpdateMachine failed ${failures} times in a row: ${answer.error}`,
        );
      }
      yield* passUntil(state, state.now + backoffMs(failures));
      continue;
    }
    failures = 0;
    const { retryAfterSeconds, message } = answer.response;
    if (typeof retryAfterSeconds === 'number') {
      yield* reportNegative(state, 'UpdateMachine', retryAfterSeconds, 'takes the update as done');
    }
    if (typeof retryAfterSeconds !== 'number' || retryAfterSeconds <= 0) {
      return;
    }
    const text = typeof message === 'string' && message !== '' ? `${inProgressText}: ${message}` : inProgressText;
    if (text !== reported) {
      reported = text;
      yield* shown('InPlaceUpdating', text);
    }
    yield* passUntil(state, state.now + waitMs(retryAfterSeconds));
  }
}

/** Moves a Machine to another MachineSet, and updates it there. */
function* move(
  reconcile: Reconcile,
  worker: WorkerGroup,
  machine: Machine,
  next: MachineSet,
  rollout: Rollout,
): Simulation {
  const { state } = reconcile;
  const before = machine.set;
  machine.set = next;
  yield* updateMachine(reconcile, machineObjects(state, worker, machine), rollout);
  const isUpgraded = before.version !== next.version;
  yield* isUpgraded
    ? rollout.upToDate(machine.name, 'Updating', [
        `Node.status.nodeInfo.kubeletVersion ${before.version}, ${next.version} required`,
      ])
    : rollout.upToDate(machine.name, 'UpToDate', []);
  yield* rollout.updating(machine.name, 'NotUpdating');
  yield* rollout.rollingOut();
}

/** Replaces Machines one after the other, as without extensions. */
function* replaceAll(state: State, group: GroupMachines, next: MachineSet, rollout: Rollout): Simulation {
  for (const [index, machine] of group.machines.entries()) {
    const replacement = newMachine(state, next, index);
    yield* passUntil(state, state.now + durations.machine);
    group.machines[index] = replacement;
    yield* rollout.created(replacement.name);
    yield* rollout.gone(machine.name);
  }
}

/**
 * Updates Machines in place. If all must stay available, a new one comes first, and the last old one goes
 * (core/reconcilers/machinedeployment, machinedeployment_rollout_rollingupdate.go, v1.14).
 */
function* updateAll(
  reconcile: Reconcile,
  worker: WorkerGroup,
  group: GroupMachines,
  next: MachineSet,
  rollout: Rollout,
): Simulation {
  const { state } = reconcile;
  const old = group.machines.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const surplus = strategyOf(state, worker).maxUnavailable === 0 ? old.pop() : undefined;
  if (surplus !== undefined) {
    const created = newMachine(state, next, group.machines.length);
    yield* passUntil(state, state.now + durations.machine);
    group.machines = [...old, created];
    yield* rollout.created(created.name);
  }
  for (const machine of old) {
    yield* move(reconcile, worker, machine, next, rollout);
  }
  if (surplus !== undefined) {
    yield* rollout.gone(surplus.name);
  }
}

function* updateWorkers(reconcile: Reconcile, worker: WorkerGroup, group: GroupMachines, next: MachineSet): Simulation {
  const { state } = reconcile;
  const { current } = group;
  const rollout = new Rollout(state, worker);
  if (!hasTemplates(state, worker)) {
    const text =
      'the templates of Machines are not known, and extensions that update them get made-up ones, of kinds of Cluster API’s development provider';
    yield* findOnce(state, 'warning', text, 'pass the ClusterClass and its templates with --cluster-class');
  }
  const reasons = differences(current, next);
  for (const { name } of group.machines) {
    yield* rollout.upToDate(name, 'NotUpToDate', reasons);
  }
  const objects = {
    current: machineSetObjects(state, worker, current, replicasOf(state, worker)),
    desired: machineSetObjects(state, worker, next, 0),
  };
  const answer = waitsForDeletion(state, worker)
    ? undefined
    : yield* answerTo(reconcile, 'CanUpdateMachineSet', copyOf(objects));
  yield* rollout.rollingOut();
  if (covers(answer, objects.current, objects.desired, 'spec', 'template', 'spec')) {
    yield* updateAll(reconcile, worker, group, next, rollout);
  } else {
    yield* replaceAll(state, group, next, rollout);
  }
  const isKubeletOld = group.machines.some(({ name }) => rollout.isLate(name));
  if (isKubeletOld) {
    yield* passUntil(state, state.now + durations.kubelet);
    for (const { name } of group.machines.filter((machine) => rollout.isLate(machine.name))) {
      yield* rollout.upToDate(name, 'UpToDate', []);
      yield* rollout.rollingOut();
    }
  }
  group.current = next;
  group.next = undefined;
  if (worker.readyAt !== undefined) {
    worker.readyAt = state.now;
  }
}

/** The kind of the control plane that updates its machines in place. */
const kubeadmControlPlane = 'KubeadmControlPlane';

/** Maximum number of machines of a control plane that are played individually. */
const maxControlPlane = 7;

/**
 * Unless `maxSurge` is 0, a new machine comes first, and the last old one goes without a question: there are enough
 * then (rollingUpdate in controlplane/kubeadm/reconcilers/kubeadmcontrolplane/update.go, v1.14).
 */
function* updateControlPlane(reconcile: Reconcile, from: string, to: string): Simulation {
  const { state } = reconcile;
  const { replicas } = objectAt(state.cluster.spec, 'topology', 'controlPlane');
  const { rollout, rolloutStrategy = fieldAt(rollout, 'strategy') } = objectAt(
    controlPlaneOf(state),
    ...['spec', 'template', 'spec'],
  );
  const surge = Number(fieldAt(rolloutStrategy, 'rollingUpdate', 'maxSurge') ?? 1);
  const count = Math.min(typeof replicas === 'number' ? replicas : 1, maxControlPlane) - surge;
  if (count < 1) {
    const text = 'the only machine of the control plane is replaced by a new one, and CanUpdateMachine is not called';
    yield* findOnce(state, 'warning', text, 'rehearse more machines, or set maxSurge to 0');
  }
  for (let index = 0; index < count; index++) {
    const name = state.names.generated(state.controlPlane.name, `machine ${index}`);
    const [current, desired] = [controlPlaneObjects(state, name, from), controlPlaneObjects(state, name, to)];
    const answer = yield* answerTo(reconcile, 'CanUpdateMachine', copyOf({ current, desired }));
    if (covers(answer, current, desired, 'spec')) {
      yield* updateMachine(reconcile, desired);
    }
  }
}

/** Whether machines have to be updated or replaced. */
export const hasRollouts = ({ controlPlane, machines }: State): boolean =>
  (controlPlane.previous !== undefined && controlPlane.readyAt !== undefined) ||
  [...machines.values()].some(({ next }) => next !== undefined);

/**
 * What the controllers of machines do if the feature gate InPlaceUpdates is enabled: they ask whether machines can be
 * updated in place, and update them if all differences are covered; otherwise they replace them.
 */
export function* updateInPlace(reconcile: Reconcile): Simulation {
  const { state } = reconcile;
  const { controlPlane } = state;
  try {
    const { previous, version } = controlPlane;
    controlPlane.previous = undefined;
    if (previous !== undefined && version !== undefined && controlPlane.kind === kubeadmControlPlane) {
      yield* updateControlPlane(reconcile, previous, version);
    }
    for (const worker of state.workers) {
      const group = state.machines.get(worker.name);
      if (group?.next !== undefined) {
        yield* updateWorkers(reconcile, worker, group, group.next);
      }
    }
  } catch (error) {
    if (error instanceof BadPatch) {
      throw new SimulationStopped(`a patch of an in-place update cannot be applied: ${error.message}`);
    }
    throw error;
  }
}
