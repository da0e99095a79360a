import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { handler } from '../../../src/extension/index.ts';
import { applyPatches, callHandler, requestFromFile } from '../../../src/extension/sdk/testing/index.ts';
import { setField, walkTemplates } from '../../../src/extension/sdk/topology/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { offered } from '../../checks/conformance/trying.ts';
import {
  caBundle,
  type ExtensionServer,
  extensionConfig,
  startExtension,
} from '../../runtimehooks/client/extension-server.ts';
import { runProgram } from './io.ts';

const classYaml = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: { name: small }
spec:
  infrastructure:
    templateRef: { apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DockerClusterTemplate, name: small }
  controlPlane:
    templateRef: { apiVersion: controlplane.cluster.x-k8s.io/v1beta2, kind: KubeadmControlPlaneTemplate, name: small }
    machineInfrastructure:
      templateRef: { apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DockerMachineTemplate, name: small }
  patches:
    - name: label
      external: { generatePatchesExtension: generatepatches.one, settings: { mode: strict } }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DockerClusterTemplate
metadata: { name: small }
spec: { template: { spec: {} } }
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: DockerMachineTemplate
metadata: { name: small }
spec: { template: { spec: {} } }
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlaneTemplate
metadata: { name: small }
spec: { template: { spec: { kubeadmConfigSpec: { format: cloud-config } } } }
`;

let folder: string;
let server: ExtensionServer;
let requests: string;
/** What the extension got from the rehearsal, by hook. */
const got = new Map<string, string[]>();

const fileOf = (hook: string) => join(requests, readdirSync(requests).find((name) => name.includes(hook)) ?? '');

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'requests-'));
  requests = join(folder, 'made', 'requests');
  server = await startExtension(({ url }) =>
    url.includes('/discovery')
      ? { status: 'Success', handlers: [offered('GeneratePatches'), offered('BeforeClusterUpgrade')] }
      : { status: 'Success' },
  );
  const config = extensionConfig('one', { url: server.url, caBundle });
  writeFileSync(
    join(folder, 'extension.yaml'),
    stringify({ ...config, spec: { ...config.spec, settings: { region: 'eu', mode: 'lax' } } }),
  );
  writeFileSync(join(folder, 'class.yaml'), classYaml);
  const { code, stderr, stdout } = await runProgram([
    ...['rehearse', '-f', join(folder, 'extension.yaml'), '--cluster-files', join(folder, 'class.yaml')],
    ...['--set-version', 'v1.31.1', '--write', requests],
  ]);
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  for (const { url, body } of server.received.splice(0)) {
    const hook = /\/v1alpha1\/([a-z]+)/.exec(url)?.[1] ?? '';
    got.set(hook, [...(got.get(hook) ?? []), body]);
  }
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

test('rehearse writes what it sends, a file for each request, which only its owner can read', () => {
  const files = readdirSync(requests);
  for (const hook of ['GeneratePatches', 'BeforeClusterUpgrade']) {
    const written = files.filter((name) => name.endsWith(`-${hook}.json`));
    expect(written.map((name) => JSON.parse(readFileSync(join(requests, name), 'utf8')))).toEqual(
      got.get(hook.toLowerCase())?.map((body) => JSON.parse(body)),
    );
  }
  expect(files).toHaveLength([...got].filter(([hook]) => hook !== 'discovery').flatMap(([, bodies]) => bodies).length);
  expect(files[0]).toBe('default_small-0001-GeneratePatches.json');
  expect(statSync(join(requests, files[0] ?? '')).mode & 0o777).toBe(0o600);
});

test('settings of the ExtensionConfig are in it, and those of the class override them', () => {
  const request = JSON.parse(readFileSync(fileOf('GeneratePatches'), 'utf8')) as JsonObject;
  expect(request.settings).toEqual({ region: 'eu', mode: 'strict' });
});

test('conformance sends it instead of a sample', async () => {
  const file = fileOf('GeneratePatches');
  const { code, stderr, stdout } = await runProgram([
    ...['conformance', '-f', join(folder, 'extension.yaml'), '--check', 'answers-calls', '--request', file],
  ]);
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  const sent = server.received.filter(({ url }) => url.includes('generatepatches')).map(({ body }) => JSON.parse(body));
  expect(sent).toEqual([JSON.parse(readFileSync(file, 'utf8'))]);
});

test('the testing kit reads it, and handlers in tests get it', async () => {
  const request = requestFromFile('GeneratePatches', fileOf('GeneratePatches'));
  const label = handler('GeneratePatches', {
    name: 'label',
    handle: (given, { answer }) =>
      answer.done({
        items: walkTemplates(given, [
          {
            match: { kind: 'DockerClusterTemplate' },
            mutate: (template) => setField(template, 'spec.template.spec.region', given.settings?.region),
          },
        ]),
      }),
  });
  const { response, result } = await callHandler(label, request);
  expect(result).toBe('success');
  expect(applyPatches(request, response)[0]).toMatchObject({ spec: { template: { spec: { region: 'eu' } } } });
});

test('names of Clusters cannot lead out of the folder, and a folder with files is refused', async () => {
  const cluster = join(folder, 'cluster.yaml');
  writeFileSync(
    cluster,
    'apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: { name: ../../../up, namespace: .. }\nspec: { topology: { classRef: { name: k }, version: v1.31.0 } }\n',
  );
  const target = join(folder, 'hostile');
  const args = [
    'rehearse',
    '-f',
    join(folder, 'extension.yaml'),
    '--cluster-files',
    cluster,
    '--set-version',
    'v1.31.1',
  ];
  const refused = await runProgram([...args, '--write', target]);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('metadata.name: "../../../up" is not a name of Kubernetes');
  expect(existsSync(target)).toBe(false);
  mkdirSync(target);
  writeFileSync(join(target, 'a'), '');
  writeFileSync(cluster, readFileSync(cluster, 'utf8').replace('../../../up, namespace: ..', 'up, namespace: default'));
  const again = await runProgram([...args, '--write', target]);
  expect(again).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`${target} is not empty`) });
});
