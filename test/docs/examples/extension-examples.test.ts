import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../../cli/commands/io.ts';
import { compile, linkedProject, runTests } from '../../package/linked-project.ts';
import { readPage } from '../pages.ts';
import { startProject } from './projects.ts';

const examples = ['topology-mutation.ts', 'in-place-and-plan.ts'];

/** A project with the handlers of the examples. */
async function exampleProject(): Promise<string> {
  const folder = await linkedProject(['BeforeClusterCreate']);
  for (const file of examples) {
    writeFileSync(join(folder, 'src/handlers', file), readPage(`docs/examples/${file}`));
  }
  const names = examples.map((file, index) => `import * as part${index} from './${file}';`);
  const handlers = examples.map((_, index) => `...Object.values(part${index})`).join(', ');
  writeFileSync(
    join(folder, 'src/handlers/index.ts'),
    `import type { Handler } from 'cluster-api-extension';
${names.join('\n')}
export const handlers: readonly Handler[] = [${handlers}];
`,
  );
  return folder;
}

/** Tests of the patches, as their author would write them. */
const patchTest = `
import { deepStrictEqual } from 'node:assert';
import { test } from 'node:test';
import { applyPatches, assertDeterministic, requestFor } from 'cluster-api-extension/testing';
import { generatePatches } from '../src/handlers/topology-mutation.ts';

const requestOf = (kind: string, apiVersion: string, builtin: object, spec: object, overrides: object[] = []) =>
  requestFor('GeneratePatches', {
    variables: [
      { name: 'imageRepository', value: 'kindest' },
      { name: 'kubeadmControlPlaneMaxSurge', value: '' },
    ],
    items: [
      {
        uid: '1',
        holderReference: {
          apiVersion: 'cluster.x-k8s.io/v1beta2',
          kind: 'controlPlane' in builtin ? 'Cluster' : 'MachineDeployment',
          namespace: 'default',
          name: 'a',
          fieldPath: 'controlPlane' in builtin ? 'spec.controlPlaneRef' : 'spec.template.spec.bootstrap.configRef',
        },
        object: { apiVersion, kind, metadata: { name: 'a' }, spec: { template: { spec } } },
        variables: [{ name: 'builtin', value: builtin }, ...overrides] as never,
      },
    ],
  });
async function specOf(request: ReturnType<typeof requestOf>) {
  const { response } = await assertDeterministic(generatePatches, request);
  const [template] = applyPatches(request, response);
  return (template as { spec: { template: { spec: Record<string, unknown> } } }).spec.template.spec;
}

for (const [version, args] of [
  ['v1beta1', (entries: object) => entries],
  ['v1beta2', (entries: object) => Object.entries(entries).map(([name, value]) => ({ name, value }))],
] as const) {
  test('control plane in ' + version, async () => {
    const apiVersion = 'controlplane.cluster.x-k8s.io/' + version;
    const surge = { name: 'kubeadmControlPlaneMaxSurge', value: '1' };
    const builtin = { controlPlane: { version: 'v1.33.0+a' } };
    const component = { extraArgs: args({ v: '2' }) };
    const phase = {
      nodeRegistration: { kubeletExtraArgs: args({ v: '2', 'node-labels': 'kubernetesVersion=v1.33.0_a' }) },
    };
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } };
    deepStrictEqual(await specOf(requestOf('KubeadmControlPlaneTemplate', apiVersion, builtin, {}, [surge])), {
      kubeadmConfigSpec: {
        clusterConfiguration: { apiServer: component, controllerManager: component, scheduler: component },
        initConfiguration: phase,
        joinConfiguration: phase,
      },
      ...(version === 'v1beta1' ? { rolloutStrategy: strategy } : { rollout: { strategy } }),
    });
  });
}

test('workers have the variables of their MachineDeployment', async () => {
  const builtin = { machineDeployment: { version: 'v1.33.0' } };
  const overrides = [
    { name: 'files', value: [{ path: '/a' }] },
    { name: 'preKubeadmCommands', value: ['echo'] },
  ];
  const request = requestOf(
    'KubeadmConfigTemplate',
    'bootstrap.cluster.x-k8s.io/v1beta2',
    builtin,
    { preKubeadmCommands: ['first'] },
    overrides,
  );
  deepStrictEqual(await specOf(request), {
    preKubeadmCommands: ['first', 'echo'],
    joinConfiguration: { nodeRegistration: { kubeletExtraArgs: [{ name: 'v', value: '2' }] } },
    files: [{ path: '/a', owner: 'root:root', permissions: '0600' }],
  });
});
`;

test('the examples compile, and their patches are those of the original', { timeout: 120_000 }, async () => {
  const folder = await exampleProject();
  writeFileSync(join(folder, 'test/patches.test.ts'), patchTest);
  expect(await compile(folder)).toBe('');
  const stdout = await runTests(folder);
  // The generated tests use invented templates, which the original refuses as well.
  expect(stdout.match(/^not ok .*$/gm)).toEqual([
    expect.stringContaining('generate-patches: the same request gets the same answer'),
    expect.stringContaining('generate-patches: may be called again after it succeeded'),
  ]);
  expect(stdout).toMatch(/^ok \d+ - workers have the variables of their MachineDeployment$/m);
});

