import { fieldAt, type JsonObject, objectAt, textAt } from '../../../kubernetes/index.ts';
import { BadPatch } from '../../../runtimehooks/index.ts';
import { type UpdateHook, type UpdateRequest, uncovered, updateMachineRequest } from '../../../topology/index.ts';
import { call, countBlock } from '../cluster/ask.ts';
import { ControllerRestart, type Effect, type Simulation, SimulationStopped } from '../cluster/effects.ts';
import type { GroupMachines, Machine, MachineSet, State, WorkerGroup } from '../cluster/state.ts';
import { backoffMs, restartMs, waitMs } from '../cluster/time.ts';
import {
  controlPlaneAt,
  controlPlaneMachineInUpdate,
  controlPlaneMachineOf,
  differences,
  hasTemplates,
  machineInUpdate,
  machineSetObjects,
  newMachine,
  strategyOf,
  waitsForDeletion,
} from './machines.ts';

/** How long it takes until a new Machine is available, and until a kubelet reports its new version, in ms. */
const durations = { machine: 60_000, kubelet: 60_000 } as const;

/** An answer to a call; without calls, there is no handler. */
interface Answer {
  calls: readonly object[];
  response: JsonObject;
}

/** Whether the patches of an answer cover all differences between objects. */
const covers = (answer: Answer | undefined, hook: UpdateHook, request: UpdateRequest): boolean =>
  answer !== undefined && answer.calls.length > 0 && uncovered(hook, request, answer.response).length === 0;

/**
 * Makes a call until it succeeds: also when the controller restarts, which the marks on a machine survive.
 *
 * @param subject what a call that keeps failing is about, as the beginning of a sentence.
 */
function* answerTo(
  state: State,
  hook: 'CanUpdateMachine' | 'CanUpdateMachineSet' | 'UpdateMachine',
  request: JsonObject,
  subject = '',
  onFailure = function* (): Simulation {},
): Simulation<Answer> {
  for (let failures = 0; ; ) {
    let wait = restartMs;
    try {
      const answer = yield* call(state, hook, request);
      if (answer.ok) {
        return answer;
      }
      failures++;
      yield* onFailure();
      if (failures >= state.limits.maxFailures) {
        throw new SimulationStopped(`${subject}${hook} failed ${failures} times in a row: ${answer.error}`);
      }
      wait = backoffMs(failures);
    } catch (error) {
      if (!(error instanceof ControllerRestart)) {
        throw error;
      }
    }
    yield* state.passUntil(state.now + wait);
  }
}

const inProgressText = 'In-place update in progress';

/** Updates of Machines, with what users see of them. */
class Updates {
  readonly state: State;
  /** The messages of Machines that are not up to date. */
  readonly notUpToDate = new Map<string, string>();

  constructor(state: State) {
    this.state = state;
  }

  condition(object: string, type: string, status: 'True' | 'False', reason: string, message: string): Effect {
    return this.state.tell({ kind: 'object-condition', object, type, status, reason, message });
  }

  /** The condition UpToDate of a Machine; without reasons it is up to date. */
  *upToDate(machine: string, reason: string, messages: readonly string[]): Simulation {
    const text = messages.map((message) => `* ${message}`).join('\n');
    if (text === '') {
      this.notUpToDate.delete(machine);
    } else {
      this.notUpToDate.set(machine, text);
    }
    yield this.condition(`Machine ${machine}`, 'UpToDate', text === '' ? 'True' : 'False', reason, text);
  }

  *updating(machine: string, reason: string, message = ''): Simulation {
    const status = reason === 'NotUpdating' ? 'False' : 'True';
    yield this.condition(`Machine ${machine}`, 'Updating', status, reason, message);
  }

  /** Shows what depends on several Machines. */
  *rollingOut(): Simulation {}

