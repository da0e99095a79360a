import { isJsonObject, type JsonObject, objectAt, objectsAt, textAt } from '../../kubernetes/index.ts';
import { machineFieldsOf, pathInObject, pathInOldControlPlane } from '../../runtimehooks/index.ts';
import { type Change, duration, gone, type Moves, moved, present, secondsOf } from './moves.ts';

/** A change that nobody needs backwards. */
const forward = (newer: Change['newer']): Change => ({ newer, older: () => undefined });

const reference = forward((value) => {
  const { apiVersion, kind, name } = objectAt(value);
  const apiGroup = typeof apiVersion === 'string' && apiVersion.includes('/') ? apiVersion.split('/')[0] : undefined;
  return present({ apiGroup, kind, name });
});

/** Arguments are a list in v1beta2, in the order of their names. */
const args = forward((value) =>
  Object.entries(objectAt(value))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, text]) => ({ name, value: text })),
);

/** In v1beta2, a field that is false is kept, and v1beta1 does not tell it from one that is absent. */
const withoutFalse = (field: string): Change =>
  forward((list) =>
    objectsAt(list).map((item) => {
      const { [field]: value, ...rest } = item;
      return value === false ? rest : item;
    }),
  );
const unlessFalse = forward((value) => (value === false ? undefined : value));

const tokens = forward((list) =>
  objectsAt(list).map(({ ttl, ...token }) => ({ ...token, ...present({ ttlSeconds: secondsOf(ttl) }) })),
);

const same = (path: string, change: Change) => [path, path, change] as const;

const healthCheckTimeout = 'timeouts.controlPlaneComponentHealthCheckSeconds';

const kubeadmConfigMoves: Moves = [
  ...['apiServer', 'controllerManager', 'scheduler'].flatMap((component) => [
    same(`clusterConfiguration.${component}.extraArgs`, args),
    same(`clusterConfiguration.${component}.extraVolumes`, withoutFalse('readOnly')),
  ]),
  same('clusterConfiguration.etcd.local.extraArgs', args),
  ['clusterConfiguration.apiServer.timeoutForControlPlane', `initConfiguration.${healthCheckTimeout}`, duration],
  ...['networking', 'kubernetesVersion', 'clusterName'].map((field) => same(`clusterConfiguration.${field}`, gone)),
  ...['clusterConfiguration', 'initConfiguration', 'joinConfiguration'].flatMap((configuration) => [
    same(`${configuration}.apiVersion`, gone),
    same(`${configuration}.kind`, gone),
  ]),
  same('initConfiguration.bootstrapTokens', tokens),
  same('initConfiguration.nodeRegistration.kubeletExtraArgs', args),
  same('joinConfiguration.nodeRegistration.kubeletExtraArgs', args),
  ['joinConfiguration.discovery.timeout', 'joinConfiguration.timeouts.tlsBootstrapSeconds', duration],
  same('joinConfiguration.discovery.bootstrapToken.unsafeSkipCAVerification', unlessFalse),
  same('joinConfiguration.discovery.file.kubeConfig.cluster.insecureSkipTLSVerify', unlessFalse),
  same('joinConfiguration.discovery.file.kubeConfig.user.exec.provideClusterInfo', unlessFalse),
  same('files', withoutFalse('append')),
  same('ignition.containerLinuxConfig.strict', unlessFalse),
  same('useExperimentalRetryJoin', gone),
];

/** The spec of a KubeadmConfig in v1beta2. */
function kubeadmConfig(spec: JsonObject): JsonObject {
  const result = moved(spec, kubeadmConfigMoves, 'newer');
  const { controlPlaneComponentHealthCheckSeconds } = objectAt(result, 'initConfiguration', 'timeouts');
  if (controlPlaneComponentHealthCheckSeconds === undefined) {
    return result;
  }
  const join = objectAt(result, 'joinConfiguration');
  const timeouts = { ...objectAt(join, 'timeouts'), controlPlaneComponentHealthCheckSeconds };
  return { ...result, joinConfiguration: { ...join, timeouts } };
}

