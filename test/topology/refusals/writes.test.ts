import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { v1 } from '../../../src/runtimehooks/index.ts';
import { clusterApiSchemaOf, decodingRefusal, schemaRefusal } from '../../../src/topology/refusals/index.ts';
import { runs } from '../../support/runs.ts';

const schemaOf = clusterApiSchemaOf(v1(14));
const core = 'cluster.x-k8s.io/v1beta2';
const bootstrap = 'bootstrap.cluster.x-k8s.io/v1beta2';

const object = (apiVersion: string, kind: string, spec: JsonObject): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name: 'one', namespace: 'default' },
  spec,
});
const messageOf = (written: JsonObject, old?: JsonObject, of = schemaOf): string | undefined =>
  (decodingRefusal(written, of) ?? schemaRefusal(written, old, of))?.message;

const configTemplate = (spec: JsonObject) => object(bootstrap, 'KubeadmConfigTemplate', { template: { spec } });
const cluster = (topology: JsonObject, apiVersion = core) =>
  object(apiVersion, 'Cluster', { topology: { classRef: { name: 'quick' }, version: 'v1.34.0', ...topology } });
const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'DevMachineTemplate', name: 'x' };
const controlPlane = (spec: JsonObject) =>
  object('controlplane.cluster.x-k8s.io/v1beta2', 'KubeadmControlPlane', {
    version: 'v1.34.0',
    machineTemplate: { spec: { infrastructureRef } },
    kubeadmConfigSpec: { clusterConfiguration: { certificatesDir: '/pki' } },
    ...spec,
  });
const machine = {
  clusterName: 'c',
  version: 'v1.34.0',
  bootstrap: { dataSecretName: 's' },
  infrastructureRef,
};

describe('the words of an API server', () => {
  test.each<[title: string, JsonObject, string]>([
    [
      'an empty file',
      configTemplate({ files: [{ path: '/a', content: '' }] }),
      'KubeadmConfigTemplate.bootstrap.cluster.x-k8s.io "one" is invalid: spec.template.spec.files[0].content: Invalid value: "": spec.template.spec.files[0].content in body should be at least 1 chars long',
    ],
    [
      'an argument twice',
      configTemplate({
        clusterConfiguration: {
          apiServer: {
            extraArgs: [
              { name: 'a', value: '1' },
              { name: 'b', value: '1' },
              { name: 'a', value: '2' },
            ],
          },
        },
      }),
      'KubeadmConfigTemplate.bootstrap.cluster.x-k8s.io "one" is invalid: spec.template.spec.clusterConfiguration.apiServer.extraArgs: Invalid value: extraArgs name must be unique',
    ],
    [
      'a partition of an unknown type',
      configTemplate({
        diskSetup: {
          partitions: [{ device: '/d', layout: true }],
          filesystems: [{ device: '/d', filesystem: '' }],
        },
      }),
      'KubeadmConfigTemplate.bootstrap.cluster.x-k8s.io "one" is invalid: spec.template.spec.diskSetup.filesystems[0].filesystem: Invalid value: "": spec.template.spec.diskSetup.filesystems[0].filesystem in body should be at least 1 chars long',
    ],
    [
      'a control plane with an unknown key algorithm',
      controlPlane({ kubeadmConfigSpec: { clusterConfiguration: { encryptionAlgorithm: 'DSA' } } }),
      'KubeadmControlPlane.controlplane.cluster.x-k8s.io "one" is invalid: [spec.kubeadmConfigSpec.clusterConfiguration.encryptionAlgorithm: Unsupported value: "DSA": supported values: "ECDSA-P256", "ECDSA-P384", "RSA-2048", "RSA-3072", "RSA-4096", <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]',
    ],
    [
      'text for a number, where a webhook reads the object first',
      controlPlane({ replicas: '3' }),
      'admission webhook "default.kubeadmcontrolplane.controlplane.cluster.x-k8s.io" denied the request: json: cannot unmarshal string into Go struct field KubeadmControlPlaneSpec.spec.replicas of type int32',
    ],
    [
      'a variable twice',
      cluster({
        workers: {
          machineDeployments: [
            { class: 'a', name: 'x' },
            { class: 'a', name: 'x' },
          ],
        },
      }),
      'Cluster.cluster.x-k8s.io "one" is invalid: spec.topology.workers.machineDeployments[1]: Duplicate value: {"name":"x"}',
    ],
  ])('%s', (_title, written, message) => {
    expect(messageOf(written)).toBe(message);
  });
});

