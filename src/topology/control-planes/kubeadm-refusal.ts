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
import { forbiddenField, found, invalid, required } from '../../kubernetes/schema/index.ts';
import { coreGroup, parseVersion } from '../../runtimehooks/index.ts';
import { denial, invalidText, webhookOf } from '../world/refusal.ts';
import { withoutEmpty } from '../world/without-empty.ts';

// The refusals of the webhooks of all kinds with a kubeadm config (bootstrap/kubeadm/webhooks/admission/kubeadmconfig.go, v1.14).

const isGiven = (source: JsonObject): boolean => Object.keys(source).length > 0;

const sourceCauses = (source: JsonObject, path: string): StatusCause[] =>
  ['name', 'key'].flatMap((field) =>
    isGiven(source) && textAt(source, 'secret', field) === ''
      ? [required(`${path}.secret.${field}`, `secret file source must specify non-empty secret ${field}`)]
      : [],
  );

function fileCauses(files: readonly JsonObject[], path: string): StatusCause[] {
  const paths = new Set<string>();
  return files.flatMap((file, index) => {
    const at = `${path}[${index}]`;
    const source = objectAt(file, 'contentFrom');
    const isTwice = textAt(file, 'content') !== '' && isGiven(source);
    const isKnown = paths.has(textAt(file, 'path'));
    paths.add(textAt(file, 'path'));
    return found(
      isTwice && invalid(at, file, 'only one of content or contentFrom may be specified for a single file'),
      ...sourceCauses(source, `${at}.contentFrom`),
      isKnown && invalid(`${at}.path`, file, 'path property must be unique among all files'),
    );
  });
}

const userCauses = (users: readonly JsonObject[], path: string): StatusCause[] =>
  users.flatMap((user, index) => {
    const source = objectAt(user, 'passwdFrom');
    const isTwice = textAt(user, 'passwd') !== '' && isGiven(source);
    return found(
      // A password is not shown.
      isTwice &&
        invalid(`${path}[${index}]`, '…', 'only one of passwd or passwdFrom may be specified for a single user'),
      ...sourceCauses(source, `${path}[${index}].passwdFrom`),
    );
  });

const withIgnition = 'not supported when spec.format is set to: "ignition"';

/** Causes for fields that Ignition does not support. That it needs a feature gate is not judged: nobody knows the manager's here. */
function ignitionCauses(spec: JsonObject, path: string): StatusCause[] {
  const format = textAt(spec, 'format');
  if (format !== 'ignition') {
    const isSet = isGiven(objectAt(spec, 'ignition'));
    return found(isSet && invalid(`${path}.format`, format, 'must be set to "ignition" if spec.ignition is set'));
  }
  const forbidden = (at: string, field: string, is: (value: unknown) => boolean) =>
    objectsAt(spec, ...at.split('.')).flatMap((item, index) =>
      found(is(item[field]) && forbiddenField(`${path}.${at}[${index}].${field}`, withIgnition)),
    );
  const isSet = (value: unknown) => value !== undefined && value !== '';
  const isOther = (type: string) => type !== '' && type !== 'gpt';
  const onlyGpt = 'only partition type "gpt" is supported when spec.format is set to "ignition"';
  return [
    ...forbidden('users', 'inactive', (value) => value === true),
    ...forbidden('files', 'encoding', (value) => value === 'gzip' || value === 'gzip+base64'),
    ...found(Array.isArray(spec.bootCommands) && forbiddenField(`${path}.bootCommands`, withIgnition)),
    ...objectsAt(spec, 'diskSetup', 'partitions').flatMap((partition, index) => {
      const type = textAt(partition, 'tableType');
      return found(isOther(type) && invalid(`${path}.diskSetup.partitions[${index}].tableType`, type, onlyGpt));
    }),
    ...forbidden('diskSetup.filesystems', 'replaceFS', isSet),
    ...forbidden('diskSetup.filesystems', 'partition', isSet),
  ];
}

const diskCauses = (spec: JsonObject, path: string): StatusCause[] =>
  objectsAt(spec, 'diskSetup', 'partitions').flatMap((partition, index) => {
    const percentages = objectsAt(partition, 'diskLayout').map(({ percentage }) => Number(percentage) || 0);
    const total = percentages.reduce((sum, percentage) => sum + percentage, 0);
    const why = 'the sum of all partition percentages must not be greater than 100';
    return found(total > 100 && invalid(`${path}.diskSetup.partitions[${index}].diskLayout`, total, why));
  });

const healthCheckTimeout = 'controlPlaneComponentHealthCheckSeconds';

/** A control plane waits as long for its first Machine as for the others. */
function timeoutCauses(spec: JsonObject, path: string): StatusCause[] {
  const valueAt = (place: string) => String(fieldAt(spec, place, 'timeouts', healthCheckTimeout) ?? 'unset');
  const [init, join] = [valueAt('initConfiguration'), valueAt('joinConfiguration')];
  const why = `${healthCheckTimeout} must be set to the same value both in initConfiguration.timeouts (${init}) and in joinConfiguration.timeouts (${join})`;
  return found(
    init !== join && invalid(`${path}.initConfiguration.timeouts.${healthCheckTimeout}`, init, why),
    init !== join && invalid(`${path}.joinConfiguration.timeouts.${healthCheckTimeout}`, join, why),
  );
}

