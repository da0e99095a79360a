import { isSame, type Json, type JsonObject, objectAt, perObject, textAt } from '../../kubernetes/index.ts';
import { completePlan, type PlannedVersions } from '../../runtimehooks/index.ts';
import type { Blueprint, ClassPatch } from '../blueprint/blueprint.ts';
import { kindOfTemplate } from '../blueprint/blueprint.ts';
import { extensionOfHandler, type GroupObjects } from '../objects/groups.ts';
import { generatedName, nameFor } from '../objects/names.ts';
import { nameOf, namespaceOf } from '../objects/objects.ts';
import type { Problem } from '../objects/plan.ts';
import { deferAnnotation, holdAnnotation, type PatchInput, type WorkerPlace } from '../patches/items.ts';
import { PatchingFailed, PatchingNotComputed, patchTemplates } from '../patches/patch-templates.ts';
import { type Desired, desiredOf, topologyWorkers, workerLists } from './desired.ts';
import { type Existing, machineReference, workerKey } from './existing.ts';
import type { PlannedState } from './planned-state.ts';
import { controlPlaneSteps, lowestVersion } from './upgrade-steps.ts';

/** What Cluster API makes of a Cluster; or why it stops, in its words; or why that is not known. */
export type Computed = { is: 'desired'; desired: Desired } | { is: 'stopped' | 'unknown'; problem: Problem };

/** What Cluster API's condition has before errors of computing what the objects of a Cluster should be. */
const prefix = 'error computing the desired state of the Cluster topology: ';

/** How often an object has been rotated changes its name. */
export const rotatedName = (prefixOfName: string, kind: string): string =>
  generatedName(prefixOfName, `${kind} rotated`);

const versionOfWorker = ({ object }: GroupObjects): string => textAt(object, 'spec', 'template', 'spec', 'version');

/** The groups of workers that a user keeps from being upgraded: by an annotation of their own, or of one before them. */
const deferredWorkers = perObject((cluster: JsonObject): ReadonlySet<string> => {
  const held = new Set<string>();
  const deferred = new Set<string>();
  for (const { kind, topology } of topologyWorkers(cluster)) {
    const annotations = objectAt(topology, 'metadata', 'annotations');
    if (holdAnnotation in annotations) {
      held.add(kind);
    }
    if (held.has(kind) || deferAnnotation in annotations) {
      deferred.add(workerKey(kind, textAt(topology, 'name')));
    }
  }
  return deferred;
});

function workerPlace(
  cluster: JsonObject,
  blueprint: Blueprint,
  existing: Existing,
  { kind, topology }: { kind: WorkerPlace['kind']; topology: JsonObject },
): WorkerPlace {
  const topologyName = textAt(topology, 'name');
  const ofClass = blueprint[workerLists[kind]].get(textAt(topology, 'class'));
  const known = existing.workers.get(workerKey(kind, topologyName));
  const base = `${nameOf(cluster)}-${topologyName}`;
  const part = kind === 'MachinePool' ? 'machinePool' : 'machineDeployment';
  const values = { 'cluster.name': nameOf(cluster), [`${part}.topologyName`]: topologyName };
  const spec = objectAt(known?.object, 'spec', 'template', 'spec');
  const nameOfTemplate = (reference: JsonObject, template: JsonObject | undefined) =>
    textAt(reference, 'name') || generatedName(base, template === undefined ? '' : kindOfTemplate(template));
  const target = textAt(cluster, 'spec', 'topology', 'version');
  return {
    kind,
    topologyName,
    name:
      known === undefined
        ? nameFor(textAt(ofClass?.settings, 'naming', 'template'), values, base, kind)
        : nameOf(known.object),
    version:
      known !== undefined && deferredWorkers(cluster).has(workerKey(kind, topologyName))
        ? versionOfWorker(known)
        : target,
    class: ofClass,
    topology,
    templateNames: {
      bootstrap: nameOfTemplate(objectAt(spec, 'bootstrap', 'configRef'), ofClass?.bootstrap),
      infrastructure: nameOfTemplate(objectAt(spec, 'infrastructureRef'), ofClass?.infrastructure),
    },
  };
}