const template = (kind: string, group: string, name: string, spec: object) => ({
  apiVersion: `${group}.cluster.x-k8s.io/v1beta2`,
  kind,
  metadata: { name },
  spec: { template: { spec } },
});
const ref = (kind: string, group: string, name: string) => ({
  templateRef: { apiVersion: `${group}.cluster.x-k8s.io/v1beta2`, kind, name },
});

/** A class of the shape of Cluster API's quick start for the Runtime SDK. */
const objects = [
  {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'ClusterClass',
    metadata: { name: 'quick-start' },
    spec: {
      controlPlane: {
        ...ref('KubeadmControlPlaneTemplate', 'controlplane', 'cp'),
        machineInfrastructure: ref('DevMachineTemplate', 'infrastructure', 'cp'),
      },
      infrastructure: ref('DevClusterTemplate', 'infrastructure', 'cluster'),
      workers: {
        machineDeployments: [
          {
            class: 'default-worker',
            bootstrap: ref('KubeadmConfigTemplate', 'bootstrap', 'worker'),
            infrastructure: ref('DevMachineTemplate', 'infrastructure', 'worker'),
          },
        ],
        machinePools: [
          {
            class: 'default-worker',
            bootstrap: ref('KubeadmConfigTemplate', 'bootstrap', 'worker'),
            infrastructure: ref('DevMachinePoolTemplate', 'infrastructure', 'pool'),
          },
        ],
      },
      patches: [
        {
          name: 'test-patch',
          external: {
            generatePatchesExtension: 'generate-patches.lab',
            validateTopologyExtension: 'validate-topology.lab',
            discoverVariablesExtension: 'discover-variables.lab',
          },
        },
      ],
      upgrade: { external: { generateUpgradePlanExtension: 'generate-upgrade-plan.lab' } },
    },
  },
  template('DevClusterTemplate', 'infrastructure', 'cluster', { backend: { docker: { loadBalancer: {} } } }),
  template('KubeadmControlPlaneTemplate', 'controlplane', 'cp', { kubeadmConfigSpec: { clusterConfiguration: {} } }),
  template('DevMachineTemplate', 'infrastructure', 'cp', { backend: { docker: {} } }),
  template('DevMachineTemplate', 'infrastructure', 'worker', { backend: { docker: {} } }),
  template('DevMachinePoolTemplate', 'infrastructure', 'pool', { template: { backend: { docker: {} } } }),
  template('KubeadmConfigTemplate', 'bootstrap', 'worker', {}),
];
const cluster = {
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'Cluster',
  metadata: { name: 'lab', namespace: 'default' },
  spec: {
    topology: {
      classRef: { name: 'quick-start' },
      version: 'v1.31.0',
      controlPlane: { replicas: 1 },
      variables: [{ name: 'imageRepository', value: 'kindest' }],
      workers: {
        machineDeployments: [
          {
            class: 'default-worker',
            name: 'md-0',
            replicas: 1,
            variables: { overrides: [{ name: 'preKubeadmCommands', value: ['only here'] }] },
          },
        ],
        machinePools: [{ class: 'default-worker', name: 'mp-0', replicas: 1 }],
      },
    },
  },
};

test('a Cluster of the quick start lives with them: created, upgraded by two minors, deleted', {
  timeout: 120_000,
}, async () => {
  const folder = await exampleProject();
  const config = await startProject(folder);
  const files = { class: join(folder, 'class.yaml'), cluster: join(folder, 'cluster.yaml') };
  const requests = join(folder, 'requests');
  const namespaced = objects.map((object) => ({ ...object, metadata: { ...object.metadata, namespace: 'default' } }));
  writeFileSync(files.class, namespaced.map((object) => JSON.stringify(object)).join('\n'));
  writeFileSync(files.cluster, JSON.stringify(cluster));
  const { code, stdout, stderr } = await runProgram([
    ...['rehearse', '-f', config, '--cluster-files', files.class, '--cluster-files', files.cluster],
    ...['--set-version', 'v1.33.0', '--feature-gates', 'InPlaceUpdates=true', '--delete', '--write', requests],
  ]);
  expect([code, stderr], stdout).toEqual([0, '']);
  expect(stdout).toContain('plan: control plane v1.32.0 v1.33.0');
  // Patched templates are what the validator gets.
  const validated = readdirSync(requests).filter((name) => name.endsWith('-ValidateTopology.json'));
  const texts = validated.map((name) => readFileSync(join(requests, name), 'utf8')).join('');
  expect(texts).toContain('kindest/node:v1.31.0');
  expect(texts).toContain('only here');
  expect(stdout).toContain('The lifecycle completed');
});
