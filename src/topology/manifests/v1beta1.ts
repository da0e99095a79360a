import {
  copyOf,
  goDurationMs,
  goSecondsText,
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  own,
  setOwn,
  textAt,
} from '../../kubernetes/index.ts';
import { coreGroup, isEmptyObject, machineFieldsOf, pathInObject } from '../../runtimehooks/index.ts';
import { kindOfTemplate } from '../blueprint/blueprint.ts';
import { kubeadm } from '../control-planes/index.ts';
import { present } from '../world/objects.ts';

/** The longest duration in Go, whose durations are 64-bit integers of nanoseconds, in ms. */
const maxDurationMs = 2 ** 63 / 1e6;

/** Longer durations are cut to it (ConvertToSeconds in api/core/v1beta2, v1.14). */
const maxSeconds = 2 ** 31 - 1;

/** The whole seconds of a duration such as `1h5m0s`; undefined for other texts. */
function secondsOf(duration: Json | undefined): number | undefined {
  const ms = typeof duration === 'string' ? goDurationMs(duration) : undefined;
  return ms === undefined || Math.abs(ms) > maxDurationMs ? undefined : Math.min(Math.trunc(ms / 1000), maxSeconds);
}

/** A duration as Go prints it: `1h5m0s`. */
export const durationOf = (seconds: Json | undefined): string | undefined =>
  typeof seconds === 'number' ? goSecondsText(seconds) : undefined;

interface Change {
  newer(value: Json): Json | undefined;
  older(value: Json): Json | undefined;
}

const duration: Change = { newer: secondsOf, older: durationOf };
/** A field that the other version does not have. */
const gone: Change = { newer: () => undefined, older: () => undefined };

/** Fields that have another place in v1beta2, and other values with a change; inner fields before outer ones. */
type Moves = readonly (readonly [older: string, newer: string, change?: Change])[];

/** Removes a field, and the objects around it that are empty then. Returns its value. */
function take(object: JsonObject, [first = '', ...rest]: readonly string[]): Json | undefined {
  const inner = own(object, first);
  const value = rest.length > 0 && isJsonObject(inner) ? take(inner, rest) : rest.length > 0 ? undefined : inner;
  if (rest.length === 0 || (inner !== undefined && isEmptyObject(inner))) {
    delete object[first];
  }
  return value;
}

/** Sets a field; an object is merged into one that is there. */
function put(object: JsonObject, [first = '', ...rest]: readonly string[], value: Json): void {
  const inner = own(object, first);
  if (rest.length > 0) {
    const holder = isJsonObject(inner) ? inner : {};
    setOwn(object, first, holder);
    put(holder, rest, value);
  } else {
    setOwn(object, first, isJsonObject(inner) && isJsonObject(value) ? { ...value, ...inner } : value);
  }
}

/** A copy of an object in the other version, without empty objects, which Go omits. */
function moved(object: JsonObject, moves: Moves, to: 'newer' | 'older'): JsonObject {
  const result = copyOf(object);
  for (const [older, newer, change] of to === 'newer' ? moves : moves.toReversed()) {
    const [source, target] = to === 'newer' ? [older, newer] : [newer, older];
    const value = take(result, source.split('.'));
    const changed = value === undefined || change === undefined ? value : change[to](value);
    if (changed !== undefined) {
      put(result, target.split('.'), changed);
    }
  }
  return Object.fromEntries(Object.entries(result).filter(([, value]) => !isEmptyObject(value)));
}

const same = (path: string, change: Change) => [path, path, change] as const;

const nested = (moves: Moves): Change => ({
  newer: (value) => moved(objectAt(value), moves, 'newer'),
  older: (value) => moved(objectAt(value), moves, 'older'),
});
const each = (moves: Moves): Change => ({
  newer: (list) => objectsAt(list).map((item) => moved(item, moves, 'newer')),
  older: (list) => objectsAt(list).map((item) => moved(item, moves, 'older')),
});
const parts = (moves: Moves): Moves => [
  same('controlPlane', nested(moves)),
  same('workers.machineDeployments', each(moves)),
  same('workers.machinePools', each(moves)),
];

const forward = (newer: Change['newer']): Change => ({ newer, older: () => undefined });

const reference = forward((value) => {
  const { apiVersion, kind, name } = objectAt(value);
  const apiGroup = typeof apiVersion === 'string' && apiVersion.includes('/') ? apiVersion.split('/')[0] : undefined;
  return present({ apiGroup, kind, name });
});

const conditions: Change = {
  newer: (list) =>
    objectsAt(list).map(({ type, status, timeout }) => present({ type, status, timeoutSeconds: secondsOf(timeout) })),
  older: (list) =>
    objectsAt(list).map(({ type, status, timeoutSeconds }) =>
      present({ type, status, timeout: durationOf(timeoutSeconds ?? 0) }),
    ),
};
/** References to templates lose their namespace, which is that of the class. */
const template: Change = {
  newer: (reference) => {
    const { apiVersion, kind, name } = objectAt(reference);
    return present({ apiVersion, kind, name });
  },
  older: (reference) => reference,
};
const variables: Change = {
  newer: (list) => objectsAt(list).map(({ definitionFrom: _, ...variable }) => variable),
  older: (list) => list,
};

