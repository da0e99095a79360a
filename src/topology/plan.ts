import { eachOf } from '../base/index.ts';
import { fieldAt, isSame, type JsonObject, lastAppliedAnnotation, objectAt, textAt } from '../kubernetes/index.ts';
import { DefaultsError } from '../kubernetes/schema/index.ts';
import { aggregate } from '../runtimehooks/client/index.ts';
import { newestKnownRelease, type Release } from '../runtimehooks/index.ts';
import { computed, inputFor, plannedSteps } from './desired/computed.ts';
import { hasTopology, topologyWorkers } from './desired/desired.ts';
import { type Existing, existingOf, machinesOf, workerKey } from './desired/existing.ts';
import {
  type ClusterInput,
  completedBy,
  groupChanges,
  referringTo,
  storedGroup,
  versionOf,
} from './desired/group-changes.ts';
import { controlPlaneRefusal, machineDeploymentRefusal } from './desired/object-refusals.ts';
import { classOf, PlannedState } from './desired/planned-state.ts';
import { accepted, classKey, type Refusals, refusedBy } from './desired/refusals.ts';
import { templateProblems } from './patches/patch-templates.ts';
import { judgeGroup } from './rollout/judge-group.ts';
import { replicasOf } from './rollout/machines.ts';
import { checkedTopology } from './variables/variables.ts';
import type { GroupChange, GroupObjects, PlanOptions } from './world/groups.ts';
import {
  coreGroup,
  isPaused,
  nameIn,
  nameOf,
  namespacedName,
  namespaceOf,
  Objects,
  objectText,
} from './world/objects.ts';
import type { ClusterPlan, GroupPlan, Plan, Problem, Verdict } from './world/plan.ts';
import { inV1beta2 } from './world/v1beta1.ts';

/** Maximum number of Clusters that are planned at a time: so many calls wait for extensions. */
const clustersAtOnce = 10;

/** What a plan is told besides the two states. */
export interface PlanRequest extends PlanOptions {
  /** Which Clusters are planned. Default: all. */
  isPlanned?: (namespace: string, name: string) => boolean;
  /** Called for each Cluster when its plan is made. */
  onCluster?: (plan: ClusterPlan) => void;
  /** Called with the objects of each Cluster that Cluster API makes or changes. */
  onObjects?: (
    cluster: string,
    objects: readonly { before: JsonObject | undefined; after: JsonObject | undefined }[],
  ) => void;
  /**
   * Has an API server default and check an object that Cluster API would write, without writing it. `existing`: what it
   * replaces. Default: only the defaults that are known are applied.
   */
  dryRun?: DryRun;
  signal?: AbortSignal;
}

/** What an API server says of an object; undefined if it cannot be asked about it. */
export type DryRun = (
  object: JsonObject,
  existing: JsonObject | undefined,
) => Promise<{ is: 'stored'; object: JsonObject } | { is: 'refused'; error: string } | undefined>;

interface Planning {
  before: PlannedState;
  after: PlannedState;
  refusals: Refusals;
  /** Templates whose changes are refused, with the reason. */
  refusedTemplates: ReadonlyMap<string, Problem>;
  request: PlanRequest;
}

/** A group about whose Machines nothing is known but their number. */
function unjudged(
  { group, kind, name }: Pick<GroupPlan, 'group' | 'kind' | 'name'>,
  verdict: Verdict,
  count: number,
): GroupPlan {
  return { group, kind, name, verdict, machines: { before: count, after: count, replaced: 0, inPlace: 0 }, causes: [] };
}

