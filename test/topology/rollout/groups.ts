import {
  applyMergePatch,
  copyOf,
  fieldAt,
  type Json,
  type JsonObject,
  objectAt,
} from '../../../src/kubernetes/index.ts';
import type { Cause, HookAnswer, HookCall } from '../../../src/topology/index.ts';
import {
  type ExistingMachine,
  type GroupChange,
  type GroupObjects,
  judgeGroup,
  type PlanOptions,
} from '../../../src/topology/rollout/index.ts';

export const now = new Date('2026-06-01T00:00:00Z');

/** An object with a JSON merge patch applied. */
export const merged = (object: JsonObject, patch: JsonObject): JsonObject =>
  applyMergePatch(copyOf(object), patch) as JsonObject;

const template = (kind: string, name: string, spec: JsonObject): JsonObject => ({
  apiVersion: `${kind.startsWith('Kubeadm') ? 'bootstrap' : 'infrastructure'}.cluster.x-k8s.io/v1beta2`,
  kind,
  metadata: { name, namespace: 'default' },
  spec: { template: { spec } },
});

export const infrastructure = (name: string, spec: JsonObject = { size: 'small' }): JsonObject =>
  template('DevMachineTemplate', name, spec);
export const bootstrap = (name: string, spec: JsonObject = { preKubeadmCommands: ['a'] }): JsonObject =>
  template('KubeadmConfigTemplate', name, spec);

const reference = (object: JsonObject) => ({
  apiGroup: String(object.apiVersion).split('/')[0] ?? '',
  kind: object.kind ?? '',
  name: objectAt(object, 'metadata').name ?? '',
});

const kubeadmConfigSpec: JsonObject = {
  clusterConfiguration: { apiServer: { extraArgs: [{ name: 'v', value: '2' }] } },
  initConfiguration: { nodeRegistration: { kubeletExtraArgs: [{ name: 'v', value: '2' }] } },
  joinConfiguration: { nodeRegistration: { kubeletExtraArgs: [{ name: 'v', value: '2' }] } },
};

/** A control plane of three Machines, as the API server has it. */
export const controlPlane: GroupObjects = {
  object: {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
    kind: 'KubeadmControlPlane',
    metadata: { name: 'cp', namespace: 'default', labels: { 'cluster.x-k8s.io/cluster-name': 'c' } },
    spec: {
      replicas: 3,
      version: 'v1.34.0',
      kubeadmConfigSpec,
      machineTemplate: { spec: { infrastructureRef: reference(infrastructure('cp-1')) } },
      rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } },
    },
  },
  bootstrap: undefined,
  infrastructure: infrastructure('cp-1'),
};

/** A MachineDeployment of three Machines. */
export const deployment: GroupObjects = {
  object: {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'MachineDeployment',
    metadata: { name: 'md', namespace: 'default' },
    spec: {
      clusterName: 'c',
      replicas: 3,
      selector: { matchLabels: { a: 'b' } },
      rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
      template: {
        metadata: { labels: { a: 'b' } },
        spec: {
          clusterName: 'c',
          version: 'v1.34.0',
          bootstrap: { configRef: reference(bootstrap('b-1')) },
          infrastructureRef: reference(infrastructure('i-1')),
        },
      },
    },
  },
  bootstrap: bootstrap('b-1'),
  infrastructure: infrastructure('i-1'),
};

const created = '2026-01-01T00:00:00Z';

/** A Machine that joined a control plane, of what its KubeadmControlPlane has or something else. */
export function controlPlaneMachine(
  name: string,
  more: { [Part in keyof ExistingMachine]?: JsonObject } = {},
): ExistingMachine {
  const { initConfiguration: _, ...spec } = kubeadmConfigSpec;
  const metadata = { name, namespace: 'default' };
  return {
    machine: merged(
      { kind: 'Machine', metadata: { ...metadata, creationTimestamp: created }, spec: { version: 'v1.34.0' } },
      more.machine ?? {},
    ),
    bootstrapConfig: merged(
      {
        apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
        kind: 'KubeadmConfig',
        metadata,
        spec: {
          ...spec,
          clusterConfiguration: {
            ...objectAt(spec.clusterConfiguration),
            featureGates: { ControlPlaneKubeletLocalMode: true },
          },
          joinConfiguration: { ...objectAt(spec.joinConfiguration), controlPlane: {} },
        },
      },
      more.bootstrapConfig ?? {},
    ),
    infrastructureMachine: merged(
      {
        apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
        kind: 'DevMachine',
        metadata: {
          ...metadata,
          annotations: {
            'cluster.x-k8s.io/cloned-from-groupkind': 'DevMachineTemplate.infrastructure.cluster.x-k8s.io',
            'cluster.x-k8s.io/cloned-from-name': 'cp-1',
          },
        },
        spec: { size: 'small', providerID: `dev://${name}` },
      },
      more.infrastructureMachine ?? {},
    ),
  };
}

