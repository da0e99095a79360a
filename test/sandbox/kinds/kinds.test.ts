import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { send } from '../client.ts';

const recorded = JSON.parse(
  readFileSync(new URL('../../support/fixtures/kubectl-protobuf.json', import.meta.url), 'utf8'),
) as {
  object: JsonObject;
}[];

/** The sandbox's clock stands still. */
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

// What kubectl create sends for each kind, and how kubectl get shows it.
test.each([
  ['Secret', '/api/v1/namespaces/default/secrets', ['Name', 'Type', 'Age'], ['sample', 'Opaque', '0s']],
  ['ConfigMap', '/api/v1/namespaces/default/configmaps', ['Name', 'Age'], ['sample', '0s']],
  ['ServiceAccount', '/api/v1/namespaces/default/serviceaccounts', ['Name', 'Age'], ['sample', '0s']],
  ['Service', '/api/v1/namespaces/default/services', ['Name', 'Type', 'Age'], ['sample', 'ClusterIP', '0s']],
  [
    'Deployment',
    '/apis/apps/v1/namespaces/default/deployments',
    ['Name', 'Replicas', 'Ready', 'Age'],
    ['sample', '0', null, '0s'],
  ],
  ['Job', '/apis/batch/v1/namespaces/default/jobs', ['Name', 'Age'], ['sample', '0s']],
  ['CronJob', '/apis/batch/v1/namespaces/default/cronjobs', ['Name', 'Schedule', 'Age'], ['sample', '@daily', '0s']],
  ['Role', '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles', ['Name', 'Age'], ['sample', '0s']],
  ['ClusterRoleBinding', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', ['Name', 'Age'], ['sample', '0s']],
  ['PriorityClass', '/apis/scheduling.k8s.io/v1/priorityclasses', ['Name', 'Age'], ['sample', '0s']],
  ['PodDisruptionBudget', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', ['Name', 'Age'], ['sample', '0s']],
])('%s', async (kind, path, columns, cells) => {
  const { object } = recorded.find((call) => call.object.kind === kind) as { object: JsonObject };
  const made = await send(sandbox, 'POST', path, { body: object });
  expect(made.status, made.text).toBe(201);
  expect(await tableOf(`${path}?fieldSelector=metadata.name=sample`)).toEqual([columns, cells]);
});

test('events are shown with their object, and selected as kubectl describe does', async () => {
  const path = '/api/v1/namespaces/default/events';
  const involvedObject = { kind: 'Pod', namespace: 'default', name: 'one', uid: 'u' };
  const event = { type: 'Warning', reason: 'Failed', message: 'no', lastTimestamp: timestamp(60) };
  const made = await send(sandbox, 'POST', path, { body: { metadata: { name: 'one.1' }, involvedObject, ...event } });
  expect(made.status, made.text).toBe(201);
  const selector = Object.entries(involvedObject).map(([field, value]) => `involvedObject.${field}=${value}`);
  expect(await tableOf(`${path}?fieldSelector=${selector}`)).toEqual([
    ['Name', 'Last Seen', 'Type', 'Reason', 'Object', 'Message'],
    ['one.1', '60s', 'Warning', 'Failed', 'pod/one', 'no'],
  ]);
  expect((await send(sandbox, 'GET', `${path}?fieldSelector=involvedObject.name=two`)).json.items).toEqual([]);
});

test('every kind has a table, which is empty at first', async () => {
  const groups = await send(sandbox, 'GET', '/apis');
  const versions = [
    '/api/v1',
    ...(groups.json.groups as { preferredVersion: { groupVersion: string } }[]).map(
      ({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`,
    ),
  ];
  for (const version of versions) {
    const { json } = await send(sandbox, 'GET', version);
    for (const { name } of json.resources as { name: string }[]) {
      if (!name.includes('/')) {
        expect((await tableOf(`${version}/${name}`))[0]?.[0], `${version}/${name}`).toBe('Name');
      }
    }
  }
});