/** The groups of a Cluster, when it is not known what becomes of them, or nothing does. */
function groupsWithout(cluster: JsonObject, existing: Existing, verdict: Verdict): GroupPlan[] {
  const controlPlane = existing.controlPlane?.object;
  const topology = objectAt(cluster, 'spec', 'topology');
  const kind =
    textAt(controlPlane, 'kind') || textAt(cluster, 'spec', 'controlPlaneRef', 'kind') || 'KubeadmControlPlane';
  const own = controlPlane === undefined ? textAt(cluster, 'spec', 'controlPlaneRef', 'name') : nameOf(controlPlane);
  const count = replicasOf(controlPlane ?? { spec: objectAt(topology, 'controlPlane') });
  const workers = topologyWorkers(cluster).map(({ kind: workerKind, topology: settings }) => {
    const group = textAt(settings, 'name');
    const object = existing.workers.get(workerKey(workerKind, group))?.object;
    const size = object === undefined ? replicasOf({ spec: settings }) : replicasOf(object);
    return unjudged({ group, kind: workerKind, name: object === undefined ? '' : nameOf(object) }, verdict, size);
  });
  return [unjudged({ group: 'control-plane', kind, name: own }, verdict, count), ...workers];
}

/** A Cluster as it is stored: with the defaults of its variables. */
async function storedCluster(
  state: PlannedState,
  cluster: JsonObject,
): Promise<{ cluster: JsonObject; problems: string[] }> {
  const known = await state.classOf(cluster);
  if (known.is !== 'known') {
    return { cluster, problems: [] };
  }
  const { topology, problems } = checkedTopology(known.blueprint, cluster);
  return { cluster: { ...cluster, spec: { ...objectAt(cluster, 'spec'), topology } }, problems };
}

/** A Cluster that is applied without a list of variables keeps the one that is stored, with the defaults of then. */
function withKeptVariables(old: JsonObject | undefined, wanted: JsonObject): JsonObject {
  const variables = fieldAt(old, 'spec', 'topology', 'variables');
  const topology = objectAt(wanted, 'spec', 'topology');
  return variables === undefined || topology.variables !== undefined
    ? wanted
    : { ...wanted, spec: { ...objectAt(wanted, 'spec'), topology: { ...topology, variables } } };
}

/** What a write of an object changes: what its webhooks are asked about. */
function writable({ metadata, spec = {} }: JsonObject): JsonObject {
  const { labels, annotations } = objectAt(metadata);
  const { [lastAppliedAnnotation]: _applied, ...own } = objectAt(annotations);
  return { labels: objectAt(labels), annotations: own, spec };
}

/** A template that, with the API server's defaults, has the spec of the one before: Cluster API does not rotate it. */
const unrotated = (was: JsonObject | undefined, template: JsonObject): JsonObject =>
  was !== undefined && isSame(was.spec, template.spec)
    ? { ...template, metadata: { ...objectAt(template, 'metadata'), name: nameOf(was) } }
    : template;

const withVersion = (object: JsonObject, version: string): JsonObject => ({
  ...object,
  spec: { ...objectAt(object, 'spec'), version },
});

/** Objects as an API server would store them. A group that it refuses stays as it is, and Cluster API reports why. */
async function dryRunChanges(changes: readonly GroupChange[], dryRun: DryRun, problems: Problem[]): Promise<void> {
  for (const change of changes) {
    const { before, after, versions, notKnown } = change;
    if (before === undefined || after === undefined || notKnown !== undefined) {
      continue;
    }
    const isControlPlane = change.group === 'control-plane';
    const stored = { ...after };
    for (const part of ['infrastructure', 'bootstrap', 'object'] as const) {
      const [was, wanted] = [before[part], after[part]];
      if (wanted === undefined || isSame(was, wanted)) {
        continue;
      }
      // A control plane is upgraded minor by minor, and its webhook refuses two at once.
      const nextVersion = isControlPlane && part === 'object' && versions.length > 2 ? versions[1] : undefined;
      const sent = nextVersion === undefined ? wanted : withVersion(wanted, nextVersion);
      const answer = await dryRun(sent, was !== undefined && nameOf(was) === nameOf(wanted) ? was : undefined);
      if (answer?.is === 'refused') {
        problems.push({ text: `the API server refuses ${objectText(wanted)}: ${answer.error}` });
        Object.assign(stored, before);
        break;
      }
      stored[part] = answer === undefined ? wanted : unrotated(was, answer.object);
      if (nextVersion !== undefined) {
        stored[part] = withVersion(stored[part], textAt(wanted, 'spec', 'version'));
      }
    }
    change.after = { ...stored, object: referringTo(stored, isControlPlane) };
  }
}