/** The names and versions with which a Cluster's templates are patched, when all steps of an upgrade are done. */
export function inputFor(
  state: PlannedState,
  cluster: JsonObject,
  blueprint: Blueprint,
  existing: Existing,
): PatchInput {
  const base = nameOf(cluster);
  const { machines, settings } = blueprint.controlPlane;
  const controlPlane = existing.controlPlane?.object;
  const reference = controlPlane === undefined ? {} : machineReference(controlPlane);
  const naming = textAt(settings, 'naming', 'template');
  let uid = 0;
  return {
    release: state.release,
    cluster,
    blueprint,
    upgradeStep: undefined,
    controlPlane: {
      name:
        controlPlane !== undefined
          ? nameOf(controlPlane)
          : textAt(cluster, 'spec', 'controlPlaneRef', 'name') ||
            nameFor(naming, { 'cluster.name': base }, base, 'ControlPlane'),
      version: textAt(cluster, 'spec', 'topology', 'version'),
      machineTemplateName:
        textAt(reference, 'name') || (machines === undefined ? '' : generatedName(base, kindOfTemplate(machines))),
    },
    workers: topologyWorkers(cluster).map((worker) => workerPlace(cluster, blueprint, existing, worker)),
    newUid: () => {
      uid++;
      return `00000000-0000-4000-8000-${String(uid).padStart(12, '0')}`;
    },
  };
}

/** The first patches of a class that are inline, and the same in another one, as are templates and variables. */
const commonPatches = perObject((old: Blueprint) =>
  perObject((now: Blueprint): readonly ClassPatch[] => {
    const templatesOf = ({ infrastructureCluster, controlPlane, machineDeployments, machinePools }: Blueprint) =>
      [infrastructureCluster, controlPlane.template, controlPlane.machines, controlPlane.settings].concat(
        [...machineDeployments.values(), ...machinePools.values()].flatMap((one) => [
          one.bootstrap,
          one.infrastructure,
          one.settings,
        ]),
      );
    const read = (blueprint: Blueprint) =>
      JSON.stringify([
        templatesOf(blueprint),
        [...blueprint.variables].map(([name, all]) => [name, all.map(({ from }) => from)]),
      ]);
    if (read(old) !== read(now)) {
      return [];
    }
    const isOther = ({ patches }: Blueprint, index: number) =>
      patches[index]?.definitions.length === 0 || JSON.stringify(patches[index]) !== JSON.stringify(old.patches[index]);
    const first = now.patches.findIndex((_, index) => isOther(now, index));
    return old.patches.slice(0, first === -1 ? now.patches.length : first);
  }),
);

/** The first patches of the state before that do the same in another state of a Cluster. */
function samePatches(before: PatchInput, after: PatchInput): readonly ClassPatch[] {
  const read = ({ cluster, controlPlane, workers }: PatchInput): Json => [
    cluster.metadata ?? {},
    cluster.spec ?? {},
    { ...controlPlane },
    workers.map(({ kind, name, version, templateNames }) => [kind, name, version, { ...templateNames }]),
  ];
  return isSame(read(before), read(after)) ? commonPatches(before.blueprint)(after.blueprint) : [];
}

/**
 * What Cluster API makes of a Cluster, with the answers of extensions.
 *
 * @param more `callsExtensions`: if not, a class with external patches is not known. `before`: of the state before, of
 *   which as much is taken over as stays the same.
 */
