import { isPaused } from '../extensionconfig/index.ts';
import { type JsonObject, namespacedName, objectText, own } from '../kubernetes/index.ts';
import { coreGroup } from '../runtimehooks/index.ts';
import type { Blueprint } from './blueprint/blueprint.ts';
import { computed, type Extensions, inputFor } from './desired/computed.ts';
import type { Desired } from './desired/desired.ts';
import { dryRunChanges } from './desired/dry-run.ts';
import { type Existing, labelsOf, nothingExists, workerKey } from './desired/existing.ts';
import { completedBy, type GroupChanges, groupChanges } from './desired/group-changes.ts';
import type { ClusterOfClass } from './desired/health-checks.ts';
import { ifKnown } from './desired/planned-state.ts';
import { plannedSteps } from './desired/upgrade-steps.ts';
import { ownedLabel } from './patches/items.ts';
import { type ClusterBefore, controlPlaneAfter, judge, type Outcome, type Planning, withRefusals } from './planning.ts';
import { causeLine } from './refusals/index.ts';
import { groupsWithout } from './rollout/index.ts';
import { withVariables } from './variables/variables.ts';
import type { GroupChange } from './world/groups.ts';
import { asEnd, NotKnown, Stopped } from './world/not-known.ts';
import type { GroupPlan, Problem } from './world/plan-document.ts';
import { invalidText } from './world/refusal.ts';
import { classNameOf, classOf } from './world/topologies.ts';

/** The objects that Cluster API made of a Cluster before a change; undefined if nobody can know, and the objects that exist say enough. */
async function madeBefore(
  { before: state, reads }: Planning,
  { cluster, blueprint, existing }: ClusterBefore,
  extensions: Extensions,
): Promise<Desired | undefined> {
  if (cluster === undefined || blueprint === undefined) {
    return undefined;
  }
  // Objects that exist are what an extension's old release left: it is asked only without them.
  const hasObjects = existing.controlPlane !== undefined;
  try {
    const input = { ...inputFor(state.release, cluster, blueprint, existing), reads };
    return await computed(state, input, extensions === 'called' && hasObjects ? 'not called' : extensions);
  } catch (error) {
    if (error instanceof Stopped || (error instanceof NotKnown && hasObjects)) {
      return undefined;
    }
    throw error;
  }
}

/** current_state.go in core/reconcilers/topology/cluster, v1.14. @throws {Stopped} if one does not belong to the topology. */
function requireOwned(cluster: JsonObject, { infrastructureCluster, controlPlane }: Existing): void {
  for (const object of [infrastructureCluster, controlPlane?.object]) {
    if (object !== undefined && own(labelsOf(object), ownedLabel) === undefined) {
      throw new Stopped(
        `error reading current state of the Cluster topology: ${objectText(object)} referenced from Cluster ${namespacedName(cluster)} is not topology owned`,
        {
          remedy: `label it ${ownedLabel}, with the template of its Machines and all objects that the topology should take over`,
        },
      );
    }
  }
}

/** @throws {NotKnown} if it cannot be known what Cluster API makes of it; {Stopped} if it stops before the groups. */
async function changesOf(
  planning: Planning,
  was: ClusterBefore,
  stored: JsonObject,
  extensions: 'called' | 'left out' = 'called',
): Promise<GroupChanges> {
  const { before, after, reads } = planning;
  const blueprint = await after.classOf(stored);
  const { cluster, causes } = withVariables(blueprint, stored, stored);
  if (causes.length > 0) {
    // It was written before its class.
    throw new Stopped(invalidText(cluster, causes.map(causeLine)));
  }
  requireOwned(cluster, was.existing);
  const isComplete = extensions === 'called';
  const desiredBefore = await madeBefore(planning, was, extensions);
  // What exists has what extensions patch: without them, only what is made in both states can be compared.
  const existing = completedBy(isComplete ? was.existing : nothingExists, desiredBefore, before.schemaOf);
  const input = { ...inputFor(after.release, cluster, blueprint, existing), reads };
  const steps =
    isComplete || blueprint.planHandler === undefined
      ? await plannedSteps(after, input, existing)
      : { controlPlane: [], workers: [] };
  const desired = await computed(after, input, extensions, desiredBefore);
  const inputBefore =
    was.cluster && was.blueprint && inputFor(before.release, was.cluster, was.blueprint, was.existing);
  const originsBefore = desiredBefore ?? (inputBefore && { input: inputBefore, patched: undefined });
  const changes = groupChanges({
    ...{ before, after, cluster, existing, desiredBefore, originsBefore, desired, steps },
  });
  const { dryRun } = after.world;
  if (dryRun !== undefined && isComplete) {
    await dryRunChanges(changes, dryRun);
  }
  return changes;
}

