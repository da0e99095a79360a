import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '../../kubernetes/index.ts';
import {
  type Blueprint,
  clusterBuiltin,
  clusterInV1beta1,
  desiredOf,
  itemsOf,
  variable,
} from '../../topology/index.ts';
import { controlPlaneAt, controlPlaneMachineOf, groupOf, machineInUpdate, machineSetObjects } from './machines.ts';
import { patchInputOf } from './patches.ts';
import { readInput } from './read.ts';
import type { RehearsedCluster } from './state.ts';
import { type Machine, State, type WorkerGroup } from './state.ts';

/** Name of the sample Cluster, and prefix of the names of its parts, easy to recognize in a log. */
const name = 'conformance-sample-cluster';
const infrastructure = 'infrastructure.cluster.x-k8s.io/v1beta2';

/** A Cluster of a typical ClusterClass at a version of Kubernetes. */
function sampleYaml(version: string): string {
  const metadata = (of: string) => `{ name: ${of}, namespace: conformance-sample }`;
  const reference = (group: string, kind: string) =>
    `{ apiVersion: ${group}.cluster.x-k8s.io/v1beta2, kind: ${kind}, name: conformance-sample-template }`;
  const template = (group: string, kind: string, spec: string) => `---
apiVersion: ${group}.cluster.x-k8s.io/v1beta2
kind: ${kind}
metadata: ${metadata('conformance-sample-template')}
spec: { template: { spec: ${spec} } }
`;
  return `
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: ${metadata(name)}
spec:
  clusterNetwork: { pods: { cidrBlocks: [10.0.0.0/16] } }
  topology:
    classRef: { name: conformance-sample-class }
    version: ${version}
    controlPlane: { replicas: 3, deletion: { nodeDrainTimeoutSeconds: 10 } }
    workers: { machineDeployments: [{ class: default-worker, name: md-0, replicas: 2, failureDomain: zone-a }] }
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: ${metadata('conformance-sample-class')}
spec:
  infrastructure: { templateRef: ${reference('infrastructure', 'DockerClusterTemplate')} }
  controlPlane:
    templateRef: ${reference('controlplane', 'KubeadmControlPlaneTemplate')}
    machineInfrastructure: { templateRef: ${reference('infrastructure', 'DockerMachineTemplate')} }
  workers:
    machineDeployments:
      - class: default-worker
        bootstrap: { templateRef: ${reference('bootstrap', 'KubeadmConfigTemplate')} }
        infrastructure: { templateRef: ${reference('infrastructure', 'DockerMachineTemplate')} }
${template('infrastructure', 'DockerClusterTemplate', '{ loadBalancer: {} }')}
${template('controlplane', 'KubeadmControlPlaneTemplate', '{ kubeadmConfigSpec: { clusterConfiguration: {}, files: [] } }')}
${template('bootstrap', 'KubeadmConfigTemplate', '{ files: [] }')}
${template('infrastructure', 'DockerMachineTemplate', `{ customImage: "kindest/node:${version}" }`)}`;
}

/** A Cluster of a typical ClusterClass at a minor version of Kubernetes, and what Cluster API makes of it. */
function samplesAt(minor: number) {
  const version = `v1.${minor}.0`;
  const documents = parseAllDocuments(sampleYaml(version)).map((document) => document.toJS() as JsonObject);
  const objects = documents.map((object) => ({ object, where: () => '' }));
  const [subject] = readInput(objects, undefined).subjects as [RehearsedCluster];
  const blueprint = subject.blueprint as Blueprint;
  const uid = '00000000-0000-4000-8000-000000000000';
  const nobody = () => Promise.reject(new TypeError('a sample is not played'));
  const state = new State(subject, nobody, {
    newUid: () => uid,
    start: new Date('2026-01-01T00:00:00Z'),
    limits: { maxCalls: 0, maxFailures: 0 },
    onEntry() {},
    signal: new AbortController().signal,
  });
  const workers = state.workers.map((worker) => ({ worker, version }));
  const desired = { version, workers, upgradeStep: undefined };
  const input = patchInputOf(state, blueprint, desired);
  const items = itemsOf(input);
  state.desired = desiredOf(input, { items, applied: new Map() }, name);
  const [worker] = state.workers as [WorkerGroup];
  const { current: machineSet, machines } = groupOf(worker, version);
  return {
    /** In v1beta2 and without a status, as releases from 1.13 on send it. */
    cluster: state.cluster as JsonObject,
    /** The items of GeneratePatches; those of ValidateTopology have no `uid`. */
    items: items.map(
      ({ holder, object, builtin }, index): JsonObject => ({
        uid: `00000000-0000-4000-8000-00000000000${index + 1}`,
        holderReference: holder,
        object,
        ...(builtin && { variables: [variable('builtin', builtin)] }),
      }),
    ),
    builtin: variable('builtin', clusterBuiltin(input)),
    /** A machine of the control plane with its objects, as CanUpdateMachine gets it. */
    controlPlaneMachine: { ...controlPlaneMachineOf(state, controlPlaneAt(state, version), `${name}-machine`) },
    /** A MachineSet with its templates, as CanUpdateMachineSet gets it. */
    machineSet: machineSetObjects(machineSet, machineSet, 2),
    /** A machine with its objects, as UpdateMachine gets it. */
    machine: machineInUpdate(machines[0] as Machine),
  };
}

/** The objects of requests before and after an upgrade. */
export const samples = { before: samplesAt(32), after: samplesAt(33) };

/** The Cluster as sent by releases up to 1.12. */
export const olderCluster: JsonObject = {
  ...clusterInV1beta1(samples.after.cluster, () => infrastructure),
  status: { phase: 'Provisioned', infrastructureReady: true, conditions: [] },
};
