import { fieldAt, type JsonObject, objectAt, objectsAt, type StatusCause, textAt } from '../../kubernetes/index.ts';
import { forbiddenField, invalid, required } from '../../kubernetes/schema/index.ts';

// The refusals of the webhooks of all kinds with a kubeadm config (bootstrap/kubeadm/webhooks/admission/kubeadmconfig.go, v1.14).

/** The problems of a secret that a file or a password comes from. */
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

/**
 * Why webhooks of Cluster API refuse a kubeadm config (v1beta2).
 *
 * @param path of the config in its object.
 */
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

/** The problems of a control plane's cluster configuration. */
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
