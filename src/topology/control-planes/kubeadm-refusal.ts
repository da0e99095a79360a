import {
  fieldAt,
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  type StatusCause,
  textAt,
} from '../../kubernetes/index.ts';
import { forbiddenField, invalid, required } from '../../kubernetes/schema/index.ts';
import { coreGroup, parseVersion } from '../../runtimehooks/index.ts';
import { denial, invalidText, webhookOf } from '../world/refusal.ts';
import { withoutEmpty } from '../world/without-empty.ts';

// The refusals of the webhooks of all kinds with a kubeadm config (bootstrap/kubeadm/webhooks/admission/kubeadmconfig.go, v1.14).

function* sourceCauses(source: JsonObject, path: string): Generator<StatusCause> {
  if (Object.keys(source).length === 0) {
    return;
  }
  for (const field of ['name', 'key']) {
    if (textAt(source, 'secret', field) === '') {
      yield required(`${path}.secret.${field}`, `secret file source must specify non-empty secret ${field}`);
    }
  }
}

function* fileCauses(files: readonly JsonObject[], path: string): Generator<StatusCause> {
  const paths = new Set<string>();
  for (const [index, file] of files.entries()) {
    const at = `${path}[${index}]`;
    const source = objectAt(file, 'contentFrom');
    if (textAt(file, 'content') !== '' && Object.keys(source).length > 0) {
      yield invalid(at, file, 'only one of content or contentFrom may be specified for a single file');
    }
    yield* sourceCauses(source, `${at}.contentFrom`);
    const name = textAt(file, 'path');
    if (paths.has(name)) {
      yield invalid(`${at}.path`, file, 'path property must be unique among all files');
    }
    paths.add(name);
  }
}

function* userCauses(users: readonly JsonObject[], path: string): Generator<StatusCause> {
  for (const [index, user] of users.entries()) {
    const source = objectAt(user, 'passwdFrom');
    if (textAt(user, 'passwd') !== '' && Object.keys(source).length > 0) {
      // A password is not shown.
      yield invalid(`${path}[${index}]`, '…', 'only one of passwd or passwdFrom may be specified for a single user');
    }
    yield* sourceCauses(source, `${path}[${index}].passwdFrom`);
  }
}

const withIgnition = 'not supported when spec.format is set to: "ignition"';

/** Causes for fields that Ignition does not support. That it needs a feature gate is not judged: nobody knows the manager's here. */
function* ignitionCauses(spec: JsonObject, path: string): Generator<StatusCause> {
  if (textAt(spec, 'format') !== 'ignition') {
    if (Object.keys(objectAt(spec, 'ignition')).length > 0) {
      yield invalid(`${path}.format`, textAt(spec, 'format'), 'must be set to "ignition" if spec.ignition is set');
    }
    return;
  }
  const forbidden = function* (
    list: readonly JsonObject[],
    at: string,
    field: string,
    is: (value: unknown) => boolean,
  ) {
    for (const [index, item] of list.entries()) {
      if (is(item[field])) {
        yield forbiddenField(`${path}.${at}[${index}].${field}`, withIgnition);
      }
    }
  };
  yield* forbidden(objectsAt(spec, 'users'), 'users', 'inactive', (value) => value === true);
  yield* forbidden(
    objectsAt(spec, 'files'),
    'files',
    'encoding',
    (value) => value === 'gzip' || value === 'gzip+base64',
  );
  if (Array.isArray(spec.bootCommands)) {
    yield forbiddenField(`${path}.bootCommands`, withIgnition);
  }
  for (const [index, partition] of objectsAt(spec, 'diskSetup', 'partitions').entries()) {
    const type = textAt(partition, 'tableType');
    if (type !== '' && type !== 'gpt') {
      const why = 'only partition type "gpt" is supported when spec.format is set to "ignition"';
      yield invalid(`${path}.diskSetup.partitions[${index}].tableType`, type, why);
    }
  }
  for (const field of ['replaceFS', 'partition']) {
    const isSet = (value: unknown) => value !== undefined && value !== '';
    yield* forbidden(objectsAt(spec, 'diskSetup', 'filesystems'), 'diskSetup.filesystems', field, isSet);
  }
}

function* diskCauses(spec: JsonObject, path: string): Generator<StatusCause> {
  for (const [index, partition] of objectsAt(spec, 'diskSetup', 'partitions').entries()) {
    const percentages = objectsAt(partition, 'diskLayout').map(({ percentage }) => Number(percentage) || 0);
    const total = percentages.reduce((sum, percentage) => sum + percentage, 0);
    if (total > 100) {
      const why = 'the sum of all partition percentages must not be greater than 100';
      yield invalid(`${path}.diskSetup.partitions[${index}].diskLayout`, total, why);
    }
  }
}

