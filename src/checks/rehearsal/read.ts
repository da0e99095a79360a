import { printable, UsageError } from '../../base/index.ts';
import {
  fieldAt,
  groupOf,
  type JsonObject,
  nameOf,
  namespacedName,
  objectAt,
  textAt,
  textValues,
} from '../../kubernetes/index.ts';
import { compareVersions, coreGroup, hooks, parseVersion } from '../../runtimehooks/index.ts';
import { messageProblem, problemText, unknownFields } from '../../runtimehooks/messages/index.ts';
import { classNameOf, inV1beta2, NotKnown, readClass, World } from '../../topology/index.ts';
import { sampleCluster } from '../plan/index.ts';
import type { Blueprint, RehearsedCluster } from './state.ts';

/** An object in a file, and its location: `clusters.yaml:12`. */
export interface InputObject {
  object: JsonObject;
  where: () => string;
}

export interface RehearsalInput {
  subjects: RehearsedCluster[];
  /** Labels of namespaces, by name. */
  namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

const coreVersion = `${coreGroup}/v1beta2`;

/** The objects of a kind of Cluster API by namespace and name. @throws {UsageError} for two of one name, and another apiVersion. */
function ofKind(kind: 'Cluster' | 'ClusterClass', objects: readonly InputObject[]): Map<string, InputObject> {
  const found = new Map<string, InputObject>();
  for (const one of objects.filter(({ object }) => object.kind === kind && groupOf(object) === coreGroup)) {
    const apiVersion = textAt(one.object, 'apiVersion');
    if (apiVersion !== coreVersion) {
      throw new UsageError(
        `${one.where()}: ${kind} of apiVersion ${printable(apiVersion)}: write it as ${coreVersion} or cluster.x-k8s.io/v1beta1`,
      );
    }
    const key = namespacedName(one.object);
    if (found.has(key)) {
      throw new UsageError(`${one.where()}: this is a second ${kind} ${printable(key)}: leave one out`);
    }
    found.set(key, one);
  }
  return found;
}

function problemOf(cluster: JsonObject): string | undefined {
  if (nameOf(cluster) === '') {
    return 'the Cluster has no metadata.name';
  }
  if (fieldAt(cluster, 'spec', 'topology') === undefined) {
    return `Cluster ${printable(nameOf(cluster))} has no spec.topology: Cluster API calls hooks only for Clusters of a ClusterClass`;
  }
  const version = textAt(cluster, 'spec', 'topology', 'version');
  if (parseVersion(version) === undefined) {
    return `spec.topology.version ${JSON.stringify(printable(version))} is not a version such as v1.33.0`;
  }
  const { group, version: apiVersion, request } = hooks.BeforeClusterCreate;
  const message = { apiVersion: `${group}/${apiVersion}`, kind: request.kind, cluster };
  const problem = messageProblem(hooks.BeforeClusterCreate, 'request', message);
  const unknown = unknownFields(hooks.BeforeClusterCreate, 'request', message);
  const problems = [
    ...(problem === undefined ? [] : [problemText(problem)]),
    ...unknown.map((field) => `${field} is not a field of a Cluster`),
  ];
  return problems.length === 0 ? undefined : `the Cluster is not valid: ${printable(problems.join('; '))}`;
}

function checkedCluster({ object, where }: InputObject): JsonObject {
  const { status: _status, ...cluster } = object;
  const problem = problemOf(cluster);
  if (problem !== undefined) {
    throw new UsageError(`${where()}: ${problem}`);
  }
  return cluster;
}

/** A class with its templates, which may be missing if no extension patches them. */
function blueprintOf({ object: clusterClass, where }: InputObject, objects: World): Blueprint {
  try {
    const blueprint = readClass(objects, clusterClass);
    const [missing] = blueprint.missing;
    if (missing !== undefined && blueprint.patches.some((patch) => patch.definitions.length === 0)) {
      throw new UsageError(
        `${where()}: ${printable(missing)} is not in the files; pass it with --cluster-files, because patches need the templates`,
      );
    }
    return blueprint;
  } catch (error) {
    throw error instanceof NotKnown
      ? new UsageError(`${where()}: ${printable(`${error.message}; ${error.remedy}`)}`)
      : error;
  }
}

const sampleVersion = 'v1.31.0';

/** The initial version of a sample Cluster that is to be upgraded to `target`: one minor below it, if that is later than the usual one. */
function versionBefore(target: string | undefined): string {
  const [sample, to] = [parseVersion(sampleVersion), parseVersion(target ?? '')];
  if (sample === undefined || to === undefined || (compareVersions(sample, to) < 0 && to.numbers[0] === 1)) {
    return sampleVersion;
  }
  return `v${to.numbers[0]}.${Math.max(to.numbers[1] - 1, 0)}.0`;
}

const sampleClass = {
  metadata: { name: 'sample', namespace: 'default' },
  spec: {
    controlPlane: { machineInfrastructure: {} },
    workers: { machineDeployments: [{ class: 'md-0' }, { class: 'md-1' }] },
  },
};

/** The Clusters in files, or a sample that starts below the version `target`. @throws {UsageError} for what cannot be rehearsed. */
export function readInput(input: readonly InputObject[], target: string | undefined): RehearsalInput {
  // Templates keep the version for which patches are written.
  const objects = input.map(({ object, where }) => ({
    object: groupOf(object) === coreGroup ? inV1beta2(object) : object,
    where,
  }));
  const all = new World(objects.map(({ object }) => object));
  const namespaces = new Map<string, Record<string, string>>();
  for (const { object } of objects.filter(({ object: one }) => one.kind === 'Namespace' && one.apiVersion === 'v1')) {
    namespaces.set(nameOf(object), textValues(objectAt(object, 'metadata', 'labels')));
  }
  const classes = ofKind('ClusterClass', objects);
  const blueprints = new Map([...classes].map(([key, one]) => [key, blueprintOf(one, all)]));
  const subjects = [...ofKind('Cluster', objects).values()].map((one): RehearsedCluster => {
    const cluster = checkedCluster(one);
    const className = classNameOf(cluster);
    const blueprint = blueprints.get(className);
    if (blueprint === undefined && classes.size > 0) {
      throw new UsageError(
        `${one.where()}: ClusterClass ${printable(className)} is not among the files: add it with --cluster-files, or leave all classes out`,
      );
    }
    return { cluster, blueprint };
  });
  if (subjects.length === 0) {
    const [clusterClass] = classes.values();
    const cluster = sampleCluster(clusterClass?.object ?? sampleClass, versionBefore(target));
    return { subjects: [{ cluster, blueprint: [...blueprints.values()][0] }], namespaces };
  }
  return { subjects, namespaces };
}
