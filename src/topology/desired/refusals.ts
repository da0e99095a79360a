import { pendingHooksAnnotation } from '../../extensionconfig/index.ts';
import {
  groupOf,
  isSame,
  type Json,
  type JsonObject,
  nameOf,
  objectAt,
  objectsAt,
  objectText,
  own,
  type StatusCause,
  textAt,
  textValues,
} from '../../kubernetes/index.ts';
import { invalid } from '../../kubernetes/schema/index.ts';
import { aggregate } from '../../runtimehooks/client/index.ts';
import { checkDefinitions } from '../../runtimehooks/variables/index.ts';
import type { Blueprint } from '../blueprint/blueprint.ts';
import { kubeadmDefaults } from '../control-planes/index.ts';
import type { RefusedWrite } from '../refusals/index.ts';
import { causeText } from '../variables/variables.ts';
import { coreGroup, nameIn } from '../world/objects.ts';
import type { Problem } from '../world/plan.ts';
import type { World } from '../world/world.ts';
import { hasTopology, topologyWorkers, workerLists } from './desired.ts';
import type { Existing } from './existing.ts';
import { classNameOf, classOf } from './planned-state.ts';
import { unchangeable } from './reconciled.ts';
import { allowsVersion, otherVersions, versionRefusal } from './upgrade-steps.ts';

/** A write that Cluster API refuses. */
export interface Refusal {
  /** The class that it would concern, and its part: `control-plane`, `MachineDeployment CLASS`; undefined: all. */
  ofClass: string;
  part: string | undefined;
  problem: Problem;
}

/** Writes that Cluster API refuses, by the classes that they would concern. */
export type Refusals = ReadonlyMap<string, readonly Refusal[]>;

const classKey = ({ namespace, name }: { namespace: string; name: string }): string => `${namespace}/${name}`;

/** A reference of a class to a template. */
interface ClassReference {
  path: string;
  /** The same for the same reference in another state of the class. */
  key: string;
  /** The part of the class that has it: `control-plane`, `MachineDeployment CLASS`. */
  part: string;
  reference: JsonObject;
}

/** The templates that the spec of a class refers to. */
function referencesIn(spec: JsonObject): ClassReference[] {
  const controlPlane = objectAt(spec, 'controlPlane');
  const at = (path: string, part: string, holder: Json | undefined, key = path): ClassReference => ({
    path: `spec.${path}.templateRef`,
    key,
    part,
    reference: objectAt(holder, 'templateRef'),
  });
  return [
    at('infrastructure', 'infrastructure', spec.infrastructure),
    at('controlPlane', 'control-plane', controlPlane),
    at('controlPlane.machineInfrastructure', 'control-plane', controlPlane.machineInfrastructure),
    ...Object.entries(workerLists).flatMap(([kind, list]) =>
      objectsAt(spec, 'workers', list).flatMap((worker, index) =>
        (['bootstrap', 'infrastructure'] as const).map((field) => {
          const part = `${kind} ${textAt(worker, 'class')}`;
          return at(`workers.${list}[${index}].${field}`, part, worker[field], `${part} ${field}`);
        }),
      ),
    ),
  ];
}

/** Why a class may not become another one, for Clusters that use it: by their specs. */
function incompatibleClass(old: JsonObject, now: JsonObject): string[] {
  const before = new Map(referencesIn(old).map(({ key, reference }) => [key, reference]));
  return referencesIn(now).flatMap(({ path, key, reference }) => {
    const known = before.get(key);
    return known === undefined || key.endsWith(' bootstrap')
      ? []
      : [
          ...unchangeable(`${path}.apiVersion`, 'group of apiVersion', groupOf(known), groupOf(reference), 'Clusters'),
          ...unchangeable(`${path}.kind`, 'kind', textAt(known, 'kind'), textAt(reference, 'kind'), 'Clusters'),
        ];
  });
}

/** Why a change of a class is refused that Clusters use. */
function classProblems(old: JsonObject, now: JsonObject, clusters: readonly JsonObject[]): string[] {
  const problems = incompatibleClass(objectAt(old, 'spec'), objectAt(now, 'spec'));
  for (const [kind, list] of Object.entries(workerLists)) {
    const classes = new Set(objectsAt(now, 'spec', 'workers', list).map((worker) => textAt(worker, 'class')));
    for (const cluster of clusters) {
      for (const { kind: used, topology } of topologyWorkers(cluster)) {
        const name = textAt(topology, 'class');
        const existed = objectsAt(old, 'spec', 'workers', list).some((worker) => worker.class === name);
        if (used === kind && existed && !classes.has(name)) {
          problems.push(
            `spec.workers.${list}: Forbidden: ${kind}Class ${JSON.stringify(name)} cannot be deleted because it is used by Cluster ${JSON.stringify(nameOf(cluster))}`,
          );
        }
      }
    }
  }
  const versions = objectAt(now, 'spec').kubernetesVersions;
  if (Array.isArray(versions) && versions.length > 0) {
    for (const cluster of clusters) {
      const version = textAt(cluster, 'spec', 'topology', 'version');
      if (!versions.includes(version)) {
        problems.push(
          `spec.kubernetesVersions: Forbidden: Kubernetes Version ${version} is used by Cluster ${JSON.stringify(nameOf(cluster))} but not set in ClusterClass`,
        );
      }
    }
  }
  return problems;
}