/** The first Machine of a control plane, which did not join. */
export const firstMachine = (name: string): ExistingMachine =>
  controlPlaneMachine(name, {
    bootstrapConfig: {
      spec: { joinConfiguration: null, initConfiguration: kubeadmConfigSpec.initConfiguration ?? {} },
    } as JsonObject,
  });

/** A MachineSet of the MachineDeployment, and its Machines. */
export function machineSet(name: string, machines: readonly string[], patch: JsonObject = {}) {
  const { template } = objectAt(deployment.object, 'spec');
  const set = merged(
    {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineSet',
      metadata: { name, namespace: 'default', creationTimestamp: created, labels: { 'machine-template-hash': name } },
      spec: { replicas: machines.length, template: template ?? {} },
    },
    patch,
  );
  return {
    machineSet: set,
    machines: machines.map(
      (machine): ExistingMachine => ({
        machine: {
          kind: 'Machine',
          metadata: { name: machine, creationTimestamp: created, labels: { 'cluster.x-k8s.io/set-name': name } },
          spec: {},
        },
        bootstrapConfig: undefined,
        infrastructureMachine: undefined,
      }),
    ),
  };
}

/** A change of a group. The patches are JSON merge patches of its object before and after. */
export interface Case {
  of?: GroupObjects;
  before?: JsonObject;
  after?: JsonObject;
  /** Templates that it refers to afterwards, instead of those before. */
  templates?: Partial<Pick<GroupObjects, 'bootstrap' | 'infrastructure'>>;
  machines?: readonly ExistingMachine[];
  machineSets?: readonly ReturnType<typeof machineSet>[];
  change?: Partial<GroupChange>;
  options?: Partial<PlanOptions>;
}

/** A change as `judgeGroup` gets it. */
export function changeOf({ of = controlPlane, ...given }: Case): GroupChange {
  const before = { ...of, object: merged(of.object, given.before ?? {}) };
  const { machineSets } = given;
  return {
    cluster: { kind: 'Cluster', metadata: { name: 'c', namespace: 'default' }, spec: {} },
    group: 'g',
    kind: String(of.object.kind),
    name: String(objectAt(of.object, 'metadata').name),
    before,
    after: { ...before, object: merged(before.object, given.after ?? {}), ...given.templates },
    machineSets: machineSets?.map((set) => ({ ...of, object: set.machineSet })) ?? [],
    machines: given.machines ?? machineSets?.flatMap(({ machines }) => machines),
    versions: [],
    notes: [],
    from: () => undefined,
    ...given.change,
  };
}

export const planOf = (given: Case) => judgeGroup(changeOf(given), { now, ...given.options });

/** The fields of causes. */
export const fieldsOf = ({ causes }: { causes: readonly Cause[] }): string[] => causes.map(({ field }) => field);

/** An extension that covers what it is asked about, all of it or some parts of the request. */
export function updater(
  covered: readonly string[] | 'all',
  more: JsonObject = {},
): { calls: HookCall[]; options: Partial<PlanOptions> } {
  const calls: HookCall[] = [];
  const call = (asked: HookCall): Promise<HookAnswer> => {
    calls.push(asked);
    const desired = objectAt(asked.request, 'desired');
    const path = asked.hook === 'CanUpdateMachine' ? ['spec'] : ['spec', 'template', 'spec'];
    const patches = Object.entries(desired)
      .filter(([part]) => covered === 'all' || covered.includes(part))
      .map(([part, object]): [string, Json] => {
        const value = fieldAt(object, ...path) ?? {};
        const patch = [{ op: 'replace', path: `/${path.join('/')}`, value }];
        return [
          `${part}Patch`,
          { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') },
        ];
      });
    const response: JsonObject = { status: 'Success', ...Object.fromEntries(patches), ...more };
    return Promise.resolve({ is: 'answered', response, handler: 'updater' });
  };
  return { calls, options: { updatesInPlace: true, call } };
}
