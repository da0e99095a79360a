import { copyOf, isSame, type JsonObject, nameOf, objectAt, objectText, textAt } from '../../kubernetes/index.ts';
import type { SchemaOf } from '../../kubernetes/schema/index.ts';
import { machineTemplateOf } from '../control-planes/index.ts';
import { stored } from '../refusals/index.ts';
import type { GroupChange, GroupObjects, GroupPart, Provenance } from '../world/groups.ts';
import { NotKnown, Stopped } from '../world/not-known.ts';
import type { Problem } from '../world/plan-document.ts';
import { rotatedName } from './computed.ts';
import type { Desired, DesiredGroup } from './desired.ts';
import { type Existing, machinesOf, workerKey } from './existing.ts';
import type { PlannedState } from './planned-state.ts';
import { type Origins, provenanceOf } from './provenance.ts';
import { checkCreation, incompatibility, rotatedOrPatched, WriteFailed, written } from './reconciled.ts';
import { rotatesAgain } from './second-rotation.ts';

/** Everything that is known about a Cluster with a topology, to say what becomes of its groups. */
export interface ClusterInput {
  before: PlannedState;
  after: PlannedState;
  /** As it is stored after the change. */
  cluster: JsonObject;
  /** The existing objects, given or made. */
  existing: Existing;
  /** The objects that Cluster API made of the first state; undefined if not known. */
  desiredBefore: Desired | undefined;
  originsBefore: Origins | undefined;
  desired: Desired;
  /** The versions that the control plane, and the workers, go through. */
  steps: { controlPlane: readonly string[]; workers: readonly string[] };
}

const prefix = 'error reconciling the Cluster topology: ';

/** The infrastructure of a Cluster belongs to no group. */
const nowhere: Provenance = () => undefined;

export const versionOf = (object: JsonObject | undefined): string =>
  textAt(object, 'spec', 'version') || textAt(object, 'spec', 'template', 'spec', 'version');

/** The objects of a group as the API server stores them. */
export const storedGroup = ({ object, bootstrap, infrastructure }: GroupObjects, schemaOf: SchemaOf): GroupObjects => ({
  object: stored(object, schemaOf),
  bootstrap: bootstrap && stored(bootstrap, schemaOf),
  infrastructure: infrastructure && stored(infrastructure, schemaOf),
});

/** The objects of a group that exist; what is not given of them is as Cluster API made it of the first state. */
function completed(known: GroupObjects | undefined, made: GroupObjects | undefined, schemaOf: SchemaOf): GroupObjects {
  const part = (name: 'bootstrap' | 'infrastructure') => {
    const other = made?.[name];
    return known?.[name] ?? (other && stored(other, schemaOf));
  };
  const object = known?.object ?? stored(made?.object ?? {}, schemaOf);
  return { object, bootstrap: part('bootstrap'), infrastructure: part('infrastructure') };
}

/** The existing objects of a Cluster; those not given are as Cluster API made them of the first state. */
export function completedBy(existing: Existing, desired: Desired | undefined, schemaOf: SchemaOf): Existing {
  const workers = new Map(existing.workers);
  let { controlPlane } = existing;
  for (const { kind, group, worker, objects } of desired?.groups ?? []) {
    if (worker === undefined) {
      controlPlane = completed(existing.controlPlane, objects, schemaOf);
    } else {
      const key = workerKey(kind, group);
      workers.set(key, completed(existing.workers.get(key), objects, schemaOf));
    }
  }
  return { ...existing, controlPlane, workers };
}

/** Sets the name of a template in a reference. */
function refer(reference: JsonObject, template: JsonObject | undefined): void {
  if (template !== undefined && reference.name !== undefined) {
    reference.name = nameOf(template);
  }
}

/** A copy of the object of a group that refers to its templates. */
export function referringTo(objects: GroupObjects, isControlPlane: boolean): JsonObject {
  const object = copyOf(objects.object);
  if (isControlPlane) {
    refer(machineTemplateOf(object), objects.infrastructure);
  } else {
    const spec = objectAt(object, 'spec', 'template', 'spec');
    refer(objectAt(spec, 'infrastructureRef'), objects.infrastructure);
    refer(objectAt(spec, 'bootstrap', 'configRef'), objects.bootstrap);
  }
  return object;
}

