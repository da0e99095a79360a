import { copyOf, isSame, type JsonObject, nameOf, namespacedName, objectAt, textAt } from '../../kubernetes/index.ts';
import type { SchemaOf } from '../../kubernetes/schema/index.ts';
import { machineTemplateOf } from '../control-planes/index.ts';
import { variablesRead } from '../patches/inline.ts';
import type { Patched } from '../patches/patch-templates.ts';
import { stored } from '../refusals/index.ts';
import type { GroupChange, GroupObjects, GroupPart, Provenance } from '../world/groups.ts';
import { generatedName } from '../world/names.ts';
import { NotKnown, Stopped } from '../world/not-known.ts';
import type { Problem } from '../world/plan-document.ts';
import type { Desired, DesiredGroup } from './desired.ts';
import { type Existing, machinesOf, workerKey } from './existing.ts';
import type { PlannedState } from './planned-state.ts';
import { type Origins, provenanceOf } from './provenance.ts';
import { checkCreation, incompatibility, rotatedOrPatched, WriteFailed, written } from './reconciled.ts';

export interface ClusterInput {
  before: PlannedState;
  after: PlannedState;
  cluster: JsonObject;
  existing: Existing;
  desiredBefore: Desired | undefined;
  originsBefore: Origins | undefined;
  desired: Desired;
  steps: { controlPlane: readonly string[]; workers: readonly string[] };
}

const prefix = 'error reconciling the Cluster topology: ';

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

/** Whether a part is written in the version that is computed here: objects of v1beta1 have fewer limits. */
const isInOwnVersion = ({ items, objects }: DesiredGroup, part: GroupPart): boolean =>
  items[part] === undefined || items[part].object.apiVersion === objects[part]?.apiVersion;

/** The objects of a group after the controller has written them. @throws {WriteFailed} when it cannot. */
export function reconciled(
  current: GroupObjects,
  before: GroupObjects | undefined,
  group: DesiredGroup,
  clusterName: string,
  schemaOf: SchemaOf,
  newName = (base: string, kindOfTemplate: string) => generatedName(base, `${kindOfTemplate} rotated`),
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

export interface GroupChanges {
  changes: GroupChange[];
  problems: Problem[];
  infrastructure?: JsonObject | undefined;
}

function versionsOf(from: string, to: string, steps: readonly string[]): string[] {
  return from === '' || from === to ? [to] : [from, ...(steps.at(-1) === to ? steps : [to])];
}

function endOf(what: string, from: Provenance, write: () => void): NotKnown | Stopped | undefined {
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
    return new Stopped(`${prefix}${what}${error.message}`, { remedy: hints.join('; ') || undefined });
  }
}

function infrastructureChange({ after, existing, desired, desiredBefore }: ClusterInput) {
  const { schemaOf } = after;
  const { infrastructureCluster: intent } = desired;
  const { infrastructureCluster: current } = existing;
  let isChanged = current === undefined;
  const end = endOf('', nowhere, () => {
    if (intent !== undefined && current !== undefined) {
      const before = desiredBefore?.infrastructureCluster;
      const write = { part: undefined, current, before, intent, schemaOf, isChecked: true };
      isChanged = !isSame(written(write), current);
    } else if (intent !== undefined) {
      checkCreation(intent, schemaOf);
    }
  });
  return { infrastructure: isChanged ? intent : undefined, stop: end instanceof Stopped ? end : undefined };
}

/** The variables that hold the name of a group's own template. */
const nameVariables = {
  bootstrap: /^builtin\.machineDeployment\.bootstrap\b/,
  infrastructure: /^builtin\.(?:machineDeployment|controlPlane\.machineTemplate)\.infrastructureRef\b/,
};

/** Says that a rotation changes what a patch reads: only the next reconcile knows the new name of the template. */
function rotatesAgain(
  { items, kind }: DesiredGroup,
  { applied }: Patched,
  before: GroupObjects,
  after: GroupObjects,
): string[] {
  const parts = ['bootstrap', 'infrastructure'] as const;
  const rotated = parts.filter((part) => before[part] && after[part] && nameOf(before[part]) !== nameOf(after[part]));
  return rotated.flatMap((part) =>
    (['object', ...parts] satisfies GroupPart[]).flatMap((target) => {
      const item = items[target];
      const steps = (item && applied.get(item)) ?? [];
      return steps.flatMap(({ patch }) => {
        const variable = variablesRead(patch).find((path) => nameVariables[part].test(path));
        if (item === undefined || variable === undefined) {
          return [];
        }
        const reads = `patch ${patch.name} reads ${variable}, which this rotation changes`;
        const changed = target === 'object' ? `the ${kind}` : `its ${textAt(item.object, 'kind')}`;
        const what =
          target === part
            ? `each reconcile rotates ${changed} again, and Machines are replaced without end`
            : `the next reconcile changes ${changed}, and Machines that are made in between are replaced again`;
        return [`${reads}: ${what}`];
      });
    }),
  );
}

