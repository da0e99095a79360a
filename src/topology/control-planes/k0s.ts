import {
  asGoWrites,
  canonical,
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  objectText,
  textAt,
} from '../../kubernetes/index.ts';
import { compareVersions, type KubernetesVersion, parseTolerantly, parseVersion } from '../../runtimehooks/index.ts';
import { type Difference, differencesOf } from '../world/differences.ts';
import { NotKnown } from '../world/not-known.ts';
import { picked, present } from '../world/objects.ts';
import { denial } from '../world/refusal.ts';
import { goFields, goValue } from './go-values.ts';
import type { KindWithMachines } from './kind.ts';
import { type MachineObjects, machineWith, templateDifferences } from './made-machine.ts';

// Facts of k0sproject/k0smotron, v2.0 and v2.1: calculateMachineState and retrieveControlPlaneState in
// internal/controller/controlplane/k0s_controlplane_controller.go, isInfraMachineUpToDate, isBootstrapConfigUpToDate and
// getMachineK0sConfig in helper.go, versionMatches in status.go, calculateMaxSurge in scale.go,
// reconcileInplaceK0sVersionUpdate in scale.go (v2.0) and inplace.go (v2.1), and api/controlplane/v1beta2.

/** Where a Machine keeps the k0sConfigSpec that it was made with, as JSON; k0smotron before v1.10 did not write it. */
const configAnnotation = 'k0s.controlplane.cluster.x-k8s.io/k0s-config';

const fields = goFields({
  pointer: ['ignition', 'customUserDataRef', 'contentFrom', 'secretRef', 'configMapRef', 'secretMetadata'],
  map: ['labels', 'annotations'],
});

/** Defaults of the schema in v1beta2, which annotations lack. */
const configDefaults: JsonObject = {
  k0sInstallDir: '/usr/local/bin',
  downloadURL: 'https://get.k0s.sh',
};
const tunnelingDefaults: JsonObject = { serverNodePort: 31700, tunnelingNodePort: 31443, mode: 'tunnel' };

/** A k0sConfigSpec as it is compared: in v1beta2, with defaults, and without what k0s reconciles itself. */
function comparedConfig(config: JsonObject): JsonObject {
  const known = goValue(config, fields) as JsonObject;
  const { k0s: _k0s, preStartCommands, postStartCommands, ignition, customUserDataRef, ...spec } = known;
  const provisioner = {
    type: ignition === undefined ? 'cloud-config' : 'ignition',
    platform: 'linux',
    ...present({ ignition, customUserDataRef }),
  };
  return {
    ...configDefaults,
    ...present({ preK0sCommands: preStartCommands, postK0sCommands: postStartCommands }),
    ...spec,
    provisioner: { ...provisioner, ...objectAt(spec.provisioner) },
    tunneling: { ...tunnelingDefaults, ...objectAt(spec.tunneling) },
  };
}

const configOf = (controlPlane: JsonObject): JsonObject => objectAt(controlPlane, 'spec', 'k0sConfigSpec');

/** The version that k0smotron takes: with the suffix of k0s, and a default. */
function versionOf(controlPlane: JsonObject): string {
  const version = textAt(controlPlane, 'spec', 'version') || 'v1.27.9';
  return version.includes('+k0s.') ? version : `${version}+k0s.0`;
}

/** A version as k0smotron compares it: the Machine's without suffix has the control plane's, and `v` at the beginning does not count. */
function versionReasons({ machine: made }: MachineObjects, wanted: JsonObject): Difference[] {
  const [before, after] = [textAt(made, 'spec', 'version'), versionOf(wanted)];
  const suffixed = before === '' || before.includes('+') ? before : `${before}+${after.split('+')[1]}`;
  return suffixed.replace(/^v/, '') === after.replace(/^v/, '')
    ? []
    : [{ path: ['spec', 'version'], before: suffixed, after }];
}

/** Go reads the field `k0s` only with a kind (unstructured.Unstructured). */
const isReadable = ({ k0s = null }: JsonObject): boolean => k0s === null || textAt(k0s, 'kind') !== '';

/** Undefined if k0smotron cannot read it, as what it keeps since v1.31.1 of k0s without `k0s`: it has no kind. */
function keptConfig(text: string): JsonObject | undefined {
  try {
    const config = (JSON.parse(text) as Json) ?? {};
    return isJsonObject(config) && isReadable(config) ? comparedConfig(config) : undefined;
  } catch {
    return undefined;
  }
}

/** The differences of a Machine's k0sConfigSpec; undefined if the Machine does not say what it was made with. */
function configReasons({ machine: made }: MachineObjects, wanted: JsonObject): Difference[] | undefined {
  const text = objectAt(made, 'metadata', 'annotations')[configAnnotation];
  if (typeof text !== 'string') {
    return undefined;
  }
  const path = ['spec', 'k0sConfigSpec'];
  const config = comparedConfig(configOf(wanted));
  const known = keptConfig(text);
  if (known === undefined) {
    return [{ path, before: text, after: config }];
  }
  const { enabled, serverAddress } = objectAt(config.tunneling);
  // The controller fills in the address of a node.
  const isFilled = enabled === true && serverAddress === undefined;
  const tunneling = {
    ...objectAt(config.tunneling),
    ...(isFilled && picked(objectAt(known.tunneling), ['serverAddress'])),
  };
  return differencesOf(known, { ...config, tunneling }, path);
}