const healthCheckMoves: Moves = [
  ['unhealthyConditions', 'checks.unhealthyNodeConditions', conditions],
  ['unhealthyMachineConditions', 'checks.unhealthyMachineConditions', conditions],
  ['nodeStartupTimeout', 'checks.nodeStartupTimeoutSeconds', duration],
  ['maxUnhealthy', 'remediation.triggerIf.unhealthyLessThanOrEqualTo'],
  ['unhealthyRange', 'remediation.triggerIf.unhealthyInRange'],
  ['remediationTemplate', 'remediation.templateRef', template],
];

const partMoves: Moves = [
  ['machineHealthCheck.enable', 'healthCheck.enabled'],
  ...healthCheckMoves.map(
    ([older, newer, ...change]) => [`machineHealthCheck.${older}`, `healthCheck.${newer}`, ...change] as Moves[number],
  ),
  ['strategy.remediation.maxInFlight', 'healthCheck.remediation.maxInFlight'],
  ['strategy.rollingUpdate.deletePolicy', 'deletion.order'],
  ['strategy', 'rollout.strategy'],
  ...['nodeDrainTimeout', 'nodeVolumeDetachTimeout', 'nodeDeletionTimeout'].map(
    (field) => [field, `deletion.${field}Seconds`, duration] as const,
  ),
  ['namingStrategy', 'naming'],
  ['variables.overrides', 'variables.overrides', variables],
];
const topologyMoves: Moves = [
  ...parts(partMoves),
  ['class', 'classRef.name'],
  ['classNamespace', 'classRef.namespace'],
  ['variables', 'variables', variables],
  ['rolloutAfter', 'rolloutAfter', gone],
];
const clusterMoves: Moves = [
  same('controlPlaneRef', reference),
  same('infrastructureRef', reference),
  same('topology', nested(topologyMoves)),
];
const classPartMoves: Moves = [
  ...partMoves,
  ['ref', 'templateRef', template],
  ['machineInfrastructure.ref', 'machineInfrastructure.templateRef', template],
  ['template.bootstrap.ref', 'bootstrap.templateRef', template],
  ['template.infrastructure.ref', 'infrastructure.templateRef', template],
  ['template.metadata', 'metadata'],
];
const classMoves: Moves = [
  ...parts(classPartMoves),
  ['infrastructure.ref', 'infrastructure.templateRef', template],
  ['infrastructureNamingStrategy.template', 'infrastructure.naming.template'],
  same(
    'patches',
    each([
      ['external.generateExtension', 'external.generatePatchesExtension'],
      ['external.validateExtension', 'external.validateTopologyExtension'],
    ]),
  ),
];

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
    const [older = '', newer = ''] = [true, false].map((isOld) =>
      pathInObject('ControlPlane', field, isOld).slice(1).join('.'),
    );
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
const machineTemplate = same('template.spec', nested(machineMoves));
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
  'cluster.x-k8s.io Cluster': (spec) => moved(spec, clusterMoves, 'newer'),
  'cluster.x-k8s.io ClusterClass': (spec) => moved(spec, classMoves, 'newer'),
  'cluster.x-k8s.io Machine': (spec) => moved(spec, machineMoves, 'newer'),
  'cluster.x-k8s.io MachineSet': (spec) => moved(spec, machineSetMoves, 'newer'),
  'cluster.x-k8s.io MachineDeployment': (spec) => moved(spec, machineDeploymentMoves, 'newer'),
  'cluster.x-k8s.io MachineHealthCheck': (spec) => moved(spec, healthCheckMoves, 'newer'),
  'cluster.x-k8s.io MachinePool': (spec) => moved(spec, [machineTemplate, minReadySeconds], 'newer'),
  'bootstrap.cluster.x-k8s.io KubeadmConfig': kubeadmConfig,
  [`${kubeadm.group} ${kubeadm.kind}`]: (spec) => moved(spec, controlPlaneMoves, 'newer'),
};

/** Cluster API's own and kubeadm's objects in v1beta2 (api/core/v1beta1/conversion.go and others, v1.14); others as they are. */
export function inV1beta2(object: JsonObject): JsonObject {
  const [group = '', version] = textAt(object, 'apiVersion').split('/');
  const change = own(specs, `${group} ${kindOfTemplate(object)}`);
  if (version !== 'v1beta1' || change === undefined) {
    return object;
  }
  const spec = objectAt(object, 'spec');
  const template = objectAt(spec, 'template');
  const isTemplate = textAt(object, 'kind').endsWith('Template');
  const inner = isTemplate ? template.spec : object.spec;
  const changed = isJsonObject(inner) && change(inner);
  return {
    ...object,
    ...(changed && { spec: isTemplate ? { ...spec, template: { ...template, spec: changed } } : changed }),
    apiVersion: `${group}/v1beta2`,
  };
}

/** A Cluster in v1beta1, as hooks got it before Cluster API 1.13; `versionOf` gives the apiVersions of its references. */
export function clusterInV1beta1(cluster: JsonObject, versionOf: (reference: JsonObject) => string): JsonObject {
  const namespace = textAt(cluster, 'metadata', 'namespace');
  const spec = moved(objectAt(cluster, 'spec'), clusterMoves, 'older');
  for (const field of ['controlPlaneRef', 'infrastructureRef']) {
    const reference = objectAt(cluster, 'spec')[field];
    if (isJsonObject(reference)) {
      const { kind = '', name = '' } = reference;
      spec[field] = { apiVersion: versionOf(reference), kind, name, namespace };
    }
  }
  return { ...copyOf(cluster), apiVersion: `${coreGroup}/v1beta1`, spec };
}
