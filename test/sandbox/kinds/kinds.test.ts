import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { send } from '../client.ts';

const recorded = JSON.parse(readFileSync(new URL('../../fixtures/kubectl-protobuf.json', import.meta.url), 'utf8')) as {
  object: JsonObject;
}[];

/** The clock of the sandbox stands still. */
const begin = new Date(Math.floor(Date.now() / 1000) * 1000);

function timestamp(secondsAgo: number): string {
  return `${new Date(begin.getTime() - secondsAgo * 1000).toISOString().slice(0, 19)}Z`;
}

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox({ clock: () => begin });
});
afterAll(() => sandbox.stop());

const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

async function tableOf(path: string): Promise<unknown[][]> {
  const { json } = await send(sandbox, 'GET', path, { headers: { accept: tableType } });
  const { columnDefinitions, rows } = json as unknown as {
    columnDefinitions: { name: string }[];
    rows: { cells: unknown[] }[];
  };
  for (const { cells } of rows) {
    expect(cells).toHaveLength(columnDefinitions.length);
  }
  return [columnDefinitions.map(({ name }) => name), ...rows.map(({ cells }) => cells)];
}

// What kubectl create makes of each kind, and how kubectl get shows it.
test.each([
  ['Secret', '/api/v1/namespaces/default/secrets', ['Name', 'Type', 'Data', 'Age'], ['sample', 'Opaque', '2', '0s']],
  ['ConfigMap', '/api/v1/namespaces/default/configmaps', ['Name', 'Data', 'Age'], ['sample', '1', '0s']],
  ['ServiceAccount', '/api/v1/namespaces/default/serviceaccounts', ['Name', 'Secrets', 'Age'], ['sample', '0', '0s']],
  [
    'Service',
    '/api/v1/namespaces/default/services',
    ['Name', 'Type', 'Cluster-IP', 'Port(s)', 'Age'],
    ['sample', 'ClusterIP', '<none>', '80/TCP', '0s'],
  ],
  [
    'Deployment',
    '/apis/apps/v1/namespaces/default/deployments',
    ['Name', 'Ready', 'Up-to-date', 'Available', 'Age'],
    ['sample', '0/0', '0', '0', '0s'],
  ],
  ['Job', '/apis/batch/v1/namespaces/default/jobs', ['Name', 'Completions', 'Age'], ['sample', '0/1', '0s']],
  [
    'CronJob',
    '/apis/batch/v1/namespaces/default/cronjobs',
    ['Name', 'Schedule', 'Suspend', 'Age'],
    ['sample', '@daily', 'False', '0s'],
  ],
  [
    'Role',
    '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles',
    ['Name', 'Created At'],
    ['sample', timestamp(0)],
  ],
  [
    'RoleBinding',
    '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings',
    ['Name', 'Role', 'Age'],
    ['sample', 'Role/sample', '0s'],
  ],
  [
    'ClusterRoleBinding',
    '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
    ['Name', 'Role', 'Age'],
    ['sample', 'ClusterRole/sample', '0s'],
  ],
  [
    'PriorityClass',
    '/apis/scheduling.k8s.io/v1/priorityclasses',
    ['Name', 'Value', 'Global-Default', 'Age'],
    ['sample', 0, false, '0s'],
  ],
  ['PodDisruptionBudget', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', ['Name', 'Age'], ['sample', '0s']],
])('%s', async (kind, path, columns, cells) => {
  const { object } = recorded.find((call) => call.object.kind === kind) as { object: JsonObject };
  const made = await send(sandbox, 'POST', path, { body: object });
  expect(made.status, made.text).toBe(201);
  expect(await tableOf(path)).toEqual([columns, cells]);
});

test.each([
  ['deployments', { replicas: 2 }],
  ['replicasets', { replicas: 2 }],
  ['statefulsets', { replicas: 2 }],
  ['daemonsets', { minReadySeconds: 2 }],
])('%s: the generation of each new spec is observed, so that clients do not wait for a controller', async (plural, spec) => {
  const path = `/apis/apps/v1/namespaces/default/${plural}`;
  const made = await send(sandbox, 'POST', path, { body: { metadata: { name: 'observed' } } });
  expect(made.json).toMatchObject({ metadata: { generation: 1 }, status: { observedGeneration: 1 } });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const changed = await send(sandbox, 'PATCH', `${path}/observed`, { headers, body: { spec } });
  expect(changed.json).toMatchObject({ metadata: { generation: 2 }, status: { observedGeneration: 2 } });
});

test('an event is shown by what it is about', async () => {
  const path = '/api/v1/namespaces/default/events';
  const body = {
    metadata: { name: 'one.1' },
    involvedObject: { kind: 'Pod', name: 'one' },
    type: 'Warning',
    reason: 'Failed',
    message: 'no',
    lastTimestamp: timestamp(60),
  };
  await send(sandbox, 'POST', path, { body });
  expect((await tableOf(path))[1]).toEqual(['one.1', '60s', 'Warning', 'Failed', 'pod/one', 'no']);
  const selected = await send(sandbox, 'GET', `${path}?fieldSelector=involvedObject.name=one,type!=Normal`);
  expect(selected.json.items).toHaveLength(1);
});

test('every kind has a table, empty at first', async () => {
  const groups = await send(sandbox, 'GET', '/apis');
  const versions = [
    '/api/v1',
    ...(groups.json.groups as { preferredVersion: { groupVersion: string } }[]).map(
      ({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`,
    ),
  ];
  for (const version of versions) {
    const { json } = await send(sandbox, 'GET', version);
    for (const { name, verbs } of json.resources as { name: string; verbs: string[] }[]) {
      if (verbs.includes('list')) {
        expect((await tableOf(`${version}/${name}`))[0]?.[0], `${version}/${name}`).toBe('Name');
      }
    }
  }
});
