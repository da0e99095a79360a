import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { connect, loadKubeConfig } from '../../src/kubernetes/client/index.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { runProgram } from '../cli/commands/io.ts';
import { compile, linkedProject, runTests } from '../extension/scaffold/linked-project.ts';
import { readPage } from './pages.ts';

/** A project with the handlers of the example. */
async function exampleProject(): Promise<string> {
  const folder = await linkedProject(['BeforeClusterCreate']);
  writeFileSync(join(folder, 'src/handlers/registry-mirrors.ts'), readPage('docs/examples/registry-mirrors.ts'));
  writeFileSync(
    join(folder, 'src/handlers/index.ts'),
    `import { discoverRegistryVariables, registryMirrors } from './registry-mirrors.ts';
export const handlers = [discoverRegistryVariables, registryMirrors];
`,
  );
  return folder;
}

/** Tests as those of the original. */
const patchTest = `
import { deepStrictEqual, match, rejects } from 'node:assert';
import { test } from 'node:test';
import { applyPatches, assertDeterministic, assertIsolated, callHandler, requestFor } from 'cluster-api-extension/testing';
import { registryMirrors } from '../src/handlers/registry-mirrors.ts';

const builtin = { cluster: { name: 'lab', namespace: 'default', network: { services: ['10.128.0.0/12'] } } };
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
async function filesOf(clusterConfig: object | undefined, isWorker = false) {
  const request = requestOf(clusterConfig, isWorker);
  const { response } = await assertDeterministic(registryMirrors, request);
  const [template] = applyPatches(request, response) as { spec: { template: { spec: any } } }[];
  const spec = template?.spec.template.spec;
  return ((isWorker ? spec.files : spec.kubeadmConfigSpec?.files) ?? []) as { path: string; content?: string }[];
}
const paths = async (config: object | undefined, isWorker = false) => (await filesOf(config, isWorker)).map(({ path }) => path);
const secret = (name: string) => ({ credentials: { secretRef: { name } } });
const url = 'https://registry.example.com';
const [hosts, ca, dropIn] = [
  '/etc/containerd/certs.d/_default/hosts.toml',
  '/etc/containerd/certs.d/registry.example.com/ca.crt',
  '/etc/caren/containerd/patches/registry-config.toml',
];

test('files', async () => {
  deepStrictEqual(await paths(undefined), []);
  deepStrictEqual(await paths({ globalImageRegistryMirror: { url } }), [hosts, dropIn]);
  deepStrictEqual(await paths({ globalImageRegistryMirror: { url, ...secret('ca') } }), [hosts, ca, dropIn]);
  deepStrictEqual(await paths({ globalImageRegistryMirror: { url, ...secret('no-ca') } }), [hosts, dropIn]);
  deepStrictEqual(await paths({ imageRegistries: [{ url, ...secret('ca') }] }), [ca, dropIn]);
  deepStrictEqual(await paths({ imageRegistries: [{ url }] }), []);
  deepStrictEqual(await paths({ globalImageRegistryMirror: { url } }, true), [hosts, dropIn]);
  deepStrictEqual(await paths({ addons: { registry: {} } }), [
    hosts,
    '/etc/containerd/certs.d/10.128.0.20/ca.crt',
    dropIn,
  ]);
});
test('contents', async () => {
  const [file] = await filesOf({ globalImageRegistryMirror: { url: url + '/mirror', ...secret('ca') } });
  match(String(file?.content), /^\\[host."https:\\/\\/registry.example.com\\/v2\\/mirror"\\]\\n.*\\n {2}ca = ".*ca.crt"\\n {2}override_path = true\\n$/);
});
test('two CAs of one host', async () => {
  const request = requestOf({ globalImageRegistryMirror: { url, ...secret('ca') }, imageRegistries: [{ url, ...secret('other-ca') }] });
  const { response } = await callHandler(registryMirrors, request);
  deepStrictEqual(response.message, 'the Secrets ca and other-ca have different CAs for registry.example.com');
});
test('isolation', () =>
  assertIsolated(registryMirrors, [
    requestOf({ globalImageRegistryMirror: { url } }),
    requestOf({ globalImageRegistryMirror: { url: 'https://other.example.com' } }),
  ]));
test('a wrong value', () =>
  rejects(assertDeterministic(registryMirrors, requestOf({ globalImageRegistryMirror: {} })), /variable clusterConfig/));
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
    ['other-ca', { 'ca.crt': 'Yg==' }],
    ['lab-registry-addon-ca', { 'ca.crt': 'YQ==' }],
    ['no-ca', {}],
  ] as const) {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' }, data };
    await client.request('POST', '/api/v1/namespaces/default/secrets', secret);
  }
  return kubeconfig;
}

test('the handler of registry mirrors does what the original does', { timeout: 120_000 }, async () => {
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

test('it conforms', { timeout: 120_000 }, async () => {
  const folder = await exampleProject();
  const env = { ...process.env, PORT: '0', HEALTH_PORT: '0' };
  const child = spawn(process.execPath, ['src/main.ts', '--development'], { cwd: folder, env, stdio: 'ignore' });
  onTestFinished(async () => {
    child.kill();
    await once(child, 'exit');
  });
  const config = join(folder, '.development/extension-config.yaml');
  await vi.waitUntil(() => existsSync(config), { timeout: 30_000 });
  const { code, stdout, stderr } = await runProgram(['conformance', '-f', config]);
  expect([code, stderr], stdout).toEqual([0, '']);
});
