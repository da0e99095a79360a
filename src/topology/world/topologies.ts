import { type JsonObject, namespaceOf, objectAt, objectsAt, textAt } from '../../kubernetes/index.ts';

export const topologyOf = (cluster: JsonObject | undefined): JsonObject => objectAt(cluster, 'spec', 'topology');

export const hasTopology = (cluster: JsonObject | undefined): boolean => Object.keys(topologyOf(cluster)).length > 0;

/** The namespace and the name of the class that a Cluster (v1beta2) refers to. */
export function classOf(cluster: JsonObject): { namespace: string; name: string } {
  const reference = objectAt(topologyOf(cluster), 'classRef');
  return { namespace: textAt(reference, 'namespace') || namespaceOf(cluster), name: textAt(reference, 'name') };
}

/** `NAMESPACE/NAME` of the class of a Cluster, of whichever version. */
export function classNameOf(cluster: JsonObject): string {
  const { class: ofV1beta1 = '', classNamespace = '' } = topologyOf(cluster);
  const { name = ofV1beta1, namespace = classNamespace } = objectAt(topologyOf(cluster), 'classRef');
  return `${namespace || namespaceOf(cluster)}/${name}`;
}

export const workerLists = { MachineDeployment: 'machineDeployments', MachinePool: 'machinePools' } as const;

export type WorkerKind = keyof typeof workerLists;

/** The groups of workers of a topology, or the classes of workers in the spec of a class: MachineDeployments come first. */
export const workersIn = (holder: JsonObject | undefined) =>
  (['MachineDeployment', 'MachinePool'] as const).flatMap((kind) => {
    const list = workerLists[kind];
    return objectsAt(holder, 'workers', list).map((worker, index) => {
      return { kind, list, index, worker, ofClass: `${kind} ${textAt(worker, 'class')}` };
    });
  });

/**
 * The templates that the spec of a class refers to, with their paths in v1beta1, and the part of the class that uses them:
 * `control-plane`, `MachineDeployment CLASS`.
 */
export function templatesIn(spec: JsonObject): { part: string; path: string; reference: JsonObject }[] {
  const at = (part: string, path: string, ...place: string[]) => {
    return { part, path, reference: objectAt(spec, ...place, 'templateRef') };
  };
  const machines = at(
    'control-plane',
    'spec.controlPlane.machineInfrastructure',
    'controlPlane',
    'machineInfrastructure',
  );
  return [
    at('infrastructure', 'spec.infrastructure', 'infrastructure'),
    at('control-plane', 'spec.controlPlane', 'controlPlane'),
    ...(Object.keys(machines.reference).length > 0 ? [machines] : []),
    ...workersIn(spec).flatMap(({ ofClass: part, list, index, worker }) =>
      ['bootstrap', 'infrastructure'].map((name) => {
        const path = `spec.workers.${list}[${index}].template.${name}`;
        return { part, path, reference: objectAt(worker, name, 'templateRef') };
      }),
    ),
  ];
}

/** The control plane and the workers of a topology (`spec.topology`), or of the spec of a class (`spec`), with their paths. */
export const partsIn = (
  holder: JsonObject,
  path: 'spec' | 'spec.topology',
): { kind: WorkerKind | 'ControlPlane'; part: JsonObject; path: string; ofClass: string }[] => [
  {
    kind: 'ControlPlane',
    part: objectAt(holder, 'controlPlane'),
    path: `${path}.controlPlane`,
    ofClass: 'ControlPlane',
  },
  ...workersIn(holder).map(({ kind, list, worker, ofClass }) => {
    const name = textAt(worker, path === 'spec' ? 'class' : 'name');
    return { kind, part: worker, path: `${path}.workers.${list}[${name}]`, ofClass };
  }),
];
