import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { parse } from 'yaml';
import { connect, loadKubeConfig } from '../../../src/kubernetes/client/index.ts';
import { startSandbox } from '../../../src/sandbox/index.ts';
import { runProgram } from '../../cli/commands/io.ts';
import { labObjects } from '../../cli/commands/lab-class.ts';
import { list } from '../../cli/commands/planning.ts';
import { compile, linkedProject, runTests } from '../../package/linked-project.ts';
import { readPage } from '../pages.ts';
import { startProject } from './projects.ts';

/** A project with the handlers of the example. */
async function exampleProject(): Promise<string> {
  const folder = await linkedProject(['BeforeClusterCreate']);
  writeFileSync(
    join(folder, 'src/handlers/registry-credentials.ts'),
    readPage('docs/examples/registry-credentials.ts'),
  );
  writeFileSync(
    join(folder, 'src/handlers/index.ts'),
    `import { discoverRegistryVariables, registryCredentials } from './registry-credentials.ts';
export const handlers = [discoverRegistryVariables, registryCredentials];
`,
  );
  return folder;
}

/** Tests as those of the original. */
const patchTest = `
import { deepStrictEqual, rejects } from 'node:assert';
import { test } from 'node:test';
import { createClusters } from 'cluster-api-extension';
import { applyPatches, assertDeterministic, assertIsolated, callHandler, requestFor } from 'cluster-api-extension/testing';
import { registryCredentials } from '../src/handlers/registry-credentials.ts';

const builtin = { cluster: { name: 'lab', namespace: 'default', uid: 'u-1' } };
const requestOf = (clusterConfig: object | undefined, isWorker = false) =>
  requestFor('GeneratePatches', {
    variables: [
      { name: 'builtin', value: builtin },
      ...(clusterConfig === undefined ? [] : [{ name: 'clusterConfig', value: clusterConfig }]),
    ],
    items: [
      {
        uid: '1',
        holderReference: {
          apiVersion: 'cluster.x-k8s.io/v1beta2',
          kind: isWorker ? 'MachineDeployment' : 'Cluster',
          namespace: 'default',
          name: 'a',
          fieldPath: isWorker ? 'spec.template.spec.bootstrap.configRef' : 'spec.controlPlaneRef',
        },
        object: {
          apiVersion: isWorker ? 'bootstrap.cluster.x-k8s.io/v1beta2' : 'controlplane.cluster.x-k8s.io/v1beta2',
          kind: isWorker ? 'KubeadmConfigTemplate' : 'KubeadmControlPlaneTemplate',
          metadata: { name: 'a' },
          spec: { template: { spec: {} } },
        },
        variables: isWorker ? [{ name: 'builtin', value: { machineDeployment: { class: 'any' } } }] : [],
      },
    ],
  });
async function specOf(clusterConfig: object | undefined, isWorker = false) {
  const request = requestOf(clusterConfig, isWorker);
  const { response } = await assertDeterministic(registryCredentials, request);
  const [template] = applyPatches(request, response) as { spec: { template: { spec: any } } }[];
  const spec = template?.spec.template.spec;
  return isWorker ? spec : spec.kubeadmConfigSpec ?? {};
}
const paths = async (config: object | undefined, isWorker = false) =>
  ((await specOf(config, isWorker)).files ?? []).map(({ path }: { path: string }) => path);
const url = 'https://registry.example.com';
const ecr = 'https://0123456789.dkr.ecr.us-east-1.amazonaws.com/a';
const credentials = (name: string) => ({ credentials: { secretRef: { name } } });
const [install, kubelet, dynamic, fixed] = [
  '/etc/caren/install-kubelet-credential-providers.sh',
  '/etc/kubernetes/image-credential-provider-config.yaml',
  '/etc/kubernetes/dynamic-credential-provider-config.yaml',
  '/etc/kubernetes/static-image-credentials.json',
];

test('files', async () => {
  deepStrictEqual(await paths(undefined), []);
  deepStrictEqual(await paths({ globalImageRegistryMirror: { url } }), []);
  deepStrictEqual(await paths({ imageRegistries: [{ url, ...credentials('ca') }] }), []);
  deepStrictEqual(await paths({ imageRegistries: [{ url: ecr }] }), [install, kubelet, dynamic]);
  deepStrictEqual(await paths({ imageRegistries: [{ url, ...credentials('login') }] }), [install, kubelet, dynamic, fixed]);
  deepStrictEqual(await paths({ globalImageRegistryMirror: { url, ...credentials('login') } }, true), [
    install,
    kubelet,
    dynamic,
    fixed,
  ]);
});
test('configuration', async () => {
  const hub = 'https://registry-1.docker.io';
  const spec = await specOf({
    globalImageRegistryMirror: { url, ...credentials('login') },
    imageRegistries: [{ url: ecr }, { url: hub, ...credentials('login') }],
  });
  const [, first, second] = spec.files.map(({ content }: { content: string }) => content);
  const [only] = JSON.parse(first).providers;
  deepStrictEqual(only.matchImages.slice(0, 6), [
    '0123456789.dkr.ecr.us-east-1.amazonaws.com/a',
    'registry-1.docker.io',
    'docker.io',
    'registry.example.com',
    '*',
    '*.*',
  ]);
  const { mirror, credentialProviders } = JSON.parse(second);
  deepStrictEqual(mirror, { endpoint: 'registry.example.com', credentialsStrategy: 'MirrorCredentialsFirst' });
  deepStrictEqual(
    credentialProviders.providers.map(({ name, matchImages }: any) => [name, matchImages]),
    [
      ['ecr-credential-provider', ['0123456789.dkr.ecr.us-east-1.amazonaws.com/a']],
      ['static-credential-provider', ['registry-1.docker.io', 'docker.io', 'registry.example.com']],
    ],
  );
  deepStrictEqual(spec.preKubeadmCommands, ['/bin/bash ' + install]);
  deepStrictEqual(
    spec.joinConfiguration.nodeRegistration.kubeletExtraArgs.map(({ name }: { name: string }) => name),
    ['image-credential-provider-bin-dir', 'image-credential-provider-config'],
  );
});
test('the Secret of the nodes', async () => {
  await specOf({ imageRegistries: [{ url: 'https://docker.io/nutanix', ...credentials('login') }] });
  const { request } = await createClusters().management();
  const secrets = '/api/v1/namespaces/default/secrets/';
  const owner = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', name: 'lab', uid: 'u-1' };
  const made = await request('GET', secrets + 'lab-static-credential-provider-response') as any;
  deepStrictEqual(made.metadata.ownerReferences, [owner]);
  const { auth } = JSON.parse(Buffer.from(made.data['static-credential-provider'], 'base64').toString());
  deepStrictEqual(auth, { 'docker.io/nutanix': { username: 'me', password: 'pass' } });
  const given = await request('GET', secrets + 'login') as any;
  deepStrictEqual(given.metadata.ownerReferences, [owner]);
});
test('no credentials', async () => {
  const { response } = await callHandler(registryCredentials, requestOf({ imageRegistries: [{ url }] }));
  deepStrictEqual(response.message, 'invalid image registry: https://registry.example.com/: registry credentials not found');
});
test('no Secret', async () => {
  const { response } = await callHandler(registryCredentials, requestOf({ imageRegistries: [{ url, ...credentials('none') }] }));
  deepStrictEqual(response.message, 'the Secret none with the credentials of ' + url + ' does not exist');
});
test('isolation', () =>
  assertIsolated(registryCredentials, [
    requestOf({ imageRegistries: [{ url: ecr }] }),
    requestOf({ imageRegistries: [{ url: 'https://gcr.io' }] }),
  ]));
test('a wrong value', () =>
  rejects(assertDeterministic(registryCredentials, requestOf({ globalImageRegistryMirror: {} })), /variable clusterConfig/));
`;

