import { describe, expect, test } from 'vitest';
import { type JsonObject, objectAt } from '../../../src/kubernetes/index.ts';
import { type Manifests, manifests, patch, planned, problemsOf, verdictsOf, workers } from '../small-class.ts';

const spec = (all: Manifests) => all.clusterClass.spec as JsonObject & { patches: JsonObject[] };
const topology = ({ cluster }: Manifests) => objectAt(cluster.spec, 'topology');
const refused = { 'control-plane': 'refused', md: 'refused' };
const replaced = { 'control-plane': 'unchanged', md: 'replaced' };

/** The class without its patch, and with a variable that has a rule. */
const prepare = (all: Manifests) => {
  spec(all).patches = [patch('files', 'spec/postKubeadmCommands', { value: ['true'] })];
  const rules = [
    { rule: 'self != "no"', message: 'say yes' },
    { rule: 'self.size() >= oldSelf.size()', message: 'cannot shrink' },
  ];
  spec(all).variables = [
    {
      name: 'answer',
      required: true,
      schema: { openAPIV3Schema: { type: 'string', 'x-kubernetes-validations': rules } },
    },
  ];
  topology(all).variables = [{ name: 'answer', value: 'yes' }];
};
const ofCluster = (reason: string) => [`Cluster API refuses Cluster default/one: ${reason}`];
const ofClass = (reason: string) => [`Cluster API refuses ClusterClass default/small: ${reason}`];

describe('a change that webhooks of Cluster API refuse is refused, in their words', () => {
  test.each<[string, (all: Manifests) => void, string[]]>([
    [
      'a rule of a variable',
      (all) => {
        topology(all).variables = [{ name: 'answer', value: 'no' }];
      },
      ofCluster(
        'spec.topology.variables[answer].value: Invalid value: "\\"no\\"": say yes; spec.topology.variables[answer].value: Invalid value: "\\"no\\"": cannot shrink',
      ),
    ],
    [
      'an unknown variable, without defaults for others',
      (all) => {
        topology(all).variables = [{ name: 'anser', value: 'yes' }];
      },
      ofCluster(
        'spec.topology.variables[anser]: Invalid value: "\\"yes\\"": variable is not defined; spec.topology.variables: Required value: required variable "answer" must be set',
      ),
    ],
    [
      'a version with a leading zero',
      (all) => {
        topology(all).version = 'v1.34.01';
      },
      ofCluster('spec.topology.version: Invalid value: "v1.34.01": version must be a valid semantic version'),
    ],
    [
      'a misspelt function of a template',
      (all) => {
        const value = { valueFrom: { template: '{{ joinn "," (list "a") }}' } };
        spec(all).patches.push(patch('more', 'spec/preKubeadmCommands', value));
      },
      ofClass(
        'spec.patches[1].definitions[0].jsonPatches[0].valueFrom.template: Invalid value: "{{ joinn \\",\\" (list \\"a\\") }}": template can not be parsed: template: valueFrom.template:1: function "joinn" not defined',
      ),
    ],
    [
      'a selector that names no class of workers',
      (all) => {
        const matchResources = { machineDeploymentClass: { names: ['workr'] } };
        spec(all).patches.push(patch('more', 'spec/files', { value: [] }, { ...workers, matchResources }));
      },
      ofClass(
        'spec.patches[1].definitions[0].selector.matchResources.machineDeploymentClass.names[0]: Invalid value: "workr": selector is enabled but matches neither the bootstrap ref nor the infrastructure ref of a MachineDeployment class',
      ),
    ],
    [
      'a variable of a patch that the class does not define',
      (all) => {
        spec(all).patches.push(patch('more', 'spec/verbosity', { valueFrom: { variable: 'verbosity' } }));
      },
      ofClass(
        'spec.patches[1].definitions[0].jsonPatches[0].valueFrom.variable: Invalid value: "verbosity": variable with name verbosity cannot be found',
      ),
    ],
  ])('%s', async (_, change, problems) => {
    const plan = await planned(change, { prepare });
    expect(problemsOf(plan)).toEqual(problems);
    expect(verdictsOf(plan)).toEqual(refused);
    expect(plan.sum).toMatchObject({ replaced: 0, notApplied: 1 });
  });

  test('a misspelt field of a selector, by the API server', async () => {
    const plan = await planned(
      (all) => {
        const selector = { ...workers, matchResources: { controlplane: true } };
        spec(all).patches.push(patch('more', 'spec/files', { value: [] }, selector));
      },
      { prepare },
    );
    expect(verdictsOf(plan)).toEqual(refused);
    expect(problemsOf(plan)[0]).toContain(
      'unknown field "spec.patches[1].definitions[0].selector.matchResources.controlplane"',
    );
  });
});

test('what a refused class would change does not reach its Clusters, but other changes do', async () => {
  const plan = await planned(
    (all) => {
      spec(all).patches = [
        patch('files', 'spec/postKubeadmCommands', { value: ['false'] }),
        patch('files', 'spec/preKubeadmCommands', { value: ['false'] }),
      ];
      topology(all).version = 'v1.34.1';
    },
    { prepare },
  );
  expect(verdictsOf(plan)).toEqual({ 'control-plane': 'replaced', md: 'replaced' });
  expect(problemsOf(plan)).toEqual(
    ofClass(
      'spec.patches[1].name: Invalid value: "files": patch names must be unique. Patch with name "files" is defined more than once',
    ),
  );
  expect(JSON.stringify(plan)).not.toContain('postKubeadmCommands');
});