const controlPlaneMoves: Moves = [
  ['machineTemplate.infrastructureRef', 'machineTemplate.spec.infrastructureRef', reference],
  ...machineFieldsOf('ControlPlane').map((field) => {
    const [older, newer] = [pathInOldControlPlane(field), pathInObject('ControlPlane', field)].map(([, ...path]) =>
      path.join('.'),
    ) as [string, string];
    return field.isDuration ? ([older, newer, duration] as const) : ([older, newer] as const);
  }),
  ['rolloutAfter', 'rollout.after'],
  ['rolloutBefore', 'rollout.before'],
  ['rolloutStrategy', 'rollout.strategy'],
  ['remediationStrategy.minHealthyPeriod', 'remediation.minHealthyPeriodSeconds', duration],
  ['remediationStrategy.retryPeriod', 'remediation.retryPeriodSeconds', duration],
  ['remediationStrategy', 'remediation'],
  ['machineNamingStrategy', 'machineNaming'],
  same(
    'kubeadmConfigSpec',
    forward((value) => kubeadmConfig(objectAt(value))),
  ),
];

const machineMoves: Moves = [
  same('bootstrap.configRef', reference),
  same('infrastructureRef', reference),
  ...['nodeDrainTimeout', 'nodeVolumeDetachTimeout', 'nodeDeletionTimeout'].map(
    (field) => [field, `deletion.${field}Seconds`, duration] as const,
  ),
];
const machineTemplate = same(
  'template.spec',
  forward((value) => moved(objectAt(value), machineMoves, 'newer')),
);
const minReadySeconds = ['minReadySeconds', 'template.spec.minReadySeconds'] as const;

const machineSetMoves: Moves = [
  machineTemplate,
  minReadySeconds,
  ['deletePolicy', 'deletion.order'],
  ['machineNamingStrategy', 'machineNaming'],
];
const machineDeploymentMoves: Moves = [
  machineTemplate,
  minReadySeconds,
  ['strategy.rollingUpdate.deletePolicy', 'deletion.order'],
  ['strategy.remediation', 'remediation'],
  ['strategy', 'rollout.strategy'],
  ['rolloutAfter', 'rollout.after'],
  ['machineNamingStrategy', 'machineNaming'],
  same('progressDeadlineSeconds', gone),
  same('revisionHistoryLimit', gone),
];

/** How the specs of kinds change, by group and kind. Of a template, it is the spec of what is made of it. */
const specs: Readonly<Record<string, (spec: JsonObject) => JsonObject>> = {
  'cluster.x-k8s.io Machine': (spec) => moved(spec, machineMoves, 'newer'),
  'cluster.x-k8s.io MachineSet': (spec) => moved(spec, machineSetMoves, 'newer'),
  'cluster.x-k8s.io MachineDeployment': (spec) => moved(spec, machineDeploymentMoves, 'newer'),
  'cluster.x-k8s.io MachinePool': (spec) => moved(spec, [machineTemplate, minReadySeconds], 'newer'),
  'bootstrap.cluster.x-k8s.io KubeadmConfig': kubeadmConfig,
  'bootstrap.cluster.x-k8s.io KubeadmConfigTemplate': kubeadmConfig,
  'controlplane.cluster.x-k8s.io KubeadmControlPlane': (spec) => moved(spec, controlPlaneMoves, 'newer'),
  'controlplane.cluster.x-k8s.io KubeadmControlPlaneTemplate': (spec) => moved(spec, controlPlaneMoves, 'newer'),
};

/** A value with a field below it changed, if there is one. */
function changedAt(
  value: JsonObject,
  [first = '', ...rest]: readonly string[],
  change: (inner: JsonObject) => JsonObject,
): JsonObject {
  const inner = value[first];
  return isJsonObject(inner)
    ? { ...value, [first]: rest.length === 0 ? change(inner) : changedAt(inner, rest, change) }
    : value;
}

/**
 * Machines, MachineSets, MachineDeployments, MachinePools, and the kubeadm provider's objects and templates of v1beta1 in
 * v1beta2, as the conversions of Cluster API make them (api/bootstrap/kubeadm/v1beta1/conversion.go and others, v1.14);
 * other objects as they are.
 */
export function providerInV1beta2(object: JsonObject): JsonObject {
  const [group = '', version] = textAt(object, 'apiVersion').split('/');
  const change = specs[`${group} ${textAt(object, 'kind')}`];
  if (version !== 'v1beta1' || change === undefined) {
    return object;
  }
  const path = textAt(object, 'kind').endsWith('Template') ? ['spec', 'template', 'spec'] : ['spec'];
  return { ...changedAt(object, path, change), apiVersion: `${group}/v1beta2` };
}
