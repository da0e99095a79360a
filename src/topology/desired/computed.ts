import { extensionOfHandler } from '../../extensionconfig/index.ts';
import {
  isSame,
  type Json,
  type JsonObject,
  nameOf,
  namespaceOf,
  objectAt,
  perObject,
  textAt,
} from '../../kubernetes/index.ts';
import type { Release } from '../../runtimehooks/index.ts';
import type { Blueprint, ClassPatch } from '../blueprint/blueprint.ts';
import { kindOfTemplate } from '../blueprint/blueprint.ts';
import { machineTemplateOf } from '../control-planes/index.ts';
import { deferAnnotation, holdAnnotation, type PatchInput, type WorkerPlace } from '../patches/items.ts';
import { type AskPatch, type KnownPatches, patchTemplates, ReconcileFailed } from '../patches/patch-templates.ts';
import { renderName, TemplateError } from '../templates/index.ts';
import type { GroupObjects } from '../world/groups.ts';
import { generatedName, shortened, suffixFor } from '../world/names.ts';
import { NotKnown, Stopped } from '../world/not-known.ts';
import { topologyOf, type WorkerKind, workerLists, workersIn } from '../world/topologies.ts';
import { type Desired, desiredOf } from './desired.ts';
import { type Existing, workerKey } from './existing.ts';
import type { PlannedState } from './planned-state.ts';

export const prefix = 'error computing the desired state of the Cluster topology: ';

/** A name by the naming template of a class; a generated one without a template, or with one that cannot be rendered. */
function nameFor(template: string, fields: JsonObject, base: string, purpose: string): string {
  const random = suffixFor(base, purpose);
  try {
    return template === ''
      ? generatedName(base, purpose)
      : shortened(renderName(template, { ...fields, random }), random);
  } catch (error) {
    if (error instanceof TemplateError || error instanceof NotKnown) {
      return generatedName(base, purpose);
    }
    throw error;
  }
}

export const versionOfWorker = ({ object }: GroupObjects): string =>
  textAt(object, 'spec', 'template', 'spec', 'version');

/** The groups of workers that a user keeps from being upgraded: by an annotation of their own, or of one before them. */
const deferredWorkers = perObject((cluster: JsonObject): ReadonlySet<string> => {
  const held = new Set<string>();
  const deferred = new Set<string>();
  for (const { kind, worker } of workersIn(topologyOf(cluster))) {
    const annotations = objectAt(worker, 'metadata', 'annotations');
    if (holdAnnotation in annotations) {
      held.add(kind);
    }
    if (held.has(kind) || deferAnnotation in annotations) {
      deferred.add(workerKey(kind, textAt(worker, 'name')));
    }
  }
  return deferred;
});

/** Whether a user keeps a group of workers from being upgraded. */
export const isDeferred = (cluster: JsonObject, kind: string, topologyName: string): boolean =>
  deferredWorkers(cluster).has(workerKey(kind, topologyName));

export interface DecidedVersions {
  controlPlane: string;
  workers: readonly { kind: string; topologyName: string; version: string }[];
  upgradeStep: string | undefined;
}

function workerPlace(
  cluster: JsonObject,
  blueprint: Blueprint,
  existing: Existing,
  { kind, worker: topology }: { kind: WorkerKind; worker: JsonObject },
  decided: ReadonlyMap<string, string>,
): WorkerPlace {
  const topologyName = textAt(topology, 'name');
  const ofClass = blueprint[workerLists[kind]].get(textAt(topology, 'class'));
  const known = existing.workers.get(workerKey(kind, topologyName));
  const base = `${nameOf(cluster)}-${topologyName}`;
  const part = kind === 'MachinePool' ? 'machinePool' : 'machineDeployment';
  const fields = { cluster: { name: nameOf(cluster) }, [part]: { topologyName } };
  const spec = objectAt(known?.object, 'spec', 'template', 'spec');
  const nameOfTemplate = (reference: JsonObject, template: JsonObject | undefined) =>
    textAt(reference, 'name') || generatedName(base, template === undefined ? '' : kindOfTemplate(template));
  const target = textAt(cluster, 'spec', 'topology', 'version');
  return {
    kind,
    topologyName,
    name:
      known === undefined
        ? nameFor(textAt(ofClass?.settings, 'naming', 'template'), fields, base, kind)
        : nameOf(known.object),
    version:
      decided.get(workerKey(kind, topologyName)) ??
      (known !== undefined && isDeferred(cluster, kind, topologyName) ? versionOfWorker(known) : target),
    class: ofClass,
    topology,
    templateNames: {
      bootstrap: nameOfTemplate(objectAt(spec, 'bootstrap', 'configRef'), ofClass?.bootstrap),
      infrastructure: nameOfTemplate(objectAt(spec, 'infrastructureRef'), ofClass?.infrastructure),
    },
  };
}

function countedUids(): () => string {
  let uid = 0;
  return () => {
    uid++;
    return `00000000-0000-4000-8000-${String(uid).padStart(12, '0')}`;
  };
}

