import { isIPv4, isIPv6 } from 'node:net';
import { repeated } from '../../base/index.ts';
import { pendingHooksAnnotation } from '../../extensionconfig/index.ts';
import { invalidNames } from '../../kubernetes/custom-resources/index.ts';
import {
  fieldAt,
  itemsAt,
  type JsonObject,
  labelValueProblems,
  nameOf,
  objectAt,
  objectsAt,
  own,
  type StatusCause,
  textAt,
  textValues,
} from '../../kubernetes/index.ts';
import { causeOf, forbiddenField, found, invalid, required } from '../../kubernetes/schema/index.ts';
import { aggregate } from '../../runtimehooks/client/index.ts';
import { compareBuilds, formatVersion, type KubernetesVersion, parseTolerantly } from '../../runtimehooks/index.ts';
import type { Blueprint } from '../blueprint/blueprint.ts';
import { withVariables } from '../variables/variables.ts';
import { type Refusal, webhookRefusal } from '../world/refusal.ts';
import { classNameOf, classOf, hasTopology, partsIn, topologyOf, workerLists, workersIn } from '../world/topologies.ts';
import { autoscalerCauses, incompatibleClassCauses } from './cluster-class.ts';
import {
  integerProblem,
  isDefinedCheck,
  isSemanticVersion,
  metadataCausesOf,
  partCheckCauses,
  rolloutCauses,
  taintCauses,
  usesClassCheck,
  versionCauses,
} from './parts.ts';

// The refusals of Cluster API's webhooks for Clusters (core/webhooks/admission/cluster.go, v1.14).

const unsafe = 'unsafe.topology.cluster.x-k8s.io';
const unsafeClassAnnotation = `${unsafe}/disable-update-class-name-check`;
const unsafeVersionAnnotation = `${unsafe}/disable-update-version-check`;

const annotationOf = (cluster: JsonObject, name: string): string | undefined =>
  own(textValues(objectAt(cluster, 'metadata', 'annotations')), name);

const concurrencyAnnotation = 'topology.cluster.x-k8s.io/upgrade-concurrency';

/** How many groups of workers of one kind may be upgraded at a time. */
export const upgradeConcurrency = (cluster: JsonObject): number =>
  Math.max(1, Number(annotationOf(cluster, concurrencyAnnotation) ?? '') || 1);

/** The objects that webhooks look up besides the Cluster. */
export interface ClusterFacts {
  /** Its class, with the variables that are defined; undefined where it is not known, or does not exist. */
  blueprint: Blueprint | undefined;
  /** Whether the class does not exist, as opposed to not being known. */
  isClassMissing?: boolean;
  /** The spec of the class that it had before; undefined where it is not known. */
  oldClass: JsonObject | undefined;
  /** Its control plane; `unreferenced` where the Cluster has none yet; undefined where it is not known. */
  controlPlane: JsonObject | 'unreferenced' | undefined;
  /** Its MachineDeployments and MachinePools that belong to the topology. */
  workers: readonly JsonObject[];
  machinesOf?: (machineDeployment: JsonObject) => readonly JsonObject[];
}

const hasClass = (cluster: JsonObject): boolean => classOf(cluster).name !== '';

const reference = (cluster: JsonObject | undefined, field: string): boolean =>
  Object.keys(objectAt(cluster, 'spec', field)).length > 0;

/** Whether a text is a network, as Go's net.ParseCIDR reads it. */
function isCidr(text: string): boolean {
  const [, address = '', bits = ''] = /^([^/%]*)\/(\d{1,3})$/.exec(text) ?? [];
  return Number(bits) <= (isIPv4(address) ? 32 : isIPv6(address) ? 128 : -1);
}

function* networkCauses(cluster: JsonObject): Generator<StatusCause> {
  for (const part of ['pods', 'services']) {
    for (const [index, cidr] of itemsAt(cluster, 'spec', 'clusterNetwork', part, 'cidrBlocks').entries()) {
      if (typeof cidr === 'string' && !isCidr(cidr)) {
        yield invalid(`spec.clusterNetwork.${part}.cidrBlocks[${index}]`, cidr, `invalid CIDR address: ${cidr}`);
      }
    }
  }
}

function* concurrencyCauses(cluster: JsonObject): Generator<StatusCause> {
  const text = annotationOf(cluster, concurrencyAnnotation);
  if (text === undefined) {
    return;
  }
  const field = `metadata.annotations.${concurrencyAnnotation}`;
  const problem = integerProblem(text);
  yield* found(
    problem !== undefined && invalid(field, text, `could not parse the value of the annotation: ${problem}`),
    problem === undefined && Number(text) < 1 && invalid(field, text, 'value cannot be less than 1'),
  );
}

