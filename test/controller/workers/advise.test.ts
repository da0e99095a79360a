import { Registry } from 'prom-client';
import { aroundEach, expect, test } from 'vitest';
import { hookVersionsCondition } from '../../../src/controller/workers/hook-versions.ts';
import { createHookCatalog, hooksGroup, type Lifecycle } from '../../../src/runtimehooks/index.ts';
import { ending } from '../../support/ends.ts';
import { caBundle, control, handlerOf, startCalled, startLab, until } from '../lab.ts';
import { startProxy, writesIn } from '../proxy.ts';

aroundEach(ending);

const group = 'hooks.example.com';
const v = (minor: number) => ({ major: 1, minor });
const lifecycles: Lifecycle[] = [
  {
    ...{ group, version: 'v1beta1', name: 'BeforeBackup', introduced: v(5) },
    deprecated: { release: v(10), date: '2025-04' },
    removed: v(13),
    replacedBy: { group, version: 'v1', name: 'BeforeBackup' },
  },
  { group, version: 'v1', name: 'BeforeBackup', introduced: v(10) },
];
const catalog = createHookCatalog(lifecycles);

const handler = (name: string, hook: string, version = 'v1') => ({
  name: `${name}.lab`,
  requestHook: { apiVersion: `${group}/${version}`, hook },
  failurePolicy: 'Fail',
});
const stored = (handlers: object[] | undefined, discovered = 'True') =>
  ({
    metadata: { name: 'lab', generation: 1 },
    status: { conditions: [{ type: 'Discovered', status: discovered }], ...(handlers && { handlers }) },
  }) as unknown as Parameters<typeof hookVersionsCondition>[0];

const removed = `Cluster API v1.13: old: BeforeBackup in this version was removed in Cluster API v1.13 and is never called by v1.13; serve BeforeBackup (${group}/v1) instead`;
const deprecated = `Cluster API v1.12: old: BeforeBackup in this version has been deprecated since v1.10 (2025-04), any later release may remove it; serve BeforeBackup (${group}/v1) instead`;

test.each([
  ['all supported', stored([handler('a', 'BeforeBackup')]), 13, 'True', 'Supported', ''],
  ['no handlers', stored(undefined), 13, 'True', 'Supported', ''],
  [
    'not discovered yet',
    stored(undefined, 'False'),
    13,
    'Unknown',
    'NotDiscovered',
    'the extension has not been discovered yet',
  ],
  ['removed', stored([handler('old', 'BeforeBackup', 'v1beta1')]), 13, 'False', 'HookVersionRemoved', removed],
  ['deprecated', stored([handler('old', 'BeforeBackup', 'v1beta1')]), 12, 'False', 'HookVersionDeprecated', deprecated],
  [
    'too new',
    stored([handler('a', 'BeforeBackup')]),
    9,
    'False',
    'HookTooNew',
    'Cluster API v1.9: a: BeforeBackup was introduced in Cluster API v1.10; v1.9 never calls it',
  ],
  [
    'unknown',
    stored([handler('a', 'BeforeRestore')], 'False'),
    13,
    'False',
    'HookUnknown',
    `Cluster API v1.13: a: BeforeRestore no such hook is known in ${group}/v1; check its group, version and name`,
  ],
  [
    'several: the worst comes first',
    stored([handler('a', 'BeforeRestore'), handler('old', 'BeforeBackup', 'v1beta1')]),
    13,
    'False',
    'HookVersionRemoved',
    `${removed}; a: BeforeRestore no such hook is known in ${group}/v1; check its group, version and name`,
  ],
])('evaluates the hook versions of handlers: %s', (_name, config, minor, status, reason, message) => {
  expect(hookVersionsCondition(config, { catalog, release: v(minor) })).toEqual({
    type: 'HookVersionsSupported',
    status,
    reason,
    message,
  });
});

test('names only some of many handlers, in a message that fits into a condition', () => {
  const handlers = Array.from({ length: 512 }, (_, index) => handler(`h${index}`, `Nothing${'x'.repeat(240)}${index}`));
  const messageAbout = (count: number) =>
    hookVersionsCondition(stored(handlers.slice(0, count)), { catalog, release: v(13) }).message;
  const message = messageAbout(512);
  expect(message).toMatch(/; and 492 more handlers$/);
  expect(messageAbout(21)).toMatch(/; and 1 more handler$/);
  expect(messageAbout(20)).not.toContain(' more ');
  expect(message.length).toBeLessThan(32_768);
});

/** Handlers of Cluster API's hooks: one that comes in v1.12, and one that was always there. */
const [future, present] = ['BeforeControlPlaneUpgrade', 'BeforeClusterUpgrade'].map((hook) => ({
  ...handler(hook.toLowerCase(), hook),
  requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook },
})) as [object, object];
const tooNew =
  'Cluster API v1.9: beforecontrolplaneupgrade: BeforeControlPlaneUpgrade was introduced in Cluster API v1.12; v1.9 never calls it';

