import { describe, expect, test } from 'vitest';
import { type JsonObject, objectAt } from '../../../src/kubernetes/index.ts';
import { plan, World } from '../../../src/topology/index.ts';
import { controlPlanes, type Manifests, manifests, patch, planned, problemsOf, verdictsOf } from '../small-class.ts';

const classSpec = ({ clusterClass }: Manifests): JsonObject => clusterClass.spec;
const topology = ({ cluster }: Manifests): JsonObject => objectAt(cluster.spec, 'topology');
/** Without its patch, which makes a text of a list. */
const prepare = (all: Manifests) => {
  delete classSpec(all).patches;
};
const withPatch =
  (...patches: JsonObject[]) =>
  (all: Manifests) => {
    classSpec(all).patches = patches;
  };
const file = { value: [{ path: '/a', content: '' }] };

const definition = (kind: string, spec: JsonObject): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.infrastructure.example.com` },
  spec: {
    group: 'infrastructure.example.com',
    names: { kind },
    versions: [{ name: 'v1', schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } }],
  },
});
const objectOf = (properties: JsonObject): JsonObject => ({ type: 'object', properties });

describe('what patches make of templates and control planes', () => {
  const ofFile = (kind: string, path: string) =>
    new RegExp(`server side apply dry-run failed for modified object: ${kind} .* is invalid: ${path}\\.content: `);

  test.each<[string, JsonObject, Record<string, string>, RegExp]>([
    [
      'of workers',
      patch('empty', 'spec/files', file),
      { 'control-plane': 'stopped', md: 'stopped' },
      ofFile('KubeadmConfigTemplate.bootstrap.cluster.x-k8s.io', 'spec.template.spec.files\\[0\\]'),
    ],
    [
      'of control planes',
      patch('empty', 'spec/kubeadmConfigSpec/files', file, controlPlanes),
      { 'control-plane': 'stopped', md: 'stopped' },
      ofFile('KubeadmControlPlane.controlplane.cluster.x-k8s.io', 'spec.kubeadmConfigSpec.files\\[0\\]'),
    ],
  ])('%s', async (_title, wrong, verdicts, problem) => {
    const result = await planned(withPatch(wrong), { prepare });
    expect(verdictsOf(result)).toEqual(verdicts);
    expect(problemsOf(result)).toEqual([expect.stringMatching(problem)]);
    expect(result.clusters[0]?.problems[0]?.remedy).toBe('the value comes from patch empty');
  });

  test('a new Cluster stops as well, with the words of a creation', async () => {
    const result = await planned(
      (all) => {
        all.cluster.metadata.name = 'two';
      },
      { prepare: withPatch(patch('empty', 'spec/files', file)) },
    );
    expect(result.clusters.at(-1)?.problems[0]?.text).toMatch(
      /^error reconciling the Cluster topology: failed to create MachineDeployment: failed to create KubeadmConfigTemplate\.bootstrap\.cluster\.x-k8s\.io: FieldValueInvalid: spec\.template\.spec\.files\[0\]\.content: Invalid value: "": /,
    );
  });

  test('what was wrong before, and stays, stops nothing', async () => {
    const result = await planned(() => {}, { prepare: withPatch(patch('empty', 'spec/files', file)) });
    expect(verdictsOf(result)).toEqual({ 'control-plane': 'unchanged', md: 'unchanged' });
  });

  test('an argument twice, which server-side apply refuses before all', async () => {
    const twice = [
      { name: 'v', value: '1' },
      { name: 'v', value: '1' },
    ];
    const wrong = patch('twice', 'spec/joinConfiguration/nodeRegistration/kubeletExtraArgs', { value: twice });
    expect(problemsOf(await planned(withPatch(wrong), { prepare }))).toEqual([
      expect.stringMatching(/kubeletExtraArgs: duplicate entries for key \[name="v",value="1"\]$/),
    ]);
  });

  test('by the definition of a provider', async () => {
    const machines = (size: JsonObject) =>
      definition('SmallMachineTemplate', objectOf({ template: objectOf({ spec: objectOf({ size }) }) }));
    const change = (all: Manifests) => {
      const selector = {
        apiVersion: 'infrastructure.example.com/v1',
        kind: 'SmallMachineTemplate',
        matchResources: { machineDeploymentClass: { names: ['worker'] } },
      };
      classSpec(all).patches = [patch('size', 'spec/size', { value: 'huge' }, selector)];
    };
    const plannedWith = async (size: JsonObject) => {
      const before = manifests();
      prepare(before);
      const after = structuredClone(before);
      change(after);
      const [from, wanted] = [before, after].map(
        (all) => new World([...(Object.values(all) as unknown as JsonObject[]), machines(size)]),
      ) as [World, World];
      return plan(from, wanted, { now: new Date('2026-11-26T00:00:00Z') });
    };
    expect(verdictsOf(await plannedWith({ type: 'string' }))).toMatchObject({ md: 'replaced' });
    const refused = await plannedWith({ type: 'string', enum: ['small', 'large'] });
    expect(verdictsOf(refused)).toEqual({ 'control-plane': 'stopped', md: 'stopped' });
    expect(problemsOf(refused)).toEqual([expect.stringMatching(/Unsupported value: "huge": supported values: /)]);
  });
});

describe('what users write', () => {
  const refused = { 'control-plane': 'refused', md: 'refused' };

  test('an unknown field of a Cluster, with the one that is like it', async () => {
    const result = await planned(
      (all) => {
        const [worker] = objectAt(topology(all), 'workers').machineDeployments as [JsonObject];
        worker.replica = 7;
      },
      { prepare },
    );
    expect(verdictsOf(result)).toEqual(refused);
    expect(result.clusters[0]?.problems).toEqual([
      {
        text: 'the API server refuses Cluster default/one: Cluster in version "v1beta2" cannot be handled as a Cluster: strict decoding error: unknown field "spec.topology.workers.machineDeployments[0].replica"',
        remedy: 'did you mean replicas?',
      },
    ]);
  });

  test('what an API server has checked is not checked again', async () => {
    const change = (all: Manifests) => {
      topology(all).versions = 'v1.34.0';
    };
    expect(verdictsOf(await planned(change, { prepare }))).toEqual(refused);
    expect(verdictsOf(await planned(change, { prepare, isChecked: true }))).toEqual({
      'control-plane': 'unchanged',
      md: 'unchanged',
    });
  });

  test.each<[string, (all: Manifests) => void, Record<string, string>, RegExp]>([
    [
      'a class',
      (all) => {
        classSpec(all).patchs = [];
      },
      refused,
      /refuses ClusterClass default\/small: .* unknown field "spec\.patchs"$/,
    ],
    [
      'a template',
      ({ workerConfig }) => {
        objectAt(workerConfig.spec, 'template', 'spec').verbosity = 'much';
      },
      { 'control-plane': 'unchanged', md: 'refused' },
      /refuses KubeadmConfigTemplate default\/small-worker: .* cannot unmarshal string into Go struct field spec\.template\.spec\.verbosity of type int32$/,
    ],
    [
      'a Cluster in v1beta1',
      ({ cluster }) => {
        cluster.apiVersion = 'cluster.x-k8s.io/v1beta1';
        cluster.spec.topology = { class: 'small', version: 'v1.34.0', controlplane: { replicas: 5 } };
      },
      refused,
      /unknown field "spec\.topology\.controlplane"$/,
    ],
  ])('%s', async (_title, change, verdicts, problem) => {
    const result = await planned(change, { prepare });
    expect(verdictsOf(result)).toEqual(verdicts);
    expect(problemsOf(result).join()).toMatch(problem);
  });

  test('a health check', async () => {
    const check: JsonObject = {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineHealthCheck',
      metadata: { name: 'workers', namespace: 'default' },
      spec: { clusterName: 'one', selector: { matchLabels: { a: 'b' } }, checks: { unhealthyConditions: [] } },
    };
    const before = manifests();
    prepare(before);
    const objects = Object.values(before) as unknown as JsonObject[];
    const result = await plan(new World(objects), new World([...objects, check]), {
      now: new Date('2026-11-26T00:00:00Z'),
    });
    expect(verdictsOf(result)).toEqual({ 'control-plane': 'unchanged', md: 'unchanged' });
    expect(result.clusters[0]?.problems).toEqual([
      {
        text: expect.stringMatching(/unknown field "spec\.checks\.unhealthyConditions"$/),
        remedy: 'did you mean unhealthyNodeConditions or unhealthyMachineConditions?',
        object: 'MachineHealthCheck default/workers',
      },
    ]);
  });

  test('what stays as it is is not refused anew', async () => {
    const result = await planned(
      (all) => {
        topology(all).controlPlane = { replicas: 5 };
      },
      {
        prepare: (all) => {
          prepare(all);
          classSpec(all).patchs = [];
        },
      },
    );
    expect(verdictsOf(result)).toEqual({ 'control-plane': 'scaled', md: 'unchanged' });
  });

  test.each([
    [true, 'created'],
    [false, 'refused'],
  ])('an empty list of variables, if the class gives one a default: %s', async (hasDefault, verdict) => {
    const result = await planned(
      (all) => {
        all.cluster.metadata.name = 'two';
      },
      {
        prepare: (all) => {
          prepare(all);
          if (!hasDefault) {
            delete classSpec(all).variables;
          }
        },
      },
    );
    expect(result.clusters.at(-1)?.groups.map((group) => group.verdict)).toEqual([verdict, verdict]);
  });

  test('a definition that names no fields is no schema', async () => {
    const open: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const cluster = {
      ...definition('Cluster', open),
      spec: {
        group: 'cluster.x-k8s.io',
        names: { kind: 'Cluster' },
        versions: [{ name: 'v1beta2', schema: { openAPIV3Schema: open } }],
      },
    };
    const before = manifests();
    prepare(before);
    const after = structuredClone(before);
    topology(after).versions = 'v1.34.0';
    const [from, wanted] = [before, after].map(
      (all) => new World([...(Object.values(all) as unknown as JsonObject[]), cluster]),
    ) as [World, World];
    const result = await plan(from, wanted, { now: new Date('2026-11-26T00:00:00Z') });
    expect(verdictsOf(result)).toEqual(refused);
  });

  test('a control plane and a MachineDeployment without a topology', async () => {
    const infrastructureRef = { apiGroup: 'infrastructure.example.com', kind: 'SmallMachineTemplate', name: 'x' };
    const metadata = { namespace: 'default', labels: { 'cluster.x-k8s.io/cluster-name': 'own' } };
    const controlPlane = {
      apiVersion: 'controlplane.cluster.x-k8s.io/v1beta2',
      kind: 'KubeadmControlPlane',
      metadata: { name: 'own', ...metadata },
      spec: {
        replicas: 3,
        version: 'v1.34.0',
        machineTemplate: { spec: { infrastructureRef } },
        kubeadmConfigSpec: { verbosity: 2 },
      } as JsonObject,
    };
    const workers = {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'MachineDeployment',
      metadata: { name: 'workers', ...metadata },
      spec: {
        clusterName: 'own',
        replicas: 2,
        template: {
          spec: { clusterName: 'own', version: 'v1.34.0', infrastructureRef, bootstrap: { dataSecretName: 's' } },
        },
      } as JsonObject,
    };
    const cluster = {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Cluster',
      metadata: { name: 'own', namespace: 'default' },
      spec: {
        controlPlaneRef: { apiGroup: 'controlplane.cluster.x-k8s.io', kind: 'KubeadmControlPlane', name: 'own' },
      },
    };
    const before: JsonObject[] = [cluster, controlPlane, workers];
    const after = structuredClone(before) as [JsonObject, JsonObject, JsonObject];
    objectAt(after[1], 'spec', 'kubeadmConfigSpec').files = file.value;
    objectAt(after[2], 'spec').replica = 5;
    const result = await plan(new World(before), new World(after), { now: new Date('2026-11-26T00:00:00Z') });
    expect(verdictsOf(result)).toEqual({ 'control-plane': 'refused', workers: 'refused' });
    expect(result.clusters[0]?.groups.flatMap((group) => group.problems ?? [])).toEqual([
      {
        text: expect.stringMatching(/spec\.kubeadmConfigSpec\.files\[0\]\.content in body should be at least 1 chars/),
      },
      { text: expect.stringMatching(/unknown field "spec\.replica"$/), remedy: 'did you mean replicas?' },
    ]);
  });
});