  *#inProgress(machine: string, reason: 'InPlaceUpdating' | 'InPlaceUpdateFailed', message: string): Simulation {
    if (this.notUpToDate.get(machine) !== `* ${message}`) {
      yield* this.upToDate(machine, 'Updating', [message]);
      yield* this.updating(machine, reason, message);
      yield* this.rollingOut();
    }
  }

  /** Calls UpdateMachine until it is done: once a machine is marked, the update must be finished. */
  *update(desired: JsonObject, before: string): Simulation {
    const { state } = this;
    const name = textAt(desired, 'machine', 'metadata', 'name');
    const version = textAt(desired, 'machine', 'spec', 'version');
    const onFailure = () =>
      this.#inProgress(
        name,
        'InPlaceUpdateFailed',
        'UpdateMachine hook failed: please check controller logs for errors',
      );
    yield* this.#inProgress(name, 'InPlaceUpdating', inProgressText);
    for (;;) {
      const subject = `Machine ${name} is not updated, `;
      const { response } = yield* answerTo(state, 'UpdateMachine', { desired }, subject, onFailure);
      const { retryAfterSeconds: seconds, message } = response;
      if (typeof seconds === 'number' && seconds !== 0) {
        yield* countBlock(state, 'UpdateMachine', seconds, 'takes the update as done');
      }
      if (typeof seconds !== 'number' || seconds <= 0) {
        break;
      }
      const text = typeof message === 'string' && message !== '' ? `${inProgressText}: ${message}` : inProgressText;
      yield* this.#inProgress(name, 'InPlaceUpdating', text);
      yield* state.passUntil(state.now + waitMs(seconds));
    }
    state.blocked.delete('UpdateMachine');
    yield* before === version
      ? this.upToDate(name, 'UpToDate', [])
      : this.upToDate(name, 'Updating', [`Node.status.nodeInfo.kubeletVersion ${before}, ${version} required`]);
    yield* this.updating(name, 'NotUpdating');
    yield* this.rollingOut();
  }

  /** Machines of which only the kubelet has not reported its new version report it. */
  *reportKubelets(): Simulation {
    const { state, notUpToDate } = this;
    const late = [...notUpToDate].filter(([, message]) => message.startsWith('* Node.'));
    if (late.length > 0) {
      yield* state.passUntil(state.now + durations.kubelet);
    }
    for (const [name] of late) {
      yield* this.upToDate(name, 'UpToDate', []);
      yield* this.rollingOut();
    }
  }
}

/** The rollout of a MachineDeployment. */
class Rollout extends Updates {
  readonly #worker: WorkerGroup;
  readonly #group: GroupMachines;
  readonly #next: MachineSet;
  #told = '';

  constructor(worker: WorkerGroup, group: GroupMachines, next: MachineSet) {
    super(worker.state);
    this.#worker = worker;
    this.#group = group;
    this.#next = next;
  }

  /** The condition RollingOut of the MachineDeployment, when it has changed: differences of versions come first. */
  override *rollingOut(): Simulation {
    const count = this.notUpToDate.size;
    const isVersion = (line: string) => line.startsWith('* Version ');
    const lines = [...new Set([...this.notUpToDate.values()].flatMap((text) => text.split('\n')))].sort((a, b) =>
      isVersion(a) === isVersion(b) ? (a < b ? -1 : 1) : isVersion(a) ? -1 : 1,
    );
    const message = [`Rolling out ${count} not up-to-date replicas`, ...lines].join('\n');
    if (message !== this.#told) {
      this.#told = message;
      const object = `MachineDeployment ${this.#worker.name}`;
      yield count === 0
        ? this.condition(object, 'RollingOut', 'False', 'NotRollingOut', '')
        : this.condition(object, 'RollingOut', 'True', 'RollingOut', message);
    }
  }

  /** Creates a Machine, which takes a while. */
  *#create(number: number): Simulation<Machine> {
    const { state } = this;
    const machine = newMachine(state, this.#next, number);
    yield* state.passUntil(state.now + durations.machine);
    yield state.tell({ kind: 'machine', state: 'creating', name: machine.name });
    yield* this.upToDate(machine.name, 'UpToDate', []);
    yield* this.updating(machine.name, 'NotUpdating');
    return machine;
  }