/**
 * Whether the controller writes a part of a group in the version that is computed here: a template of v1beta1 makes objects of
 * v1beta1, which have fewer limits, and the API server checks what is written.
 */
const isInOwnVersion = ({ items, objects }: DesiredGroup, part: GroupPart): boolean =>
  items[part] === undefined || items[part].object.apiVersion === objects[part]?.apiVersion;

/**
 * The objects of a group after the controller has written them.
 *
 * @param before what it wrote before.
 * @throws {WriteFailed} when it cannot.
 */
export function reconciled(
  current: GroupObjects,
  before: GroupObjects | undefined,
  group: DesiredGroup,
  clusterName: string,
  schemaOf: SchemaOf,
  newName = rotatedName,
): GroupObjects {
  const { objects: intent, kind, worker } = group;
  const base = worker === undefined ? clusterName : `${clusterName}-${worker.topologyName}`;
  const template = (part: 'bootstrap' | 'infrastructure') => {
    const [old, wanted] = [current[part], intent[part]];
    if (wanted === undefined || old === undefined) {
      return wanted === undefined ? undefined : stored(wanted, schemaOf);
    }
    const problem = part === 'infrastructure' ? incompatibility(old, wanted) : undefined;
    if (problem !== undefined) {
      throw new WriteFailed(problem);
    }
    const isChecked = isInOwnVersion(group, part);
    const write = { part, current: old, before: before?.[part], intent: wanted, schemaOf, isChecked };
    // A MachinePool refers to objects, which are written in place.
    return kind === 'MachinePool' ? written(write) : rotatedOrPatched(write, newName(base, textAt(wanted, 'kind')));
  };
  const infrastructure = template('infrastructure');
  const bootstrap = template('bootstrap');
  const object = referringTo({ object: intent.object, infrastructure, bootstrap }, worker === undefined);
  return {
    object: written({
      ...{ part: 'object', current: current.object, before: before?.object, intent: object, schemaOf },
      isChecked: isInOwnVersion(group, 'object'),
    }),
    bootstrap,
    infrastructure,
  };
}

/** @throws {WriteFailed} when the controller cannot create the objects of a group. */
export function checkNewGroup(group: DesiredGroup, schemaOf: SchemaOf): void {
  const { kind, worker, objects } = group;
  for (const part of ['infrastructure', 'bootstrap', 'object'] as const) {
    const object = objects[part];
    if (object !== undefined && isInOwnVersion(group, part)) {
      checkCreation(object, schemaOf, {
        part,
        where: worker === undefined || part === 'object' ? '' : `failed to create ${kind}: `,
      });
    }
  }
}

/** The changes of a Cluster's groups, and what stops Cluster API on the way. */
export interface GroupChanges {
  changes: GroupChange[];
  problems: Problem[];
  /** The infrastructure of the Cluster as it is applied, if that changes it. */
  infrastructure?: JsonObject | undefined;
}

/** The versions that a group goes through. */
function versionsOf(from: string, to: string, steps: readonly string[]): string[] {
  return from === '' || from === to ? [to] : [from, ...(steps.at(-1) === to ? steps : [to])];
}