export async function computed(
  state: PlannedState,
  input: PatchInput,
  { callsExtensions = true, before }: { callsExtensions?: boolean; before?: Desired | undefined } = {},
): Promise<Computed> {
  const { cluster, blueprint } = input;
  const object = { namespace: namespaceOf(cluster), name: nameOf(cluster) };
  let extension = '';
  const stopped = (why: string, isOfExtension: boolean): Computed => ({
    is: 'stopped',
    problem: {
      text: `${prefix}failed to apply patches: ${why}`,
      ...(isOfExtension && { object: `ExtensionConfig ${extension}` }),
    },
  });
  try {
    const patching = patchTemplates(
      input,
      before && { patches: samePatches(before.input, input), patched: before.patched },
    );
    let step = patching.next();
    while (step.done !== true) {
      const { hook, handler, request, patch, where } = step.value;
      if (!callsExtensions) {
        return { is: 'unknown', problem: { text: `patch ${patch} is external` } };
      }
      const answer = await state.call({ hook, handler, request, object });
      extension = extensionOfHandler(handler);
      if (answer.is === 'failed') {
        return stopped(`${where}${answer.error}`, true);
      }
      if (answer.is === 'unknown') {
        const text = `patch ${patch} of ClusterClass ${blueprint.namespace}/${blueprint.name} is not known: ${answer.why}`;
        return { is: 'unknown', problem: { text, remedy: answer.remedy } };
      }
      step = patching.next(answer.response);
    }
    const naming = textAt(blueprint.spec, 'infrastructure', 'naming', 'template');
    const name =
      textAt(cluster, 'spec', 'infrastructureRef', 'name') ||
      nameFor(naming, { 'cluster.name': object.name }, object.name, 'InfrastructureCluster');
    return { is: 'desired', desired: desiredOf(input, step.value, name) };
  } catch (error) {
    if (!(error instanceof PatchingFailed)) {
      throw error;
    }
    if (error instanceof PatchingNotComputed) {
      const object = `ClusterClass ${blueprint.namespace}/${blueprint.name}`;
      const text = `patches of ${object} are not known: ${error.message}`;
      return { is: 'unknown', problem: { object, text, remedy: 'simplify the template' } };
    }
    return stopped(error.message, error.hint !== undefined);
  }
}

/** The steps of an upgrade, or why Cluster API takes none, or why they are not known. */
export async function upgradeSteps(
  state: PlannedState,
  { cluster, blueprint, workers }: PatchInput,
  existing: Existing,
): Promise<{ is: 'planned'; plan: PlannedVersions } | { is: 'stopped' | 'unknown'; problem: Problem }> {
  const to = textAt(cluster, 'spec', 'topology', 'version');
  const from = textAt(existing.controlPlane?.object, 'spec', 'version') || to;
  const lowest = lowestVersion(
    workers.flatMap(({ kind, topologyName }) => {
      const known = existing.workers.get(workerKey(kind, topologyName));
      return known === undefined ? [] : [versionOfWorker(known)];
    }),
    from,
  );
  if (from === to && (lowest === undefined || lowest === to)) {
    return { is: 'planned', plan: { controlPlane: [], workers: [] } };
  }
  const planned: { controlPlane: string[]; workers: string[] } = {
    controlPlane: controlPlaneSteps(blueprint, from, to),
    workers: [],
  };
  const { planHandler: handler } = blueprint;
  if (handler !== undefined) {
    const answer = await state.call({
      hook: 'GenerateUpgradePlan',
      handler,
      request: {
        cluster,
        fromControlPlaneKubernetesVersion: from,
        ...(lowest !== undefined && { fromWorkersKubernetesVersion: lowest }),
        toKubernetesVersion: to,
      },
      object: { namespace: namespaceOf(cluster), name: nameOf(cluster) },
    });
    if (answer.is === 'failed') {
      const text = `${prefix}failed to get upgrade plan from extension: ${answer.error}`;
      return { is: 'stopped', problem: { text } };
    }
    if (answer.is === 'unknown') {
      const { why, remedy } = answer;
      return { is: 'unknown', problem: { text: `the steps of the upgrade are not known: ${why}`, remedy } };
    }
    const versionsIn = (list: unknown) =>
      (Array.isArray(list) ? list : []).map((step: JsonObject) => textAt(step, 'version'));
    planned.controlPlane = versionsIn(answer.response.controlPlaneUpgrades);
    planned.workers = versionsIn(answer.response.workersUpgrades);
  }
  const plan = completePlan({ controlPlane: from, workers: lowest ?? '', to }, planned);
  return typeof plan === 'string' ? { is: 'stopped', problem: { text: `${prefix}${plan}` } } : { is: 'planned', plan };
}