  *#delete({ name }: Machine): Simulation {
    this.notUpToDate.delete(name);
    yield this.state.tell({ kind: 'machine', state: 'gone', name });
    yield* this.rollingOut();
  }

  /** Moves a Machine to the next MachineSet, and updates it there. */
  *#move(machine: Machine): Simulation {
    const { version } = machine.set;
    machine.set = this.#next;
    yield* this.update(machineInUpdate(machine), version);
  }

  /** Replaces Machines one after the other, as without extensions. */
  *#replaceAll(): Simulation {
    const { machines } = this.#group;
    for (const [index, machine] of machines.entries()) {
      machines[index] = yield* this.#create(index);
      yield* this.#delete(machine);
    }
  }

  /**
   * Updates Machines in place. If all must stay available, a new one comes first, and the last old one goes
   * (core/reconcilers/machinedeployment, machinedeployment_rollout_rollingupdate.go, v1.14).
   */
  *#updateAll(): Simulation {
    const { machines } = this.#group;
    const old = machines.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const surplus = strategyOf(this.#next).maxUnavailable === 0 ? old.pop() : undefined;
    this.#group.machines = surplus === undefined ? machines : [...old, yield* this.#create(machines.length)];
    for (const machine of old) {
      yield* this.#move(machine);
    }
    if (surplus !== undefined) {
      yield* this.#delete(surplus);
    }
  }

  *play(): Simulation {
    const { state } = this;
    const worker = this.#worker;
    const { current, machines } = this.#group;
    if (!hasTemplates(worker)) {
      const text =
        'the templates of Machines are not known, and extensions that update them get made-up ones, of kinds of Cluster API’s development provider';
      yield* state.findOnce('warning', text, 'pass the ClusterClass and its templates with --cluster-class');
    }
    const reasons = differences(current, this.#next);
    for (const { name } of machines) {
      yield* this.upToDate(name, 'NotUpToDate', reasons);
    }
    const request = {
      current: machineSetObjects(current, this.#next, worker.replicas),
      desired: machineSetObjects(this.#next, this.#next, 0),
    };
    const answer = waitsForDeletion(worker) ? undefined : yield* answerTo(state, 'CanUpdateMachineSet', request);
    yield* this.rollingOut();
    const isCovered = covers(answer, 'CanUpdateMachineSet', request);
    yield* isCovered ? this.#updateAll() : this.#replaceAll();
    yield* this.reportKubelets();
    this.#group.current = this.#next;
    this.#group.next = undefined;
    if (worker.readyAt !== undefined) {
      worker.readyAt = state.now;
    }
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
function* updateControlPlane(state: State, from: string, to: string): Simulation {
  const { replicas } = objectAt(state.cluster.spec, 'topology', 'controlPlane');
  const [before, after] = [controlPlaneAt(state, from), controlPlaneAt(state, to)];
  const surge = Number(fieldAt(after.object, 'spec', 'rollout', 'strategy', 'rollingUpdate', 'maxSurge') ?? 1);
  const count = Math.min(typeof replicas === 'number' ? replicas : 1, maxControlPlane) - surge;
  if (count < 1) {
    const text = 'the only machine of the control plane is replaced by a new one, and CanUpdateMachine is not called';
    yield* state.findOnce('warning', text, 'rehearse more machines, or set maxSurge to 0');
  }
  const updates = new Updates(state);
  for (let index = 0; index < count; index++) {
    const name = state.names.generated(state.controlPlane.name, `machine ${index}`);
    const request = updateMachineRequest(controlPlaneMachineOf(state, before, name), before, after, state.name);
    const answer = yield* answerTo(state, 'CanUpdateMachine', { ...request });
    if (covers(answer, 'CanUpdateMachine', request)) {
      yield* updates.update(controlPlaneMachineInUpdate(state, after, name), from);
    }
  }
  yield* updates.reportKubelets();
}

/** Whether machines have to be updated or replaced. */
export const hasRollouts = ({ controlPlane, workers }: State): boolean =>
  (controlPlane.previous !== undefined && controlPlane.readyAt !== undefined) ||
  workers.some(({ group }) => group?.next !== undefined);

/**
 * What the controllers of machines do if the feature gate InPlaceUpdates is enabled: they ask whether machines can be
 * updated in place, and update them if all differences are covered; otherwise they replace them.
 */
export function* updateInPlace(state: State): Simulation {
  const { controlPlane } = state;
  try {
    const { previous, version } = controlPlane;
    controlPlane.previous = undefined;
    if (previous !== undefined && version !== undefined && controlPlane.kind === kubeadmControlPlane) {
      yield* updateControlPlane(state, previous, version);
    }
    for (const worker of state.workers) {
      const { group } = worker;
      if (group?.next !== undefined) {
        yield* new Rollout(worker, group, group.next).play();
      }
    }
  } catch (error) {
    if (error instanceof BadPatch) {
      throw new SimulationStopped(`a patch of an in-place update cannot be applied: ${error.message}`);
    }
    throw error;
  }
}