/** Decides how the groups of a Cluster with a topology change (reconcileState in core/reconcilers/topology/cluster, v1.14). */
export function groupChanges(input: ClusterInput): GroupChanges {
  const { before, after, cluster, existing, desired, desiredBefore } = input;
  const { schemaOf } = after;
  const clusterName = nameOf(cluster);
  const origins: Origins = { input: desired.input, patched: desired.patched };
  const madeBefore = new Map((desiredBefore?.groups ?? []).map((group) => [workerKey(group.kind, group.group), group]));
  const problems: Problem[] = [];
  const changes: GroupChange[] = [];
  /** Why Cluster API does not come to the groups that follow. */
  let stop: Stopped | undefined;
  /** Runs a write. Returns why it ends there. */
  const attempt = (what: string, from: Provenance, write: () => void): NotKnown | Stopped | undefined => {
    try {
      write();
      return undefined;
    } catch (error) {
      if (error instanceof NotKnown) {
        return error;
      }
      if (!(error instanceof WriteFailed)) {
        throw error;
      }
      const { part, path } = error.field ?? { part: undefined, path: [] };
      const source = part && from(part, path);
      const hints = [error.hint?.text, source && `the value comes from ${source}`].filter((text) => text !== undefined);
      const remedy = hints.length === 0 ? undefined : hints.join('; ');
      const end = new Stopped(`${prefix}${what}${error.message}`, { remedy });
      // A reconcile ends with its first error; the groups that it could write are written by the next one.
      if (problems.length === 0) {
        problems.push(end.problem);
      }
      return end;
    }
  };
  const change = (
    { group, kind, name }: Pick<DesiredGroup, 'group' | 'kind' | 'name'>,
    objects: Pick<GroupChange, 'before' | 'after'>,
    more: Partial<Pick<GroupChange, 'versions' | 'notes' | 'from' | 'end' | 'intent'>> = {},
  ) => {
    const isControlPlane = group === 'control-plane';
    const machines = machinesOf(cluster, before.world, { kind, name, isControlPlane });
    changes.push({
      cluster,
      group,
      kind,
      name,
      ...objects,
      ...machines,
      versions: [versionOf((objects.after ?? objects.before)?.object)],
      notes: [],
      from: () => undefined,
      ...more,
      end: more.end ?? machines.end,
    });
  };
  const { infrastructureCluster: infrastructure } = desired;
  let isInfrastructureChanged = existing.infrastructureCluster === undefined;
  if (existing.infrastructureCluster !== undefined && infrastructure !== undefined) {
    const current = existing.infrastructureCluster;
    const write = {
      part: undefined,
      current,
      before: desiredBefore?.infrastructureCluster,
      intent: infrastructure,
      schemaOf,
      isChecked: true,
    };
    const end = attempt('', nowhere, () => {
      isInfrastructureChanged = !isSame(written(write), current);
    });
    stop = end instanceof Stopped ? end : undefined;
  } else if (infrastructure !== undefined) {
    const end = attempt('', nowhere, () => checkCreation(infrastructure, schemaOf));
    stop = end instanceof Stopped ? end : undefined;
  }
  for (const group of desired.groups) {
    const { kind, worker } = group;
    const key = workerKey(kind, group.group);
    const madeGroup = madeBefore.get(key);
    const current = worker === undefined ? existing.controlPlane : existing.workers.get(key);
    const from = provenanceOf(input.originsBefore && { origins: input.originsBefore, group: madeGroup }, {
      origins,
      group,
    });
    if (current === undefined) {
      let after: GroupObjects | undefined;
      const end =
        stop ??
        attempt('', from, () => {
          checkNewGroup(group, schemaOf);
          after = storedGroup(group.objects, schemaOf);
        });
      change(group, { before: undefined, after }, { from, end, intent: group.objects });
      if (worker === undefined && end instanceof Stopped) {
        stop = end;
      }
      continue;
    }
    const target = textAt(cluster, 'spec', 'topology', 'version');
    if (worker !== undefined && worker.version !== target) {
      const note = `waits: its upgrade to ${target} is deferred by an annotation, and until then nothing of it changes`;
      change(group, { before: current, after: current }, { notes: [note] });
      continue;
    }
    let result: GroupObjects | undefined;
    const where =
      worker === undefined ? '' : `failed to reconcile ${kind} ${objectText(current.object).split(' ')[1]}: `;
    const end =
      stop ??
      attempt(where, from, () => {
        result = reconciled(current, madeGroup?.objects, group, clusterName, schemaOf);
      });
    const steps = worker === undefined ? input.steps.controlPlane : input.steps.workers;
    const versions = versionsOf(versionOf(current.object), versionOf(result?.object ?? current.object), steps);
    change(
      { ...group, name: nameOf(current.object) },
      { before: current, after: result ?? current },
      {
        versions,
        from,
        end,
        intent: group.objects,
        notes: result === undefined ? [] : rotatesAgain(group, desired.patched, current, result),
      },
    );
    if (worker === undefined && end instanceof Stopped) {
      stop = end;
    }
  }
  const wanted = new Set(desired.groups.map(({ kind, group }) => workerKey(kind, group)));
  for (const [key, objects] of existing.workers) {
    if (!wanted.has(key)) {
      const [kind = '', ...name] = key.split(' ');
      const gone = { group: name.join(' '), kind, name: nameOf(objects.object) };
      change(gone, { before: objects, after: undefined }, { end: stop });
    }
  }
  return { changes, problems, infrastructure: isInfrastructureChanged ? infrastructure : undefined };
}