/** Templates whose webhooks refuse changes of `spec.template.spec`. */
const immutable = new Set([
  'controlplane.cluster.x-k8s.io KubeadmControlPlaneTemplate',
  ...['Docker', 'Dev'].flatMap((provider) =>
    ['ClusterTemplate', 'MachineTemplate'].map((kind) => `infrastructure.cluster.x-k8s.io ${provider}${kind}`),
  ),
]);

/** A template as its webhook compares it. */
function comparedTemplate(template: JsonObject): JsonObject {
  const spec = objectAt(template, 'spec', 'template', 'spec');
  if (template.kind !== 'KubeadmControlPlaneTemplate') {
    return spec;
  }
  return { ...spec, kubeadmConfigSpec: kubeadmDefaults(objectAt(spec, 'kubeadmConfigSpec')) };
}

function templateProblem(old: JsonObject, now: JsonObject): string | undefined {
  const kind = textAt(now, 'kind');
  if (!immutable.has(`${groupOf(now)} ${kind}`) || old.apiVersion !== now.apiVersion) {
    return undefined;
  }
  return isSame(comparedTemplate(old), comparedTemplate(now))
    ? undefined
    : `spec.template.spec: Invalid value: ${kind} spec.template.spec field is immutable. Please create ${kind === 'KubeadmControlPlaneTemplate' ? '' : 'a '}new resource instead.`;
}

/** The second state without the changes of classes and templates that an API server or Cluster API's webhooks refuse. */
export function accepted(
  before: World,
  after: World,
  refusedWrite: RefusedWrite,
): { world: World; refusals: Refusals; refusedTemplates: Map<string, Problem> } {
  const refusals: Refusal[] = [];
  const refusedTemplates = new Map<string, Problem>();
  const uses = Map.groupBy(
    after.ofKind(coreGroup, 'ClusterClass').flatMap((clusterClass) => {
      const { namespace, name } = nameIn(clusterClass);
      return referencesIn(objectAt(clusterClass, 'spec')).map(({ reference, part }) => ({
        template: `${namespace} ${groupOf(reference)} ${textAt(reference, 'kind')} ${textAt(reference, 'name')}`,
        ofClass: classKey({ namespace, name }),
        part,
      }));
    }),
    ({ template }) => template,
  );
  const clustersOf = Map.groupBy(before.ofKind(coreGroup, 'Cluster').filter(hasTopology), (cluster) =>
    classNameOf(cluster),
  );
  const instead = new Map<JsonObject, JsonObject | undefined>();
  for (const object of after) {
    const name = nameIn(object);
    const old = before.find(name);
    if (old === object) {
      continue;
    }
    const refused = (reasons: string) => ({ text: `Cluster API refuses ${objectText(object)}: ${reasons}` });
    const unwritten = refusedWrite(name);
    if (name.group === coreGroup && name.kind === 'ClusterClass') {
      if (unwritten !== undefined) {
        instead.set(object, old);
        refusals.push({ ofClass: classKey(name), part: undefined, problem: unwritten });
        continue;
      }
      const variables = checkDefinitions(objectAt(object, 'spec').variables, 'spec.variables').causes.map(causeText);
      const clusters = clustersOf.get(classKey(name)) ?? [];
      const problems = [...(old === undefined ? [] : classProblems(old, object, clusters)), ...variables];
      if (problems.length > 0) {
        instead.set(object, old);
        refusals.push({ ofClass: classKey(name), part: undefined, problem: refused(problems.join('; ')) });
      }
      continue;
    }
    const reason = old === undefined ? undefined : templateProblem(old, object);
    const problem = unwritten ?? (reason === undefined ? undefined : refused(reason));
    if (name.kind.endsWith('Template') && problem !== undefined) {
      instead.set(object, old);
      refusedTemplates.set(objectText(object), problem);
      for (const { ofClass, part } of uses.get(`${name.namespace} ${name.group} ${name.kind} ${name.name}`) ?? []) {
        refusals.push({ ofClass, part, problem });
      }
    }
  }
  const objects = [...after].map((object) => (instead.has(object) ? instead.get(object) : object));
  return {
    world: instead.size === 0 ? after : after.withObjects(objects.filter((object) => object !== undefined)),
    refusals: Map.groupBy(refusals, ({ ofClass }) => ofClass),
    refusedTemplates,
  };
}

const bare = (version: string): string => version.replace(/^v/, '');

