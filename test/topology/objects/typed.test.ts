import { expect, test } from 'vitest';
import type { Json } from '../../../src/kubernetes/index.ts';
import { kubeadmSchemaOf as schemaOf } from '../../../src/topology/objects/kubeadm-schemas.ts';
import { typeProblem } from '../../../src/topology/objects/typed.ts';
import { recordedChanges } from '../recorded.ts';

test.each<[string, Json, string]>([
  ['preKubeadmCommands', 'echo', 'expected list, got &{echo}'],
  ['preKubeadmCommands', [1], '[0]: expected string, got &value.valueUnstructured{Value:1}'],
  ['none', 1, 'field not declared in schema'],
  ['ntp', { enabled: 'yes' }, '.enabled: expected boolean, got string'],
  ['verbosity', 'x', 'expected numeric (int or float), got string'],
  ['clusterConfiguration', ['a'], 'expected map, got &{[a]}'],
])('%s: %j is refused', (field, value, problem) => {
  const object = {
    apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
    kind: 'KubeadmConfigTemplate',
    metadata: { name: 'x', namespace: 'default' },
    spec: { template: { spec: { [field]: value } } },
  };
  const where = `.spec.template.spec.${field}`;
  expect(typeProblem(object, schemaOf(object))).toBe(
    `failed to create typed patch object (default/x; bootstrap.cluster.x-k8s.io/v1beta2, Kind=KubeadmConfigTemplate): ${where}${/^[.[]/.test(problem) ? '' : ': '}${problem}`,
  );
});

test('every recorded object of the kubeadm providers has the types', () => {
  const objects = recordedChanges.flatMap(({ before, after }) => [...before, ...after]);
  const known = objects.filter((object) => schemaOf(object) !== undefined);
  expect(known.length).toBeGreaterThan(500);
  expect(known.flatMap((object) => typeProblem(object, schemaOf(object)) ?? [])).toEqual([]);
});