async function apiServer(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'registry-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const sandbox = await startSandbox();
  onTestFinished(() => sandbox.stop());
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  const client = connect(await loadKubeConfig({ kubeconfig }), new AbortController().signal);
  for (const [name, data] of [
    ['ca', { 'ca.crt': 'YQ==' }],
    ['login', { username: 'bWU=', password: 'cGFzcw==' }],
  ] as const) {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' }, data };
    await client.request('POST', '/api/v1/namespaces/default/secrets', secret);
  }
  return kubeconfig;
}

test('the handler of registry credentials does what the original does', { timeout: 120_000 }, async () => {
  const folder = await exampleProject();
  vi.stubEnv('KUBECONFIG', await apiServer());
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  writeFileSync(join(folder, 'test/patches.test.ts'), patchTest);
  expect(await compile(folder)).toBe('');
  const stdout = await runTests(folder);
  expect(stdout.match(/^not ok .*$/gm), stdout).toBeNull();
  expect(stdout).toMatch(/^ok \d+ - files$/m);
});

test('it conforms, and a plan with it patches nothing without registries', { timeout: 120_000 }, async () => {
  const folder = await exampleProject();
  const config = await startProject(folder);
  const { code, stdout, stderr } = await runProgram(['conformance', '-f', config]);
  expect([code, stderr], stdout).toEqual([0, '']);
  const file = join(folder, 'objects.yaml');
  const name = parse(readFileSync(config, 'utf8')).metadata.name;
  const objects = labObjects(`registry-credentials.${name}`, `registry-variables.${name}`);
  writeFileSync(file, list(objects));
  expect((await runProgram(['plan', '--from', config, '--from', file])).stdout).toContain('0 of ');
  const value = { imageRegistries: [{ url: 'https://gcr.io' }] };
  const set = ['--set-variable', `clusterConfig=${JSON.stringify(value)}`];
  const planned = await runProgram(['plan', '-f', config, '-f', file, ...set]);
  expect(planned.stdout).toContain('KubeadmControlPlane');
  expect(planned.stdout).toMatch(/spec\.kubeadmConfigSpec\.files.*patch sizes/);
  // A record has the variables that were set for it.
  const record = join(folder, 'recorded');
  await runProgram(['plan', '--from', config, '--from', file, ...set, '--record', record]);
  const again = await runProgram(['plan', '--recorded', record, '-f', config, '--fail-on', 'change']);
  expect([again.code, again.stderr], again.stdout).toEqual([0, '']);
});
