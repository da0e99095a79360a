import { type Json, type JsonObject, objectAt, objectText, textAt } from '../../kubernetes/index.ts';
import { type Difference, differencesOf } from '../world/differences.ts';
import { NotKnown } from '../world/not-known.ts';
import { picked } from '../world/objects.ts';
import { goFields, goValue } from './go-values.ts';
import { type KindWithMachines, metadataArrival } from './kind.ts';
import { type MachineObjects, machineWith, templateReasons } from './made-machine.ts';
import { refusedChanges } from './refused-changes.ts';

// Facts of rancher/cluster-api-provider-rke2, v0.24 and v0.25: UpToDate in pkg/rke2/control_plane.go, pkg/rke2/machine_filters.go,
// pkg/rke2/desiredstate, the webhook of the control plane, and the types of both API groups.

/** RKE2ConfigSpec, which the spec of the control plane has inline: compared with the Machine's RKE2Config. */
const configFields = [
  'files',
  'preRKE2Commands',
  'postRKE2Commands',
  'agentConfig',
  'privateRegistriesConfig',
  'gzipUserData',
];

const fields = goFields({
  pointer: [
    ...['gzipUserData', 'contentFrom', 'secret', 'configMap', 'ntp', 'enabled', 'imageCredentialProviderConfigMap'],
    ...['resolvConf', 'kubelet', 'kubeProxy', 'auditPolicySecret', 'secretsEncryption', 'encryptionKeySecret'],
    ...['kubeAPIServer', 'kubeControllerManager', 'kubeScheduler', 'cloudControllerManager', 'cloudProviderConfigMap'],
    ...['externalDatastoreSecret', 'customConfig', 'disableAutomaticSnapshots', 's3', 'endpointCAsecret'],
    ...['s3CredentialSecret'],
  ],
  map: ['nodeAnnotations', 'data', 'mirrors', 'rewrite', 'configs', 'extraEnv', 'extraMounts'],
});

/** Where a Machine keeps the serverConfig that it was made with, as JSON. */
const serverConfigAnnotation = 'controlplane.cluster.x-k8s.io/rke2-server-configuration';

const serverConfigOf = (controlPlane: JsonObject): Json =>
  goValue(objectAt(controlPlane, 'spec', 'serverConfig'), fields);

const configOf = (spec: JsonObject): JsonObject => goValue(picked(spec, configFields), fields) as JsonObject;

const machine: KindWithMachines['machine'] = (controlPlane, infrastructure, names) =>
  machineWith(
    controlPlane,
    infrastructure,
    names,
    {
      apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
      kind: 'RKE2Config',
      spec: configOf(objectAt(controlPlane, 'spec')),
    },
    { annotations: { [serverConfigAnnotation]: JSON.stringify(serverConfigOf(controlPlane)) } },
  );

/** The additions of Rancher Turtles' webhook to a Machine's RKE2Config, which do not count. */
const turtlesAnnotation = 'cluster-api.cattle.io/turtles-system-agent';
const turtlesFiles = [
  '/etc/rancher/agent/connect-info-config.json',
  '/opt/system-agent-install.sh',
  '/etc/rancher/agent/config.yaml',
];
const turtlesCommand = 'sh /opt/system-agent-install.sh';

function madeConfig({ bootstrapConfig }: MachineObjects): JsonObject {
  const spec = configOf(objectAt(bootstrapConfig, 'spec'));
  if (!Object.hasOwn(objectAt(bootstrapConfig, 'metadata', 'annotations'), turtlesAnnotation)) {
    return spec;
  }
  const without = (list: Json | undefined, isAdded: (item: Json) => boolean) => {
    const left = (Array.isArray(list) ? list : []).filter((item) => !isAdded(item));
    return left.length === 0 ? undefined : left;
  };
  const files = without(spec.files, (file) => turtlesFiles.includes(textAt(objectAt(file), 'path')));
  const postRKE2Commands = without(spec.postRKE2Commands, (command) => command === turtlesCommand);
  const { files: _files, postRKE2Commands: _commands, ...rest } = spec;
  return { ...rest, ...(files && { files }), ...(postRKE2Commands && { postRKE2Commands }) };
}

/** Without the annotation of older Machines, the server's configuration does not count; if it is not JSON, they are replaced. */
function serverReasons({ machine: made }: MachineObjects, wanted: JsonObject): Difference[] {
  const text = objectAt(made, 'metadata', 'annotations')[serverConfigAnnotation];
  if (typeof text !== 'string') {
    return [];
  }
  const path = ['spec', 'serverConfig'];
  try {
    return differencesOf(goValue((JSON.parse(text) as Json) ?? {}, fields), serverConfigOf(wanted), path);
  } catch {
    return [{ path, before: text, after: serverConfigOf(wanted) }];
  }
}

/** Versions whose suffix the provider knew until v0.24 (Rke2ToKubeVersion in pkg/util): with one digit for the patch and RKE2. */
const knownVersion = /^v\d\.\d\d\.\d\+rke2r\d$/;

/** Until v0.24, a Machine's version without RKE2's suffix could be up to date: that matters unless it is replaced in any case. */
function versionReasons({ machine: made }: MachineObjects, wanted: JsonObject, isReplaced: boolean): Difference[] {
  const [before, after] = [textAt(made, 'spec', 'version'), textAt(wanted, 'spec', 'version')];
  if (!isReplaced && knownVersion.test(after) && before === after.split('+')[0]) {
    throw new NotKnown(
      `${objectText(made)} has the version ${before}: until v0.24, the RKE2 provider keeps it, since v0.25 it is replaced for ${after}`,
    );
  }
  return differencesOf(before, after, ['spec', 'version']);
}

export const rke2: KindWithMachines = {
  group: 'controlplane.cluster.x-k8s.io',
  kind: 'RKE2ControlPlane',
  fields: [
    ...configFields,
    ...['version', 'replicas', 'machineTemplate', 'serverConfig', 'infrastructureRef', 'nodeDrainTimeout'],
    ...[
      'manifestsConfigMapReference',
      'registrationMethod',
      'registrationAddress',
      'rolloutStrategy',
      'remediationStrategy',
    ],
  ],
  asksExtensions: true,
  machine,
  reasons(made, wanted) {
    const others = [
      ...serverReasons(made, wanted),
      ...differencesOf(madeConfig(made), configOf(objectAt(wanted, 'spec')), ['spec']),
      ...templateReasons(made, wanted),
    ];
    return [...versionReasons(made, wanted, others.length > 0), ...others];
  },
  uncompared: (made) =>
    typeof objectAt(made, 'metadata', 'annotations')[serverConfigAnnotation] === 'string'
      ? undefined
      : `spec.serverConfig does not count without the annotation ${serverConfigAnnotation}`,
  maxSurge: (controlPlane) => Number(objectAt(controlPlane, 'spec', 'rolloutStrategy', 'rollingUpdate').maxSurge ?? 1),
  arrivals: (controlPlane) => [
    metadataArrival(controlPlane, 'RKE2Configs'),
    { path: ['spec', 'machineTemplate', 'spec', 'deletion'], on: ['Machines'] },
    { path: ['spec', 'manifestsConfigMapReference'], on: ['new Machines only'] },
    { path: ['spec', 'registrationMethod'], on: ['new Machines only'] },
    { path: ['spec', 'registrationAddress'], on: ['new Machines only'] },
  ],
  refusal: refusedChanges('vrke2controlplane.kb.io', [
    {
      field: 'spec.registrationMethod',
      is: (before) => before !== undefined,
      value: (after) => after ?? '',
      why: 'field value is immutable once set',
    },
  ]),
};