const strategyOf = (controlPlane: JsonObject): string => textAt(controlPlane, 'spec', 'updateStrategy') || 'InPlace';

const isVersion = ({ path }: Difference): boolean => path.join('.') === 'spec.version';

const updater = (reasons: readonly Difference[], controlPlane: JsonObject): string | undefined =>
  strategyOf(controlPlane) === 'InPlace' && reasons.length > 0 && reasons.every(isVersion)
    ? "k0s' autopilot, as long as the control plane is Available"
    : undefined;

/** The first version of k0s for which k0smotron writes the name of the etcd member, candidates of its release included. */
const firstWithEtcdName = parseTolerantly('v1.31.1-0') as KubernetesVersion;

/** Whether k0smotron cannot read what it keeps of the Machines that it makes for a control plane: that of k0s without a kind. */
function keepsUnreadable({ machine: made }: MachineObjects, wanted: JsonObject): boolean {
  const version = parseVersion(textAt(made, 'spec', 'version'));
  const isNew = version !== undefined && compareVersions(version, firstWithEtcdName) >= 0;
  return isNew && configOf(wanted).k0s === undefined;
}

function reasons(made: MachineObjects, wanted: JsonObject): Difference[] {
  // Unlike with other providers, a Machine's infrastructure that does not say what it was cloned from is replaced.
  const others = [...versionReasons(made, wanted), ...templateDifferences(made, wanted)];
  const ofConfig = configReasons(made, wanted);
  const isReplaced = others.length > 0 && updater(others, wanted) === undefined;
  if (ofConfig === undefined && !isReplaced) {
    throw new NotKnown(
      `${objectText(made.machine)} has no annotation ${configAnnotation}: whether its k0sConfigSpec is up to date is not known`,
    );
  }
  const found = [...others, ...(ofConfig ?? [])];
  if (updater(found, wanted) !== undefined && keepsUnreadable(made, wanted)) {
    throw new NotKnown(
      `${objectText(made.machine)}: without k0sConfigSpec.k0s, k0smotron keeps of a Machine of k0s v1.31.1 or newer a k0sConfigSpec that it cannot read again: whether it is updated in place or replaced is not known`,
    );
  }
  return found;
}

/** The rules of its webhooks (k0s_controlplane_webhook.go); they say only the first. */
function refusal(before: JsonObject, after: JsonObject, isStep: boolean): string | undefined {
  const { k0s } = configOf(after);
  if (k0s !== undefined && !isReadable({ k0s })) {
    return denial(
      'mutate-k0scontrolplane-v1beta2.k0smotron.io',
      `Object 'Kind' is missing in '${asGoWrites(canonical(k0s))}'`,
    );
  }
  const [from, to] = [before, after].map((object) => parseVersion(textAt(object, 'spec', 'version'))?.numbers ?? []);
  const args = objectAt(after, 'spec', 'k0sConfigSpec').args;
  const { type = '', platform = '' } = objectAt(configOf(after), 'provisioner');
  const problems: [isWrong: boolean, text: string][] = [
    [
      isStep && Number(to?.[1]) - Number(from?.[1]) > 1,
      'upgrading more than one minor version at a time is not allowed by the Kubernetes skew policy',
    ],
    [
      to?.join('.') === '1.31.1',
      `version ${textAt(after, 'spec', 'version')} is not compatible with K0sControlPlane, use v1.31.2+`,
    ],
    [
      platform === 'windows' || String(type).startsWith('powershell'),
      'K0sControlPlane does not support powershell and powershell-xml provisioning formats',
    ],
    [
      strategyOf(after) === 'Recreate' && Array.isArray(args) && args.includes('--single'),
      'UpdateStrategy Recreate strategy is not allowed when the cluster is running in single mode',
    ],
  ];
  const text = problems.find(([isWrong]) => isWrong)?.[1];
  return text && denial('validate-k0scontrolplane-v1beta2.k0smotron.io', text);
}

export const k0s: KindWithMachines = {
  group: 'controlplane.cluster.x-k8s.io',
  kind: 'K0sControlPlane',
  fields: [
    ...['k0sConfigSpec', 'machineTemplate', 'replicas', 'updateStrategy', 'version', 'kubeconfigSecretMetadata'],
  ],
  machine: (controlPlane, infrastructure, names) =>
    machineWith(
      { ...controlPlane, spec: { ...objectAt(controlPlane, 'spec'), version: versionOf(controlPlane) } },
      infrastructure,
      names,
      {
        apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
        kind: 'K0sControllerConfig',
        spec: { version: versionOf(controlPlane), ...configOf(controlPlane) },
      },
      { annotations: { [configAnnotation]: JSON.stringify(configOf(controlPlane)) } },
    ),
  reasons,
  updater,
  maxSurge: (controlPlane) =>
    strategyOf(controlPlane) === 'RecreateDeleteFirst' && Number(objectAt(controlPlane, 'spec').replicas) >= 3 ? 0 : 1,
  arrivals: () => [
    { path: ['spec', 'machineTemplate', 'metadata'], on: ['new Machines only'] },
    { path: ['spec', 'k0sConfigSpec', 'k0s'], on: ['the ClusterConfig of k0s, but for spec.storage'] },
    { path: ['spec', 'kubeconfigSecretMetadata'], on: ['the Secret of the kubeconfig'] },
  ],
  fillDefaults({ spec }) {
    Object.assign(objectAt(spec), { replicas: 1, updateStrategy: 'InPlace', ...objectAt(spec) });
  },
  refusal,
};
