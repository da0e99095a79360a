import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { run } from '../../../src/cli/index.ts';
import { matchesConditions } from '../../../src/kubernetes/cel/index.ts';
import { connect } from '../../../src/kubernetes/client/index.ts';
import { watchCluster } from '../../../src/policy/cluster-facts/index.ts';
import { repairEmptied } from '../../../src/webhook/certs/index.ts';
import { testCa } from '../../base/x509/certificates.ts';
import { requestFor } from '../../policy/admission/policy.ts';
import { example, exampleSecret, exampleService } from '../../policy/rules/examples.ts';
import { buildOverlay, find, type Manifest } from './kustomization.ts';
import { type PolicyRule, permission, type RbacServer, startRbacServer } from './rbac-server.ts';

const namespace = 'extensionconfig-webhook-system';
const servers: RbacServer[] = [];
const folders: string[] = [];
const stops: (() => void)[] = [];

afterEach(async () => {
  for (const stop of stops.splice(0)) {
    stop();
  }
  await Promise.all(servers.splice(0).map((server) => server.close()));
  for (const folder of folders.splice(0)) {
    rmSync(folder, { recursive: true });
  }
});

/** The targets of an overlay by their paths at an API server. */
function targetsOf(objects: readonly Manifest[]): Map<string, Manifest> {
  const paths: Record<string, string> = {
    MutatingWebhookConfiguration: '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
    ValidatingWebhookConfiguration: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
    CustomResourceDefinition: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  };
  return new Map(
    objects.flatMap((object): [string, Manifest][] => {
      const path = paths[object.kind];
      return path === undefined ? [] : [[`${path}/${object.metadata.name}`, object]];
    }),
  );
}

/** Every single permission that rules grant. */
function* permissionsOf(rules: readonly PolicyRule[]): Generator<string> {
  for (const { apiGroups, resources, resourceNames, verbs } of rules) {
    for (const group of apiGroups) {
      for (const resource of resources) {
        for (const verb of verbs) {
          for (const name of resourceNames ?? [undefined]) {
            yield permission(verb, group, resource, name);
          }
        }
      }
    }
  }
}

/** What an account may do by the ClusterRoles that are bound to it cluster-wide. */
function clusterRulesOf(objects: readonly Manifest[], account: string): PolicyRule[] {
  return objects
    .filter(({ kind, subjects }) => kind === 'ClusterRoleBinding' && subjects[0].name === account)
    .flatMap(({ roleRef }) => find(objects, 'ClusterRole', roleRef.name).rules as PolicyRule[]);
}

async function runCommand(server: RbacServer, args: readonly string[]): Promise<{ code: number; text: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  folders.push(folder);
  const kubeconfig = join(folder, 'config');
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'job' } }],
      // Without it, the client rejects plain HTTP.
      clusters: [{ name: 'test', cluster: { server: server.url, 'insecure-skip-tls-verify': true } }],
      users: [{ name: 'job', user: {} }],
    }),
  );
  const out = new PassThrough();
  const chunks: Buffer[] = [];
  out.on('data', (chunk: Buffer) => chunks.push(chunk));
  const code = await run([...args, `--kubeconfig=${kubeconfig}`], {
    stdin: new PassThrough(),
    stdout: out,
    stderr: out,
    env: {},
    signal: new AbortController().signal,
  });
  return { code, text: Buffer.concat(chunks).toString() };
}

function jobsOf(overlay: 'default' | 'with-crd') {
  const objects = buildOverlay(overlay);
  const [clusterRules, namespacedRules] = ['ClusterRole', 'Role'].map(
    (kind) => find(objects, kind, 'extensionconfig-webhook-certificates').rules as PolicyRule[],
  ) as [PolicyRule[], PolicyRule[]];
  const bootstrap = objects.find(({ kind }) => kind === 'Job')!.spec.template.spec.containers[0].args as string[];
  const rotate = find(objects, 'CronJob', 'extensionconfig-webhook-rotate').spec.jobTemplate.spec.template.spec
    .containers[0].args as string[];
  async function start(rules: readonly PolicyRule[]): Promise<RbacServer> {
    const server = await startRbacServer(rules, namespacedRules, namespace, targetsOf(objects));
    servers.push(server);
    return server;
  }
  return { clusterRules, namespacedRules, bootstrap, rotate, start };
}