function* groupCauses(topology: JsonObject, { spec, name: className }: Blueprint): Generator<StatusCause> {
  const classes = new Set(workersIn(spec).map(({ ofClass }) => ofClass));
  const groups = workersIn(topology);
  const namesakes = new Set(repeated(groups, ({ kind, worker }) => `${kind} ${textAt(worker, 'name')}`));
  for (const group of groups) {
    const { kind, list, index, worker, ofClass } = group;
    const path = `spec.topology.workers.${list}[${index}]`;
    const [name, used] = [textAt(worker, 'name'), textAt(worker, 'class')];
    const missing = `${kind}Class with name ${JSON.stringify(used)} does not exist in ClusterClass ${JSON.stringify(className)}`;
    const twice = `name must be unique. ${kind} with name ${JSON.stringify(name)} is defined more than once`;
    yield* found(
      !classes.has(ofClass) && invalid(`${path}.class`, used, missing),
      name === '' && required(`${path}.name`, 'name must not be empty'),
      name !== '' && namesakes.has(group) && invalid(`${path}.name`, name, twice),
    );
  }
}

const unavailable =
  'cannot be set to true as healthCheck definition is not available in the Cluster topology or the ClusterClass';

function* topologyCheckCauses(topology: JsonObject, { spec }: Blueprint): Generator<StatusCause> {
  const classes = new Map(partsIn(spec, 'spec').map(({ ofClass, part }) => [ofClass, part]));
  for (const one of partsIn(topology, 'spec.topology')) {
    const { kind, part, path, ofClass } = one;
    yield* partCheckCauses(one, objectAt(spec, 'controlPlane'), 'topology');
    const known = classes.get(ofClass);
    const isMissing = known !== undefined && !isDefinedCheck(objectAt(known, 'healthCheck'));
    const isWanted = kind !== 'MachinePool' && usesClassCheck(part);
    yield* found(isWanted && isMissing && forbiddenField(`${path}.healthCheck.enable`, unavailable));
  }
}

const otherVersions = 'version must match one of the versions defined in the ClusterClass';

function* classCauses(topology: JsonObject, blueprint: Blueprint): Generator<StatusCause> {
  const version = textAt(topology, 'version');
  const isOther = blueprint.versions.length > 0 && !blueprint.versions.includes(version);
  yield* found(isOther && invalid('spec.topology.version', version, otherVersions));
  yield* groupCauses(topology, blueprint);
  yield* topologyCheckCauses(topology, blueprint);
}

const noVersion: KubernetesVersion = { text: '', numbers: [0, 0, 0], pre: '', build: '' };
const shown = (version: KubernetesVersion): string => formatVersion(version).slice(1);
const isZero = ({ numbers }: KubernetesVersion): boolean => numbers.every((part) => part === 0);
const released = (version: KubernetesVersion): KubernetesVersion => ({ ...version, pre: '', build: '' });

/** The first version that a Cluster cannot be upgraded to in one write; undefined if its class or an extension decides. */
function ceilingOf({ numbers: [major, minor] }: KubernetesVersion, blueprint: Blueprint | undefined) {
  const isDecided = blueprint !== undefined && (blueprint.versions.length > 0 || blueprint.planHandler !== undefined);
  // Without the class, it is not known whether it names versions: those of another major it would not.
  const numbers = blueprint === undefined ? ([major + 1, 0, 0] as const) : ([major, minor + 2, 0] as const);
  return isDecided ? undefined : { ...noVersion, numbers };
}

/** Why a version is not taken, by the two versions alone. */
function stepProblem(from: KubernetesVersion, to: KubernetesVersion, blueprint: Blueprint | undefined) {
  const texts = `from ${JSON.stringify(shown(from))} to ${JSON.stringify(shown(to))}`;
  if (!isZero(from) && !isZero(to) && compareBuilds(released(to), released(from)) < 0) {
    return `version cannot be decreased ${texts}`;
  }
  const ceiling = ceilingOf(from, blueprint);
  return ceiling && compareBuilds(released(to), ceiling) >= 0 ? `version cannot be increased ${texts}` : undefined;
}

const upgrading = 'failed to check if control plane is upgrading';

/** Why the control plane is not ready for another version; undefined if it is, or if that is not known. */
function controlPlaneProblem(controlPlane: ClusterFacts['controlPlane'], from: KubernetesVersion): string | undefined {
  if (controlPlane === undefined) {
    return undefined;
  }
  if (controlPlane === 'unreferenced') {
    return `${upgrading}: failed to get control plane object: cannot get object - object reference not set`;
  }
  const version = parseTolerantly(textAt(controlPlane, 'spec', 'version'));
  if (version === undefined) {
    return undefined;
  }
  if (shown(version) !== shown(from)) {
    return `Cluster.spec.topology.version ${shown(from)} was not propagated to control plane yet (control plane version ${shown(version)})`;
  }
  // Without a status, the object comes from files: what became of it is not known.
  if (fieldAt(controlPlane, 'status') === undefined) {
    return undefined;
  }
  const versions = objectsAt(controlPlane, 'status', 'versions').map((one) => textAt(one, 'version'));
  const own = textAt(controlPlane, 'status', 'version');
  const current = (versions.length > 0 ? versions : [own]).filter((text) => text !== '');
  if (current.length === 0) {
    return 'control plane is currently provisioning';
  }
  const isLate = current.some((text) => compareBuilds(version, parseTolerantly(text) ?? version) >= 1);
  return isLate ? 'control plane is still completing a previous upgrade' : undefined;
}