const healthCheckTimeout = 'controlPlaneComponentHealthCheckSeconds';

/** A control plane waits as long for its first Machine as for the others. */
function* timeoutCauses(spec: JsonObject, path: string): Generator<StatusCause> {
  const places = ['initConfiguration', 'joinConfiguration'];
  const [init = '', join = ''] = places.map((place) =>
    String(fieldAt(spec, place, 'timeouts', healthCheckTimeout) ?? 'unset'),
  );
  if (init !== join) {
    const why = `${healthCheckTimeout} must be set to the same value both in initConfiguration.timeouts (${init}) and in joinConfiguration.timeouts (${join})`;
    for (const [index, place] of places.entries()) {
      yield invalid(`${path}.${place}.timeouts.${healthCheckTimeout}`, index === 0 ? init : join, why);
    }
  }
}

/** Why webhooks of Cluster API refuse a kubeadm config (v1beta2), which is at `path` of its object. */
export function* kubeadmConfigCauses(spec: JsonObject, isControlPlane: boolean, path: string): Generator<StatusCause> {
  yield* fileCauses(objectsAt(spec, 'files'), `${path}.files`);
  yield* userCauses(objectsAt(spec, 'users'), `${path}.users`);
  yield* ignitionCauses(spec, path);
  yield* diskCauses(spec, path);
  const user = objectAt(spec, 'joinConfiguration', 'discovery', 'file', 'kubeConfig', 'user');
  if (user.authProvider !== undefined && user.exec !== undefined) {
    const at = `${path}.joinConfiguration.discovery.file.kubeconfig.user`;
    yield invalid(at, '…', 'only one of authProvider or exec must be defined');
  }
  if (isControlPlane) {
    yield* timeoutCauses(spec, path);
  }
}

const badTag = /[^-a-zA-Z0-9_.]/;

export function* clusterConfigurationCauses(configuration: JsonObject, path: string): Generator<StatusCause> {
  const { local, external } = objectAt(configuration, 'etcd');
  for (const place of [['dns'], ['etcd', 'local']]) {
    const tag = textAt(configuration, ...place, 'imageTag');
    if (badTag.test(tag)) {
      yield forbiddenField(`${path}.${place.join('.')}.imageTag`, `tag ${tag} is invalid`);
    }
  }
  if (local !== undefined && external !== undefined) {
    yield forbiddenField(`${path}.etcd.local`, 'cannot have both external and local etcd');
  }
}

/** How long a CA is valid by default, in days. */
const defaultCaDays = 3650;

/** The problems of how long certificates of a control plane are valid: `spec.kubeadmConfigSpec`, `spec.rollout.before`. */
export function* certificateCauses(spec: JsonObject, path: string): Generator<StatusCause> {
  const configuration = objectAt(spec, 'kubeadmConfigSpec', 'clusterConfiguration');
  const days = Number(configuration.certificateValidityPeriodDays ?? 0);
  const ofCa = Number(configuration.caCertificateValidityPeriodDays ?? 0);
  const expiry = Number(fieldAt(spec, 'rollout', 'before', 'certificatesExpiryDays') ?? 0);
  // Without a strategy, the webhook looks at none of them.
  if (days === 0 || fieldAt(spec, 'rollout', 'strategy') === undefined) {
    return;
  }
  const field = `${path}.kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays`;
  if (days > (ofCa === 0 ? defaultCaDays : ofCa)) {
    const what =
      ofCa === 0 ? 'the default value of caCertificateValidityPeriodDays' : 'caCertificateValidityPeriodDays';
    yield invalid(field, days, `must be less than or equal to ${what} (${ofCa === 0 ? defaultCaDays : ofCa})`);
  }
  if (expiry !== 0 && expiry >= days) {
    const why = `must be less than certificateValidityPeriodDays (${days})`;
    yield invalid(`${path}.rollout.before.certificatesExpiryDays`, expiry, why);
  }
}

const minorOf = (version: string): number => parseVersion(version)?.numbers[1] ?? 0;

const below = (path: string, fields: string): string[] => fields.split(' ').map((field) => `${path}${field}.`);
const config = 'kubeadmConfigSpec.';
const nodeFields = 'nodeRegistration patches skipPhases timeouts';

/** The paths below `spec` that may change, with all below them, as texts that end with a dot. */
const changeable: readonly string[] = [
  ...below('', 'machineTemplate.metadata machineTemplate.spec replicas version remediation machineNaming rollout'),
  ...below(config, 'bootCommands preKubeadmCommands postKubeadmCommands files verbosity users ntp ignition'),
  ...below(config, 'diskSetup format mounts'),
  ...below(`${config}clusterConfiguration.`, 'etcd dns imageRepository featureGates apiServer controllerManager'),
  ...below(`${config}clusterConfiguration.`, 'scheduler certificateValidityPeriodDays encryptionAlgorithm'),
  ...below(`${config}initConfiguration.`, `${nodeFields} bootstrapTokens localAPIEndpoint`),
  ...below(`${config}joinConfiguration.`, `${nodeFields} caCertPath controlPlane discovery`),
];

