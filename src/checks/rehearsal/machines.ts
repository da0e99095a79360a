import { pendingHooksAnnotation } from '../../extensionconfig/index.ts';
import { isSame, type JsonObject, objectAt, textAt } from '../../kubernetes/index.ts';
import {
  type ControlPlane,
  controlPlaneMachine,
  fencepostsOf,
  type GroupObjects,
  kindOfTemplate,
  machineSetOf,
  machineSetParts,
  workerMachine,
  workerOf,
} from '../../topology/index.ts';
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
      state.names.generated(`${state.name}-${topologyName}`, `${kindOfTemplate(template)} ${known.revision + 1}`);
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
  const { cluster, release, names } = worker.state;
  const templates = templatesOf(worker, before);
  const place = placeOfWorker({ worker, version });
  const revision = (before?.revision ?? 0) + 1;
  const suffix = names.generated('', `${worker.name} ${revision}`).slice(1);
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
export const newMachine = (state: State, set: MachineSet, number: number): Machine => ({
  name: state.names.generated(set.name, `machine ${number}`),
  set,
});

/** The MachineSet and the Machines of a group, which are made when it is first asked for. */
export function groupOf(worker: WorkerGroup, version: string): GroupMachines {
  if (worker.group === undefined) {
    const current = machineSet(worker, version);
    const length = Math.min(worker.replicas, maxMachines);
    const machines = Array.from({ length }, (_, index) => newMachine(worker.state, current, index));
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

/** How many Machines a rollout may create beyond the replicas, and how many may be unavailable. */
export const strategyOf = ({ machineDeployment }: MachineSet) => fencepostsOf(machineDeployment);

const machineSpecOf = ({ machineDeployment }: MachineSet): JsonObject =>
  objectAt(machineDeployment, 'spec', 'template', 'spec');

/** A MachineSet and its templates as in requests of CanUpdateMachineSet, when a MachineDeployment has another one. */
export const machineSetObjects = (set: MachineSet, newest: MachineSet, replicas: number) =>
  machineSetParts(
    machineSetOf(newest.machineDeployment, set, replicas, machineSpecOf(set)),
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

/** The same, as in requests of UpdateMachine. */
export const controlPlaneMachineInUpdate = (...made: Parameters<typeof controlPlaneMachineOf>): JsonObject =>
  marked(controlPlaneMachineOf(...made));
