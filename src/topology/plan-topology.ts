import { eachOf } from '../base/index.ts';
import {
  fieldAt,
  isSame,
  type JsonObject,
  nameOf,
  namespacedName,
  namespaceOf,
  objectAt,
  objectText,
  textAt,
} from '../kubernetes/index.ts';
import { coreGroup, newestKnownRelease } from '../runtimehooks/index.ts';
import { AlikeClusters, type ReadCluster } from './alike.ts';
import { servedBefore } from './desired/definitions.ts';
import { existingOf, factsIn, machinesOf, nothingExists } from './desired/existing.ts';
import { ifKnown, PlannedState, schemasIn } from './desired/planned-state.ts';
import { type AcceptedWrites, accepted } from './desired/refusals.ts';
import { inV1beta2 } from './manifests/v1beta1.ts';
import type { ClusterBefore, Planning, PlanRequest } from './planning.ts';
import { admittedCluster, refusalProblem } from './refusals/index.ts';
import { groupsWithout, peakOf } from './rollout/index.ts';
import type { OwnWordReads } from './templates/index.ts';
import { withVariables } from './variables/variables.ts';
import { planTopology } from './with-topology.ts';
import { planWithout } from './without-topology.ts';
import { type CallHook, groupParts } from './world/groups.ts';
import { withMadeUpNames } from './world/names.ts';
import { asEnd, NotKnown } from './world/not-known.ts';
import { nameIn, writable } from './world/objects.ts';
import { type ClusterPlan, type Plan, type Problem, sumOf } from './world/plan-document.ts';
import { readingsBetween } from './world/releases.ts';
import { hasTopology, topologyOf } from './world/topologies.ts';
import type { World } from './world/world.ts';

const clustersAtOnce = 10;

interface ClusterChange {
  was: JsonObject | undefined;
  wanted: JsonObject;
  isDeleted: boolean;
}

function planDeletion({ before }: Planning, was: JsonObject): ClusterPlan {
  const existing = existingOf(was, before.world, hasTopology(was));
  const groups = groupsWithout(before.world, { cluster: was, existing }, was, 'deleted').map((group) => ({
    ...group,
    machines: { ...group.machines, after: 0 },
  }));
  return { cluster: namespacedName(was), groups, problems: [] };
}

async function clusterBefore(
  state: PlannedState,
  was: JsonObject | undefined,
  wanted: JsonObject,
): Promise<ClusterBefore> {
  const blueprint = was !== undefined && hasTopology(was) ? await ifKnown(state.classOf(was)) : undefined;
  const cluster = was && blueprint ? withVariables(blueprint, was).cluster : was;
  const isTopology = hasTopology(was) || hasTopology(wanted);
  return { cluster, blueprint, existing: existingOf(cluster ?? wanted, state.world, isTopology) };
}

/** A Cluster that is applied without a list of variables keeps the one that is stored, with the defaults of then. */
function withKeptVariables(old: JsonObject | undefined, wanted: JsonObject): JsonObject {
  const variables = fieldAt(topologyOf(old), 'variables');
  const topology = topologyOf(wanted);
  return variables === undefined || topology.variables !== undefined || !hasTopology(wanted)
    ? wanted
    : { ...wanted, spec: { ...objectAt(wanted, 'spec'), topology: { ...topology, variables } } };
}

/** The Cluster that is stored after a write, and why that is refused: then the Cluster stays as it is, and a new one is not stored. */
async function written(
  { before: { world }, after, writes }: Planning,
  before: ClusterBefore,
  wanted: JsonObject,
): Promise<{ cluster: JsonObject; refusal: Problem | undefined }> {
  const { cluster: was } = before;
  const unwritten = writes.refusalOf(nameIn(wanted));
  if (unwritten !== undefined) {
    return { cluster: was ?? wanted, refusal: unwritten };
  }
  const applied = withKeptVariables(was, wanted);
  // Nobody writes a Cluster that is applied as it is.
  const isUnchanged = was !== undefined && isSame(writable(was), writable(applied));
  if (isUnchanged || writes.isTaken(nameIn(wanted))) {
    return { cluster: isUnchanged ? was : wanted, refusal: undefined };
  }
  const blueprint = hasTopology(wanted) ? await ifKnown(after.classOf(wanted)) : undefined;
  // As they are before the change, with their status.
  const facts = {
    ...factsIn(before.existing, blueprint, before.blueprint),
    machinesOf: (object: JsonObject) => {
      const worker = { group: '', kind: textAt(object, 'kind'), name: nameOf(object) };
      return machinesOf(was ?? {}, world, worker).machines?.map(({ machine }) => machine) ?? [];
    },
  };
  const { cluster, refusal } = admittedCluster(applied, was, facts);
  return refusal === undefined
    ? { cluster, refusal }
    : { cluster: was ?? wanted, refusal: refusalProblem(wanted, refusal) };
}