test('advise writes its condition and nothing else, alongside the controller that discovers; events say what to do', async () => {
  const lab = await startLab();
  const proxy = await startProxy(lab);
  const metrics = new Registry();
  await lab.create('lab', { clientConfig: { url: 'https://localhost:1', caBundle } });
  await control(proxy, { mode: 'advise', metrics, extensions: { release: v(9) } });
  await lab.condition('lab', 'HookVersionsSupported', 'Unknown');
  const discovered = {
    ...{ type: 'Discovered', status: 'True', reason: 'Discovered', message: '', observedGeneration: 1 },
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const write = async (handlers: object[]) => {
    const { status } = await lab.get('lab');
    const others = (status?.conditions ?? []).filter(({ type }) => type !== 'Discovered');
    await lab.patchStatus('lab', { conditions: [...others, discovered], handlers });
  };
  await write([future]);
  const advised = await lab.condition('lab', 'HookVersionsSupported', 'False');
  expect(advised.status?.conditions).toEqual([
    discovered,
    expect.objectContaining({ reason: 'HookTooNew', message: tooNew, observedGeneration: 1 }),
  ]);
  expect(advised.status).not.toHaveProperty('deprecated');
  // The controller's cache follows the API server a moment later.
  const unsupported = 'extensionconfig_hook_versions_supported{extensionconfig="lab"} 0';
  await until(async () => expect(await metrics.metrics()).toContain(unsupported));
  await write([present]);
  await lab.condition('lab', 'HookVersionsSupported', 'True');
  await until(async () =>
    expect((await lab.events('lab')).map(({ type, reason }) => `${type} ${reason}`)).toEqual([
      'Warning HookTooNew',
      'Normal Supported',
    ]),
  );
  // Labels change nothing.
  await lab.patch('lab', { metadata: { labels: { a: 'b' } } });
  expect(writesIn(proxy.passed)).toHaveLength(3);
  expect(writesIn(proxy.passed).every(({ path }) => path.endsWith('/extensionconfigs/lab/status'))).toBe(true);
});

test('observe writes nothing, and has metrics of certificates, discovery and hook versions', async () => {
  const lab = await startLab();
  const proxy = await startProxy(lab);
  const metrics = new Registry();
  const { spec, stop } = await startCalled([handlerOf('BeforeClusterUpgrade', 'before-upgrade')]);
  await lab.create('lab', spec);
  await lab.patchStatus('lab', {
    handlers: [future, present, { ...present, name: 'another.lab' }],
  });
  const { controller } = await control(
    proxy,
    { mode: 'observe', metrics, extensions: { release: v(9) } },
    { observeMs: 200 },
  );
  const text = () => metrics.metrics();
  await until(async () =>
    expect(await text()).toMatch(/discoveries_total\{extensionconfig="lab",result="success"\} [3-9]/),
  );
  const found = await text();
  expect(found).toContain('extensionconfig_discoveries_total{extensionconfig="lab",result="failure"} 0');
  expect(found).toContain(
    `extensionconfig_handlers{group="${hooksGroup}",version="v1alpha1",hook="BeforeControlPlaneUpgrade",state="future"} 1`,
  );
  expect(found).toContain(
    `extensionconfig_handlers{group="${hooksGroup}",version="v1alpha1",hook="BeforeClusterUpgrade",state="supported"} 2`,
  );
  const end = Date.parse('2049-01-01T00:00:00Z') / 1000;
  expect(found).toContain(`extensionconfig_ca_bundle_not_after_timestamp_seconds{extensionconfig="lab"} ${end}`);
  expect(found).toContain(
    `extensionconfig_server_certificate_not_after_timestamp_seconds{extensionconfig="lab"} ${end}`,
  );
  expect(found).toMatch(/extensionconfig_discovery_latency_seconds\{extensionconfig="lab"\} 0\.\d+/);
  expect(found).toMatch(/extensionconfig_controller_api_server_silent_seconds \d/);
  await stop({ graceMs: 0, timeoutMs: 100 });
  await until(async () => expect(await text()).toMatch(/extensionconfig="lab",result="failure"\} [1-9]/));
  await until(async () =>
    expect(await text()).not.toContain('extensionconfig_server_certificate_not_after_timestamp_seconds{'),
  );
  await lab.remove('lab');
  await until(async () => expect(await text()).not.toContain('extensionconfig="lab"'));
  expect(proxy.passed.filter(({ method }) => method !== 'GET')).toEqual([]);
  expect(controller.problem).toBeUndefined();
});

test('a replica that no longer leads reports no certificates that another one observes', async () => {
  const lab = await startLab();
  const metrics = new Registry();
  const { spec } = await startCalled();
  await lab.create('lab', spec);
  const leaderElection = { namespace: 'default', name: 'c', leaseDurationMs: 60_000, renewDeadlineMs: 30_000 };
  await control(lab, { mode: 'observe', metrics, leaderElection: { ...leaderElection, retryPeriodMs: 100 } });
  const certificate = 'extensionconfig_server_certificate_not_after_timestamp_seconds{extensionconfig="lab"}';
  await until(async () => expect(await metrics.metrics()).toContain(certificate));
  const path = '/apis/coordination.k8s.io/v1/namespaces/default/leases/c';
  const lease = (await lab.request('GET', path)) as { spec: object };
  await lab.request('PUT', path, { ...lease, metadata: { name: 'c' }, spec: { ...lease.spec, holderIdentity: 'b' } });
  await until(async () => expect(await metrics.metrics()).toContain('extensionconfig_controller_leader 0'));
  expect(await metrics.metrics()).not.toContain(certificate);
  expect(await metrics.metrics()).not.toContain('extensionconfig_discovery_latency_seconds{');
});

test('the number of metrics stays small, whatever hook names a status contains', async () => {
  const lab = await startLab();
  const metrics = new Registry();
  for (const name of ['a', 'b']) {
    await lab.create(name, { clientConfig: { url: 'https://localhost:1', caBundle } });
    await lab.patchStatus(name, {
      handlers: Array.from({ length: 400 }, (_, index) => ({
        ...handler(`h${index}`, `Hook${name}${index}`),
        name: `h${index}.${name}`,
      })),
    });
  }
  const { controller } = await control(lab, { mode: 'advise', metrics });
  await controller.synced;
  const lines = (await metrics.metrics()).split('\n').filter((line) => line.startsWith('extensionconfig_handlers{'));
  expect(lines).toHaveLength(501);
  expect(lines.at(-1)).toBe('extensionconfig_handlers{group="others",version="",hook="",state="unknown"} 300');
});
