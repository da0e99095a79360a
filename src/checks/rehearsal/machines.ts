import { pendingHooksAnnotation } from '../../extensionconfig/index.ts';
import { fieldAt, isSame, type JsonObject, objectAt, textAt } from '../../kubernetes/index.ts';
import { BadPatch } from '../../runtimehooks/index.ts';
import {
  type ControlPlane,
  controlPlaneMachine,
  fencepostsOf,
  type GroupObjects,
  generatedName,
  kindOfTemplate,
  machineSetOf,
  machineSetParts,
  type UpdateHook,
  type UpdateRequest,
  uncovered,
  updateMachineRequest,
  workerMachine,
  workerOf,
} from '../../topology/index.ts';
import { backoffMs, call, restartMs, tellNegative, waitMs } from './ask.ts';
import { ControllerRestart, SimulationStopped } from './events.ts';
import { placeOfWorker } from './patches.ts';
import type { GroupMachines, Machine, MachineSet, MachineTemplateObjects, State, WorkerGroup } from './state.ts';

/** Maximum number of Machines of a group that are played individually: the others behave in the same way. */
const maxMachines = 10;

/** Marks a Machine and its objects during an update. */
const inProgress = 'in-place-updates.internal.cluster.x-k8s.io/update-in-progress';

/** The objects of a group, as Cluster API makes them of its class: without the templates that are not known. */
const objectsOf = ({ desired }: State, name: string): Partial<GroupObjects> =>
  desired?.groups.find((group) => group.name === name)?.objects ?? {};

/** The templates of a group: those of the class with all patches, with names that change with their content. */
function templatesOf(
  { state, name, topologyName }: WorkerGroup,
  known: MachineSet | undefined,
): MachineTemplateObjects {
  const objects = objectsOf(state, name);
  const named = (part: keyof MachineTemplateObjects): JsonObject => {
    const template = objectAt(objects[part]);
    if (known === undefined) {
      return template;
    }
    const rotated = () =>
      generatedName(`${state.name}-${topologyName}`, `${kindOfTemplate(template)} ${known.revision + 1}`);
    const isKnown = isSame(known[part].spec, template.spec);
    const metadata = {
      ...objectAt(template, 'metadata'),
      name: isKnown ? textAt(known[part], 'metadata', 'name') : rotated(),
    };
    return { ...template, metadata };
  };
  return { bootstrap: named('bootstrap'), infrastructure: named('infrastructure') };
}

function machineSet(worker: WorkerGroup, version: string, before?: MachineSet): MachineSet {
  const { cluster, release } = worker.state;
  const templates = templatesOf(worker, before);
  const place = placeOfWorker({ worker, version });
  const revision = (before?.revision ?? 0) + 1;
  const suffix = generatedName('', `${worker.name} ${revision}`).slice(1);
  return {
    ...templates,
    machineDeployment: workerOf({ cluster, release }, place, templates.bootstrap, templates.infrastructure),
    name: `${worker.name}-${suffix}`,
    hash: `${revision}-${suffix}`,
    revision,
    version,
  };
}

/** A new Machine of a MachineSet. */
const newMachine = (set: MachineSet, number: number): Machine => ({
  name: generatedName(set.name, `machine ${number}`),
  set,
});

/** The MachineSet and the Machines of a group, which are made when it is first asked for. */
export function groupOf(worker: WorkerGroup, version: string): GroupMachines {
  if (worker.group === undefined) {
    const current = machineSet(worker, version);
    const length = Math.min(worker.replicas, maxMachines);
    const machines = Array.from({ length }, (_, index) => newMachine(current, index));
    worker.group = { current, machines, next: undefined };
  }
  return worker.group;
}

/**
 * Compares what a group has with what it should have, as the controller of MachineDeployments does: when the version or
 * a template has changed, it gets another MachineSet.
 *
 * @returns whether a rollout begins.
 */
export function beginRollout(worker: WorkerGroup, version: string): boolean {
  const group = groupOf(worker, version);
  const next = machineSet(worker, version, group.current);
  const before = group.next ?? group.current;
  const isSamePart = (part: keyof MachineTemplateObjects) => isSame(before[part].spec, next[part].spec);
  if (before.version === next.version && isSamePart('bootstrap') && isSamePart('infrastructure')) {
    return false;
  }
  group.next = next;
  return true;
}

