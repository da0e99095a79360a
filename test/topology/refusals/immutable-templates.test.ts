import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { templateRefusal } from '../../../src/topology/refusals/index.ts';

const infrastructure = 'infrastructure.cluster.x-k8s.io/v1beta2';
const template = (kind: string, spec: JsonObject, apiVersion = infrastructure): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name: 'one', namespace: 'default' },
  spec: { template: { spec } },
});

describe('templates that are changed under their names', () => {
  const gone = 'spec.template.spec field is immutable. Please create';
  test.each<[kind: string, apiVersion: string, expected: string | undefined]>([
    ['AWSClusterTemplate', infrastructure, 'AWSClusterTemplate.Spec is immutable'],
    ['AWSMachineTemplate', infrastructure, 'spec.template.spec: Invalid value: AWSMachineTemplate.Spec is immutable'],
    ['AzureMachineTemplate', infrastructure, `AzureMachineTemplate ${gone} new resource instead.`],
    ['GCPMachineTemplate', infrastructure, 'spec: Forbidden: cannot be modified'],
    ['OpenStackMachineTemplate', infrastructure, `OpenStackMachineTemplate ${gone} a new resource instead.`],
    ['VSphereMachineTemplate', infrastructure, `VSphereMachineTemplate ${gone} a new resource instead.`],
    ['VSphereMachineTemplate', `vmware.${infrastructure}`, `VSphereMachineTemplate ${gone} a new resource instead.`],
    ['TalosConfigTemplate', 'bootstrap.cluster.x-k8s.io/v1alpha3', 'TalosConfigTemplate.Spec is immutable'],
    ['DockerMachineTemplate', infrastructure, `DockerMachineTemplate ${gone} a new resource instead.`],
    ['OCIMachineTemplate', infrastructure, undefined],
    ['Metal3MachineTemplate', infrastructure, undefined],
    ['KubeadmConfigTemplate', 'bootstrap.cluster.x-k8s.io/v1beta2', undefined],
  ])('%s of %s', (kind, apiVersion, expected) => {
    const [old, now] = [template(kind, { size: 'a' }, apiVersion), template(kind, { size: 'b' }, apiVersion)];
    const who = kind.startsWith('Docker') ? 'Cluster API' : 'the webhook of its provider';
    const refusal = templateRefusal(old, now);
    expect(refusal?.startsWith(`${who} refuses ${kind} default/one: `)).toBe(expected && true);
    expect(refusal?.endsWith(expected ?? '')).toBe(expected && true);
    expect(templateRefusal(old, old)).toBeUndefined();
  });

  test.each<[what: string, kind: string, old: JsonObject, now: JsonObject, isRefused: boolean]>([
    ['a key that its webhook has made', 'AzureMachineTemplate', {}, { sshPublicKey: 'a' }, false],
    ['another key', 'AzureMachineTemplate', { sshPublicKey: 'a' }, { sshPublicKey: 'b' }, true],
    ['options that its webhook has set', 'AWSMachineTemplate', {}, { instanceMetadataOptions: {} }, false],
    ['a field without a value', 'AWSMachineTemplate', { ami: {} }, { ami: {}, tags: null }, false],
    [
      'address pairs of a port',
      'OpenStackMachineTemplate',
      { ports: [{ network: 'a' }] },
      { ports: [{ network: 'a', allowedAddressPairs: [{ ipAddress: '10.0.0.1' }] }] },
      false,
    ],
    [
      'another backend, both empty',
      'DevMachineTemplate',
      { backend: { docker: {} } },
      { backend: { inMemory: {} } },
      true,
    ],
    ['another port', 'OpenStackMachineTemplate', { ports: [{ network: 'a' }] }, { ports: [{ network: 'b' }] }, true],
  ])('%s', (_, kind, old, now, isRefused) => {
    expect(templateRefusal(template(kind, old), template(kind, now)) !== undefined).toBe(isRefused);
  });
});
