import { isJsonObject, type JsonObject, objectAt, textAt } from '../../kubernetes/index.ts';
import { differencesOf } from '../world/differences.ts';
import { goFields, goValue } from './go-values.ts';
import { type KindWithMachines, metadataArrival } from './kind.ts';
import { ageReasons, machineWith, rolloutAfterPath, templateReasons, timeAt } from './made-machine.ts';

// Facts of k3s-io/cluster-api-k3s, v0.2 and v0.3: MatchesKCPConfiguration in pkg/machinefilters/machine_filters.go,
// MachinesNeedingRollout in pkg/k3s/control_plane.go, syncMachines and upgradeControlPlane in
// controlplane/controllers/kthreescontrolplane_controller.go, computeDesiredMachine in scale.go, and the webhook in
// controlplane/api/v1beta2. Until v0.1, a change of the config replaced nothing (its issue 83).

const fields = goFields({ pointer: ['disableCloudController', 'cloudProviderName', 'contentFrom'] });

/** A KThreesConfigSpec as it is compared: the version of k3s in it does not count. */
function comparedConfig({ version: _version, ...spec }: JsonObject): JsonObject {
  return goValue(spec, fields) as JsonObject;
}

/** With what the webhook sets in v1beta2. */
function configOf(controlPlane: JsonObject): JsonObject {
  const spec = objectAt(controlPlane, 'spec', 'kthreesConfigSpec');
  const serverConfig = { disableCloudController: true, cloudProviderName: 'external', ...objectAt(spec.serverConfig) };
  return { ...spec, serverConfig };
}

/** Fields of the machineTemplate that are written to Machines; `nodeDrainTimeout` of v1beta1 is at the top. */
const timeouts = ['nodeDrainTimeout', 'nodeVolumeDetachTimeout', 'nodeDeletionTimeout'];

export const kthrees: KindWithMachines = {
  group: 'controlplane.cluster.x-k8s.io',
  kind: 'KThreesControlPlane',
  fields: [
    ...['replicas', 'version', 'kthreesConfigSpec', 'rolloutAfter', 'machineTemplate', 'remediationStrategy'],
    ...['infrastructureTemplate', 'nodeDrainTimeout'],
  ],
  machine: (controlPlane, infrastructure, names) =>
    machineWith(controlPlane, infrastructure, names, {
      apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
      kind: 'KThreesConfig',
      spec: configOf(controlPlane),
    }),
  reasons: (made, wanted) => [
    ...differencesOf(textAt(made.machine, 'spec', 'version'), textAt(wanted, 'spec', 'version'), ['spec', 'version']),
    ...differencesOf(comparedConfig(objectAt(made.bootstrapConfig, 'spec')), comparedConfig(configOf(wanted)), [
      'spec',
      'kthreesConfigSpec',
    ]),
    ...templateReasons(made, wanted),
  ],
  timeReasons: ({ machine }, wanted, previous) =>
    ageReasons(timeAt(machine, 'metadata', 'creationTimestamp'), wanted, previous, rolloutAfterPath),
  maxSurge: () => 1,
  arrivals: (controlPlane) => [
    metadataArrival(controlPlane, 'KThreesConfigs'),
    ...timeouts.map((field) => ({ path: ['spec', 'machineTemplate', field], on: ['Machines'] })),
    { path: ['spec', 'kthreesConfigSpec', 'version'], on: ['new Machines only'] },
  ],
  fillDefaults({ spec }) {
    if (isJsonObject(spec)) {
      spec.replicas ??= 1;
      spec.kthreesConfigSpec = configOf({ spec });
    }
  },
};