/** Why webhooks of Cluster API refuse a kubeadm config (v1beta2), which is at `path` of its object. */
export function kubeadmConfigCauses(spec: JsonObject, isControlPlane: boolean, path: string): StatusCause[] {
  const user = objectAt(spec, 'joinConfiguration', 'discovery', 'file', 'kubeConfig', 'user');
  const isTwice = user.authProvider !== undefined && user.exec !== undefined;
  const ofUser = `${path}.joinConfiguration.discovery.file.kubeconfig.user`;
  return [
    ...fileCauses(objectsAt(spec, 'files'), `${path}.files`),
    ...userCauses(objectsAt(spec, 'users'), `${path}.users`),
    ...ignitionCauses(spec, path),
    ...diskCauses(spec, path),
    ...found(isTwice && invalid(ofUser, '…', 'only one of authProvider or exec must be defined')),
    ...(isControlPlane ? timeoutCauses(spec, path) : []),
  ];
}

const badTag = /[^-a-zA-Z0-9_.]/;

function clusterConfigurationCauses(configuration: JsonObject, path: string): StatusCause[] {
  const { local, external } = objectAt(configuration, 'etcd');
  const isBoth = local !== undefined && external !== undefined;
  return found(
    ...['dns', 'etcd.local'].map((place) => {
      const tag = textAt(configuration, ...place.split('.'), 'imageTag');
      return badTag.test(tag) && forbiddenField(`${path}.${place}.imageTag`, `tag ${tag} is invalid`);
    }),
    isBoth && forbiddenField(`${path}.etcd.local`, 'cannot have both external and local etcd'),
  );
}

/** How long a CA is valid by default, in days. */
const defaultCaDays = 3650;

/** The problems of how long certificates of a control plane are valid: `spec.kubeadmConfigSpec`, `spec.rollout.before`. */
function certificateCauses(spec: JsonObject, path: string): StatusCause[] {
  const configuration = objectAt(spec, 'kubeadmConfigSpec', 'clusterConfiguration');
  const days = Number(configuration.certificateValidityPeriodDays ?? 0);
  const ofCa = Number(configuration.caCertificateValidityPeriodDays ?? 0);
  const expiry = Number(fieldAt(spec, 'rollout', 'before', 'certificatesExpiryDays') ?? 0);
  // Without a strategy, the webhook looks at none of them.
  if (days === 0 || fieldAt(spec, 'rollout', 'strategy') === undefined) {
    return [];
  }
  const field = `${path}.kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays`;
  const [most, what] = ofCa === 0 ? [defaultCaDays, 'the default value of '] : [ofCa, ''];
  const tooLong = `must be less than or equal to ${what}caCertificateValidityPeriodDays (${most})`;
  const tooLate = `must be less than certificateValidityPeriodDays (${days})`;
  return found(
    days > most && invalid(field, days, tooLong),
    expiry !== 0 && expiry >= days && invalid(`${path}.rollout.before.certificatesExpiryDays`, expiry, tooLate),
  );
}

/** The problems of the spec of a control plane at `path`, or of its template's; `own`: those of its naming and metadata. */
export function controlPlaneSpecCauses(spec: JsonObject, path: string, own: Iterable<StatusCause>): StatusCause[] {
  const at = `${path}.kubeadmConfigSpec`;
  const kubeadmConfig = objectAt(spec, 'kubeadmConfigSpec');
  return [
    ...certificateCauses(spec, path),
    ...own,
    ...clusterConfigurationCauses(objectAt(kubeadmConfig, 'clusterConfiguration'), `${at}.clusterConfiguration`),
    ...kubeadmConfigCauses(kubeadmConfig, true, at),
  ];
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
export function controlPlaneCauses(controlPlane: JsonObject): StatusCause[] {
  const spec = withoutEmpty(objectAt(controlPlane, 'spec')) as JsonObject;
  const replicas = typeof spec.replicas === 'number' ? spec.replicas : Number.NaN;
  const isEven = replicas % 2 === 0 && fieldAt(spec, ...externalEtcd) === undefined;
  const surge = Number(fieldAt(spec, 'rollout', 'strategy', 'rollingUpdate', 'maxSurge') ?? 1);
  const rollingUpdate = 'spec.rollout.strategy.rollingUpdate';
  const tooFew = 'when KubeadmControlPlane is configured to scale-in, replica count needs to be at least 3';
  const naming = textAt(spec, 'machineNaming', 'template');
  const isFixed = naming !== '' && !naming.includes('{{ .random }}');
  const ofNaming = found(
    isFixed && invalid('spec.machineNaming.template', naming, 'invalid template, {{ .random }} is missing'),
  );
  return found(
    replicas <= 0 && forbiddenField('spec.replicas', 'cannot be less than or equal to 0'),
    isEven && forbiddenField('spec.replicas', 'cannot be an even number when etcd is stacked'),
    surge === 0 && replicas < 3 && required(rollingUpdate, tooFew),
    surge !== 0 && surge !== 1 && required(`${rollingUpdate}.maxSurge`, 'value must be 1 or 0'),
    ...controlPlaneSpecCauses(spec, 'spec', ofNaming),
  );
}

const problemsOf = (controlPlane: JsonObject): string[] =>
  controlPlaneCauses(controlPlane).map(({ field, message }) => `${field}: ${message}`);

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
