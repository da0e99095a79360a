import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { startEventController } from '../../../src/sandbox/kinds/event-controller.ts';
import { Store } from '../../../src/sandbox/storage/store.ts';
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
  expect(await tableOf(`${path}?fieldSelector=metadata.name=sample`)).toEqual([columns, cells]);
});

const selector = { matchLabels: { app: 'a' }, matchExpressions: [{ key: 'b', operator: 'In', values: ['c', 'd'] }] };

/** A Deployment, or another workload. */
const workload = (name: string) => ({
  metadata: { name },
  spec: {
    selector,
    template: { metadata: { labels: { app: 'a', b: 'c' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
  },
});

test.each([
  ['deployments', { replicas: 2 }],
  ['replicasets', { replicas: 2 }],
  ['statefulsets', { replicas: 2 }],
  ['daemonsets', { minReadySeconds: 2 }],
])('%s: the generation of each new spec is observed, so that clients do not wait for a controller', async (plural, spec) => {
  const path = `/apis/apps/v1/namespaces/default/${plural}`;
  const made = await send(sandbox, 'POST', path, { body: workload('observed') });
  expect(made.json).toMatchObject({ metadata: { generation: 1 }, status: { observedGeneration: 1 } });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const changed = await send(sandbox, 'PATCH', `${path}/observed`, { headers, body: { spec } });
  expect(changed.json).toMatchObject({ metadata: { generation: 2 }, status: { observedGeneration: 2 } });
});

test('controllers do not run for a dry run, so that kubectl diff shows only what the user has changed', async () => {
  const path = '/apis/apps/v1/namespaces/default/deployments';
  const dry = await send(sandbox, 'POST', `${path}?dryRun=All`, { body: workload('tried') });
  expect(dry.json.status).toBeUndefined();
  const made = await send(sandbox, 'POST', path, { body: workload('tried') });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const changed = await send(sandbox, 'PATCH', `${path}/tried?dryRun=All`, {
    headers,
    body: { spec: { replicas: 2 } },
  });
  expect(changed.json).toMatchObject({ metadata: { generation: 2 } });
  expect(changed.json.status).toEqual(made.json.status);
});

test('the conditions of a Deployment keep their transition times while their status does not change', async () => {
  const times = (name: string) => ({ type: name, status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' });
  const path = '/apis/apps/v1/namespaces/default/deployments';
  await send(sandbox, 'POST', path, { body: workload('lasting') });
  const headers = { 'content-type': 'application/merge-patch+json' };
  const conditions = [times('Available'), times('Progressing')];
  await send(sandbox, 'PATCH', `${path}/lasting/status`, { headers, body: { status: { conditions } } });
  const changed = await send(sandbox, 'PATCH', `${path}/lasting`, { headers, body: { spec: { replicas: 2 } } });
  expect(changed.json.status).toMatchObject({ observedGeneration: 2, conditions });
});

test('a Pod is pending, and can be selected by that', async () => {
  const path = '/api/v1/namespaces/default/pods';
  const body = { metadata: { name: 'waiting' }, spec: { containers: [{ name: 'a', image: 'a' }] } };
  expect((await send(sandbox, 'POST', path, { body })).json).toMatchObject({ status: { phase: 'Pending' } });
  const found = await send(sandbox, 'GET', `${path}?fieldSelector=status.phase=Pending`);
  expect(found.json).toMatchObject({ items: [{ metadata: { name: 'waiting' } }] });
});

test('the table of events shows the object that each is about', async () => {
  const path = '/api/v1/namespaces/default/events';
  const body = {
    metadata: { name: 'one.1' },
    involvedObject: { kind: 'Pod', name: 'one' },
    type: 'Warning',
    reason: 'Failed',
    message: 'no',
    lastTimestamp: timestamp(60),
  };
  await send(sandbox, 'POST', path, { body: { ...body, source: { component: 'kubelet' } } });
  const columns = 'Last Seen,Type,Reason,Object,Subobject,Source,Message,First Seen,Count,Name'.split(',');
  const cells = ['60s', 'Warning', 'Failed', 'pod/one', '', 'kubelet', 'no', '<unknown>', '1', 'one.1'];
  expect(await tableOf(`${path}?fieldSelector=metadata.name=one.1`)).toEqual([columns, cells]);
  const newPath = '/apis/events.k8s.io/v1/namespaces/default/events';
  expect(await tableOf(`${newPath}?fieldSelector=metadata.name=one.1`)).toEqual([columns, cells]);
  for (const selector of ['involvedObject.name=one,type!=Normal', 'source=kubelet']) {
    const selected = await send(sandbox, 'GET', `${path}?fieldSelector=${selector}`);
    expect(selected.json.items, selector).toHaveLength(1);
  }
  const other = await send(sandbox, 'GET', `${newPath}?fieldSelector=regarding.name=one`);
  expect(other.json.items).toMatchObject([{ apiVersion: 'events.k8s.io/v1', note: 'no', regarding: { name: 'one' } }]);
  expect((await send(sandbox, 'GET', `${newPath}?fieldSelector=regarding.name=three`)).json.items).toEqual([]);
});

test('an event of events.k8s.io is also one of the core group, and only its series can change', async () => {
  const path = '/apis/events.k8s.io/v1/namespaces/default/events';
  const core = '/api/v1/namespaces/default/events/new.1';
  const event = {
    metadata: { name: 'new.1' },
    regarding: { apiVersion: 'v1', kind: 'Node', name: 'two' },
    eventTime: `${timestamp(30).slice(0, -1)}.000000Z`,
    type: 'Normal',
    reason: 'Started',
    action: 'Start',
    note: 'it runs',
    reportingController: 'example.com/starter',
    reportingInstance: 'starter-1',
  };
  const made = await send(sandbox, 'POST', path, { body: event });
  expect(made.status, made.text).toBe(201);
  expect(made.json).toMatchObject({ apiVersion: 'events.k8s.io/v1', ...event });
  const { json } = await send(sandbox, 'GET', core);
  expect(json).toMatchObject({
    apiVersion: 'v1',
    involvedObject: event.regarding,
    message: 'it runs',
    reportingComponent: 'example.com/starter',
  });
  expect(json).not.toHaveProperty('regarding');
  const headers = { 'content-type': 'application/merge-patch+json' };
  const series = { count: 7, lastObservedTime: `${timestamp(5).slice(0, -1)}.000000Z` };
  const changed = await send(sandbox, 'PATCH', `${path}/new.1`, { headers, body: { series } });
  expect(changed.status, changed.text).toBe(200);
  const rows = await tableOf(path);
  expect(rows.find((row) => row.at(-1) === 'new.1')).toEqual([
    ...['5s', 'Normal', 'Started', 'node/two', '', 'example.com/starter, starter-1', 'it runs', '30s', '7', 'new.1'],
  ]);
  const refused = await send(sandbox, 'PATCH', `${path}/new.1`, { headers, body: { note: 'it does not' } });
  expect(refused.json).toMatchObject({ code: 422, details: { causes: [{ field: 'note' }] } });
});

test.each(['deployments', 'replicasets', 'statefulsets'])('%s can be scaled by their subresource', async (plural) => {
  const path = `/apis/apps/v1/namespaces/default/${plural}`;
  const { metadata, spec } = workload('scaled');
  const body = { metadata, spec: { ...spec, replicas: 2 } };
  expect((await send(sandbox, 'POST', path, { body })).status).toBe(201);
  const scale = `${path}/scaled/scale`;
  const { json } = await send(sandbox, 'GET', scale);
  expect(json).toMatchObject({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: 'scaled', namespace: 'default' },
    spec: { replicas: 2 },
    status: { replicas: 0, selector: 'app=a,b in (c,d)' },
  });
  const patched = await send(sandbox, 'PATCH', scale, {
    headers: { 'content-type': 'application/merge-patch+json' },
    body: { spec: { replicas: 0 } },
  });
  expect(patched.json, patched.text).toMatchObject({ kind: 'Scale', spec: { replicas: 0 } });
  expect((await send(sandbox, 'GET', `${path}/scaled`)).json).toMatchObject({
    metadata: { generation: 2 },
    spec: { replicas: 0, selector },
  });
  // The version that was read before the patch is outdated.
  expect((await send(sandbox, 'PUT', scale, { body: json })).json).toMatchObject({ code: 409 });
  const fresh = { ...patched.json, spec: { replicas: 3 } };
  expect((await send(sandbox, 'PUT', scale, { body: fresh })).json).toMatchObject({ spec: { replicas: 3 } });
  const wrong = { ...patched.json, metadata: { name: 'scaled' }, spec: { replicas: -1 } };
  expect((await send(sandbox, 'PUT', scale, { body: wrong })).json).toMatchObject({
    code: 422,
    details: { kind: 'Scale', causes: [{ field: 'spec.replicas' }] },
  });
  expect((await send(sandbox, 'GET', '/api/v1/namespaces/default/configmaps/x/scale')).status).toBe(404);
});

// Events that a kube-apiserver rejects (pkg/apis/core/validation/events.go); a controller that writes such events would
// lose them.
test.each([
  ['core', { involvedObject: { kind: 'Pod', name: 'one', namespace: 'other' } }, ['involvedObject.namespace']],
  [
    'core',
    { involvedObject: { kind: 'Pod', name: 'one' }, eventTime: '2026-01-01T00:00:00.000000Z' },
    ['reportingComponent', 'reportingInstance', 'action', 'reason'],
  ],
  [
    'events.k8s.io',
    { regarding: { kind: 'Pod', name: 'one' }, type: 'Error', reason: 'R', action: 'A', reportingInstance: 'i' },
    ['eventTime', 'reportingController', 'type'],
  ],
  [
    'events.k8s.io',
    {
      ...{ regarding: { namespace: 'other' }, eventTime: '2026-01-01T00:00:00.000000Z', type: 'Normal', reason: 'R' },
      ...{ action: 'A', reportingInstance: 'i'.repeat(129), reportingController: 'a b', note: 'n'.repeat(1025) },
      deprecatedCount: 2,
    },
    ['regarding.namespace', 'reportingController', 'reportingInstance', 'note', 'deprecatedCount'],
  ],
])('an invalid event of %s is rejected: %j', async (group, event, fields) => {
  const base = group === 'core' ? '/api/v1' : '/apis/events.k8s.io/v1';
  const body = { metadata: { name: 'wrong' }, ...event };
  const { json } = await send(sandbox, 'POST', `${base}/namespaces/default/events`, { body });
  expect(json).toMatchObject({ code: 422 });
  const { causes } = json.details as unknown as { causes: { field: string }[] };
  expect(causes.map(({ field }) => field)).toEqual(fields);
});

test('events expire, and the oldest are removed when there are too many', async () => {
  const store = new Store();
  const events = store.collection('events');
  const lifetime = 60_000;
  vi.useFakeTimers();
  const stop = startEventController({ store }, { lifetime, maxEvents: 3 });
  const write = async (name: string) => {
    const found = events.get(name);
    const event = { metadata: { name } };
    expect(found === undefined ? events.create(name, event) : events.replace(name, found, event)).toBeDefined();
    await vi.advanceTimersByTimeAsync(1_000);
  };
  for (const name of ['a', 'b', 'c', 'a', 'd']) {
    await write(name);
  }
  const names = () => events.list().map(([key]) => key);
  expect(names()).toEqual(['a', 'c', 'd']);
  await vi.advanceTimersByTimeAsync(lifetime - 2_500);
  expect(names()).toEqual(['a', 'd']);
  await vi.advanceTimersByTimeAsync(2_500);
  expect(names()).toEqual([]);
  stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
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
    for (const { name, verbs } of json.resources as { name: string; verbs: string[] }[]) {
      if (verbs.includes('list')) {
        expect((await tableOf(`${version}/${name}`))[0]?.[0], `${version}/${name}`).toBe(
          name === 'events' ? 'Last Seen' : 'Name',
        );
      }
    }
  }
});