/** Whether a group of workers has another version than the topology, or Machines that have. */
function isUpgrading(group: JsonObject, from: KubernetesVersion, machines: readonly JsonObject[]): boolean {
  const text = textAt(group, 'spec', 'template', 'spec', 'version');
  const version = parseTolerantly(text);
  return (
    text !== '' &&
    ((version !== undefined && shown(version) !== shown(from)) ||
      machines.some((machine) => {
        const kubelet = textAt(machine, 'status', 'nodeInfo', 'kubeletVersion');
        return textAt(machine, 'spec', 'version') !== text || (kubelet !== '' && kubelet !== text);
      }))
  );
}

function workerProblems({ workers, machinesOf }: ClusterFacts, from: KubernetesVersion): string[] {
  return Object.keys(workerLists).flatMap((kind) => {
    const late = workers.filter(
      (group) =>
        group.kind === kind && isUpgrading(group, from, kind === 'MachinePool' ? [] : (machinesOf?.(group) ?? [])),
    );
    const names = late.map(nameOf).join(', ');
    return late.length === 0 ? [] : [`there are still ${kind}s completing a previous upgrade: [${names}]`];
  });
}

/** Why Cluster API's webhook refuses another version of a Cluster with `pending` hooks; undefined if it takes it. */
function versionProblem(from: string, to: string, pending: string, facts: ClusterFacts): string | undefined {
  const [old, now] = [parseTolerantly(from) ?? noVersion, parseTolerantly(to) ?? noVersion];
  if (shown(old) === shown(now)) {
    return undefined;
  }
  const step = stepProblem(old, now, facts.blueprint);
  if (step !== undefined) {
    return step;
  }
  if (pending.split(',').includes('AfterClusterUpgrade')) {
    return 'version cannot be changed when the "AfterClusterUpgrade" hook is still blocking';
  }
  const ofControlPlane = controlPlaneProblem(facts.controlPlane, old);
  const reasons = [...(ofControlPlane === undefined ? [] : [ofControlPlane]), ...workerProblems(facts, old)];
  return reasons.length === 0 ? undefined : `version cannot be changed: ${aggregate(reasons)}`;
}

const versionWords = 'version must be a valid semantic version';

function* versionUpdateCauses(cluster: JsonObject, old: JsonObject, facts: ClusterFacts): Generator<StatusCause> {
  const field = 'spec.topology.version';
  const [from, to] = [textAt(topologyOf(old), 'version'), textAt(topologyOf(cluster), 'version')];
  yield* found(
    parseTolerantly(to) === undefined && invalid(field, to, versionWords),
    parseTolerantly(from) === undefined && invalid(field, from, 'old version must be a valid semantic version'),
  );
  if (annotationOf(cluster, unsafeVersionAnnotation) !== undefined) {
    return;
  }
  const problem = versionProblem(from, to, annotationOf(cluster, pendingHooksAnnotation) ?? '', facts);
  yield* found(problem !== undefined && invalid(field, to, problem));
}

function* topologyUpdateCauses(cluster: JsonObject, old: JsonObject, facts: ClusterFacts): Generator<StatusCause> {
  if (facts.isClassMissing === true) {
    yield causeOf('InternalError', 'spec.topology.class', undefined, `ClusterClass ${classNameOf(cluster)} not found`);
    return;
  }
  if (!hasClass(old)) {
    const isSafe = annotationOf(cluster, unsafeClassAnnotation) === undefined;
    yield* found(isSafe && forbiddenField('spec.topology.class', 'classRef cannot be set on an existing Cluster'));
    return;
  }
  yield* versionUpdateCauses(cluster, old, facts);
  if (classNameOf(old) !== classNameOf(cluster) && facts.oldClass !== undefined && facts.blueprint !== undefined) {
    yield* incompatibleClassCauses(facts.oldClass, facts.blueprint.spec);
  }
}