test('a class that is new, and refused, is no class of a Cluster', async () => {
  const plan = await planned(
    (all) => {
      all.clusterClass.metadata.name = 'other';
      objectAt(topology(all), 'classRef').name = 'other';
      spec(all).patches.push(patch('bad', 'spec/files', { valueFrom: { template: '{{' } }));
    },
    { prepare },
  );
  expect(verdictsOf(plan)).toEqual(refused);
  expect(problemsOf(plan)).toEqual([
    expect.stringContaining('template can not be parsed: template: valueFrom.template:1: unclosed action'),
  ]);
});

test('what is applied as it is stored is not judged', async () => {
  const bad = (all: Manifests) => {
    prepare(all);
    spec(all).patches.push(patch('files', 'spec/verbosity', { value: 3 }));
  };
  const plan = await planned(
    (all) => {
      // The same class and Cluster, as they are read from another file.
      Object.assign(all, JSON.parse(JSON.stringify(all)));
      all.workerConfig.spec.template.spec = { preKubeadmCommands: ['true'] };
    },
    { prepare: bad },
  );
  expect([problemsOf(plan), verdictsOf(plan)]).toEqual([[], replaced]);
});

describe('while an upgrade is under way', () => {
  /** A control plane of the Cluster, with what its status tells. */
  const withControlPlane =
    (status: JsonObject, version = 'v1.34.0') =>
    (all: Manifests): void => {
      prepare(all);
      const metadata = {
        name: 'one-cp',
        namespace: 'default',
        labels: { 'topology.cluster.x-k8s.io/owned': '', 'cluster.x-k8s.io/cluster-name': 'one' },
      };
      const apiVersion = 'controlplane.cluster.x-k8s.io/v1beta2';
      const controlPlane = {
        apiVersion,
        kind: 'KubeadmControlPlane',
        metadata,
        spec: { version, replicas: 3 },
        status,
      };
      Object.assign(all, { made: controlPlane });
      all.cluster.spec.controlPlaneRef = {
        apiGroup: 'controlplane.cluster.x-k8s.io',
        kind: 'KubeadmControlPlane',
        name: 'one-cp',
      };
    };
  const upgrade = (all: Manifests) => {
    topology(all).version = 'v1.35.0';
  };
  const changed = (why: string) =>
    ofCluster(`spec.topology.version: Invalid value: "v1.35.0": version cannot be changed: ${why}`)[0];

  test.each<[string, JsonObject, string | undefined, string?]>([
    ['it is at the version', { version: 'v1.34.0' }, undefined],
    ['all versions in its status are', { versions: [{ version: 'v1.34.0', replicas: 3 }] }, undefined],
    ['it has an older one', { version: 'v1.33.2' }, 'control plane is still completing a previous upgrade'],
    [
      'one of its Machines has',
      { versions: [{ version: 'v1.34.0' }, { version: 'v1.33.2' }] },
      'control plane is still completing a previous upgrade',
    ],
    ['it is being created', { conditions: [] }, 'control plane is currently provisioning'],
    [
      'it did not get the version yet',
      { version: 'v1.33.2' },
      'Cluster.spec.topology.version 1.34.0 was not propagated to control plane yet (control plane version 1.33.2)',
      'v1.33.2',
    ],
  ])('%s', async (_, status, why, version) => {
    const plan = await planned(upgrade, { prepare: withControlPlane(status, version) });
    expect(problemsOf(plan).filter((problem) => problem.includes('spec.topology.version'))).toEqual(
      why === undefined ? [] : [changed(why)],
    );
  });

  test('the annotation of whoever wants it all the same is heeded', async () => {
    const plan = await planned(
      (all) => {
        upgrade(all);
        all.cluster.metadata.annotations = { 'unsafe.topology.cluster.x-k8s.io/disable-update-version-check': '' };
      },
      { prepare: withControlPlane({ version: 'v1.33.2' }) },
    );
    expect(problemsOf(plan).filter((problem) => problem.includes('refuses'))).toEqual([]);
  });
});

describe('a Cluster that gets a topology', () => {
  const unmanaged = (all: Manifests) => {
    prepare(all);
    const apiGroup = 'infrastructure.example.com';
    all.cluster.spec = { infrastructureRef: { apiGroup, kind: 'SmallCluster', name: 'one' } };
  };
  const adopt = (all: Manifests) => {
    all.cluster.spec.topology = {
      ...objectAt(manifests().cluster.spec, 'topology'),
      variables: [{ name: 'answer', value: 'yes' }],
    };
  };

  test('is refused', async () => {
    const plan = await planned(adopt, { prepare: unmanaged });
    expect(problemsOf(plan)).toEqual(
      ofCluster('spec.topology.class: Forbidden: classRef cannot be set on an existing Cluster'),
    );
  });

  test('is adopted with an annotation, and with its objects if they are labelled', async () => {
    const annotate = (all: Manifests) => {
      adopt(all);
      all.cluster.metadata.annotations = { 'unsafe.topology.cluster.x-k8s.io/disable-update-class-name-check': '' };
    };
    const plan = await planned(annotate, { prepare: unmanaged });
    expect([problemsOf(plan), verdictsOf(plan)]).toEqual([[], { 'control-plane': 'created', md: 'created' }]);
    const other = await planned(annotate, {
      prepare: (all) => {
        unmanaged(all);
        const metadata = { name: 'one', namespace: 'default' };
        const made = { apiVersion: 'infrastructure.example.com/v1', kind: 'SmallCluster', metadata, spec: {} };
        Object.assign(all, { made });
      },
    });
    expect(problemsOf(other)).toEqual([
      'error reading current state of the Cluster topology: SmallCluster default/one referenced from Cluster default/one is not topology owned',
    ]);
  });
});
