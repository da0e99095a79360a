import { repeated } from '../../base/index.ts';
import {
  groupOf,
  itemsAt,
  type Json,
  type JsonObject,
  nameOf,
  namespaceOf,
  objectAt,
  objectsAt,
  own,
  type StatusCause,
  textAt,
  textValues,
} from '../../kubernetes/index.ts';
import { forbiddenField, found, invalid, required } from '../../kubernetes/schema/index.ts';
import { compareBuilds, formatVersion, type KubernetesVersion, parseTolerantly } from '../../runtimehooks/index.ts';
import { checkDefinitions } from '../../runtimehooks/variables/index.ts';
import { type Refusal, webhookRefusal } from '../world/refusal.ts';
import { partsIn, templatesIn, topologyOf, workersIn } from '../world/topologies.ts';
import {
  isDefinedCheck,
  metadataCausesOf,
  namingCauses,
  partCheckCauses,
  rolloutCauses,
  taintCauses,
  unchangeable,
  usesClassCheck,
} from './parts.ts';
import { patchCauses } from './patches.ts';

// The refusals of Cluster API's webhook for ClusterClasses (core/webhooks/admission/clusterclass.go, v1.14).

const templateAt = (holder: Json | undefined, ...path: string[]): JsonObject =>
  objectAt(holder, ...path, 'templateRef');

function* referenceCauses(spec: JsonObject): Generator<StatusCause> {
  for (const { reference, path } of templatesIn(spec)) {
    const [kind, version] = [textAt(reference, 'kind'), textAt(reference, 'apiVersion')];
    const isOther = !kind.endsWith('Template') || kind === 'Template';
    const malformed = `template apiVersion must be a valid Kubernetes apiVersion: unexpected GroupVersion string: ${version}`;
    yield* found(
      textAt(reference, 'name') === '' && required(`${path}.ref.name`, 'template name must be defined'),
      isOther && invalid(`${path}.ref.kind`, kind, 'template kind must be of form "<name>Template"'),
      version.split('/').length > 2 && invalid(`${path}.ref.apiVersion`, version, malformed),
      ['', '/'].includes(version) && required(`${path}.ref.apiVersion`, 'template apiVersion must be defined'),
    );
  }
}

function* uniqueCauses(spec: JsonObject): Generator<StatusCause> {
  for (const { kind, list, index, worker } of repeated(workersIn(spec), ({ ofClass }) => ofClass)) {
    const name = textAt(worker, 'class');
    const why = `${kind} class must be unique. ${kind} with class ${JSON.stringify(name)} is defined more than once`;
    yield invalid(`spec.workers.${list}[${index}].class`, name, why);
  }
}

function* classNamingCauses(spec: JsonObject): Generator<StatusCause> {
  const check = (holder: JsonObject, path: string, what: string, fields: JsonObject = {}) =>
    namingCauses(textAt(holder, 'naming', 'template'), `${path}.naming.template`, fields, {
      unusable: `invalid ${what} name template`,
    });
  yield* check(objectAt(spec, 'infrastructure'), 'spec.infrastructure', 'InfraCluster');
  const fields = {
    ControlPlane: {},
    MachineDeployment: { machineDeployment: { topologyName: 'mdtopology' } },
    MachinePool: { machinePool: { topologyName: 'mptopology' } },
  };
  for (const { kind, part, path } of partsIn(spec, 'spec')) {
    yield* check(part, path, kind, fields[kind]);
  }
}

/** The problems of `spec.kubernetesVersions`: versions in ascending order, without gaps between minors. */
function* kubernetesVersionCauses(versions: readonly string[]): Generator<StatusCause> {
  let previous: KubernetesVersion | undefined;
  for (const [index, text] of versions.entries()) {
    const field = `spec.kubernetesVersion[${index}]`;
    const version = parseTolerantly(text);
    if (version === undefined) {
      yield invalid(field, text, 'version must be a valid semantic version');
      continue;
    }
    if (previous !== undefined) {
      const [minor, before] = [version.numbers[1], previous.numbers[1]];
      const isOther = minor !== before && minor !== before + 1;
      const why = `expecting a version with minor ${before} or ${before + 1}, found version ${formatVersion(version).slice(1)}`;
      yield* found(
        compareBuilds(version, previous) <= 0 &&
          invalid(field, text, `version must be greater than ${formatVersion(previous)}`),
        isOther && invalid(field, text, why),
      );
    }
    previous = version;
  }
}

