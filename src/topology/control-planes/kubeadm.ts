import { fieldAt, isJsonObject, type JsonObject, objectAt, objectsAt, textAt } from '../../kubernetes/index.ts';
import { machineFieldNames, type Release, writtenInPlace } from '../../runtimehooks/index.ts';
import { kindOfTemplate } from '../blueprint/blueprint.ts';
import { clonedFrom, mergedMetadata } from '../patches/items.ts';
import { applied } from '../world/applied.ts';
import { type Difference, differencesOf } from '../world/differences.ts';
import type { GroupObjects } from '../world/groups.ts';
import { has } from '../world/releases.ts';
import { type Arrivals, type KindWithMachines, metadataArrival } from './kind.ts';
import { comparedSpecs, isForInit, kubeadmConfigSpec } from './kubeadm-configs.ts';
import { controlPlaneCauses, controlPlaneRefusal } from './kubeadm-refusal.ts';
import {
  ageReasons,
  controlPlaneMetadata,
  inRequest,
  type MachineObjects,
  machineWith,
  shownMetadata,
  templateReasons,
  timeAt,
  type UpdateRequest,
} from './made-machine.ts';

/** Conditions that each Machine of a KubeadmControlPlane has to meet, and those with an etcd that it manages. */
const readinessGates = [
  'NodeKubeadmLabelsAndTaintsSet',
  'APIServerPodHealthy',
  'ControllerManagerPodHealthy',
  'SchedulerPodHealthy',
];
const etcdReadinessGates = ['EtcdPodHealthy', 'EtcdMemberHealthy'];

/** The fields of a Machine's spec that a KubeadmControlPlane writes in place. */
function controlPlaneSettings(controlPlane: JsonObject): JsonObject {
  const settings = objectAt(controlPlane, 'spec', 'machineTemplate', 'spec');
  const external = objectAt(controlPlane, 'spec', 'kubeadmConfigSpec', 'clusterConfiguration', 'etcd', 'external');
  const mandatory = Object.keys(external).length === 0 ? [...readinessGates, ...etcdReadinessGates] : readinessGates;
  const own = objectsAt(settings, 'readinessGates').filter(
    (gate) => !mandatory.includes(textAt(gate, 'conditionType')),
  );
  return {
    ...writtenInPlace('ControlPlane', settings),
    readinessGates: [...mandatory.map((conditionType) => ({ conditionType })), ...own],
  };
}

const machine: KindWithMachines['machine'] = (controlPlane, infrastructure, names, isFirst = false) =>
  machineWith(
    controlPlane,
    infrastructure,
    names,
    {
      apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
      kind: 'KubeadmConfig',
      spec: kubeadmConfigSpec(controlPlane, !isFirst),
    },
    {
      annotations: { 'pre-terminate.delete.hook.machine.cluster.x-k8s.io/kcp-cleanup': '' },
      spec: controlPlaneSettings(controlPlane),
    },
  );

/** The paths in which the configuration of a Machine differs from what the control plane wants (matchesKubeadmConfig). */
function configDifferences(written: JsonObject, controlPlane: JsonObject, release: Release): Difference[] {
  const { joinConfiguration } = written;
  const joins = joinConfiguration !== undefined && written.initConfiguration === undefined;
  const config =
    joins && !has(release, 'joinByControlPlane')
      ? { ...written, joinConfiguration: { controlPlane: {}, ...objectAt(joinConfiguration) } }
      : written;
  const compare = (joins: boolean): Difference[] => {
    const { current, desired } = comparedSpecs(config, kubeadmConfigSpec(controlPlane, joins), joins);
    return differencesOf(current, desired, ['spec', 'kubeadmConfigSpec']);
  };
  const joined = compare(true);
  return joined.length > 0 && isForInit(config) ? compare(false) : joined;
}

/** matchesMachineSpec in controlplane/kubeadm/pkg/filters.go, v1.14. */
function reasons(made: MachineObjects, wanted: JsonObject, release: Release): Difference[] {
  const version = textAt(wanted, 'spec', 'version');
  return [
    ...differencesOf(textAt(made.machine, 'spec', 'version') || version, version, ['spec', 'version']),
    ...configDifferences(objectAt(made.bootstrapConfig, 'spec'), wanted, release),
    ...templateReasons(made, wanted),
  ];
}

const dayMs = 24 * 60 * 60 * 1000;
const expiryPath = ['spec', 'rollout', 'before', 'certificatesExpiryDays'] as const;