/** Why Cluster API's webhook refuses another version while an upgrade is under way; undefined if it does not. */
function unfinishedUpgrade(old: JsonObject, { controlPlane, workers }: Existing): string | undefined {
  const pending = textAt(old, 'metadata', 'annotations', pendingHooksAnnotation);
  if (pending.split(',').includes('AfterClusterUpgrade')) {
    return 'version cannot be changed when the "AfterClusterUpgrade" hook is still blocking';
  }
  const version = textAt(old, 'spec', 'topology', 'version');
  const own = textAt(controlPlane?.object, 'spec', 'version');
  const late = Map.groupBy(
    [...workers.values()].filter(({ object }) => textAt(object, 'spec', 'template', 'spec', 'version') !== version),
    ({ object }) => `${textAt(object, 'kind')}s`,
  );
  const reasons = [
    ...(own === '' || own === version
      ? []
      : [
          `Cluster.spec.topology.version ${bare(version)} was not propagated to control plane yet (control plane version ${bare(own)})`,
        ]),
    ...[...late].map(
      ([kinds, groups]) =>
        `there are still ${kinds} completing a previous upgrade: [${groups.map(({ object }) => nameOf(object)).join(', ')}]`,
    ),
  ];
  return reasons.length === 0 ? undefined : `version cannot be changed: ${aggregate(reasons)}`;
}

/** Why Cluster API's webhook refuses a change of the version in the topology of a Cluster; undefined if it accepts it. */
export const versionChangeRefusal = (
  old: JsonObject,
  existing: Existing,
  blueprint: Blueprint | undefined,
  to: string,
): string | undefined =>
  versionRefusal(blueprint, textAt(old, 'spec', 'topology', 'version'), to) ?? unfinishedUpgrade(old, existing);

/** The user's annotation with the number of groups of one kind that may be upgraded at a time. */
const concurrencyAnnotation = 'topology.cluster.x-k8s.io/upgrade-concurrency';

/** How many groups of workers of one kind may be upgraded at a time. */
export const upgradeConcurrency = (cluster: JsonObject): number =>
  Math.max(1, Number(textAt(cluster, 'metadata', 'annotations', concurrencyAnnotation)));

function concurrencyProblem(text: string): string | undefined {
  if (!/^[+-]?\d{1,15}$/.test(text)) {
    return `could not parse the value of the annotation: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  }
  return Number(text) < 1 ? 'value cannot be less than 1' : undefined;
}

/**
 * What Cluster API's webhook refuses of a Cluster whatever it was before, besides its variables
 * (core/webhooks/admission/cluster.go, v1.14).
 *
 * @param blueprint of its class, if that is known.
 */
function topologyCauses(cluster: JsonObject, blueprint: Blueprint | undefined): StatusCause[] {
  const causes: StatusCause[] = [];
  const concurrency = own(textValues(objectAt(cluster, 'metadata', 'annotations')), concurrencyAnnotation);
  const problem = concurrency === undefined ? undefined : concurrencyProblem(concurrency);
  if (problem !== undefined) {
    causes.push(invalid(`metadata.annotations.${concurrencyAnnotation}`, concurrency ?? '', problem));
  }
  const version = textAt(cluster, 'spec', 'topology', 'version');
  if (blueprint !== undefined && !allowsVersion(blueprint, version)) {
    causes.push(invalid('spec.topology.version', version, otherVersions));
  }
  for (const [kind, list] of Object.entries(workerLists)) {
    const names = new Set<string>();
    for (const [index, group] of objectsAt(cluster, 'spec', 'topology', 'workers', list).entries()) {
      const path = `spec.topology.workers.${list}[${index}]`;
      const [name, className] = [textAt(group, 'name'), textAt(group, 'class')];
      if (blueprint !== undefined && !blueprint[list].has(className)) {
        const why = `${kind}Class with name ${JSON.stringify(className)} does not exist in ClusterClass ${JSON.stringify(blueprint.name)}`;
        causes.push(invalid(`${path}.class`, className, why));
      }
      if (names.has(name)) {
        const why = `name must be unique. ${kind} with name ${JSON.stringify(name)} is defined more than once`;
        causes.push(invalid(`${path}.name`, name, why));
      }
      names.add(name);
    }
  }
  return causes;
}

/** Why Cluster API's webhook refuses a Cluster. */
export function refusedBy(
  old: JsonObject | undefined,
  { cluster, problems }: { cluster: JsonObject; problems: readonly string[] },
  existing: Existing,
  classBefore: Blueprint | undefined,
  classAfter: Blueprint | undefined,
): string[] {
  const causes = [...problems, ...topologyCauses(cluster, classAfter).map(causeText)];
  const topology = objectAt(cluster, 'spec', 'topology');
  const version = textAt(topology, 'version');
  const oldVersion = textAt(old, 'spec', 'topology', 'version');
  if (old !== undefined && oldVersion !== version && oldVersion !== '') {
    const why = versionChangeRefusal(old, existing, classAfter, version);
    if (why !== undefined && why !== otherVersions) {
      causes.push(`spec.topology.version: Invalid value: ${JSON.stringify(version)}: ${why}`);
    }
  }
  if (old !== undefined && !hasTopology(old)) {
    causes.push('spec.topology.class: Forbidden: classRef cannot be set on an existing Cluster');
  }
  if (classBefore !== undefined && classAfter !== undefined && !isSame(classOf(old ?? {}), classOf(cluster))) {
    causes.push(...incompatibleClass(classBefore.spec, classAfter.spec));
  }
  return causes;
}
