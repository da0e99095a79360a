import { eachOf } from '../base/index.ts';
import { isPaused } from '../extensionconfig/index.ts';
import {
  fieldAt,
  isSame,
  type JsonObject,
  nameOf,
  namespacedName,
  namespaceOf,
  objectAt,
  objectText,
  own,
  textAt,
} from '../kubernetes/index.ts';
import { newestKnownRelease, type Release } from '../runtimehooks/index.ts';
import { AlikeClusters, type ReadCluster } from './alike.ts';
import type { Blueprint, ClassPatch } from './blueprint/blueprint.ts';
import { controlPlaneOf, readsTimes } from './control-planes/index.ts';
import { computed, type Extensions, inputFor, plannedSteps } from './desired/computed.ts';
import { withNewDefinitions } from './desired/definitions.ts';
import type { Desired } from './desired/desired.ts';
import { dryRunChanges } from './desired/dry-run.ts';
import { type Existing, existingOf, labelsOf, machinesOf, workerKey } from './desired/existing.ts';
import { completedBy, type GroupChanges, groupChanges, storedGroup, versionOf } from './desired/group-changes.ts';
import { type ClusterOfClass, healthCheckChanges } from './desired/health-checks.ts';
import { ifKnown, PlannedState, schemasIn } from './desired/planned-state.ts';
import { accepted, type Refusal, type Refusals } from './desired/refusals.ts';
import { ownedLabel } from './patches/items.ts';
import type { OwnWordReads } from './patches/own-words.ts';
import {
  type ClusterFacts,
  clusterRefusal,
  defaultedCluster,
  invalidText,
  type RefusedWrites,
  refusalProblem,
  refusedWrites,
  type WriteAnswers,
} from './refusals/index.ts';
import { groupsWithout, judgeGroup, peakOf, replicasOf, unjudged } from './rollout/index.ts';
import { withVariables } from './variables/variables.ts';
import type { CallHook, GroupChange, GroupObjects, PlanOptions } from './world/groups.ts';
import { withMadeUpNames } from './world/made-up-names.ts';
import { NotKnown, Stopped } from './world/not-known.ts';
import { coreGroup, nameIn, writable } from './world/objects.ts';
import {
  type ClusterPlan,
  type GroupPlan,
  type Plan,
  type Problem,
  sumOf,
  type Verdict,
} from './world/plan-document.ts';
import { readingsBetween } from './world/releases.ts';
import { classNameOf, classOf, hasTopology, topologyOf, workersIn } from './world/topologies.ts';
import { inV1beta2 } from './world/v1beta1.ts';
import type { World } from './world/world.ts';

/** Maximum number of Clusters that are planned at a time: so many calls wait for extensions. */
const clustersAtOnce = 10;

/** A Cluster without objects yet, or about which nothing is known. */
const nothingExists: Existing = { infrastructureCluster: undefined, controlPlane: undefined, workers: new Map() };

/** The options of a plan besides the two states. */
export interface PlanRequest extends Omit<PlanOptions, 'call' | 'follow'> {
  /** Which Clusters are planned. Default: all. */
  isPlanned?: (namespace: string, name: string) => boolean;
  /** The API server's answers about writes of the second state, by their objects. Default: its refusals are computed. */
  answers?: WriteAnswers;
  /** Called for each Cluster when its plan is made. */
  onCluster?: (plan: ClusterPlan) => void;
  /** Called with the objects of each Cluster that Cluster API makes or changes. */
  onObjects?: (
    cluster: string,
    objects: readonly { before: JsonObject | undefined; after: JsonObject | undefined }[],
  ) => void;
  /** Whether an API server has already checked what is written by the schemas: it has when it asks webhooks. */
  isChecked?: boolean;
  /** What is said of a Cluster whose plan fails with a bug. Default: it is thrown. */
  onBug?: (error: unknown) => Problem;
  signal?: AbortSignal;
}