type Change = Pick<GroupChange, 'group' | 'kind' | 'name' | 'before' | 'after'> & Partial<GroupChange>;

function wholeChange({ before, cluster }: ClusterInput, change: Change): GroupChange {
  const machines = machinesOf(cluster, before.world, change);
  return {
    cluster,
    ...machines,
    versions: [versionOf((change.after ?? change.before)?.object)],
    notes: [],
    from: () => undefined,
    ...change,
    end: change.end ?? machines.end,
  };
}

function groupChange(
  input: ClusterInput,
  group: DesiredGroup,
  madeGroup: DesiredGroup | undefined,
  stop: Stopped | undefined,
): Change {
  const { cluster, existing, desired, originsBefore, steps } = input;
  const { schemaOf } = input.after;
  const { kind, worker, objects: intent, group: groupName } = group;
  const current = worker === undefined ? existing.controlPlane : existing.workers.get(workerKey(kind, groupName));
  const same = { group: groupName, kind, name: nameOf(current?.object ?? intent.object), before: current };
  const target = textAt(cluster, 'spec', 'topology', 'version');
  if (current !== undefined && worker !== undefined && worker.version !== target) {
    const note = `waits: its upgrade to ${target} is deferred by an annotation, and until then nothing of it changes`;
    return { ...same, after: current, notes: [note] };
  }
  const origins: Origins = { input: desired.input, patched: desired.patched };
  const from = provenanceOf(originsBefore && { origins: originsBefore, group: madeGroup }, { origins, group });
  let result: GroupObjects | undefined;
  const write = () => {
    if (current === undefined) {
      checkNewGroup(group, schemaOf);
    }
    result =
      current === undefined
        ? storedGroup(intent, schemaOf)
        : reconciled(current, madeGroup?.objects, group, nameOf(cluster), schemaOf);
  };
  const isUpdate = current !== undefined && worker !== undefined;
  const where = isUpdate ? `failed to reconcile ${kind} ${namespacedName(current.object)}: ` : '';
  const end = stop ?? endOf(where, from, write);
  const after = result ?? current;
  const ofKind = worker === undefined ? steps.controlPlane : steps.workers;
  return {
    ...same,
    after,
    versions: versionsOf(versionOf(current?.object), versionOf(after?.object), ofKind),
    ...{ from, end, intent },
    notes: current && result ? rotatesAgain(group, desired.patched, current, result) : [],
  };
}

/** Decides how the groups of a Cluster with a topology change (reconcileState in core/reconcilers/topology/cluster, v1.14). */
export function groupChanges(input: ClusterInput): GroupChanges {
  const { existing, desired, desiredBefore } = input;
  const keyOf = ({ kind, group }: DesiredGroup) => workerKey(kind, group);
  const madeBefore = new Map(desiredBefore?.groups.map((group) => [keyOf(group), group]));
  const { infrastructure, stop: first } = infrastructureChange(input);
  let stop = first;
  const changes: Change[] = [];
  for (const group of desired.groups) {
    const change = groupChange(input, group, madeBefore.get(keyOf(group)), stop);
    changes.push(change);
    if (group.worker === undefined && change.end instanceof Stopped) {
      stop = change.end;
    }
  }
  const wanted = new Set(desired.groups.map(keyOf));
  for (const [key, objects] of existing.workers) {
    if (!wanted.has(key)) {
      const kind = textAt(objects.object, 'kind');
      const gone = { group: key.slice(kind.length + 1), kind, name: nameOf(objects.object) };
      changes.push({ ...gone, before: objects, after: undefined, end: stop });
    }
  }
  // A reconcile ends with its first error; the groups that it could write are written by the next one.
  const end = [first, ...changes.map((change) => change.end)].find((one) => one instanceof Stopped);
  return {
    changes: changes.map((change) => wholeChange(input, change)),
    problems: end === undefined ? [] : [end.problem],
    infrastructure,
  };
}