/** @throws {NotKnown} if objects of the Cluster could not be read. */
async function planWritten(planning: Planning, was: JsonObject | undefined, wanted: JsonObject): Promise<ClusterPlan> {
  const cluster = namespacedName(wanted);
  const before = await clusterBefore(planning.before, was, wanted);
  const stored = await written(planning, before, wanted);
  if (was === undefined && stored.refusal !== undefined) {
    const groups = groupsWithout(planning.before.world, before, wanted, 'refused');
    return { cluster, groups, problems: [stored.refusal] };
  }
  const planStored = hasTopology(stored.cluster) ? planTopology : planWithout;
  const { groups, problems, changes } = await planStored(planning, before, stored);
  planning.request.onObjects?.(
    cluster,
    changes.flatMap(({ before: old, after }) =>
      groupParts
        .map((part) => ({ before: old?.[part], after: after?.[part] }))
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

/** The plan of a Cluster. If its own objects could not be read, nothing is known about its groups. */
async function planCluster(planning: Planning, { was, wanted, isDeleted }: ClusterChange): Promise<ClusterPlan> {
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

/** Health checks that an API server refuses, by their Clusters: no group shows them. */
function refusedHealthChecks(world: World, writes: AcceptedWrites): Map<string, { problem: Problem }[]> {
  const refused = world.ofKind(coreGroup, 'MachineHealthCheck').flatMap((check) => {
    const problem = writes.refusalOf(nameIn(check));
    const cluster = `${namespaceOf(check)}/${textAt(check, 'spec', 'clusterName')}`;
    return problem === undefined ? [] : [{ cluster, problem: { ...problem, object: objectText(check) } }];
  });
  return Map.groupBy(refused, ({ cluster }) => cluster);
}

/** What is read of a Cluster; undefined if it is not known, or the plan of another one says nothing about it. */
async function readCluster(
  { before, after, writes, request, refusedChecks }: Planning,
  { was, wanted, isDeleted }: ClusterChange,
): Promise<ReadCluster | undefined> {
  const isJudged = writes.isTaken(nameIn(wanted)) || writes.refusalOf(nameIn(wanted)) !== undefined;
  const isWatched = request.onObjects !== undefined || after.world.dryRun !== undefined;
  const hasTopologies = hasTopology(wanted) && (was === undefined || hasTopology(was));
  if (isDeleted || isJudged || isWatched || !hasTopologies || refusedChecks.has(namespacedName(wanted))) {
    return undefined;
  }
  try {
    const existing = existingOf(was ?? wanted, before.world, true);
    const classes = [was && (await ifKnown(before.classOf(was))), await ifKnown(after.classOf(wanted))];
    return { was, wanted, existing, worlds: [before.world, after.world], classes };
  } catch (error) {
    asEnd(error);
    return undefined;
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

const noting = (call: CallHook | undefined, called: Set<string>): CallHook | undefined =>
  call &&
  ((one) => {
    called.add(`${one.object.namespace}/${one.object.name}`);
    return call(one);
  });

function planningOf(before: World, after: World, request: PlanRequest, called: Set<string>): Planning {
  const release = request.clusterApiVersion ?? newestKnownRelease;
  const releaseBefore = request.clusterApiVersionBefore ?? release;
  const old = inNewest(servedBefore(before, after));
  const schemaOf = request.isChecked === true ? undefined : schemasIn(after, release);
  const writes = accepted([before, after], [old, inNewest(after)], schemaOf, request.answers);
  const call = noting(writes.world.call, called);
  return {
    before: new PlannedState('before', old, releaseBefore, noting(old.call, called)),
    after: new PlannedState('after', writes.world, release, call),
    writes,
    readings: readingsBetween(releaseBefore, release),
    refusedChecks: refusedHealthChecks(writes.world, writes),
    request: { ...request, call },
  };
}

/** The Clusters of both states that are planned: those that are deleted come last. */
function clusterChanges({ before, after, request }: Planning): ClusterChange[] {
  const { isPlanned = () => true } = request;
  const clustersOf = ({ world }: PlannedState) =>
    world.ofKind(coreGroup, 'Cluster').filter((cluster) => isPlanned(namespaceOf(cluster), nameOf(cluster)));
  const gone = clustersOf(before).filter((cluster) => after.world.find(nameIn(cluster)) === undefined);
  return [
    ...clustersOf(after).map((wanted) => ({ was: before.world.find(nameIn(wanted)), wanted, isDeleted: false })),
    ...gone.map((cluster) => ({ was: cluster, wanted: cluster, isDeleted: true })),
  ];
}

/** The effect on Machines, once all steps of an upgrade are done. `after` has what Cluster API makes as it is `before`. */
export async function plan(before: World, after: World, request: PlanRequest): Promise<Plan> {
  const called = new Set<string>();
  const planning = planningOf(before, after, request, called);
  const alike = new AlikeClusters(planning.after.schemaOf);
  const planOne = async (change: ClusterChange): Promise<ClusterPlan> => {
    const planOwn = async (reads?: OwnWordReads) => {
      const own = await planCluster({ ...planning, reads }, change);
      if (reads !== undefined && called.has(namespacedName(change.wanted))) {
        reads.hasMore = true;
      }
      return own;
    };
    const read = await readCluster(planning, change);
    return read === undefined ? planOwn() : alike.plan(read, planOwn);
  };
  // Without calls there is nothing to wait for.
  const atOnce = planning.request.call === undefined ? 1 : clustersAtOnce;
  const clusters = await eachOf(clusterChanges(planning), atOnce, async (change) => {
    request.signal?.throwIfAborted();
    const clusterPlan = await planOne(change);
    request.onCluster?.(clusterPlan);
    return clusterPlan;
  });
  return { clusters, sum: sumOf(clusters) };
}