/** The plan of a Cluster with a topology. */
async function planTopology(
  planning: Planning,
  was: JsonObject | undefined,
  wanted: JsonObject,
): Promise<{ groups: GroupPlan[]; problems: Problem[]; changes: readonly GroupChange[] }> {
  const { before, after, refusals, request } = planning;
  const isTopologyBefore = was !== undefined && hasTopology(was);
  const clusterBefore = isTopologyBefore ? (await storedCluster(before, was)).cluster : was;
  const existing = existingOf(clusterBefore ?? wanted, before.objects, true);
  const problems: Problem[] = [];
  let cluster = clusterBefore ?? wanted;
  const unknown = (problem: Problem) => ({
    groups: groupsWithout(cluster, existing, 'unknown'),
    problems: [...problems, problem],
    changes: [],
  });
  const classBefore = isTopologyBefore ? await before.classOf(clusterBefore as JsonObject) : undefined;
  const blueprintBefore = classBefore?.is === 'known' ? classBefore.blueprint : undefined;
  const classAfter = await after.classOf(wanted);
  if (classAfter.is === 'unknown' || classAfter.is === 'missing') {
    cluster = wanted;
    const { problem } = classAfter;
    return unknown(classAfter.is === 'missing' ? { ...problem, object: `Cluster ${namespacedName(wanted)}` } : problem);
  }
  let isRefused = false;
  const applied = withKeptVariables(clusterBefore, wanted);
  // Nobody writes a Cluster that is applied as it is.
  if (clusterBefore === undefined || !isSame(writable(clusterBefore), writable(applied))) {
    const checked = await storedCluster(after, applied);
    const blueprintAfter = classAfter.is === 'known' ? classAfter.blueprint : undefined;
    const reasons = refusedBy(clusterBefore, checked, existing, blueprintBefore, blueprintAfter);
    if (reasons.length > 0) {
      problems.push({ text: `Cluster API refuses Cluster ${namespacedName(wanted)}: ${reasons.join('; ')}` });
      isRefused = true;
    } else {
      ({ cluster } = checked);
    }
  }
  if (isRefused && clusterBefore === undefined) {
    return { groups: groupsWithout(wanted, existing, 'refused'), problems, changes: [] };
  }
  const affected = refusals.get(classKey(classOf(cluster))) ?? [];
  problems.push(...new Set(affected.map(({ problem }) => problem)));
  const parts = new Map(
    topologyWorkers(cluster).map(({ kind, topology }) => [
      workerKey(kind, textAt(topology, 'name')),
      `${kind} ${textAt(topology, 'class')}`,
    ]),
  );
  const partOf = ({ group, kind }: GroupPlan): string => parts.get(workerKey(kind, group)) ?? 'control-plane';
  const asRefused = (groups: GroupPlan[]): GroupPlan[] =>
    groups.map((group) => {
      const isAffected = isRefused || affected.some((one) => one.part === undefined || one.part === partOf(group));
      return isAffected && group.verdict === 'unchanged' ? { ...group, verdict: 'refused' } : group;
    });
  const stopped = (problem: Problem) => ({
    groups: asRefused(groupsWithout(cluster, existing, 'unchanged')),
    problems: [...problems, problem],
    changes: [],
  });
  const halted = (why: { is: string; problem: Problem }) =>
    why.is === 'stopped' ? stopped(why.problem) : unknown(why.problem);
  const known = await after.classOf(cluster);
  if (known.is !== 'known') {
    return halted(known);
  }
  const { blueprint } = known;
  // The controller, too, fills in defaults, and checks variables: of a Cluster that was written before its class.
  const { cluster: defaulted, problems: invalid } = await storedCluster(after, cluster);
  if (invalid.length > 0) {
    return stopped({
      text: `Cluster.${coreGroup} ${JSON.stringify(nameOf(cluster))} is invalid: ${aggregate(invalid)}`,
    });
  }
  cluster = defaulted;
  // Objects that exist are what an extension's old release left: it is asked only without them.
  const hasObjects = existing.controlPlane !== undefined;
  const inputBefore =
    blueprintBefore === undefined
      ? undefined
      : inputFor(before.release, clusterBefore as JsonObject, blueprintBefore, existing);
  const computedBefore =
    inputBefore === undefined ? undefined : await computed(before, inputBefore, { callsExtensions: !hasObjects });
  if (computedBefore?.is === 'unknown' && !hasObjects) {
    return unknown(computedBefore.problem);
  }
  const desiredBefore = computedBefore?.is === 'desired' ? computedBefore.desired : undefined;
  const there = completedBy(existing, desiredBefore, before.schemaOf);
  const input = inputFor(after.release, cluster, blueprint, there);
  const steps = await plannedSteps(after, input, there);
  if (steps.is !== 'planned') {
    return halted(steps);
  }
  const result = await computed(after, input, { before: desiredBefore });
  if (result.is !== 'desired') {
    return halted(result);
  }
  const object = `Cluster ${namespacedName(cluster)}`;
  for (const problem of templateProblems(result.desired.patched, after.crdSchemaOf)) {
    problems.push({ ...problem, object });
  }
  const changesInput: ClusterInput = {
    before,
    after,
    cluster,
    existing: there,
    desiredBefore,
    originsBefore: inputBefore && { input: inputBefore, patched: desiredBefore?.patched },
    desired: result.desired,
    steps: steps.plan,
  };
  const { changes, problems: writing } = groupChanges(changesInput);
  if (request.dryRun !== undefined) {
    await dryRunChanges(changes, request.dryRun, writing);
  }
  const groups: GroupPlan[] = [];
  for (const change of changes) {
    groups.push(
      change.notKnown === undefined
        ? await judgeGroup(change, request)
        : { ...unjudged(change, 'unknown', replicasOf(change.before?.object)), problems: [change.notKnown] },
    );
  }
  if (isPaused(cluster)) {
    const waiting = groups
      .filter(({ verdict }) => verdict !== 'unchanged')
      .map(({ group, verdict }) => `${group} ${verdict}`);
    const text = `Cluster ${namespacedName(cluster)} is paused: nothing happens before it is resumed${waiting.length === 0 ? '' : `; then: ${waiting.join(', ')}`}`;
    const still = clusterBefore === undefined ? [] : groupsWithout(clusterBefore, there, 'unchanged');
    return { groups: asRefused(still), problems: [...problems, { text }], changes: [] };
  }
  return { groups: asRefused(groups), problems: [...problems, ...writing], changes };
}