/** The paths of changes as a merge patch has them: the innermost objects, and what is removed as a whole. */
function changedPaths(before: Json | undefined, after: Json | undefined, path: string): string[] {
  if (!isJsonObject(after)) {
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [path];
  }
  const old = objectAt(before);
  const names = new Set([...Object.keys(old), ...Object.keys(after)]);
  return [...names].flatMap((name) => changedPaths(old[name], after[name], path === '' ? name : `${path}.${name}`));
}

const externalEtcd = ['kubeadmConfigSpec', 'clusterConfiguration', 'etcd', 'external'];

const isForbidden = (field: string, why: string): string => `spec.${field}: Forbidden: ${why}`;

/** The refusals of KubeadmControlPlane's webhook, whatever was before (validateKubeadmControlPlaneSpec, and what it calls). */
export function* controlPlaneCauses(controlPlane: JsonObject): Generator<StatusCause> {
  const spec = withoutEmpty(objectAt(controlPlane, 'spec')) as JsonObject;
  const replicas = typeof spec.replicas === 'number' ? spec.replicas : Number.NaN;
  const hasExternalEtcd = fieldAt(spec, ...externalEtcd) !== undefined;
  if (replicas <= 0) {
    yield forbiddenField('spec.replicas', 'cannot be less than or equal to 0');
  }
  if (replicas % 2 === 0 && !hasExternalEtcd) {
    yield forbiddenField('spec.replicas', 'cannot be an even number when etcd is stacked');
  }
  const surge = Number(fieldAt(spec, 'rollout', 'strategy', 'rollingUpdate', 'maxSurge') ?? 1);
  const rollingUpdate = 'spec.rollout.strategy.rollingUpdate';
  if (surge === 0 && replicas < 3) {
    const why = 'when KubeadmControlPlane is configured to scale-in, replica count needs to be at least 3';
    yield required(rollingUpdate, why);
  }
  if (surge !== 0 && surge !== 1) {
    yield required(`${rollingUpdate}.maxSurge`, 'value must be 1 or 0');
  }
  yield* certificateCauses(spec, 'spec');
  const naming = textAt(spec, 'machineNaming', 'template');
  if (naming !== '' && !naming.includes('{{ .random }}')) {
    yield invalid('spec.machineNaming.template', naming, 'invalid template, {{ .random }} is missing');
  }
  const path = 'spec.kubeadmConfigSpec';
  const config = objectAt(spec, 'kubeadmConfigSpec');
  yield* clusterConfigurationCauses(objectAt(config, 'clusterConfiguration'), `${path}.clusterConfiguration`);
  yield* kubeadmConfigCauses(config, true, path);
}

const problemsOf = (controlPlane: JsonObject): string[] =>
  [...controlPlaneCauses(controlPlane)].map(({ field, message }) => `${field}: ${message}`);

function updateProblems(before: JsonObject, after: JsonObject, isStep: boolean): string[] {
  const isChangeable = (path: string) => changeable.some((start) => `${path}.`.startsWith(start));
  const external = (spec: JsonObject) => fieldAt(spec, ...externalEtcd) !== undefined;
  const [from, to] = [textAt(before, 'version'), textAt(after, 'version')];
  return [
    ...changedPaths(before, after, '')
      .filter((path) => !isChangeable(path))
      .sort()
      .map((path) => isForbidden(path, 'cannot be modified')),
    ...(isStep && minorOf(to) > minorOf(from) + 1
      ? [isForbidden('version', `cannot update Kubernetes version from ${from} to ${to}`)]
      : []),
    ...(external(before) === external(after)
      ? []
      : [isForbidden(externalEtcd.join('.'), 'cannot change between external and local etcd')]),
  ];
}

/** As its webhook says it (controlplane/kubeadm/webhooks/admission/kubeadmcontrolplane.go, v1.14). */
export function controlPlaneRefusal(before: JsonObject, after: JsonObject, isStep: boolean): string | undefined {
  const specOf = (object: JsonObject) => withoutEmpty(objectAt(object, 'spec')) as JsonObject;
  // Problems that were stored before a rule existed do not stop other changes here: only those that the change brings are reported.
  const known = new Set(problemsOf(before));
  const problems = [
    ...problemsOf(after).filter((problem) => !known.has(problem)),
    ...updateProblems(specOf(before), specOf(after), isStep),
  ];
  return problems.length === 0
    ? undefined
    : denial(webhookOf(after, 'validation'), invalidText(after, problems, coreGroup));
}