test.each([
  'default',
  'with-crd',
] as const)('permissions of the Jobs of overlay %s are sufficient for every command, and each is used', async (overlay) => {
  const { clusterRules, namespacedRules, bootstrap, rotate, start } = jobsOf(overlay);
  const server = await start(clusterRules);
  const subcommand = (name: string) => ['certs', name, ...rotate.slice(2)];
  const quick = ['--propagation-delay=0s', '--overlap=0s'];
  for (const args of [
    bootstrap,
    subcommand('status'),
    rotate,
    [...rotate, ...quick, '--force', 'serving'],
    [...rotate, ...quick, '--force', 'ca', '--wait'],
    subcommand('inject'),
    bootstrap,
  ]) {
    const { code, text } = await runCommand(server, args);
    expect(server.refused, args.join(' ')).toEqual([]);
    expect(code, `${args.join(' ')}\n${text}`).toBe(0);
  }
  const given = new Set([...permissionsOf(clusterRules), ...permissionsOf(namespacedRules)]);
  expect([...given].filter((one) => !server.used.has(one)).sort()).toEqual([]);
});

test.each<[string, string, string, boolean]>([
  ['extensionconfig-webhook-ca', 'extensionconfig-webhook-certificates', 'Opaque', true],
  ['extensionconfig-webhook-tls', 'extensionconfig-webhook-certificates', 'kubernetes.io/tls', true],
  ['extensionconfig-webhook-ca', 'extensionconfig-webhook-certificates', 'kubernetes.io/service-account-token', false],
  ['extensionconfig-webhook-tls', 'extensionconfig-webhook-certificates', 'kubernetes.io/service-account-token', false],
  ['another', 'extensionconfig-webhook-certificates', 'Opaque', false],
  ['another', 'default', 'kubernetes.io/service-account-token', true],
])('a Secret %s by the account %s of type %s: allowed %j', (name, account, type, isAllowed) => {
  const objects = buildOverlay('default');
  const { spec } = find(objects, 'ValidatingAdmissionPolicy', 'extensionconfig-webhook-certificates');
  const binding = find(objects, 'ValidatingAdmissionPolicyBinding', 'extensionconfig-webhook-certificates');
  expect(binding.spec).toEqual({
    policyName: 'extensionconfig-webhook-certificates',
    validationActions: ['Deny'],
  });
  const request = {
    ...{
      name,
      namespace,
      operation: 'CREATE',
      userInfo: { username: `system:serviceaccount:${namespace}:${account}` },
    },
    object: { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, type },
  };
  const conditions = spec.validations.map(({ expression }: { expression: string }) => ({ name: 'valid', expression }));
  expect(!matchesConditions(spec.matchConditions, request) || matchesConditions(conditions, request)).toBe(isAllowed);
});

test('a permission that a Job lacks is named in the error', async () => {
  const { clusterRules, bootstrap, start } = jobsOf('default');
  const server = await start(
    clusterRules.map((rule) => ({ ...rule, verbs: rule.verbs.filter((verb) => verb !== 'patch') })),
  );
  const { code, text } = await runCommand(server, bootstrap);
  expect(code).toBe(1);
  expect(text).toMatch(/permission to patch/);
});

test('the serving pods of overlay repair fill in an emptied caBundle, and nothing else, with exactly their permissions', async () => {
  const objects = buildOverlay('repair');
  const rules = clusterRulesOf(objects, 'extensionconfig-webhook');
  const targets = targetsOf(objects);
  const server = await startRbacServer(rules, [], namespace, targets);
  servers.push(server);
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'test', server: server.url, skipTLSVerify: true }, { name: 'test' });
  const cluster = connect(config, new AbortController().signal);
  const service = { namespace, name: 'extensionconfig-webhook' };
  const [mutating, validating] = ['Mutating', 'Validating'].map(
    (kind) => `${kind}WebhookConfiguration/${service.name}`,
  );
  expect(await repairEmptied(cluster, service, testCa.cert)).toEqual([mutating, validating]);
  expect(await repairEmptied(cluster, service, testCa.cert)).toEqual([]);
  // What is there is the rotation's.
  expect(await repairEmptied(cluster, service, `${testCa.cert}${testCa.cert}`)).toEqual([]);
  expect(server.refused).toEqual([]);
  expect([...permissionsOf(rules)].filter((one) => !server.used.has(one))).toEqual([]);
  const args = find(objects, 'Deployment').spec.template.spec.containers[0].args as string[];
  expect(args).toContain(`--repair-ca-bundle=${service.name}`);
});

