import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { run } from '../../src/commands/index.ts';
import { buildOverlay, find, type Manifest } from './kustomization.ts';
import { type PolicyRule, permission, type RbacServer, startRbacServer } from './rbac-server.ts';

const namespace = 'extensionconfig-webhook-system';
const servers: RbacServer[] = [];
const folders: string[] = [];

afterEach(async () => {
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

/** Every single permission that rules give. */
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
      // The client refuses plain HTTP without it.
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

describe.each(['default', 'with-crd'] as const)('permissions of the Jobs of overlay %s', (overlay) => {
  const objects = buildOverlay(overlay);
  const clusterRules = find(objects, 'ClusterRole', 'extensionconfig-webhook-certificates').rules as PolicyRule[];
  const namespacedRules = find(objects, 'Role', 'extensionconfig-webhook-certificates').rules as PolicyRule[];
  const bootstrap = objects.find(({ kind }) => kind === 'Job')!.spec.template.spec.containers[0].args as string[];
  const rotate = find(objects, 'CronJob', 'extensionconfig-webhook-rotate').spec.jobTemplate.spec.template.spec
    .containers[0].args as string[];
  const subcommand = (name: string) => ['certs', name, ...rotate.slice(2)];

  async function start(): Promise<RbacServer> {
    const server = await startRbacServer(clusterRules, namespacedRules, namespace, targetsOf(objects));
    servers.push(server);
    return server;
  }

  test('are enough for every command, and each of them is used', async () => {
    const server = await start();
    const quick = ['--propagation-delay=0s', '--overlap=0s'];
    for (const args of [
      bootstrap,
      subcommand('status'),
      rotate,
      [...rotate, ...quick, '--force'],
      [...rotate, ...quick, '--force-ca', '--wait'],
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

  test('each one that is missing is named', async () => {
    const without = clusterRules.map((rule) => ({ ...rule, verbs: rule.verbs.filter((verb) => verb !== 'patch') }));
    const server = await startRbacServer(without, namespacedRules, namespace, targetsOf(objects));
    servers.push(server);
    const { code, text } = await runCommand(server, bootstrap);
    expect(code).toBe(1);
    expect(text).toMatch(/permission to patch/);
  });
});