function timeReasons(
  { machine: made }: MachineObjects,
  wanted: JsonObject,
  previous: JsonObject,
  now: Date,
): Difference[] {
  const days = fieldAt(wanted, ...expiryPath);
  const expireAt = timeAt(made, 'status', 'certificatesExpiryDate');
  const expires = typeof days === 'number' && expireAt !== undefined && now.getTime() + days * dayMs > expireAt;
  return [
    ...(expires ? [{ path: expiryPath, before: undefined, after: days }] : []),
    ...ageReasons(timeAt(made, 'metadata', 'creationTimestamp'), wanted, previous),
  ];
}

/** The request of CanUpdateMachine (createRequest in …/kubeadmcontrolplane/inplace_canupdatemachine.go, v1.14). */
function updateRequest(
  { machine, bootstrapConfig, infrastructureMachine }: MachineObjects,
  before: GroupObjects,
  after: GroupObjects,
  clusterName: string,
): UpdateRequest | undefined {
  if (before.infrastructure === undefined || after.infrastructure === undefined) {
    return undefined;
  }
  const metadataOf = ({ object }: GroupObjects) => controlPlaneMetadata(object, clusterName);
  const follow = (object: JsonObject) => applied(shownMetadata(object), metadataOf(before), metadataOf(after));
  const machineSpec = applied(
    objectAt(machine, 'spec'),
    controlPlaneSettings(before.object),
    controlPlaneSettings(after.object),
  );
  const annotated = mergedMetadata([follow(infrastructureMachine), clonedFrom(after.infrastructure)]);
  const spec = objectAt(infrastructureMachine, 'spec');
  const specOf = ({ infrastructure }: GroupObjects) => objectAt(infrastructure, 'spec', 'template', 'spec');
  const desiredInfrastructure = {
    apiVersion: textAt(after.infrastructure, 'apiVersion'),
    kind: kindOfTemplate(after.infrastructure),
    metadata: objectAt(infrastructureMachine, 'metadata'),
  };
  const configs = comparedSpecs(objectAt(bootstrapConfig, 'spec'), kubeadmConfigSpec(after.object, true), true);
  const version = textAt(after.object, 'spec', 'version');
  return {
    current: {
      machine: inRequest(machine, follow(machine), machineSpec),
      infrastructureMachine: inRequest(infrastructureMachine, annotated, spec),
      bootstrapConfig: inRequest(bootstrapConfig, metadataOf(after), configs.current),
    },
    desired: {
      machine: inRequest(machine, follow(machine), { ...machineSpec, version }),
      infrastructureMachine: inRequest(desiredInfrastructure, annotated, applied(spec, specOf(before), specOf(after))),
      bootstrapConfig: inRequest(bootstrapConfig, metadataOf(after), configs.desired),
    },
  };
}

const arrivals: Arrivals = [
  ...machineFieldNames('ControlPlane', 'machines').map((field) => ({
    path: ['spec', 'machineTemplate', 'spec', field],
    on: ['Machines'],
  })),
  { path: ['spec', 'kubeadmConfigSpec', 'clusterConfiguration', 'dns'], on: ['CoreDNS in the Cluster'] },
  ...[
    'machineNaming',
    'kubeadmConfigSpec.joinConfiguration.discovery',
    'kubeadmConfigSpec.joinConfiguration.timeouts',
  ].map((path) => ({ path: ['spec', ...path.split('.')], on: ['new Machines only'] })),
];

function fillDefaults({ spec }: JsonObject): void {
  if (isJsonObject(spec)) {
    spec.replicas ??= 1;
    const version = textAt(spec, 'version');
    if (version !== '' && !version.startsWith('v')) {
      spec.version = `v${version}`;
    }
    const rollout = objectAt(spec, 'rollout');
    const strategy = objectAt(rollout, 'strategy');
    const rollingUpdate = { maxSurge: 1, ...objectAt(strategy, 'rollingUpdate') };
    spec.rollout = { ...rollout, strategy: { ...strategy, type: 'RollingUpdate', rollingUpdate } };
  }
}

export const kubeadm: KindWithMachines = {
  group: 'controlplane.cluster.x-k8s.io',
  kind: 'KubeadmControlPlane',
  machine,
  isFirst: ({ bootstrapConfig }) => isForInit(objectAt(bootstrapConfig, 'spec')),
  reasons,
  timeReasons,
  maxSurge: (controlPlane) =>
    Number(fieldAt(controlPlane, 'spec', 'rollout', 'strategy', 'rollingUpdate', 'maxSurge') ?? 1),
  arrivals: (controlPlane) => [metadataArrival(controlPlane, 'KubeadmConfigs'), ...arrivals],
  updateRequest,
  creationCauses: controlPlaneCauses,
  fillDefaults,
  refusal: controlPlaneRefusal,
};
