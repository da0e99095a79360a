import { expect, test } from 'vitest';
import { type JsonObject, objectAt } from '../../../src/kubernetes/index.ts';
import { v1 } from '../../../src/runtimehooks/index.ts';
import {
  admittedCluster,
  applyRefusal,
  clusterApiSchemaOf,
  clusterClassRefusal,
} from '../../../src/topology/refusals/index.ts';
import { manifests } from '../small-class.ts';

const fieldsOf = (refusal: { causes: readonly { field?: string }[] } | undefined) =>
  refusal?.causes.map(({ field }) => field) ?? [];

test.each<[concurrency: string, problem: RegExp[]]>([
  ['2', []],
  ['0', [/value cannot be less than 1$/]],
  ['', [/strconv\.Atoi: parsing "": invalid syntax$/]],
  ['-1.5', [/strconv\.Atoi: parsing "-1\.5": invalid syntax$/]],
])('the concurrency of upgrades %j has one problem at most', (concurrency, problems) => {
  const { cluster } = manifests();
  cluster.metadata.annotations = { 'topology.cluster.x-k8s.io/upgrade-concurrency': concurrency };
  const facts = { blueprint: undefined, oldClass: undefined, controlPlane: undefined, workers: [] };
  const { refusal } = admittedCluster(cluster, undefined, facts);
  expect(refusal?.causes.map(({ message }) => message) ?? []).toEqual(
    problems.map((problem) => expect.stringMatching(problem)),
  );
});

test('a class says last that its control plane can have no health check', () => {
  const { clusterClass } = manifests();
  const controlPlane = objectAt(clusterClass.spec, 'controlPlane');
  delete controlPlane.machineInfrastructure;
  controlPlane.healthCheck = { checks: { nodeStartupTimeoutSeconds: 5 } };
  const path = 'spec.controlPlane.healthCheck';
  expect(fieldsOf(clusterClassRefusal(clusterClass, undefined, []))).toEqual([
    `${path}.checks.nodeStartupTimeoutSeconds`,
    path,
  ]);
});

test('removed classes of MachineDeployments come before those of MachinePools, whatever Cluster uses them', () => {
  const { clusterClass, cluster } = manifests();
  const [worker] = objectAt(clusterClass.spec, 'workers').machineDeployments as JsonObject[];
  const workers = (list: string, name: string) => ({ [list]: [{ ...worker, class: name }] });
  const old = structuredClone(clusterClass);
  old.spec.workers = { ...workers('machineDeployments', 'gone'), ...workers('machinePools', 'gone') };
  clusterClass.spec.workers = {};
  const clusters = ['a', 'b'].map((name) => {
    const copy = structuredClone(cluster);
    copy.metadata.name = name;
    objectAt(copy.spec, 'topology').workers = {
      machineDeployments: [{ class: 'gone', name: 'md' }],
      machinePools: [{ class: 'gone', name: 'mp' }],
    };
    return copy;
  });
  delete clusterClass.spec.patches;
  const { causes = [] } = clusterClassRefusal(clusterClass, old, clusters) ?? {};
  expect(causes.map(({ message }) => /(\w+)Class "gone" .* by Cluster "(\w)"$/.exec(message)?.slice(1))).toEqual([
    ['MachineDeployment', 'a'],
    ['MachineDeployment', 'b'],
    ['MachinePool', 'a'],
    ['MachinePool', 'b'],
  ]);
});

test.each<[what: string, spec: JsonObject, problem: string]>([
  ['the fields of a value by their names', { files: { 'a-b': 1, a: [null, true] } }, '{map[a:[<nil> true] a-b:1]}'],
  ['text', { files: 'x' }, '{x}'],
  // Each level once: twice would be 2 to the power of 60.
  ['lists in lists', { files: { a: JSON.parse('['.repeat(60) + ']'.repeat(60)) } }, `{map[a:${'['.repeat(60)}]`],
])('server-side apply shows %s', (_, config, shown) => {
  const object: JsonObject = {
    apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
    kind: 'KubeadmConfigTemplate',
    metadata: { name: 'x', namespace: 'default' },
    spec: { template: { spec: config } },
  };
  expect(applyRefusal(object, object, undefined, clusterApiSchemaOf(v1(14)))?.message).toContain(
    `.spec.template.spec.files: expected list, got &${shown}`,
  );
});