function* topologyCauses(
  cluster: JsonObject,
  old: JsonObject | undefined,
  facts: ClusterFacts,
): Generator<StatusCause> {
  const topology = topologyOf(cluster);
  if (!hasClass(cluster)) {
    yield required('spec.topology.class', 'classRef.name cannot be empty');
    return;
  }
  yield* versionCauses(textAt(topology, 'version'), 'spec.topology.version', versionWords);
  const parts = partsIn(topology, 'spec.topology');
  yield* parts.flatMap(({ part, path }) => [...metadataCausesOf(part, path)]);
  for (const group of objectsAt(topology, 'workers', 'machineDeployments')) {
    yield* rolloutCauses(group, `spec.topology.workers.machineDeployments[${textAt(group, 'name')}]`);
  }
  yield* parts.flatMap(({ part, path }) => [...taintCauses(part.taints, `${path}.taints`)]);
  yield* concurrencyCauses(cluster);
  if (facts.blueprint !== undefined) {
    yield* classCauses(topology, facts.blueprint);
  }
  yield* autoscalerCauses(cluster, facts.blueprint?.spec);
  if (old !== undefined) {
    yield* topologyUpdateCauses(cluster, old, facts);
  }
}

function* clusterCauses(cluster: JsonObject, old: JsonObject | undefined, facts: ClusterFacts): Generator<StatusCause> {
  const name = nameOf(cluster);
  yield* invalidNames('metadata.name', name, labelValueProblems(name), 'must be a valid label value ');
  const isRemoved = (field: string) => reference(old, field) && !reference(cluster, field);
  const isEmpty = !['controlPlaneRef', 'infrastructureRef', 'topology'].some((field) => reference(cluster, field));
  const why = 'one of spec.controlPlaneRef, spec.infrastructureRef or spec.topology must be set';
  yield* found(
    isRemoved('infrastructureRef') && forbiddenField('spec.infrastructureRef', 'cannot be removed'),
    isEmpty && forbiddenField('spec', why),
    isRemoved('controlPlaneRef') && forbiddenField('spec.controlPlaneRef', 'cannot be removed'),
  );
  yield* networkCauses(cluster);
  if (hasTopology(cluster)) {
    yield* topologyCauses(cluster, old, facts);
  } else if (hasTopology(old)) {
    yield forbiddenField('spec.topology', 'cannot be removed from an existing Cluster');
  }
}

const stepwise =
  'upgrade one minor version at a time, or have the ClusterClass name its versions (spec.kubernetesVersions) or an extension that plans upgrades';

const isTooFar = (problem: string): boolean => problem.includes('version cannot be increased');

/** The defaults of the variables of its class, and a version with `v`; the Cluster as it is given, if the webhook refuses it. */
function defaulted(cluster: JsonObject, old: JsonObject | undefined, { blueprint }: ClusterFacts) {
  if (!hasTopology(cluster)) {
    return { cluster };
  }
  if (!hasClass(cluster)) {
    const missing = required('spec.topology.classRef.name', 'cannot be empty');
    return { cluster, refusal: webhookRefusal(cluster, 'default', [missing]) };
  }
  const checked = blueprint === undefined ? { cluster, causes: [] } : withVariables(blueprint, cluster, old);
  const refusal = webhookRefusal(cluster, 'default', checked.causes);
  const given = textAt(topologyOf(cluster), 'version');
  const topology = { ...topologyOf(checked.cluster), version: given.startsWith('v') ? given : `v${given}` };
  return refusal === undefined
    ? { cluster: { ...cluster, spec: { ...objectAt(cluster, 'spec'), topology } } }
    : { cluster, refusal };
}

/**
 * A Cluster (v1beta2) with the defaults of Cluster API's webhooks, and why they refuse it, whatever feature gates it needs.
 *
 * @throws {NotKnown} when the defaults of a value are too large.
 */
export function admittedCluster(
  given: JsonObject,
  old: JsonObject | undefined,
  facts: ClusterFacts,
): { cluster: JsonObject; refusal: Refusal | undefined } {
  const { cluster, refusal } = defaulted(given, old, facts);
  const refused = refusal ?? webhookRefusal(cluster, 'validation', clusterCauses(cluster, old, facts));
  const isStep = refused?.causes.some(({ message }) => isTooFar(message));
  return { cluster, refusal: refused && { ...refused, ...(isStep && { remedy: stepwise }) } };
}

/** Why Cluster API's webhook refuses another version of a Cluster, whatever else a write changes; undefined if it takes it. */
export function versionChangeProblem(cluster: JsonObject, to: string, facts: ClusterFacts): string | undefined {
  const { versions = [] } = facts.blueprint ?? {};
  if (!to.startsWith('v') || !isSemanticVersion(to)) {
    return `${JSON.stringify(to)} is not a version such as v1.33.0`;
  }
  if (versions.length > 0 && !versions.includes(to)) {
    return otherVersions;
  }
  const pending = annotationOf(cluster, pendingHooksAnnotation) ?? '';
  const problem = versionProblem(textAt(topologyOf(cluster), 'version'), to, pending, facts);
  return problem !== undefined && isTooFar(problem) ? `${problem}; ${stepwise}` : problem;
}
