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
  test.each<[kind: string, apiVersion: string, isRefused: boolean]>([
    ['AWSClusterTemplate', infrastructure, true],
    ['AzureMachineTemplate', infrastructure, true],
    ['GCPMachineTemplate', infrastructure, true],
    ['VSphereMachineTemplate', infrastructure, true],
    ['VSphereMachineTemplate', `vmware.${infrastructure}`, true],
    ['TalosConfigTemplate', 'bootstrap.cluster.x-k8s.io/v1alpha3', true],
    ['DockerMachineTemplate', infrastructure, true],
    ['OCIMachineTemplate', infrastructure, false],
    ['Metal3MachineTemplate', infrastructure, false],
    ['KubeadmConfigTemplate', 'bootstrap.cluster.x-k8s.io/v1beta2', false],
  ])('%s of %s', (kind, apiVersion, isRefused) => {
    const [old, now] = [template(kind, { size: 'a' }, apiVersion), template(kind, { size: 'b' }, apiVersion)];
    const who = kind.startsWith('Docker') ? 'Cluster API' : 'the webhook of its provider';
    const words = `spec.template.spec: Invalid value: ${kind} spec.template.spec field is immutable. Please create a new resource instead.`;
    const why = kind.startsWith('Docker') ? words : 'its spec.template.spec cannot change; create another template';
    const refusal = `${who} refuses ${kind} default/one: ${why}`;
    expect(templateRefusal(old, now)).toBe(isRefused ? refusal : undefined);
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
