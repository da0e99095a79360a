import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, type KubernetesClient, loadKubeConfig } from '../../../src/kubernetes/client/index.ts';
import { itemsAt, type Json, type JsonObject, nameOf, objectAt } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import type { Plan } from '../../../src/topology/index.ts';
import { runProgram } from './io.ts';
import { pathOf, store } from './live-cluster.ts';
import { list, named } from './planning.ts';

const folder = mkdtempSync(join(tmpdir(), 'plan-release-'));
const kubeconfig = join(folder, 'kubeconfig');
const { before } = named('upgrade-1.35');
const ended = new AbortController();
let sandbox: Sandbox;
let client: KubernetesClient;

beforeAll(async () => {
  sandbox = await startSandbox();
  writeFileSync(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  client = connect(await loadKubeConfig({ kubeconfig }), ended.signal);
  await store(client, before);
});
afterAll(async () => {
  ended.abort();
  rmSync(folder, { recursive: true });
  await sandbox.stop();
});

const plan = (...args: string[]) => runProgram(['plan', '--kubeconfig', kubeconfig, ...args]);

/** The class with a patch that gives Machines a file, with a field that 1.14 added. */
function withNewField(): string {
  const fleet = structuredClone(before.find(({ kind, ...one }) => kind === 'ClusterClass' && nameOf(one) === 'fleet')!);
  itemsAt(fleet, 'spec', 'patches').push({
    name: 'files',
    definitions: [
      {
        selector: {
          apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
          kind: 'KubeadmConfigTemplate',
          matchResources: { machineDeploymentClass: { names: ['*'] } },
        },
        jsonPatches: [
          {
            op: 'add',
            path: '/spec/template/spec/files',
            value: [{ path: '/etc/a', content: 'a', contentFormat: 'Raw' }],
          },
        ],
      },
    ],
  });
  const file = join(folder, 'class.yaml');
  writeFileSync(file, list([fleet]));
  return file;
}

test('a release that is not known is assumed, and said; with --fail-on, it matters where plans differ', async () => {
  const same = await plan('--set-version', 'v1.35.0', '--fail-on', 'unknown');
  expect(same.stderr).toMatch(
    /^plan: the release of Cluster API in this cluster is not known: .*; v1\.14 is assumed.*\n$/,
  );
  expect(same.code).toBe(0);
  const file = withNewField();
  const outcomes = new Set<string>();
  for (const release of ['v1.13', 'v1.14']) {
    outcomes.add((await plan('-f', file, '--cluster-api-version', release)).stdout);
  }
  expect(outcomes.size).toBe(2);
  const other = await plan('-f', file, '--fail-on', 'unknown');
  expect(other.stderr).toContain('plan: the plan differs in v1.12 and v1.13, and the installed release is not known');
  expect(other.code).toBe(1);
  expect((await plan('-f', file)).code).toBe(0);
});

/** A field that a release added to a kind. */
const addedBy: Readonly<Record<string, readonly [kind: string, path: readonly string[]]>> = {
  'v1.14': ['MachineDeployment', ['status', 'versions']],
  'v1.13': ['ClusterClass', ['spec', 'controlPlane', 'taints']],
  'v1.12': ['ClusterClass', ['spec', 'kubernetesVersions']],
};

test.each(Object.entries(addedBy))('the schemas that the API server publishes tell %s', async (release, [
  kind,
  path,
]) => {
  for (const one of ['ClusterClass', 'MachineDeployment']) {
    const url = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${one.toLowerCase()}s.cluster.x-k8s.io`;
    const [version] = itemsAt(await client.request('GET', url), 'spec', 'versions');
    const schema: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    let holder = schema;
    for (const name of one === kind ? path : []) {
      const inner: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
      holder.properties = { [name]: inner };
      holder = inner;
    }
    const versions = [{ ...objectAt(version), schema: { openAPIV3Schema: schema } }] as Json;
    await client.request('PATCH', url, { spec: { versions } });
  }
  const { stdout, stderr } = await plan('--dry-run', 'none', '-o', 'html');
  expect(stderr).toBe('');
  expect(stdout).toContain(`Cluster API ${release}`);
});

test('an upgrade of Cluster API begins with the installed release, and the cluster is only read', async () => {
  // The schemas tell v1.12 now.
  const upgrade = await plan('--to-cluster-api-version', 'v1.14', '-o', 'json');
  expect(upgrade.stderr).toBe('');
  const { clusters, sum } = JSON.parse(upgrade.stdout) as Plan;
  expect(clusters[0]?.problems).toEqual([]);
  expect(sum).toMatchObject({ machines: 8, replaced: 0, unknown: 0 });
  const older = await plan('--to-cluster-api-version', 'v1.12');
  expect([older.code, older.stderr]).toEqual([
    2,
    expect.stringContaining('--to-cluster-api-version: v1.12 is not newer than v1.12'),
  ]);
});

test('an upgrade of Cluster API says what is read otherwise, and which Machines it replaces', async () => {
  const fleet = before.find(({ kind, ...one }) => kind === 'ClusterClass' && nameOf(one) === 'fleet') as JsonObject;
  const spec = objectAt(fleet, 'spec');
  const url = `${pathOf(fleet)}/${nameOf(fleet)}`;
  const labels = {
    name: 'labels',
    definitions: [
      {
        selector: {
          apiVersion: 'bootstrap.cluster.x-k8s.io/v1beta2',
          kind: 'KubeadmConfigTemplate',
          matchResources: { machineDeploymentClass: { names: ['*'] } },
        },
        jsonPatches: [{ op: 'add', path: '/spec/template/metadata', value: { labels: { a: 'b' } } }],
      },
    ],
  };
  await client.request('PATCH', url, { spec: { patches: [...itemsAt(spec, 'patches'), labels] } });
  const { code, stdout } = await plan('--to-cluster-api-version', 'v1.14');
  expect(code).toBe(0);
  expect(stdout.replaceAll(/\n +/g, ' ')).toContain('read otherwise since v1.14: patches of labels and annotations');
  expect(stdout.split('\n').at(-2)).toBe('5 of 8 Machines are replaced');
});