describe('permissions of the serving pods', () => {
  const objects = buildOverlay('cluster-facts');
  const rules = clusterRulesOf(objects, 'extensionconfig-webhook');
  const served = {
    '/apis/runtime.cluster.x-k8s.io/v1beta2': ['extensionconfigs'],
    '/apis/cluster.x-k8s.io/v1beta2': ['clusterclasses', 'clusters'],
  };
  const stored = new Map<string, Manifest>([
    ['/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs/my-extension', example() as unknown as Manifest],
    ['/api/v1/namespaces/capi-extensions/secrets/my-extension-cert', exampleSecret() as unknown as Manifest],
  ]);

  async function follow(given: readonly PolicyRule[]) {
    const server = await startRbacServer(given, [], namespace, stored, served);
    servers.push(server);
    const config = new KubeConfig();
    config.loadFromClusterAndUser({ name: 'test', server: server.url, skipTLSVerify: true }, { name: 'test' });
    const problems: string[] = [];
    const watching = watchCluster({
      config,
      onProblem: (kind, problem) => problems.push(`${kind}: ${problem}`),
      pace: { minRetryMs: 20, maxRetryMs: 50 },
    });
    stops.push(watching.stop);
    return { server, watching, problems };
  }

  test('are sufficient for all facts, and each of them is used', async () => {
    const { server, watching, problems } = await follow(rules);
    await watching.synced;
    const service = { ...exampleService, port: 9443 };
    const request = requestFor(example({ clientConfig: { service } }));
    const known = await watching.refresh(request);
    const given = new Set(permissionsOf(rules));
    const used = () => new Set([...server.used].map((one) => one.replace(/^(get (?:secrets|services)) .*$/, '$1')));
    await vi.waitFor(() => expect([...used()].sort()).toEqual([...given].sort()), { timeout: 30_000, interval: 10 });
    expect(server.refused).toEqual([]);
    expect(problems).toEqual([]);
    expect(known?.unknown).toEqual([]);
    expect(known?.facts.secrets?.find('capi-extensions', 'my-extension-cert')).toMatchObject({
      problem: undefined,
    });
  });

  test('are named if one is missing, and the facts that need it are unknown', async () => {
    const { watching, problems } = await follow(
      rules.filter(({ resources }) => !/clusters|secrets/.test(resources.join())),
    );
    await vi.waitFor(
      () => {
        expect(watching.read().unknown).toEqual(['ClusterClass', 'Cluster']);
        expect(problems.join('\n')).toMatch(/permission to (list|watch) clusterclasses\.cluster\.x-k8s\.io/);
      },
      { timeout: 30_000, interval: 10 },
    );
    expect(watching.read().facts.clusterClasses).toBeUndefined();
    const known = await watching.refresh(requestFor(example()));
    expect(known?.unknown).toContain('Secret');
    expect(known?.facts.secrets).toBeUndefined();
    expect(problems.join('\n')).toMatch(/permission to get secrets capi-extensions\/my-extension-cert is missing/);
  });

  test('do not exist without the component, nor does a token', () => {
    const plain = buildOverlay('default');
    expect(clusterRulesOf(plain, 'extensionconfig-webhook')).toEqual([]);
    const tokenOf = (manifests: readonly Manifest[]) =>
      find(manifests, 'Deployment').spec.template.spec.automountServiceAccountToken;
    expect([tokenOf(plain), tokenOf(objects)]).toEqual([false, true]);
    const argsOf = (manifests: readonly Manifest[]) =>
      find(manifests, 'Deployment').spec.template.spec.containers[0].args as string[];
    expect(argsOf(plain)).not.toContain('--cluster-facts');
    expect(argsOf(objects)).toContain('--cluster-facts');
    const operationsOf = (kind: string) => find(objects, kind).webhooks[0].rules[0].operations;
    expect(operationsOf('ValidatingWebhookConfiguration')).toEqual(['CREATE', 'UPDATE', 'DELETE']);
    expect(operationsOf('MutatingWebhookConfiguration')).toEqual(['CREATE', 'UPDATE']);
  });
});