/** Whether old Machines stay until somebody deletes them. */
export function waitsForDeletion(worker: WorkerGroup): boolean {
  const { cluster, release } = worker.state;
  const machineDeployment = workerOf({ cluster, release }, placeOfWorker({ worker, version: '' }), {}, {});
  return textAt(machineDeployment, 'spec', 'rollout', 'strategy', 'type') === 'OnDelete';
}

/** A MachineSet and its templates as in requests of CanUpdateMachineSet, when a MachineDeployment has another one. */
export const machineSetObjects = (set: MachineSet, newest: MachineSet, replicas: number) =>
  machineSetParts(
    machineSetOf(newest.machineDeployment, set, replicas, objectAt(set.machineDeployment, 'spec', 'template', 'spec')),
    set.infrastructure,
    set.bootstrap,
  );

/** The objects of a Machine with marks of an update, as in requests of UpdateMachine. */
function marked(objects: Readonly<Record<string, JsonObject>>): JsonObject {
  const withMark = (object: JsonObject, more: JsonObject): JsonObject => {
    const metadata = objectAt(object, 'metadata');
    const annotations = { ...objectAt(metadata, 'annotations'), [inProgress]: '', ...more };
    return { ...object, metadata: { ...metadata, annotations } };
  };
  return Object.fromEntries(
    Object.entries(objects).map(([part, object]) => [
      part,
      withMark(object, part === 'machine' ? { [pendingHooksAnnotation]: 'UpdateMachine' } : {}),
    ]),
  );
}

/** A Machine of a group of workers with its objects, as in requests of UpdateMachine. */
export const machineInUpdate = ({ name, set }: Machine): JsonObject =>
  marked(workerMachine(machineSetOf(set.machineDeployment, set, 0), set.bootstrap, set.infrastructure, name));

/** The control plane in a version, with the template of its Machines. */
export function controlPlaneAt(state: State, version: string): ControlPlane {
  const { object = {}, infrastructure = {} } = objectsOf(state, state.controlPlane.name);
  return { object: { ...object, spec: { ...objectAt(object, 'spec'), version } }, infrastructure };
}

/** A Machine of a KubeadmControlPlane with its objects, as it makes them. */
export const controlPlaneMachineOf = (state: State, { object, infrastructure }: ControlPlane, name: string) =>
  controlPlaneMachine(object, infrastructure, state.name, name);

/** How long it takes until a new Machine is available, in ms. */
const creationMs = 60_000;

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
async function answerTo(
  state: State,
  hook: 'CanUpdateMachine' | 'CanUpdateMachineSet' | 'UpdateMachine',
  request: JsonObject,
  subject = '',
): Promise<Answer> {
  for (let failures = 0; ; ) {
    let wait = restartMs;
    try {
      const answer = await call(state, hook, request);
      if (answer.ok) {
        return answer;
      }
      failures++;
      if (failures >= state.limits.maxFailures) {
        throw new SimulationStopped(`${subject}${hook} failed ${failures} times in a row: ${answer.error}`);
      }
      wait = backoffMs(failures);
    } catch (error) {
      if (!(error instanceof ControllerRestart)) {
        throw error;
      }
    }
    await state.passUntil(state.now + wait);
  }
}

/** Calls UpdateMachine until it is done: once a machine is marked, the update must be finished. */
async function updateMachine(state: State, desired: JsonObject): Promise<void> {
  const subject = `Machine ${textAt(desired, 'machine', 'metadata', 'name')} is not updated, `;
  for (;;) {
    const { response } = await answerTo(state, 'UpdateMachine', { desired }, subject);
    const { retryAfterSeconds: seconds } = response;
    if (typeof seconds === 'number' && seconds !== 0) {
      tellNegative(state, 'UpdateMachine', seconds, 'takes the update as done');
    }
    if (typeof seconds !== 'number' || seconds <= 0) {
      return;
    }
    await state.passUntil(state.now + waitMs(seconds));
  }
}

/** Creates a Machine, which takes a while. */
async function create(state: State, set: MachineSet, number: number): Promise<Machine> {
  const machine = newMachine(set, number);
  await state.passUntil(state.now + creationMs);
  state.tell({ kind: 'machine', state: 'creating', name: machine.name });
  return machine;
}

const gone = (state: State, { name }: Machine) => state.tell({ kind: 'machine', state: 'gone', name });