const externalPatches = (blueprint: Blueprint | undefined): string =>
  JSON.stringify(blueprint?.patches.filter(({ definitions }) => definitions.length === 0) ?? []);

/** Groups for which the changes of extensions are not known, with the changes that are certain without them. */
async function withKnownParts(
  planning: Planning,
  was: ClusterBefore,
  cluster: JsonObject,
  groups: readonly GroupPlan[],
): Promise<GroupPlan[]> {
  const blueprint = await ifKnown(planning.after.classOf(cluster));
  // What an inline patch did, an extension may do that comes instead of it.
  const isSure = was.cluster !== undefined && externalPatches(was.blueprint) === externalPatches(blueprint);
  if (!isSure || (blueprint?.planHandler === undefined && externalPatches(blueprint) === '[]')) {
    return [...groups];
  }
  const known = await ifKnown(changesOf(planning, was, cluster, 'left out'));
  const changes = new Map(known?.changes.map((change) => [workerKey(change.kind, change.group), change]));
  return Promise.all(
    groups.map(async (group) => {
      const change = changes.get(workerKey(group.kind, group.group));
      const plan = change?.before && change.after && (await judge(planning, change, [was, { cluster, blueprint }]));
      return plan === undefined || plan.causes.length === 0
        ? group
        : {
            ...group,
            causes: plan.causes,
            ...(plan.machines.replaced > 0 && { atLeast: Math.min(plan.machines.replaced, group.machines.before) }),
          };
    }),
  );
}

async function judgedGroups(
  planning: Planning,
  states: readonly [ClusterOfClass, ClusterOfClass],
  changes: readonly GroupChange[],
): Promise<GroupPlan[]> {
  const controlPlane = controlPlaneAfter(changes);
  const groups: GroupPlan[] = [];
  for (const change of changes) {
    groups.push(await judge(planning, { ...change, controlPlane }, states));
  }
  // The topology is not reconciled then, whatever was compared already.
  const hasStopped = groups.some(({ verdict }) => verdict === 'stopped');
  return hasStopped
    ? groups.map((group) => (group.verdict === 'unchanged' ? { ...group, verdict: 'stopped' } : group))
    : groups;
}

/** The plan of a Cluster with a topology, as it is stored after the write; `refusal`: why that is refused, if it is. */
export async function planTopology(
  planning: Planning,
  before: ClusterBefore,
  { cluster, refusal }: { cluster: JsonObject; refusal: Problem | undefined },
): Promise<Outcome> {
  const { after } = planning;
  const refusals = planning.writes.ofClasses.get(classNameOf(cluster)) ?? [];
  const problems = [...(refusal ? [refusal] : []), ...new Set(refusals.map(({ problem }) => problem))];
  try {
    const { changes, problems: ends } = await changesOf(planning, before, cluster);
    const states = [before, { cluster, blueprint: await ifKnown(after.classOf(cluster)) }] as const;
    const groups = withRefusals(await judgedGroups(planning, states, changes), cluster, refusal, refusals);
    if (isPaused(cluster)) {
      const text = `Cluster ${namespacedName(cluster)} is paused: nothing happens before it is resumed`;
      return { groups, problems: [...problems, { text }], changes: [] };
    }
    return { groups, problems: [...problems, ...ends], changes };
  } catch (error) {
    const end = asEnd(error);
    const className = { group: coreGroup, kind: 'ClusterClass', ...classOf(cluster) };
    // A new class that is refused is not among the objects.
    const isRefused = refusals.some(({ part }) => part === undefined) && after.world.find(className) === undefined;
    const groups = groupsWithout(planning.before.world, before, cluster, isRefused ? 'refused' : end.is);
    return {
      groups: isRefused || end.is === 'stopped' ? groups : await withKnownParts(planning, before, cluster, groups),
      problems: isRefused ? problems : [...problems, end.problem],
      changes: [],
    };
  }
}
