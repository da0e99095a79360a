import { Registry } from 'prom-client';
import { aroundEach, expect, test } from 'vitest';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import { ending } from '../../support/ends.ts';
import { caBundle, control, handlerOf, startCalled, startLab, until } from '../lab.ts';
import { startProxy } from '../proxy.ts';

aroundEach(ending);

const v = (minor: number) => ({ major: 1, minor });
const handler = (name: string, hook: string) => ({
  name: `${name}.lab`,
  requestHook: { apiVersion: 'hooks.example.com/v1', hook },
  failurePolicy: 'Fail',
});

/** Handlers of Cluster API's hooks: one that comes in v1.12, and one that was always there. */
const [future, present] = ['BeforeControlPlaneUpgrade', 'BeforeClusterUpgrade'].map((hook) => ({
  ...handler(hook.toLowerCase(), hook),
  requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook },
})) as [object, object];

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
  const { controller } = await control(lab, { mode: 'observe', metrics });
  await controller.synced;
  const lines = (await metrics.metrics()).split('\n').filter((line) => line.startsWith('extensionconfig_handlers{'));
  expect(lines).toHaveLength(501);
  expect(lines.at(-1)).toBe('extensionconfig_handlers{group="others",version="",hook="",state="unknown"} 300');
});