/** The names and versions with which templates are patched. `decided`: by default, those after all steps of an upgrade. */
export function inputFor(
  release: Release,
  cluster: JsonObject,
  blueprint: Blueprint,
  existing: Existing,
  decided?: DecidedVersions,
  newUid: () => string = countedUids(),
): PatchInput {
  const base = nameOf(cluster);
  const { machines, settings } = blueprint.controlPlane;
  const controlPlane = existing.controlPlane?.object;
  const reference = controlPlane === undefined ? {} : machineTemplateOf(controlPlane);
  const naming = textAt(settings, 'naming', 'template');
  const versions = new Map(
    decided?.workers.map(({ kind, topologyName, version }) => [workerKey(kind, topologyName), version]),
  );
  return {
    release,
    cluster,
    blueprint,
    upgradeStep: decided?.upgradeStep,
    controlPlane: {
      name:
        controlPlane !== undefined
          ? nameOf(controlPlane)
          : textAt(cluster, 'spec', 'controlPlaneRef', 'name') ||
            nameFor(naming, { cluster: { name: base } }, base, 'ControlPlane'),
      version: decided?.controlPlane ?? textAt(cluster, 'spec', 'topology', 'version'),
      machineTemplateName:
        textAt(reference, 'name') || (machines === undefined ? '' : generatedName(base, kindOfTemplate(machines))),
    },
    workers: workersIn(topologyOf(cluster)).map((worker) =>
      workerPlace(cluster, blueprint, existing, worker, versions),
    ),
    newUid,
  };
}

/** The name of a Cluster's infrastructure, which exists already or not. */
export function infrastructureName({ cluster, blueprint }: Pick<PatchInput, 'cluster' | 'blueprint'>): string {
  const naming = textAt(blueprint.spec, 'infrastructure', 'naming', 'template');
  const name = nameOf(cluster);
  return (
    textAt(cluster, 'spec', 'infrastructureRef', 'name') ||
    nameFor(naming, { cluster: { name } }, name, 'InfrastructureCluster')
  );
}

/** @throws {ReconcileFailed} for a patch that fails or cannot be applied. */
export async function desiredFor(input: PatchInput, ask: AskPatch, known?: KnownPatches): Promise<Desired> {
  return desiredOf(input, await patchTemplates(input, ask, known), infrastructureName(input));
}

/** The first patches of a class that are inline, and the same in another one, as are templates and variables. */
const commonPatches = perObject((old: Blueprint) =>
  perObject((now: Blueprint): readonly ClassPatch[] => {
    const read = ({ infrastructureCluster, controlPlane, machineDeployments, machinePools, variables }: Blueprint) =>
      JSON.stringify([
        [infrastructureCluster, controlPlane.template, controlPlane.machines, controlPlane.settings],
        [...machineDeployments.values(), ...machinePools.values()].map((one) => [
          one.bootstrap,
          one.infrastructure,
          one.settings,
        ]),
        [...variables].map(([name, all]) => [name, all.map(({ from }) => from)]),
      ]);
    if (read(old) !== read(now)) {
      return [];
    }
    const isOther = (patch: ClassPatch, index: number) =>
      patch.definitions.length === 0 || JSON.stringify(patch) !== JSON.stringify(old.patches[index]);
    const first = now.patches.findIndex(isOther);
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

/** Calls of extensions that patch: not called, a class with one is not known; left out, all but their patches is computed. */
export type Extensions = 'called' | 'not called' | 'left out';

/**
 * Computes the objects that Cluster API makes of a Cluster, with the answers of extensions.
 *
 * @param before of the state before: what stays the same is not computed again, which saves a tenth of a review of a class.
 * @throws {NotKnown} if an extension does not answer, or a template is not computed here; {Stopped} where Cluster API stops.
 */
export async function computed(
  state: PlannedState,
  input: PatchInput,
  extensions: Extensions,
  before?: Desired,
): Promise<Desired> {
  const { cluster, blueprint } = input;
  const object = { namespace: namespaceOf(cluster), name: nameOf(cluster) };
  let extension = '';
  const stopped = (why: string, isOfExtension: boolean) =>
    new Stopped(`${prefix}failed to apply patches: ${why}`, {
      object: isOfExtension ? `ExtensionConfig ${extension}` : undefined,
    });
  const ask: AskPatch = async ({ hook, handler, request, patch, where }) => {
    if (extensions === 'left out') {
      return {};
    }
    if (extensions === 'not called') {
      throw new NotKnown(`patch ${patch} is external`);
    }
    const what = `patch ${patch} of ClusterClass ${blueprint.namespace}/${blueprint.name} is not known`;
    const answer = await state.call({ hook, handler, request, object }, what);
    extension = extensionOfHandler(handler);
    if (answer.is === 'failed') {
      throw stopped(`${where}${answer.error}`, true);
    }
    return answer.response;
  };
  try {
    return await desiredFor(
      input,
      ask,
      before && { patches: samePatches(before.input, input), patched: before.patched },
    );
  } catch (error) {
    throw error instanceof ReconcileFailed ? stopped(error.message, error.hint !== undefined) : error;
  }
}
