import { groupOf, isSame, type Json, type JsonObject, objectAt, objectText, textAt } from '../../kubernetes/index.ts';
import { kubeadmDefaults } from '../control-planes/index.ts';
import { clusterClassRefusal, isWritten, type RefusedWrites, refusalProblem } from '../refusals/index.ts';
import { coreGroup, nameIn } from '../world/objects.ts';
import type { Problem } from '../world/plan-document.ts';
import { classNameOf, hasTopology, workersIn } from '../world/topologies.ts';
import type { World } from '../world/world.ts';

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

/** The templates that the spec of a class refers to, with the part of the class: `control-plane`, `MachineDeployment CLASS`. */
function referencesIn(spec: JsonObject): { part: string; reference: JsonObject }[] {
  const { infrastructure, controlPlane } = spec;
  const at = (part: string, holder: Json | undefined) => ({ part, reference: objectAt(holder, 'templateRef') });
  return [
    at('infrastructure', infrastructure),
    at('control-plane', controlPlane),
    at('control-plane', objectAt(controlPlane, 'machineInfrastructure')),
    ...workersIn(spec).flatMap(({ kind, worker }) =>
      [worker.bootstrap, worker.infrastructure].map((holder) => at(`${kind} ${textAt(worker, 'class')}`, holder)),
    ),
  ];
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
  writes: RefusedWrites,
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
    if (!isWritten(object, old, before)) {
      continue;
    }
    const unwritten = writes.refusalOf(name);
    const isTaken = writes.isTaken(name);
    if (name.group === coreGroup && name.kind === 'ClusterClass') {
      const refusal =
        unwritten || isTaken ? undefined : clusterClassRefusal(object, old, clustersOf.get(classKey(name)) ?? []);
      const problem = unwritten ?? (refusal && refusalProblem(object, refusal));
      if (problem !== undefined) {
        instead.set(object, old);
        refusals.push({ ofClass: classKey(name), part: undefined, problem });
      }
      continue;
    }
    const reason = old === undefined || isTaken ? undefined : templateProblem(old, object);
    const problem =
      unwritten ??
      (reason === undefined ? undefined : { text: `Cluster API refuses ${objectText(object)}: ${reason}` });
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
