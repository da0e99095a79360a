import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { runProgram } from '../../cli/commands/io.ts';
import { caBundle, extensionConfig, startExtension } from '../../runtimehooks/client/extension-server.ts';
import { needs } from '../../support/needs.ts';
import { buildKustomization, find, idOf, type Manifest, manifestsFolder } from './kustomization.ts';
import { type PolicyRule, permission, startRbacServer } from './rbac-server.ts';
import { schemaProblems } from './schemas.ts';

const folder = join(manifestsFolder, 'preflight');
const objects = buildKustomization(folder);
const name = 'extensionconfig-preflight';
const job = find(objects, 'Job', name);
const pod = job.spec.template.spec;
const [container] = pod.containers;
const rules = find(objects, 'ClusterRole', name).rules as PolicyRule[];

const open: (() => unknown)[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()));
});

test.each(objects.map((object) => [idOf(object), object] as const))("%s matches Kubernetes' schema", (_id, object) => {
  expect(schemaProblems(object)).toEqual([]);
});

test('is built by kubectl in the same way', needs('kubectl'), () => {
  const text = execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' });
  const built = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
  const byId = (list: readonly Manifest[]) => [...list].sort((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  expect(byId(built)).toEqual(byId(objects));
});

test('has its own namespace, which enforces the restricted Pod Security Standard', () => {
  for (const object of objects) {
    expect(object.kind.startsWith('Cluster') || object.kind === 'Namespace' ? name : object.metadata.namespace).toBe(
      name,
    );
  }
  expect(find(objects, 'Namespace', name).metadata.labels).toMatchObject({
    'pod-security.kubernetes.io/enforce': 'restricted',
  });
  expect(pod).toMatchObject({
    serviceAccountName: name,
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    restartPolicy: 'Never',
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  });
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
});

test('runs the image of this release once, and ends', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  expect(container.image).toBe(`extensionconfig-webhook:${version}`);
  expect(job.spec).toMatchObject({
    backoffLimit: 0,
    activeDeadlineSeconds: expect.any(Number),
    ttlSecondsAfterFinished: expect.any(Number),
  });
});

describe('permissions', () => {
  const extensions = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs';
  const providers = '/apis/clusterctl.cluster.x-k8s.io/v1alpha3/providers';
  const deployments = '/apis/apps/v1/deployments';
  const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusters.cluster.x-k8s.io';
  const provider = {
    type: 'CoreProvider',
    providerName: 'cluster-api',
    version: 'v1.12.1',
    metadata: {},
  } as unknown as Manifest;
  const manager = (image: string): Manifest => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'any', namespace: 'any' },
    spec: {
      template: {
        spec: {
          containers: [
            { name: 'proxy', image: 'proxy:v0.1' },
            { name: 'manager', image },
          ],
        },
      },
    },
  });
  const labelled = (version: string): Manifest => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'clusters.cluster.x-k8s.io', labels: { 'app.kubernetes.io/version': version } },
  });

  async function runJob(given: readonly PolicyRule[], installed: Record<string, Manifest>) {
    const extension = await startExtension(() => ({ status: 'Success', handlers: [] }));
    const server = await startRbacServer(
      given,
      [],
      name,
      new Map<string, Manifest>([
        [`${extensions}/one`, extensionConfig('one', { url: extension.url, caBundle }) as unknown as Manifest],
        ...Object.entries(installed),
      ]),
    );
    const place = mkdtempSync(join(tmpdir(), 'preflight-'));
    open.push(extension.close, server.close, () => rmSync(place, { recursive: true }));
    const kubeconfig = join(place, 'config');
    writeFileSync(
      kubeconfig,
      stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'a',
        contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
        clusters: [{ name: 'a', cluster: { server: server.url, 'insecure-skip-tls-verify': true } }],
        users: [{ name: 'a', user: {} }],
      }),
    );
    return { server, ended: await runProgram([...container.args, '--kubeconfig', kubeconfig]) };
  }

  test('are sufficient, and each of them is used', async () => {
    const { server, ended } = await runJob(rules, {
      [`${providers}/other`]: { ...provider, type: 'InfrastructureProvider' },
      [definition]: labelled('v1.12.1'),
    });
    expect(server.refused).toEqual([]);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('Cluster API v1.12 to v1.14: safe') });
    const given = rules.flatMap(({ apiGroups, resources, resourceNames, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          verbs.flatMap((verb) => (resourceNames ?? [undefined]).map((one) => permission(verb, group, resource, one))),
        ),
      ),
    );
    expect(given.filter((one) => !server.used.has(one))).toEqual([]);
  });

  test.each<[string, Record<string, Manifest>]>([
    [
      "clusterctl's inventory",
      { [`${providers}/one`]: provider, [`${deployments}/one`]: manager('x/cluster-api-controller:v1.9.0') },
    ],
    [
      'the Deployment',
      { [`${deployments}/one`]: manager('registry.k8s.io/cluster-api/cluster-api-controller:v1.12.1') },
    ],
    [
      'the Deployment of a mirror with a port, by digest',
      {
        [`${deployments}/one`]: manager(
          `mirror.example:5000/cluster-api-controller:v1.12.0-rc.1@sha256:${'0'.repeat(64)}`,
        ),
      },
    ],
    ["the Deployment's label", { [`${deployments}/one`]: { ...labelled('1.12.4'), kind: 'Deployment' } }],
    [
      'the CustomResourceDefinition',
      { [`${deployments}/one`]: manager('cluster-api-controller'), [definition]: labelled('1.12.0') },
    ],
  ])('the running release is read from %s', async (_place, installed) => {
    const { ended } = await runJob(rules, installed);
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Cluster API v1\.12 to v1\.14: safe/) });
    expect(ended.stdout).not.toContain('unknown');
  });

  test('without permission to look for it, the running release is unknown', async () => {
    const { ended } = await runJob(
      rules.filter(({ resources }) => resources.includes('extensionconfigs')),
      { [`${providers}/one`]: provider, [definition]: labelled('v1.12.1') },
    );
    expect(ended).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('name it with --current-cluster-api-version'),
    });
  });
});