interface Planning {
  before: PlannedState;
  after: PlannedState;
  refusals: Refusals;
  /** The API server's refusals by the schemas of kinds. */
  writes: RefusedWrites;
  /** Templates whose changes are refused, with the reason. */
  refusedTemplates: ReadonlyMap<string, Problem>;
  /** The changes that an upgrade of Cluster API makes to how it reads the same objects, in plain sentences. */
  readings: readonly string[];
  request: PlanRequest & Pick<PlanOptions, 'call'>;
  refusedChecks: ReadonlyMap<string, readonly { problem: Problem }[]>;
  /** Is told what is read of a Cluster that only it has. */
  reads?: OwnWordReads | undefined;
}

/** A Cluster that is applied without a list of variables keeps the one that is stored, with the defaults of then. */
function withKeptVariables(old: JsonObject | undefined, wanted: JsonObject): JsonObject {
  const variables = fieldAt(old, 'spec', 'topology', 'variables');
  const topology = objectAt(wanted, 'spec', 'topology');
  return variables === undefined || topology.variables !== undefined
    ? wanted
    : { ...wanted, spec: { ...objectAt(wanted, 'spec'), topology: { ...topology, variables } } };
}

/** A Cluster with a topology before a change, as far as it is known. */
interface ClusterBefore {
  /** As it is stored; undefined if it is new. */
  cluster: JsonObject | undefined;
  /** Of its class; undefined if it has none yet, or its class is not known. */
  blueprint: Blueprint | undefined;
  existing: Existing;
}

async function clusterBefore(
  state: PlannedState,
  was: JsonObject | undefined,
  wanted: JsonObject,
): Promise<ClusterBefore> {
  const blueprint = was !== undefined && hasTopology(was) ? await ifKnown(state.classOf(was)) : undefined;
  const cluster = was && blueprint ? withVariables(blueprint, was).cluster : was;
  return { cluster, blueprint, existing: existingOf(cluster ?? wanted, state.world, true) };
}

/** The objects of a Cluster that Cluster API's webhooks look up: those before the change, with their status. */
function factsOf(
  { world }: PlannedState,
  { cluster: was, blueprint: old, existing }: ClusterBefore,
  blueprint: Blueprint | undefined,
): ClusterFacts {
  return {
    blueprint,
    oldClass: old?.spec,
    controlPlane: existing.controlPlane?.object,
    workers: [...existing.workers.values()].map(({ object }) => object),
    machinesOf: (object) => {
      const group = { kind: textAt(object, 'kind'), name: nameOf(object), isControlPlane: false };
      return machinesOf(was ?? {}, world, group).machines?.map(({ machine }) => machine) ?? [];
    },
  };
}

/**
 * The Cluster that is stored after a write, and why Cluster API refuses the write, if it does: then the Cluster stays as it
 * is. A new Cluster that is refused is not stored.
 */
async function written(
  planning: Planning,
  before: ClusterBefore,
  wanted: JsonObject,
): Promise<{ cluster: JsonObject; refusal: Problem | undefined }> {
  const { after: state, writes } = planning;
  const { cluster: was } = before;
  const unwritten = writes.refusalOf(nameIn(wanted));
  if (unwritten !== undefined) {
    return { cluster: was ?? wanted, refusal: unwritten };
  }
  if (writes.isTaken(nameIn(wanted))) {
    return { cluster: wanted, refusal: undefined };
  }
  const applied = withKeptVariables(was, wanted);
  // Nobody writes a Cluster that is applied as it is.
  if (was !== undefined && isSame(writable(was), writable(applied))) {
    return { cluster: was, refusal: undefined };
  }
  const facts = factsOf(planning.before, before, await ifKnown(state.classOf(wanted)));
  const { cluster, refusal = clusterRefusal(cluster, was, facts) } = defaultedCluster(applied, was, facts);
  return refusal === undefined
    ? { cluster, refusal }
    : { cluster: was ?? wanted, refusal: refusalProblem(wanted, refusal) };
}