/**
 * Updates Machines in place. If all must stay available, a new one comes first, and the last old one goes
 * (core/reconcilers/machinedeployment, machinedeployment_rollout_rollingupdate.go, v1.14).
 */
async function updateAll(state: State, group: GroupMachines, next: MachineSet): Promise<void> {
  const { machines } = group;
  const old = machines.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const surplus = fencepostsOf(next.machineDeployment).maxUnavailable === 0 ? old.pop() : undefined;
  group.machines = surplus === undefined ? machines : [...old, await create(state, next, machines.length)];
  for (const machine of old) {
    machine.set = next;
    await updateMachine(state, machineInUpdate(machine));
  }
  if (surplus !== undefined) {
    gone(state, surplus);
  }
}

/** The rollout of a MachineDeployment: without an extension that covers it, Machines are replaced one after the other. */
async function rollOut(worker: WorkerGroup, group: GroupMachines, next: MachineSet): Promise<void> {
  const { state } = worker;
  const request = {
    current: machineSetObjects(group.current, next, worker.replicas),
    desired: machineSetObjects(next, next, 0),
  };
  const answer = waitsForDeletion(worker) ? undefined : await answerTo(state, 'CanUpdateMachineSet', request);
  if (covers(answer, 'CanUpdateMachineSet', request)) {
    await updateAll(state, group, next);
  } else {
    for (const [index, machine] of group.machines.entries()) {
      group.machines[index] = await create(state, next, index);
      gone(state, machine);
    }
  }
  group.current = next;
  group.next = undefined;
  if (worker.readyAt !== undefined) {
    worker.readyAt = state.now;
  }
}

/** Maximum number of machines of a control plane that are played individually. */
const maxControlPlane = 7;

/**
 * Unless `maxSurge` is 0, a new machine comes first, and the last old one goes without a question: there are enough
 * then (rollingUpdate in controlplane/kubeadm/reconcilers/kubeadmcontrolplane/update.go, v1.14).
 */
async function updateControlPlane(state: State, from: string, to: string): Promise<void> {
  const { replicas } = objectAt(state.cluster.spec, 'topology', 'controlPlane');
  const [before, after] = [controlPlaneAt(state, from), controlPlaneAt(state, to)];
  const surge = Number(fieldAt(after.object, 'spec', 'rollout', 'strategy', 'rollingUpdate', 'maxSurge') ?? 1);
  const count = Math.min(typeof replicas === 'number' ? replicas : 1, maxControlPlane) - surge;
  if (count < 1) {
    const text = 'the only machine of the control plane is replaced by a new one, and CanUpdateMachine is not called';
    state.findOnce('warning', text, 'rehearse more machines, or set maxSurge to 0');
  }
  for (let index = 0; index < count; index++) {
    const name = generatedName(state.controlPlane.name, `machine ${index}`);
    const request = updateMachineRequest(controlPlaneMachineOf(state, before, name), before, after, state.name);
    const answer = await answerTo(state, 'CanUpdateMachine', { ...request });
    if (covers(answer, 'CanUpdateMachine', request)) {
      await updateMachine(state, marked(controlPlaneMachineOf(state, after, name)));
    }
  }
}

/** Whether machines have to be updated or replaced. */
export const hasRollouts = ({ controlPlane, workers }: State): boolean =>
  (controlPlane.previous !== undefined && controlPlane.readyAt !== undefined) ||
  workers.some(({ group }) => group?.next !== undefined);

/**
 * What the controllers of machines do if the feature gate InPlaceUpdates is enabled: they ask whether machines can be
 * updated in place, and update them if all differences are covered; otherwise they replace them.
 */
export async function updateInPlace(state: State): Promise<void> {
  const { controlPlane } = state;
  try {
    const { previous, version } = controlPlane;
    controlPlane.previous = undefined;
    if (previous !== undefined && version !== undefined && controlPlane.kind === 'KubeadmControlPlane') {
      await updateControlPlane(state, previous, version);
    }
    for (const worker of state.workers) {
      const { group } = worker;
      if (group?.next !== undefined) {
        await rollOut(worker, group, group.next);
      }
    }
  } catch (error) {
    if (error instanceof BadPatch) {
      throw new SimulationStopped(`a patch of an in-place update cannot be applied: ${error.message}`);
    }
    throw error;
  }
}
