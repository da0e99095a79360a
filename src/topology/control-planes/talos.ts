import { fieldAt, isJsonObject, type JsonObject, objectAt, textAt } from '../../kubernetes/index.ts';
import { differencesOf } from '../world/differences.ts';
import { denial, invalidText } from '../world/refusal.ts';
import { goFields, goValue } from './go-values.ts';
import type { KindWithMachines } from './kind.ts';
import { machineWith, templateReasons } from './made-machine.ts';

// Facts of siderolabs/cluster-api-control-plane-provider-talos, v0.5 (to v0.5.12): MachinesNeedingRollout and
// MatchesControlPlaneConfig in controllers/controlplane.go, upgradeControlPlane in controllers/upgrade.go, bootControlPlane in
// controllers/taloscontrolplane_controller.go, and the webhook in api/v1alpha3. v0.4 does not compare the config.

const configPath = ['spec', 'controlPlaneConfig', 'controlplane'];

/** Strings and lists of patches are not pointers; the value of a patch is JSON. */
const fields = goFields({ json: ['value'] });

const strategies = ['RollingUpdate', 'OnDelete'];

const strategyOf = (controlPlane: JsonObject): string => textAt(controlPlane, 'spec', 'rolloutStrategy', 'type');

export const talos: KindWithMachines = {
  group: 'controlplane.cluster.x-k8s.io',
  kind: 'TalosControlPlane',
  fields: ['replicas', 'version', 'infrastructureTemplate', 'controlPlaneConfig', 'rolloutStrategy'],
  machine: (controlPlane, infrastructure, names) =>
    machineWith(controlPlane, infrastructure, names, {
      apiVersion: 'bootstrap.cluster.x-k8s.io/v1alpha3',
      kind: 'TalosConfig',
      spec: objectAt(controlPlane, ...configPath),
    }),
  reasons: (made, wanted) => [
    ...differencesOf(textAt(made.machine, 'spec', 'version'), textAt(wanted, 'spec', 'version'), ['spec', 'version']),
    ...differencesOf(
      goValue(objectAt(made.bootstrapConfig, 'spec'), fields),
      goValue(objectAt(wanted, ...configPath), fields),
      configPath,
    ),
    ...templateReasons(made, wanted),
  ],
  maxSurge: (controlPlane) =>
    strategyOf(controlPlane) === 'OnDelete'
      ? undefined
      : Number(fieldAt(controlPlane, 'spec', 'rolloutStrategy', 'rollingUpdate', 'maxSurge') ?? 1),
  arrivals: () => [{ path: ['spec', 'controlPlaneConfig', 'init'], on: ['the first Machine of a new Cluster only'] }],
  fillDefaults({ spec }) {
    if (!isJsonObject(spec)) {
      return;
    }
    spec.replicas ??= 1;
    const version = textAt(spec, 'version');
    spec.version = version.startsWith('v') ? version : `v${version}`;
    const { type = 'RollingUpdate', rollingUpdate, ...rest } = objectAt(spec.rolloutStrategy);
    const surge = type === 'RollingUpdate' ? { maxSurge: 1, ...objectAt(rollingUpdate) } : rollingUpdate;
    spec.rolloutStrategy = { ...rest, type, ...(surge !== undefined && { rollingUpdate: surge }) };
  },
  refusal(_before, after) {
    const type = strategyOf(after);
    const known = strategies.map((one) => JSON.stringify(one)).join(' ');
    const problem = `spec.rolloutStrategy: Invalid value: ${JSON.stringify(type)}: valid values are: [${known}]`;
    return type === '' || strategies.includes(type)
      ? undefined
      : denial('validate.taloscontrolplane.controlplane.cluster.x-k8s.io', invalidText(after, [problem]));
  },
};