/** The objects that Cluster API made of a Cluster before a change; undefined if nobody can know, and the objects that exist say enough. */
async function madeBefore(
  state: PlannedState,
  { cluster, blueprint, existing }: ClusterBefore,
  extensions: Extensions,
  reads: OwnWordReads | undefined,
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

/**
 * Checks that the objects that a Cluster refers to belong to its topology (current_state.go in
 * core/reconcilers/topology/cluster, v1.14).
 *
 * @throws {Stopped} if one does not: Cluster API changes nothing then.
 */
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

/**
 * Computes what Cluster API changes in a Cluster's groups.
 *
 * @throws {NotKnown} if what it makes of the Cluster cannot be known.
 * @throws {Stopped} if it stops before it comes to the groups.
 */
async function changesOf(
  { before, after, reads }: Planning,
  was: ClusterBefore,
  stored: JsonObject,
  extensions: 'called' | 'left out' = 'called',
): Promise<GroupChanges> {
  const blueprint = await after.classOf(stored);
  // The controller, too, fills in defaults, and checks variables: of a Cluster that was written before its class.
  const { cluster, causes } = withVariables(blueprint, stored, stored);
  if (causes.length > 0) {
    throw new Stopped(invalidText(cluster, causes));
  }
  requireOwned(cluster, was.existing);
  const isComplete = extensions === 'called';
  const desiredBefore = await madeBefore(before, was, extensions, reads);
  // What exists has what extensions patch: without them, only what is made in both states can be compared.
  const existing = completedBy(isComplete ? was.existing : nothingExists, desiredBefore, before.schemaOf);
  const input = { ...inputFor(after.release, cluster, blueprint, existing), reads };
  const steps =
    isComplete || blueprint.planHandler === undefined
      ? await plannedSteps(after, input, existing)
      : { controlPlane: [], workers: [] };
  const desired = await computed(after, input, extensions);
  const originsBefore =
    was.cluster && was.blueprint
      ? {
          input: desiredBefore?.input ?? inputFor(before.release, was.cluster, was.blueprint, was.existing),
          patched: desiredBefore?.patched,
        }
      : undefined;
  const changes = groupChanges({
    ...{ before, after, cluster, existing, desiredBefore, originsBefore, desired, steps },
  });
  const { dryRun } = after.world;
  if (dryRun !== undefined && isComplete) {
    await dryRunChanges(changes, dryRun);
  }
  return changes;
}

const isExternal = ({ definitions }: ClassPatch): boolean => definitions.length === 0;

/** Groups for which the changes of extensions are not known, with the changes that are certain without them. */
async function withKnownParts(
  planning: Planning,
  was: ClusterBefore,
  cluster: JsonObject,
  groups: readonly GroupPlan[],
): Promise<GroupPlan[]> {
  const blueprint = await ifKnown(planning.after.classOf(cluster));
  const external = (of: Blueprint | undefined) => JSON.stringify(of?.patches.filter(isExternal) ?? []);
  // What an inline patch did, an extension may do that comes instead of it.
  const isSure = was.cluster !== undefined && external(was.blueprint) === external(blueprint);
  if (!isSure || (blueprint?.planHandler === undefined && external(blueprint) === '[]')) {
    return [...groups];
  }
  const known = await ifKnown(changesOf(planning, was, cluster, 'left out'));
  const changes = new Map(known?.changes.map((change) => [workerKey(change.kind, change.group), change]));
  return Promise.all(
    groups.map(async (group) => {
      const change = changes.get(workerKey(group.kind, group.group));
      const plan = change?.before && change.after && (await judge(planning, change));
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

function judge({ request, reads }: Planning, change: GroupChange): Promise<GroupPlan> {
  if (reads !== undefined && [change.before, change.after].some((of) => of !== undefined && readsTimes(of.object))) {
    reads.hasMore = true;
  }
  return judgeGroup(change, request);
}

/** The control plane of a Cluster after a change. */
function controlPlaneAfter(changes: readonly GroupChange[]): JsonObject | undefined {
  const change = changes.find(({ group }) => group === 'control-plane');
  return (change?.end === undefined ? change?.after : change.before)?.object;
}

/** Adds to groups that exist before and after how their health checks change. */
function addHealthChecks(
  { before, after, request, reads }: Planning,
  groups: readonly GroupPlan[],
  changes: readonly GroupChange[],
  states: readonly [ClusterOfClass, ClusterOfClass],
): void {
  for (const [index, group] of groups.entries()) {
    const change = changes[index];
    if (change !== undefined && !['created', 'deleted', 'stopped'].includes(group.verdict)) {
      const { healthCheck, texts } = healthCheckChanges(states, [before.world, after.world], change, request.now);
      if (reads !== undefined && healthCheck.length > 0) {
        // For how long Machines have been in a state.
        reads.hasMore = true;
      }
      Object.assign(group, healthCheck.length > 0 && { healthCheck, manner: [...(group.manner ?? []), ...texts] });
    }
  }
}

interface Outcome {
  groups: GroupPlan[];
  problems: Problem[];
  changes: readonly GroupChange[];
}

/** The plan of a Cluster with a topology. */
async function planTopology(planning: Planning, was: JsonObject | undefined, wanted: JsonObject): Promise<Outcome> {
  const before = await clusterBefore(planning.before, was, wanted);
  const { cluster, refusal } = await written(planning, before, wanted);
  const untouched = (verdict: Verdict) => groupsWithout(planning.before.world, before, cluster, verdict);
  // Nothing is made of a Cluster that is not stored, or that stays without a topology.
  if (refusal !== undefined && (before.cluster === undefined || !hasTopology(cluster))) {
    return { groups: untouched('refused'), problems: [refusal], changes: [] };
  }
  const refusals = planning.refusals.get(classNameOf(cluster)) ?? [];
  const problems = [...(refusal ? [refusal] : []), ...new Set(refusals.map(({ problem }) => problem))];
  const asRefused = (groups: GroupPlan[]) => withRefusals(groups, cluster, refusal, refusals);
  try {
    const { changes, problems: writing } = await changesOf(planning, before, cluster);
    const controlPlane = controlPlaneAfter(changes);
    const groups: GroupPlan[] = [];
    for (const change of changes) {
      groups.push(await judge(planning, { ...change, controlPlane }));
    }
    const state = { cluster, blueprint: await ifKnown(planning.after.classOf(cluster)) };
    addHealthChecks(planning, groups, changes, [before, state]);
    if (isPaused(cluster)) {
      const text = `Cluster ${namespacedName(cluster)} is paused: nothing happens before it is resumed`;
      return { groups: asRefused(groups), problems: [...problems, { text }], changes: [] };
    }
    // The topology is not reconciled then, whatever was compared already.
    const hasStopped = groups.some(({ verdict }) => verdict === 'stopped');
    const told = hasStopped
      ? groups.map((group) => (group.verdict === 'unchanged' ? { ...group, verdict: 'stopped' as const } : group))
      : groups;
    return { groups: asRefused(told), problems: [...problems, ...writing], changes };
  } catch (error) {
    if (!(error instanceof NotKnown || error instanceof Stopped)) {
      throw error;
    }
    // A class that is new and refused is not among the objects.
    const isClassRefused = refusals.some(({ part }) => part === undefined);
    const ofClass = { group: coreGroup, kind: 'ClusterClass', ...classOf(cluster) };
    if (isClassRefused && planning.after.world.find(ofClass) === undefined) {
      return { groups: untouched('refused'), problems, changes: [] };
    }
    const verdict = error instanceof NotKnown ? 'unknown' : 'stopped';
    const groups =
      verdict === 'unknown' ? await withKnownParts(planning, before, cluster, untouched(verdict)) : untouched(verdict);
    return { groups, problems: [...problems, error.problem], changes: [] };
  }
}

/** Groups that would change if Cluster API took the write of their Cluster, class or template. */
function withRefusals(
  groups: readonly GroupPlan[],
  cluster: JsonObject,
  refusal: Problem | undefined,
  refusals: readonly Refusal[],
): GroupPlan[] {
  const parts = new Map(
    workersIn(topologyOf(cluster)).map(({ kind, worker }) => [
      workerKey(kind, textAt(worker, 'name')),
      `${kind} ${textAt(worker, 'class')}`,
    ]),
  );
  return groups.map((group) => {
    const part = parts.get(workerKey(group.kind, group.group)) ?? 'control-plane';
    const isConcerned = refusal !== undefined || refusals.some((one) => one.part === undefined || one.part === part);
    const { held: _held, ...rest } = group;
    return isConcerned && group.verdict === 'unchanged' ? { ...rest, verdict: 'refused' } : group;
  });
}

/** The plan of a Cluster without a topology: what a user changed of its control plane and MachineDeployments. */
async function planWithout(planning: Planning, was: JsonObject | undefined, wanted: JsonObject): Promise<Outcome> {
  const { before, after, refusedTemplates, writes } = planning;
  const [old, now] = [existingOf(was ?? wanted, before.world, false), existingOf(wanted, after.world, false)];
  const changes: GroupChange[] = [];
  const add = (group: string, objects: GroupObjects | undefined, next: GroupObjects | undefined) => {
    const shown = (next ?? objects)?.object;
    if (shown === undefined) {
      return;
    }
    const [kind, name] = [textAt(shown, 'kind'), nameOf(shown)];
    const versions = [...new Set([objects, next].flatMap((of) => (of === undefined ? [] : [versionOf(of.object)])))];
    changes.push({
      cluster: wanted,
      group,
      kind,
      name,
      before: objects && storedGroup(objects, before.schemaOf),
      after: next && storedGroup(next, after.schemaOf),
      ...machinesOf(wanted, before.world, { kind, name, isControlPlane: group === 'control-plane' }),
      versions,
      notes: [],
      from: () => undefined,
    });
  };
  add('control-plane', old.controlPlane, now.controlPlane);
  for (const key of new Set([...old.workers.keys(), ...now.workers.keys()])) {
    const [next, previous] = [now.workers.get(key), old.workers.get(key)];
    add(nameOf((next ?? previous)?.object ?? {}), previous, next);
  }
  let controlPlane = controlPlaneAfter(changes);
  const groups: GroupPlan[] = [];
  for (const change of changes) {
    const [from, to] = [change.before?.object, change.after?.object];
    const refusal = from && to && !writes.isTaken(nameIn(to)) && controlPlaneOf(from)?.refusal?.(from, to, true);
    const unwritten = (to && writes.refusalOf(nameIn(to))) ?? (refusal ? { text: refusal } : undefined);
    if (unwritten !== undefined) {
      controlPlane = change.group === 'control-plane' ? from : controlPlane;
      groups.push({ ...unjudged(change, 'refused', replicasOf(from)), problems: [unwritten] });
      continue;
    }
    const group = await judge(planning, { ...change, controlPlane });
    const problem = [change.before?.infrastructure, change.before?.bootstrap]
      .map((template) => template && refusedTemplates.get(objectText(template)))
      .find((one) => one !== undefined);
    groups.push(
      problem === undefined
        ? group
        : {
            ...group,
            verdict: group.verdict === 'unchanged' ? 'refused' : group.verdict,
            problems: [...(group.problems ?? []), problem],
          },
    );
  }
  const none = { cluster: undefined, blueprint: undefined };
  addHealthChecks(planning, groups, changes, [none, none]);
  const unwritten = writes.refusalOf(nameIn(wanted));
  return unwritten === undefined
    ? { groups, problems: [], changes }
    : { groups: withRefusals(groups, wanted, unwritten, []), problems: [unwritten], changes };
}

/** The plan of a Cluster that is deleted, with all its Machines. */
function planDeletion({ before }: Planning, was: JsonObject): ClusterPlan {
  const existing = existingOf(was, before.world, hasTopology(was));
  const groups = groupsWithout(before.world, { cluster: was, existing }, was, 'deleted').map((group) => ({
    ...group,
    machines: { ...group.machines, after: 0 },
  }));
  return { cluster: namespacedName(was), groups, problems: [] };
}

/** @throws {NotKnown} if objects of the Cluster could not be read. */
async function planWritten(planning: Planning, was: JsonObject | undefined, wanted: JsonObject): Promise<ClusterPlan> {
  const cluster = namespacedName(wanted);
  const isTaken = planning.writes.isTaken(nameIn(wanted));
  if (was !== undefined && !isTaken && !hasTopology(wanted) && !isSame(writable(was), writable(wanted))) {
    const existing = existingOf(was, planning.before.world, hasTopology(was));
    const before = { cluster: was, blueprint: undefined, existing };
    const refusal = clusterRefusal(wanted, was, factsOf(planning.before, before, undefined));
    if (refusal !== undefined) {
      const groups = groupsWithout(planning.before.world, before, was, 'refused');
      return { cluster, groups, problems: [refusalProblem(wanted, refusal)] };
    }
  }
  const { groups, problems, changes } = await (hasTopology(wanted) ? planTopology : planWithout)(planning, was, wanted);
  planning.request.onObjects?.(
    cluster,
    changes.flatMap(({ before, after }) =>
      (['object', 'bootstrap', 'infrastructure'] as const)
        .map((part) => ({ before: before?.[part], after: after?.[part] }))
        .filter((pair) => !isSame(pair.before, pair.after)),
    ),
  );
  const isChanged = groups.some(({ verdict }) => verdict !== 'unchanged');
  const readings = isChanged ? planning.readings.map((text) => ({ text: `read otherwise since ${text}` })) : [];
  const checks = planning.refusedChecks.get(cluster) ?? [];
  const peak = peakOf(wanted, changes, groups);
  return {
    cluster,
    groups,
    ...(peak && { peak }),
    problems: [...problems, ...checks.map(({ problem }) => problem), ...readings],
  };
}

/** Health checks that an API server refuses, by their Clusters: no group shows them. */
function refusedHealthChecks(world: World, writes: RefusedWrites): Map<string, { problem: Problem }[]> {
  const refused = world.ofKind(coreGroup, 'MachineHealthCheck').flatMap((check) => {
    const problem = writes.refusalOf(nameIn(check));
    const cluster = `${namespaceOf(check)}/${textAt(check, 'spec', 'clusterName')}`;
    return problem === undefined ? [] : [{ cluster, problem: { ...problem, object: objectText(check) } }];
  });
  return Map.groupBy(refused, ({ cluster }) => cluster);
}

/** The plan of a Cluster. If its own objects could not be read, nothing is known about its groups. */
async function planCluster(
  planning: Planning,
  was: JsonObject | undefined,
  wanted: JsonObject,
  isDeleted: boolean,
): Promise<ClusterPlan> {
  try {
    return isDeleted
      ? planDeletion(planning, wanted)
      : withMadeUpNames(await planWritten(planning, was, wanted), [planning.before.world, planning.after.world]);
  } catch (error) {
    const { onBug, signal } = planning.request;
    const problem = error instanceof NotKnown ? error.problem : signal?.aborted ? undefined : onBug?.(error);
    if (problem === undefined) {
      throw error;
    }
    const existing = nothingExists;
    const groups = groupsWithout(planning.before.world, { cluster: was, existing }, wanted, 'unknown');
    return { cluster: namespacedName(wanted), groups, problems: [problem] };
  }
}

/** What is read of a Cluster; undefined if it is not known, or the plan of another one says nothing about it. */
async function readCluster(
  { before, after, writes, request, refusedChecks }: Planning,
  was: JsonObject | undefined,
  wanted: JsonObject,
): Promise<ReadCluster | undefined> {
  const isJudged = writes.isTaken(nameIn(wanted)) || writes.refusalOf(nameIn(wanted)) !== undefined;
  const isWatched = request.onObjects !== undefined || after.world.dryRun !== undefined;
  const hasTopologies = hasTopology(wanted) && (was === undefined || hasTopology(was));
  if (isJudged || isWatched || !hasTopologies || refusedChecks.has(namespacedName(wanted))) {
    return undefined;
  }
  try {
    const existing = existingOf(was ?? wanted, before.world, true);
    const classes = [was && (await ifKnown(before.classOf(was))), await ifKnown(after.classOf(wanted))];
    return { was, wanted, existing, worlds: [before.world, after.world], classes };
  } catch (error) {
    if (error instanceof NotKnown) {
      return undefined;
    }
    throw error;
  }
}

/** Templates keep the version in which classes refer to them, for which patches are written. */
function inNewest(world: World): World {
  const isOlder = (object: JsonObject) => !textAt(object, 'kind').endsWith('Template') && inV1beta2(object) !== object;
  const objects = [...world];
  return objects.some(isOlder)
    ? world.withObjects(objects.map((object) => (isOlder(object) ? inV1beta2(object) : object)))
    : world;
}

/** Notes which Clusters an extension is asked about. */
const noting =
  (call: CallHook, called: Set<string>): CallHook =>
  (one) => {
    called.add(`${one.object.namespace}/${one.object.name}`);
    return call(one);
  };

/**
 * Plans the effect of a change on the Machines of Clusters, once all steps of an upgrade are done.
 *
 * @param before the state as it is.
 * @param after the state as it will be, with what Cluster API makes itself as it is before (`layered`).
 */
export async function plan(before: World, after: World, request: PlanRequest): Promise<Plan> {
  const release: Release = request.clusterApiVersion ?? newestKnownRelease;
  const releaseBefore = request.clusterApiVersionBefore ?? release;
  const { isPlanned = () => true, signal } = request;
  const served = withNewDefinitions(before, after);
  const known =
    served.size === 0 ? before : before.withObjects([...before].map((object) => served.get(object) ?? object));
  const old = inNewest(known);
  const writes: RefusedWrites =
    request.isChecked === true
      ? { refusalOf: () => undefined, isTaken: () => false }
      : refusedWrites(before, after, schemasIn(after, release), request.answers);
  const { world, refusals, refusedTemplates } = accepted(old, inNewest(after), writes);
  const called = new Set<string>();
  const call = world.call && noting(world.call, called);
  const planning: Planning = {
    before: new PlannedState('before', old, releaseBefore, old.call && noting(old.call, called)),
    after: new PlannedState('after', world, release, call),
    refusals,
    writes,
    refusedTemplates,
    readings: readingsBetween(releaseBefore, release),
    refusedChecks: refusedHealthChecks(world, writes),
    request: { ...request, call },
  };
  const clustersOf = (state: World) =>
    state.ofKind(coreGroup, 'Cluster').filter((cluster) => isPlanned(namespaceOf(cluster), nameOf(cluster)));
  const gone = new Set(clustersOf(old).filter((cluster) => world.find(nameIn(cluster)) === undefined));
  const wanted = [...clustersOf(world), ...gone];
  const alike = new AlikeClusters(planning.after.schemaOf);
  // Without calls there is nothing to wait for.
  const clusters = await eachOf(wanted, world.call === undefined ? 1 : clustersAtOnce, async (cluster) => {
    signal?.throwIfAborted();
    const [was, isDeleted] = [old.find(nameIn(cluster)), gone.has(cluster)];
    const planOwn = async (reads?: OwnWordReads) => {
      const own = await planCluster({ ...planning, reads }, was, cluster, isDeleted);
      if (reads !== undefined && called.has(namespacedName(cluster))) {
        reads.hasMore = true;
      }
      return own;
    };
    const read = isDeleted ? undefined : await readCluster(planning, was, cluster);
    const clusterPlan = read === undefined ? await planOwn() : await alike.plan(read, planOwn);
    request.onCluster?.(clusterPlan);
    return clusterPlan;
  });
  return { clusters, sum: sumOf(clusters) };
}
