import { Registry } from 'prom-client';
import { aroundEach, expect, test } from 'vitest';
import { hooksGroup } from '../../src/runtimehooks/index.ts';
import { ending } from '../support/ends.ts';
import { caBundle, control, startLab, until } from './lab.ts';

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

test('metrics have the hook versions of handlers, the expiry of CA bundles, and whether the API server answers', async () => {
  const lab = await startLab();
  const metrics = new Registry();
  await lab.create(
    'paused',
    { clientConfig: { url: 'https://localhost:1', caBundle } },
    { 'cluster.x-k8s.io/paused': '' },
  );
  await lab.patchStatus('paused', { handlers: [future, present, { ...present, name: 'another.lab' }] });
  await control(lab, { metrics, extensions: { release: v(9) } });
  await lab.condition('paused', 'Paused', 'True');
  const found = await metrics.metrics();
  expect(found).toContain(
    `extensionconfig_handlers{group="${hooksGroup}",version="v1alpha1",hook="BeforeControlPlaneUpgrade",state="future"} 1`,
  );
  expect(found).toContain(
    `extensionconfig_handlers{group="${hooksGroup}",version="v1alpha1",hook="BeforeClusterUpgrade",state="supported"} 2`,
  );
  const end = Date.parse('2049-01-01T00:00:00Z') / 1000;
  expect(found).toContain(`extensionconfig_ca_bundle_not_after_timestamp_seconds{extensionconfig="paused"} ${end}`);
  expect(found).toMatch(/extensionconfig_controller_api_server_silent_seconds \d/);
  await lab.remove('paused');
  await until(async () => expect(await metrics.metrics()).not.toContain('extensionconfig="paused"'));
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
  const { controller } = await control(lab, { metrics });
  await controller.synced;
  const lines = (await metrics.metrics()).split('\n').filter((line) => line.startsWith('extensionconfig_handlers{'));
  expect(lines).toHaveLength(501);
  expect(lines.at(-1)).toBe('extensionconfig_handlers{group="others",version="",hook="",state="unknown"} 300');
});