function compatibleTemplate(old: JsonObject, now: JsonObject, path: string): StatusCause[] {
  return [
    ...unchangeable(`${path}.templateRef.apiVersion`, 'group of apiVersion', groupOf(old), groupOf(now)),
    ...unchangeable(`${path}.templateRef.kind`, 'kind', textAt(old, 'kind'), textAt(now, 'kind')),
  ];
}

/** Why a class cannot take the place of another one: by their specs (internal/topology/check/compatibility.go). */
export function* incompatibleClassCauses(old: JsonObject, now: JsonObject): Generator<StatusCause> {
  for (const place of [['infrastructure'], ['controlPlane'], ['controlPlane', 'machineInfrastructure']]) {
    yield* compatibleTemplate(templateAt(old, ...place), templateAt(now, ...place), `spec.${place.join('.')}`);
  }
  const before = new Map(workersIn(old).map(({ ofClass, worker }) => [ofClass, worker]));
  for (const { ofClass, list, index, worker } of workersIn(now)) {
    const known = before.get(ofClass);
    if (known !== undefined) {
      const path = `spec.workers.${list}[${index}].infrastructure`;
      yield* compatibleTemplate(templateAt(known, 'infrastructure'), templateAt(worker, 'infrastructure'), path);
    }
  }
}

function* usedVersionCauses(now: JsonObject, clusters: readonly JsonObject[]): Generator<StatusCause> {
  const versions = new Set(itemsAt(now, 'kubernetesVersions'));
  for (const cluster of versions.size === 0 ? [] : clusters) {
    const version = textAt(cluster, 'spec', 'topology', 'version');
    if (!versions.has(version)) {
      const why = `Kubernetes Version ${version} is used by Cluster ${JSON.stringify(nameOf(cluster))} but not set in ClusterClass`;
      yield forbiddenField('spec.kubernetesVersions', why);
    }
  }
}

function* removedWorkerCauses(
  old: JsonObject,
  now: JsonObject,
  clusters: readonly JsonObject[],
): Generator<StatusCause> {
  const classesIn = (spec: JsonObject) => new Set(workersIn(spec).map(({ ofClass }) => ofClass));
  const removed = classesIn(old).difference(classesIn(now));
  const uses = (removed.size === 0 ? [] : clusters).flatMap((cluster) =>
    workersIn(topologyOf(cluster)).map((group) => ({ ...group, cluster: JSON.stringify(nameOf(cluster)) })),
  );
  // Those of MachineDeployments come first.
  const byKind = Object.groupBy(
    uses.filter(({ ofClass }) => removed.has(ofClass)),
    ({ kind }) => kind,
  );
  for (const { kind, list, worker, cluster } of [...(byKind.MachineDeployment ?? []), ...(byKind.MachinePool ?? [])]) {
    const name = JSON.stringify(textAt(worker, 'class'));
    const why = `${kind}Class ${name} cannot be deleted because it is used by Cluster ${cluster}`;
    yield forbiddenField(`spec.workers.${list}`, why);
  }
}

function* removedCheckCauses(
  old: JsonObject,
  now: JsonObject,
  clusters: readonly JsonObject[],
): Generator<StatusCause> {
  const hasCheck = ({ kind, part }: ReturnType<typeof partsIn>[number]) =>
    kind !== 'MachinePool' && isDefinedCheck(objectAt(part, 'healthCheck'));
  const known = new Set(partsIn(old, 'spec').flatMap((one) => (hasCheck(one) ? [one.path] : [])));
  const dropped = partsIn(now, 'spec').filter((one) => known.has(one.path) && !hasCheck(one));
  const users = new Map(dropped.map(({ ofClass }) => [ofClass, new Set<JsonObject>()]));
  for (const cluster of dropped.length === 0 ? [] : clusters) {
    for (const { part, ofClass } of partsIn(topologyOf(cluster), 'spec.topology')) {
      if (usesClassCheck(part)) {
        users.get(ofClass)?.add(cluster);
      }
    }
  }
  for (const { path, ofClass } of dropped) {
    const names = [...(users.get(ofClass) ?? [])].map(nameOf).join(',');
    const why = `healthCheck cannot be deleted because it is used by Cluster(s) ${JSON.stringify(names)}`;
    yield* names === '' ? [] : [forbiddenField(`${path}.healthCheck`, why)];
  }
}