/** The plan of a Cluster without a topology: what a user changed of its control plane and MachineDeployments. */
async function planWithout(
  { before, after, refusedTemplates, request }: Planning,
  was: JsonObject | undefined,
  wanted: JsonObject,
): Promise<{ groups: GroupPlan[]; problems: Problem[]; changes: readonly GroupChange[] }> {
  const [old, now] = [existingOf(was ?? wanted, before.objects, false), existingOf(wanted, after.objects, false)];
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
      ...machinesOf(wanted, before.objects, { kind, name, isControlPlane: group === 'control-plane' }),
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
  const groups: GroupPlan[] = [];
  for (const change of changes) {
    const [from, to] = [change.before?.object, change.after?.object];
    const refusal = from && to && (controlPlaneRefusal(from, to, true) ?? machineDeploymentRefusal(from, to));
    if (refusal !== undefined) {
      groups.push({ ...unjudged(change, 'refused', replicasOf(from)), problems: [{ text: refusal }] });
      continue;
    }
    const group = await judgeGroup(change, request);
    const template = change.before?.infrastructure;
    const problem = template && refusedTemplates.get(objectText(template));
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
  return { groups, problems: [], changes };
}

/** The fields of a Cluster that Cluster API's webhook does not let a write remove, in its words. */
function refusedRemovals(was: JsonObject | undefined, wanted: JsonObject): string[] {
  const texts = {
    infrastructureRef: 'cannot be removed',
    controlPlaneRef: 'cannot be removed',
    topology: 'cannot be removed from an existing Cluster',
  };
  return Object.entries(texts)
    .filter(([field]) => fieldAt(was, 'spec', field) !== undefined && fieldAt(wanted, 'spec', field) === undefined)
    .map(([field, text]) => `spec.${field}: Forbidden: ${text}`);
}

async function planCluster(planning: Planning, was: JsonObject | undefined, wanted: JsonObject): Promise<ClusterPlan> {
  const cluster = namespacedName(wanted);
  const removals = refusedRemovals(was, wanted);
  if (was !== undefined && removals.length > 0) {
    const existing = existingOf(was, planning.before.objects, hasTopology(was));
    const text = `Cluster API refuses Cluster ${cluster}: ${removals.join('; ')}`;
    return { cluster, groups: groupsWithout(was, existing, 'refused'), problems: [{ text }] };
  }
  const planned = (hasTopology(wanted) ? planTopology : planWithout)(planning, was, wanted);
  const { groups, problems, changes } = await planned.catch((error: unknown) => {
    if (!(error instanceof DefaultsError)) {
      throw error;
    }
    const existing = existingOf(was ?? wanted, planning.before.objects, hasTopology(wanted));
    const text = `what becomes of Cluster ${cluster} is not known: ${error.message}`;
    const problem = { text, object: `Cluster ${cluster}` };
    return { groups: groupsWithout(wanted, existing, 'unknown'), problems: [problem], changes: [] };
  });
  planning.request.onObjects?.(
    cluster,
    changes.flatMap(({ before, after }) =>
      (['object', 'bootstrap', 'infrastructure'] as const)
        .map((part) => ({ before: before?.[part], after: after?.[part] }))
        .filter((pair) => !isSame(pair.before, pair.after)),
    ),
  );
  return { cluster, groups, problems };
}

/** Templates keep the version in which classes refer to them, for which patches are written. */
const inNewest = (objects: Objects): Objects =>
  new Objects([...objects].map((object) => (textAt(object, 'kind').endsWith('Template') ? object : inV1beta2(object))));

/**
 * What a change of objects does to the Machines of Clusters: once all steps of an upgrade are done.
 *
 * @param before what there is.
 * @param after what there will be, with what Cluster API makes itself as it is before (`layered`).
 */
export async function plan(before: Objects, after: Objects, request: PlanRequest): Promise<Plan> {
  const release: Release = request.clusterApiVersion ?? newestKnownRelease;
  const { isPlanned = () => true, signal } = request;
  const old = inNewest(before);
  const { objects, refusals, refusedTemplates } = accepted(old, inNewest(after));
  const planning: Planning = {
    before: new PlannedState('before', old, release, request.call),
    after: new PlannedState('after', objects, release, request.call),
    refusals,
    refusedTemplates,
    request,
  };
  const wanted = objects
    .ofKind(coreGroup, 'Cluster')
    .filter((cluster) => isPlanned(namespaceOf(cluster), nameOf(cluster)));
  // Without calls there is nothing to wait for.
  const clusters = await eachOf(wanted, request.call === undefined ? 1 : clustersAtOnce, async (cluster) => {
    signal?.throwIfAborted();
    const clusterPlan = await planCluster(planning, old.get(nameIn(cluster)), cluster);
    request.onCluster?.(clusterPlan);
    return clusterPlan;
  });
  const groups = clusters.flatMap((cluster) => cluster.groups);
  const sum = (pick: (group: GroupPlan) => number) => groups.reduce((total, group) => total + pick(group), 0);
  return {
    clusters,
    sum: {
      clusters: clusters.length,
      machines: sum(({ machines }) => machines.before),
      replaced: sum(({ machines }) => machines.replaced),
    },
  };
}