describe('rules', () => {
  const filesystems = [{ device: '/d', filesystem: 'ext4' }];
  const check = (type: string) =>
    object(core, 'MachineHealthCheck', {
      clusterName: 'c',
      selector: { matchLabels: { a: 'b' } },
      checks: { unhealthyMachineConditions: [{ type, status: 'False', timeoutSeconds: 60 }] },
    });
  const tainted = (key: string) =>
    object(core, 'MachineDeployment', {
      clusterName: 'c',
      template: { spec: { ...machine, taints: [{ key, effect: 'NoSchedule', propagation: 'Always' }] } },
    });
  const v12 = clusterApiSchemaOf(v1(12));
  test.each<[title: string, JsonObject, message?: string]>([
    ['a condition of Machines', check('Own')],
    ['a condition that Cluster API sets', check('Ready'), 'type must not be one of: Ready, Available,'],
    ['a taint', tainted('example.com/key')],
    ['a taint with a long name', tainted(`${'a'.repeat(253)}/${'b'.repeat(63)}`)],
    ['a taint with too long a name', tainted('b'.repeat(64)), 'key must be a valid qualified name'],
    ['a taint with too long a name in a domain', tainted(`a/${'b'.repeat(64)}`), 'key must be a valid qualified name'],
    ['a taint with too long a domain', tainted(`${'a'.repeat(254)}/b`), 'key must be a valid qualified name'],
  ])('%s', (_title, written, message) => {
    expect(messageOf(written, undefined, v12) ?? 'allowed').toContain(message ?? 'allowed');
  });

  test.each<[title: string, JsonObject, message?: string]>([
    [
      'both layouts',
      { layout: true, diskLayout: [{ percentage: 50 }] },
      'exactly one of the fields in [layout diskLayout] must be set',
    ],
    ['one layout', { layout: true }],
    ['a partition by name', { diskLayout: [{ percentage: 50, partitionType: 'LinuxSwap' }] }],
    [
      'a partition by GUID',
      { diskLayout: [{ percentage: 50, partitionType: '0FC63DAF-8483-4772-8E79-3D69D8477DE4' }] },
    ],
    [
      'a partition of an unknown type',
      { diskLayout: [{ percentage: 50, partitionType: 'Swap' }] },
      'partitionType must be one of',
    ],
  ])('%s', (_title, fields, message) => {
    const written = configTemplate({ diskSetup: { partitions: [{ device: '/d', ...fields }], filesystems } });
    expect(messageOf(written) ?? 'allowed').toContain(message ?? 'allowed');
  });
});

describe('what Cluster API and the API server fill in is not missing', () => {
  test.each<[title: string, JsonObject]>([
    [
      'the selector of a MachineDeployment',
      object(core, 'MachineDeployment', { clusterName: 'c', template: { spec: machine } }),
    ],
    [
      'a timeout of a health check',
      object(core, 'MachineHealthCheck', { clusterName: 'c', selector: { matchLabels: { a: 'b' } }, checks: {} }),
    ],
    [
      'a timeout of a pool',
      object(core, 'MachinePool', { clusterName: 'c', template: { spec: { ...machine, deletion: {} } } }),
    ],
    [
      'the value of a variable',
      cluster({
        variables: [{ name: 'a' }],
        workers: { machineDeployments: [{ class: 'a', name: 'x', variables: { overrides: [{ name: 'a' }] } }] },
      }),
    ],
    ['a version', cluster({ version: '' })],
    [
      'the name of an object',
      { ...configTemplate({ files: [{ path: '/a', content: 'x' }] }), metadata: { generateName: 'one-' } },
    ],
    ['fields in v1beta1', object('cluster.x-k8s.io/v1beta1', 'MachineDeployment', { clusterName: '', template: {} })],
  ])('%s', (_title, written) => {
    expect(messageOf(written)).toBeUndefined();
  });
});