const autoscalerAnnotations = [
  'cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size',
  'cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size',
];
const isScaled = (part: JsonObject | undefined): boolean => {
  const annotations = textValues(objectAt(part, 'metadata', 'annotations'));
  return autoscalerAnnotations.some((name) => own(annotations, name) !== undefined);
};

/** The problems of groups of a Cluster with replicas that an autoscaler sets, too; `spec` is of its class, if that exists. */
export function* autoscalerCauses(cluster: JsonObject, spec: JsonObject | undefined): Generator<StatusCause> {
  const scaled = new Set(workersIn(spec).flatMap(({ ofClass, worker }) => (isScaled(worker) ? [ofClass] : [])));
  for (const { kind, worker: group, ofClass } of workersIn(topologyOf(cluster))) {
    const { replicas } = group;
    if (typeof replicas !== 'number' || kind !== 'MachineDeployment') {
      continue;
    }
    const field = `spec.topology.workers.machineDeployments[${textAt(group, 'name')}].replicas`;
    const where = `cluster ${JSON.stringify(nameOf(cluster))} in namespace ${JSON.stringify(namespaceOf(cluster))}`;
    const ofSame = 'the same MachineDeploymentTopology';
    const ofSource = `the source class ${JSON.stringify(textAt(group, 'class'))} of this MachineDeploymentTopology`;
    const why = (what: string) => `cannot be set for ${where} if ${what} has autoscaler annotations`;
    yield* found(
      isScaled(group) && invalid(field, replicas, why(ofSame)),
      scaled.has(ofClass) && invalid(field, replicas, why(ofSource)),
    );
  }
}

function* causesOf(
  spec: JsonObject,
  old: JsonObject | undefined,
  clusters: readonly JsonObject[],
): Generator<StatusCause> {
  yield* referenceCauses(spec);
  yield* uniqueCauses(spec);
  for (const worker of objectsAt(spec, 'workers', 'machineDeployments')) {
    yield* rolloutCauses(worker, `spec.workers.machineDeployments[${textAt(worker, 'class')}]`);
  }
  const parts = partsIn(spec, 'spec');
  for (const part of parts) {
    yield* partCheckCauses(part, objectAt(spec, 'controlPlane'), 'class');
  }
  yield* classNamingCauses(spec);
  yield* parts.flatMap(({ part, path }) => [...taintCauses(part.taints, `${path}.taints`)]);
  yield* checkDefinitions(spec.variables, 'spec.variables').causes;
  yield* patchCauses(spec);
  for (const { kind, part, path } of parts) {
    yield* metadataCausesOf(part, kind === 'ControlPlane' ? path : `${path}.template`);
  }
  yield* kubernetesVersionCauses(itemsAt(spec, 'kubernetesVersions').filter((version) => typeof version === 'string'));
  if (old === undefined) {
    return;
  }
  yield* incompatibleClassCauses(old, spec);
  yield* usedVersionCauses(spec, clusters);
  yield* removedWorkerCauses(old, spec, clusters);
  yield* removedCheckCauses(old, spec, clusters);
  for (const cluster of clusters) {
    yield* autoscalerCauses(cluster, spec);
  }
}

/** Why Cluster API's webhook refuses a ClusterClass (v1beta2), which `clusters` used before; undefined if it takes it. */
export function clusterClassRefusal(
  clusterClass: JsonObject,
  old: JsonObject | undefined,
  clusters: readonly JsonObject[],
): Refusal | undefined {
  const causes = causesOf(objectAt(clusterClass, 'spec'), old && objectAt(old, 'spec'), clusters);
  return webhookRefusal(clusterClass, 'validation', causes);
}
