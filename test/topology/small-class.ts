import { copyOf, type Json, type JsonObject } from '../../src/kubernetes/index.ts';
import { type CallHook, layered, type Plan, type PlanRequest, plan, World } from '../../src/topology/index.ts';

const core = 'cluster.x-k8s.io/v1beta2';
const controlPlane = 'controlplane.cluster.x-k8s.io/v1beta2';
const bootstrap = 'bootstrap.cluster.x-k8s.io/v1beta2';
const infrastructure = 'infrastructure.example.com/v1';

/** A template of a class. */
export const template = (apiVersion: string, kind: string, name: string, spec: JsonObject, metadata?: JsonObject) => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'default' },
  spec: { template: { ...(metadata && { metadata }), spec } },
});

const reference = (apiVersion: string, kind: string, name: string) => ({ templateRef: { apiVersion, kind, name } });

/** A patch of a class, of the worker's bootstrap template unless it says otherwise. */
export const patch = (
  name: string,
  path: string,
  value: JsonObject,
  selector: JsonObject = workers,
  enabledIf?: string,
) => ({
  name,
  ...(enabledIf !== undefined && { enabledIf }),
  definitions: [{ selector, jsonPatches: [{ op: 'add', path: `/spec/template/${path}`, ...value }] }],
});

export const workers: JsonObject = {
  apiVersion: bootstrap,
  kind: 'KubeadmConfigTemplate',
  matchResources: { machineDeploymentClass: { names: ['worker'] } },
};
export const controlPlanes: JsonObject = {
  apiVersion: controlPlane,
  kind: 'KubeadmControlPlaneTemplate',
  matchResources: { controlPlane: true },
};

/** The manifests of a small class and a Cluster of it, by short names. */
export const manifests = () => ({
  infrastructureCluster: template(infrastructure, 'SmallClusterTemplate', 'small', { network: 'a' }),
  controlPlane: template(controlPlane, 'KubeadmControlPlaneTemplate', 'small', {
    kubeadmConfigSpec: { clusterConfiguration: { apiServer: { certSANs: ['localhost'] } } },
  }),
  controlPlaneMachines: template(infrastructure, 'SmallMachineTemplate', 'small-control-plane', { size: 'large' }),
  workerConfig: template(bootstrap, 'KubeadmConfigTemplate', 'small-worker', {
    joinConfiguration: { nodeRegistration: { kubeletExtraArgs: [{ name: 'v', value: '1' }] } },
  }),
  workerMachines: template(infrastructure, 'SmallMachineTemplate', 'small-worker', { size: 'small' }),
  clusterClass: {
    apiVersion: core,
    kind: 'ClusterClass',
    metadata: { name: 'small', namespace: 'default' },
    spec: {
      infrastructure: reference(infrastructure, 'SmallClusterTemplate', 'small'),
      controlPlane: {
        ...reference(controlPlane, 'KubeadmControlPlaneTemplate', 'small'),
        machineInfrastructure: reference(infrastructure, 'SmallMachineTemplate', 'small-control-plane'),
      },
      workers: {
        machineDeployments: [
          {
            class: 'worker',
            bootstrap: reference(bootstrap, 'KubeadmConfigTemplate', 'small-worker'),
            infrastructure: reference(infrastructure, 'SmallMachineTemplate', 'small-worker'),
          },
        ],
      },
      variables: [{ name: 'label', required: false, schema: { openAPIV3Schema: { type: 'string', default: 'none' } } }],
      patches: [patch('label', 'spec/preKubeadmCommands', { valueFrom: { variable: 'label' } })] as JsonObject[],
    } as JsonObject,
  },
  cluster: {
    apiVersion: core,
    kind: 'Cluster',
    metadata: { name: 'one', namespace: 'default' } as JsonObject,
    spec: {
      topology: {
        classRef: { name: 'small' },
        version: 'v1.34.0',
        controlPlane: { replicas: 3 },
        variables: [] as JsonObject[],
        workers: { machineDeployments: [{ class: 'worker', name: 'md', replicas: 2 }] as JsonObject[] },
      } as JsonObject,
    } as JsonObject,
  },
});

export type Manifests = ReturnType<typeof manifests>;

const objectsIn = (all: Manifests): JsonObject[] => Object.values(all) as unknown as JsonObject[];

/** The plan of a change of the small class or its Cluster, without objects that exist. */
export async function planned(
  change: (all: Manifests) => void,
  {
    prepare = () => {},
    call,
    dryRun,
    ...request
  }: Partial<PlanRequest> & { prepare?: (all: Manifests) => void; call?: CallHook; dryRun?: World['dryRun'] } = {},
): Promise<Plan> {
  const before = manifests();
  prepare(before);
  const after = copyOf(before as unknown as Json) as unknown as Manifests;
  change(after);
  const from = objectsIn(before);
  const parts = { call, dryRun };
  return plan(new World(from, parts), new World(layered(from, objectsIn(after)), parts), {
    now: new Date('2026-11-26T00:00:00Z'),
    ...request,
  });
}

/** The verdicts of a plan with one Cluster, by group. */
export const verdictsOf = ({ clusters }: Plan): Record<string, string> =>
  Object.fromEntries(clusters.flatMap(({ groups }) => groups.map(({ group, verdict }) => [group, verdict])));

/** The causes of a group in a plan with one Cluster: `field: from`. */
export const causesOf = ({ clusters }: Plan, group: string): string[] =>
  clusters.flatMap(({ groups }) =>
    groups
      .filter((one) => one.group === group)
      .flatMap(({ causes }) => causes.map(({ field, from }) => `${field}: ${from}`)),
  );

export const problemsOf = ({ clusters }: Plan): string[] =>
  clusters.flatMap(({ problems }) => problems.map(({ text }) => text));
