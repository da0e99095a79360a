import { textAt } from '../../kubernetes/index.ts';
import type { Schema, SchemaOf } from '../../kubernetes/schema/index.ts';
import { machineFieldsOf, schemaOfFields } from '../../runtimehooks/index.ts';

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const number: Schema = { type: 'integer' };
const open: Schema = { 'x-kubernetes-int-or-string': true } as Schema;
const texts: Schema = { type: 'array', items: text };
const listOf = (items: Schema): Schema => ({ type: 'array', items });
const mapOf = (values: Schema): Schema => ({ type: 'object', additionalProperties: values });

/** An object with fields: texts by name, and others. */
const fields = (names: string, others: Readonly<Record<string, Schema>> = {}): Schema => ({
  type: 'object',
  properties: { ...Object.fromEntries(names.split(' ').map((name) => [name, text])), ...others },
});
const objectOf = (properties: Readonly<Record<string, Schema>>): Schema => ({ type: 'object', properties });
const flags = (names: string) => Object.fromEntries(names.split(' ').map((name) => [name, flag]));
const numbers = (names: string) => Object.fromEntries(names.split(' ').map((name) => [name, number]));
const lists = (names: string) => Object.fromEntries(names.split(' ').map((name) => [name, texts]));

/** Fields that are not checked: few set them, and the API server looks at them itself. */
const unchecked = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as Schema;

const args = listOf(fields('name value'));
const component = {
  extraArgs: args,
  extraEnvs: listOf(unchecked),
  extraVolumes: listOf(fields('hostPath mountPath name pathType', flags('readOnly'))),
};
const registration = fields('criSocket imagePullPolicy name', {
  ...lists('ignorePreflightErrors'),
  ...flags('imagePullSerial'),
  kubeletExtraArgs: args,
  taints: listOf(fields('effect key timeAdded value')),
});
const timeouts = objectOf(
  numbers(
    'controlPlaneComponentHealthCheckSeconds discoverySeconds etcdAPICallSeconds kubeletHealthCheckSeconds kubernetesAPICallSeconds tlsBootstrapSeconds',
  ),
);
const endpoint = fields('advertiseAddress', numbers('bindPort'));
const node = { nodeRegistration: registration, patches: fields('directory'), timeouts, ...lists('skipPhases') };
const fromSecret = objectOf({ secret: fields('key name') });

/** KubeadmConfigSpec of Cluster API's v1beta2. */
const kubeadmConfigSpec = fields('format', {
  ...lists('bootCommands postKubeadmCommands preKubeadmCommands'),
  ...numbers('verbosity'),
  clusterConfiguration: fields('certificatesDir controlPlaneEndpoint encryptionAlgorithm imageRepository', {
    ...numbers('caCertificateValidityPeriodDays certificateValidityPeriodDays'),
    apiServer: objectOf({ ...component, ...lists('certSANs') }),
    controllerManager: objectOf(component),
    scheduler: objectOf(component),
    dns: fields('imageRepository imageTag'),
    etcd: objectOf({
      external: fields('caFile certFile keyFile', lists('endpoints')),
      local: fields('dataDir imageRepository imageTag', {
        ...lists('peerCertSANs serverCertSANs'),
        extraArgs: args,
        extraEnvs: listOf(unchecked),
      }),
    }),
    featureGates: mapOf(flag),
  }),
  diskSetup: unchecked,
  files: listOf(fields('content encoding owner path permissions', { ...flags('append'), contentFrom: fromSecret })),
  ignition: unchecked,
  initConfiguration: objectOf({
    ...node,
    bootstrapTokens: listOf(unchecked),
    localAPIEndpoint: endpoint,
  }),
  joinConfiguration: fields('caCertPath', {
    ...node,
    controlPlane: objectOf({ localAPIEndpoint: endpoint }),
    discovery: fields('tlsBootstrapToken', {
      bootstrapToken: fields('apiServerEndpoint token', {
        ...lists('caCertHashes'),
        ...flags('unsafeSkipCAVerification'),
      }),
      file: unchecked,
    }),
  }),
  mounts: listOf(texts),
  ntp: objectOf({ ...flags('enabled'), ...lists('servers') }),
  users: listOf(
    fields('gecos groups homeDir name passwd primaryGroup shell sudo', {
      ...flags('inactive lockPassword'),
      ...lists('sshAuthorizedKeys'),
      passwdFrom: fromSecret,
    }),
  ),
});

const metadata = objectOf({ annotations: mapOf(text), labels: mapOf(text) });

const machineFields = schemaOfFields(machineFieldsOf('ControlPlane'));

const controlPlaneSpec = fields('version', {
  kubeadmConfigSpec,
  ...numbers('replicas'),
  machineNaming: fields('template'),
  machineTemplate: objectOf({
    metadata,
    spec: {
      ...machineFields,
      properties: { ...machineFields.properties, infrastructureRef: fields('apiGroup kind name') },
    },
  }),
  remediation: objectOf(numbers('maxRetry minHealthyPeriodSeconds retryPeriodSeconds')),
  rollout: fields('after', {
    before: objectOf(numbers('certificatesExpiryDays')),
    strategy: fields('type', { rollingUpdate: objectOf({ maxSurge: open }) }),
  }),
});

const objectWith = (spec: Schema): Schema => objectOf({ spec });

const kubeadmSchemas: ReadonlyMap<string, Schema> = new Map([
  ['controlplane.cluster.x-k8s.io/v1beta2 KubeadmControlPlane', objectWith(controlPlaneSpec)],
  ['bootstrap.cluster.x-k8s.io/v1beta2 KubeadmConfig', objectWith(kubeadmConfigSpec)],
  [
    'bootstrap.cluster.x-k8s.io/v1beta2 KubeadmConfigTemplate',
    objectWith(objectOf({ template: objectOf({ metadata, spec: kubeadmConfigSpec }) })),
  ],
]);

/** The types of the fields of Cluster API's own kubeadm kinds. */
export const kubeadmSchemaOf: SchemaOf = (object) =>
  kubeadmSchemas.get(`${textAt(object, 'apiVersion')} ${textAt(object, 'kind')}`);
