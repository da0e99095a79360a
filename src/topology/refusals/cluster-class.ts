import {
  fieldAt,
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
import { forbiddenField, invalid, required } from '../../kubernetes/schema/index.ts';
import { compareBuilds, formatVersion, type KubernetesVersion, parseTolerantly } from '../../runtimehooks/index.ts';
import { checkDefinitions } from '../../runtimehooks/variables/index.ts';
import { partsIn, workerLists, workersIn } from '../world/topologies.ts';
import {
  healthCheckCauses,
  isDefinedCheck,
  maxInFlightCauses,
  metadataCausesOf,
  namingCauses,
  rolloutCauses,
  taintCauses,
  unchangeable,
} from './parts.ts';
import { patchCauses } from './patches.ts';
import { type Refusal, webhookRefusal } from './refusal.ts';

// The refusals of Cluster API's webhook for ClusterClasses (core/webhooks/admission/clusterclass.go, v1.14).

const templateAt = (holder: Json | undefined, ...path: string[]): JsonObject =>
  objectAt(holder, ...path, 'templateRef');
const isDefined = (reference: JsonObject): boolean => Object.keys(reference).length > 0;

/** The problems of a group and version such as `a/b`, in the words of apimachinery. */
function* apiVersionCauses(apiVersion: string, field: string): Generator<StatusCause> {
  if (apiVersion.split('/').length > 2) {
    const why = `template apiVersion must be a valid Kubernetes apiVersion: unexpected GroupVersion string: ${apiVersion}`;
    yield invalid(field, apiVersion, why);
  } else if (apiVersion === '' || apiVersion === '/') {
    yield required(field, 'template apiVersion must be defined');
  }
}

function* templateCauses(reference: JsonObject, path: string): Generator<StatusCause> {
  const kind = textAt(reference, 'kind');
  if (textAt(reference, 'name') === '') {
    yield required(`${path}.ref.name`, 'template name must be defined');
  }
  if (!kind.endsWith('Template') || kind === 'Template') {
    yield invalid(`${path}.ref.kind`, kind, 'template kind must be of form "<name>Template"');
  }
  yield* apiVersionCauses(textAt(reference, 'apiVersion'), `${path}.ref.apiVersion`);
}

function* referenceCauses(spec: JsonObject): Generator<StatusCause> {
  yield* templateCauses(templateAt(spec, 'infrastructure'), 'spec.infrastructure');
  yield* templateCauses(templateAt(spec, 'controlPlane'), 'spec.controlPlane');
  const machines = templateAt(spec, 'controlPlane', 'machineInfrastructure');
  if (isDefined(machines)) {
    yield* templateCauses(machines, 'spec.controlPlane.machineInfrastructure');
  }
  for (const { list, index, worker } of workersIn(spec)) {
    for (const part of ['bootstrap', 'infrastructure']) {
      yield* templateCauses(templateAt(worker, part), `spec.workers.${list}[${index}].template.${part}`);
    }
  }
}

function* uniqueCauses(spec: JsonObject): Generator<StatusCause> {
  const known = new Set<string>();
  for (const { kind, list, index, worker } of workersIn(spec)) {
    const name = textAt(worker, 'class');
    if (known.has(`${kind} ${name}`)) {
      const why = `${kind} class must be unique. ${kind} with class ${JSON.stringify(name)} is defined more than once`;
      yield invalid(`spec.workers.${list}[${index}].class`, name, why);
    }
    known.add(`${kind} ${name}`);
  }
}

function* classHealthCheckCauses(spec: JsonObject): Generator<StatusCause> {
  for (const { kind, part, path } of partsIn(spec, 'spec')) {
    const check = objectAt(part, 'healthCheck');
    const field = `${path}.healthCheck`;
    if (kind === 'MachinePool' || !isDefinedCheck(check)) {
      continue;
    }
    yield* healthCheckCauses(check, field);
    if (kind === 'MachineDeployment') {
      yield* maxInFlightCauses(check, field);
    } else if (!isDefined(templateAt(part, 'machineInfrastructure'))) {
      yield forbiddenField(field, 'can be only set if spec.controlPlane.machineInfrastructure is set');
    }
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
      if (compareBuilds(version, previous) <= 0) {
        yield invalid(field, text, `version must be greater than ${formatVersion(previous)}`);
      }
      const [minor, before] = [version.numbers[1], previous.numbers[1]];
      if (minor !== before && minor !== before + 1) {
        const found = formatVersion(version).slice(1);
        yield invalid(field, text, `expecting a version with minor ${before} or ${before + 1}, found version ${found}`);
      }
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
  const before = new Map(workersIn(old).map(({ kind, worker }) => [`${kind} ${textAt(worker, 'class')}`, worker]));
  for (const { kind, list, index, worker } of workersIn(now)) {
    const known = before.get(`${kind} ${textAt(worker, 'class')}`);
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

const classesIn = (spec: JsonObject, list: string): Set<string> =>
  new Set(objectsAt(spec, 'workers', list).map((worker) => textAt(worker, 'class')));

function* removedWorkerCauses(
  old: JsonObject,
  now: JsonObject,
  clusters: readonly JsonObject[],
): Generator<StatusCause> {
  for (const [kind, list] of Object.entries(workerLists)) {
    const kept = classesIn(now, list);
    const removed = new Set([...classesIn(old, list)].filter((name) => !kept.has(name)));
    for (const cluster of removed.size === 0 ? [] : clusters) {
      for (const group of objectsAt(cluster, 'spec', 'topology', 'workers', list)) {
        const name = textAt(group, 'class');
        if (removed.has(name)) {
          const why = `${kind}Class ${JSON.stringify(name)} cannot be deleted because it is used by Cluster ${JSON.stringify(nameOf(cluster))}`;
          yield forbiddenField(`spec.workers.${list}`, why);
        }
      }
    }
  }
}

/** Whether a part of a topology wants the health check of its class. */
const usesClassCheck = (part: JsonObject): boolean =>
  fieldAt(part, 'healthCheck', 'enabled') === true && !isDefinedCheck(objectAt(part, 'healthCheck'));

function* removedCheckCauses(
  old: JsonObject,
  now: JsonObject,
  clusters: readonly JsonObject[],
): Generator<StatusCause> {
  const isDropped = (before: JsonObject, after: JsonObject) =>
    isDefinedCheck(objectAt(before, 'healthCheck')) && !isDefinedCheck(objectAt(after, 'healthCheck'));
  const cause = (path: string, users: readonly JsonObject[]): StatusCause[] => {
    const names = JSON.stringify(users.map(nameOf).join(','));
    const why = `healthCheck cannot be deleted because it is used by Cluster(s) ${names}`;
    return users.length === 0 ? [] : [forbiddenField(`${path}.healthCheck`, why)];
  };
  if (isDropped(objectAt(old, 'controlPlane'), objectAt(now, 'controlPlane'))) {
    const users = clusters.filter((cluster) => usesClassCheck(objectAt(cluster, 'spec', 'topology', 'controlPlane')));
    yield* cause('spec.controlPlane', users);
  }
  const before = new Map(
    objectsAt(old, 'workers', 'machineDeployments').map((worker) => [textAt(worker, 'class'), worker]),
  );
  const dropped = objectsAt(now, 'workers', 'machineDeployments')
    .filter((worker) => isDropped(before.get(textAt(worker, 'class')) ?? {}, worker))
    .map((worker) => textAt(worker, 'class'));
  const users = new Map(dropped.map((name) => [name, new Set<JsonObject>()]));
  for (const cluster of dropped.length === 0 ? [] : clusters) {
    for (const group of objectsAt(cluster, 'spec', 'topology', 'workers', 'machineDeployments')) {
      if (usesClassCheck(group)) {
        users.get(textAt(group, 'class'))?.add(cluster);
      }
    }
  }
  for (const [name, clustersOfClass] of users) {
    yield* cause(`spec.workers.machineDeployments[${name}]`, [...clustersOfClass]);
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

/**
 * The problems of groups of a Cluster with replicas that an autoscaler sets, too.
 *
 * @param spec of its class, if that exists.
 */
export function* autoscalerCauses(cluster: JsonObject, spec: JsonObject | undefined): Generator<StatusCause> {
  const scaled = new Set(
    objectsAt(spec, 'workers', 'machineDeployments')
      .filter(isScaled)
      .map((worker) => textAt(worker, 'class')),
  );
  for (const group of objectsAt(cluster, 'spec', 'topology', 'workers', 'machineDeployments')) {
    const { replicas } = group;
    if (typeof replicas !== 'number') {
      continue;
    }
    const field = `spec.topology.workers.machineDeployments[${textAt(group, 'name')}].replicas`;
    const where = `cluster ${JSON.stringify(nameOf(cluster))} in namespace ${JSON.stringify(namespaceOf(cluster))}`;
    if (isScaled(group)) {
      const why = `cannot be set for ${where} if the same MachineDeploymentTopology has autoscaler annotations`;
      yield invalid(field, replicas, why);
    }
    const name = textAt(group, 'class');
    if (scaled.has(name)) {
      const why = `cannot be set for ${where} if the source class ${JSON.stringify(name)} of this MachineDeploymentTopology has autoscaler annotations`;
      yield invalid(field, replicas, why);
    }
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
  yield* classHealthCheckCauses(spec);
  yield* classNamingCauses(spec);
  const parts = partsIn(spec, 'spec');
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

/** Maximum number of causes that are listed. */
const maxCauses = 500;

/**
 * Why Cluster API's webhook refuses a ClusterClass (v1beta2); undefined if it takes it.
 *
 * @param old the class before; undefined for a creation.
 * @param clusters those that use the class before.
 */
export function clusterClassRefusal(
  clusterClass: JsonObject,
  old: JsonObject | undefined,
  clusters: readonly JsonObject[],
): Refusal | undefined {
  const causes = causesOf(objectAt(clusterClass, 'spec'), old && objectAt(old, 'spec'), clusters);
  return webhookRefusal(clusterClass, 'validation', causes.take(maxCauses).toArray());
}