test('in v1beta1, too, unknown fields and wrong values are refused', () => {
  const v1beta1 = (spec: JsonObject) => object('cluster.x-k8s.io/v1beta1', 'Cluster', spec);
  expect(messageOf(v1beta1({ topologie: {} }))).toContain('unknown field "spec.topologie"');
  expect(messageOf(v1beta1({ topology: { class: 'x'.repeat(300), version: 'v1.34.0' } }))).toContain('Too long');
});

test('unknown fields come with the names that are like them', () => {
  const written = cluster({ workers: { machineDeployments: [{ class: 'a', name: 'x', replica: 7 }] } });
  expect(decodingRefusal(written, schemaOf)).toMatchObject({ reason: 'BadRequest', remedy: 'did you mean replicas?' });
});

test('a file that was empty before may stay', () => {
  const files = [{ path: '/a', content: '' }];
  expect(messageOf(configTemplate({ files, verbosity: 3 }), configTemplate({ files }))).toBeUndefined();
});

test('releases differ, and kinds without a schema are not judged', () => {
  const partitions = [{ device: '/d', layout: false, diskLayout: [{ percentage: 50, partitionType: 'Swap' }] }];
  const written = configTemplate({ diskSetup: { filesystems: [{ device: '/d', filesystem: 'ext4' }], partitions } });
  expect(messageOf(written)).toContain('partitionType must be one of Linux');
  expect(messageOf(written, undefined, clusterApiSchemaOf(v1(12)))).toContain('unknown field');
  expect(messageOf(written, undefined, clusterApiSchemaOf(v1(11)))).toBeUndefined();
  expect(messageOf(written, undefined, clusterApiSchemaOf(v1(15)))).toBeUndefined();
  expect(messageOf({ ...written, kind: 'Other' })).toBeUndefined();
});

test('an object with anything in it is refused or not, and no more', () => {
  const kinds = ['Cluster', 'ClusterClass', 'MachineDeployment', 'MachineHealthCheck', 'MachinePool'].map(
    (kind) => [core, kind] as const,
  );
  const kubeadm = [
    [bootstrap, 'KubeadmConfig'],
    [bootstrap, 'KubeadmConfigTemplate'],
    ['controlplane.cluster.x-k8s.io/v1beta2', 'KubeadmControlPlane'],
  ] as const;
  const names = [
    'spec',
    'template',
    'topology',
    'files',
    'variables',
    'metadata',
    'workers',
    'machineDeployments',
    'kubeadmConfigSpec',
    'rollout',
    'strategy',
    'checks',
  ];
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ depthSize: 'small' }, fc.jsonValue(), fc.array(tie('any'), { maxLength: 3 }), tie('object')),
    object: fc.dictionary(fc.constantFrom(...names), tie('any'), { maxKeys: 5 }),
  })).object as fc.Arbitrary<JsonObject>;
  fc.assert(
    fc.property(fc.constantFrom(...kinds, ...kubeadm), value, value, ([apiVersion, kind], spec, old) => {
      for (const version of [apiVersion, apiVersion.replace('v1beta2', 'v1beta1')]) {
        const written = object(version, kind, spec);
        const refusal =
          decodingRefusal(written, schemaOf) ?? schemaRefusal(written, object(version, kind, old), schemaOf);
        expect(refusal?.message ?? 'allowed').not.toBe('');
      }
    }),
    { numRuns: runs(300) },
  );
});

test("a required field of a provider's kind, which a webhook may fill in, is missed only where a change removes it", () => {
  const given = object('infrastructure.example.com/v1', 'SmallMachineTemplate', { image: 'a' });
  const whole = object('infrastructure.example.com/v1', 'SmallMachineTemplate', { image: 'a', size: 'large' });
  const of = () => ({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        required: ['size'],
        properties: { size: { type: 'string' }, image: { type: 'string', maxLength: 3 } },
      },
    },
  });
  const missing = 'SmallMachineTemplate.infrastructure.example.com "one" is invalid: spec.size: Required value';
  expect(messageOf(given, undefined, of)).toBeUndefined();
  expect(messageOf(given, given, of)).toBeUndefined();
  expect(messageOf(given, whole, of)).toContain(missing);
  expect(messageOf({ ...given, spec: { image: 'long' } }, given, of)).toContain('may not be more than 3 bytes');
});
