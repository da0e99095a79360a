import {
  CustomObjectsApi,
  type KubernetesListObject,
  type KubernetesObject,
  makeInformer,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Environment, startEnvironment } from '../cli/commands/sandbox/environment.ts';
import { eventually } from '../sandbox/client.ts';

const resource = { group: 'runtime.cluster.x-k8s.io', version: 'v1beta2', plural: 'extensionconfigs' };

let environment: Environment;
let objects: CustomObjectsApi;

beforeAll(async () => {
  environment = await startEnvironment();
  objects = environment.config.makeApiClient(CustomObjectsApi);
});
afterAll(() => environment?.stop());

function body(name: string, spec: object, version = 'v1beta2') {
  return { apiVersion: `${resource.group}/${version}`, kind: 'ExtensionConfig', metadata: { name }, spec };
}

const good = { clientConfig: { url: 'https://extension.example.com/' } };

/** The Status in a rejected request's response. */
async function refusal(call: Promise<unknown>) {
  const error = await call.then(
    () => {
      throw new Error('the call was not refused');
    },
    (reason: { code: number; body: string }) => reason,
  );
  return { code: error.code, status: JSON.parse(error.body) };
}

test("a valid object is stored, with the webhook's defaults", async () => {
  const created = await objects.createClusterCustomObject({ ...resource, body: body('good', good) });
  expect(created).toMatchObject({ metadata: { generation: 1 }, spec: { namespaceSelector: {} } });
});

test('an invalid object is denied with causes', async () => {
  const bad = body('bad', { clientConfig: { url: 'http://extension.example.com/' } });
  const { code, status } = await refusal(objects.createClusterCustomObject({ ...resource, body: bad }));
  expect(code).toBe(422);
  expect(status).toMatchObject({ reason: 'Invalid', details: { causes: [{ field: 'spec.clientConfig.url' }] } });
});

test('a dry run is validated and not stored', async () => {
  await objects.createClusterCustomObject({ ...resource, body: body('dry', good), dryRun: 'All' });
  expect((await refusal(objects.getClusterCustomObject({ ...resource, name: 'dry' }))).code).toBe(404);
});

test('both versions are the same object', async () => {
  const old = { ...resource, version: 'v1alpha1' };
  await objects.createClusterCustomObject({ ...old, body: body('old', good, 'v1alpha1') });
  expect(await objects.getClusterCustomObject({ ...resource, name: 'old' })).toMatchObject({
    apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
    spec: good,
  });
});

test('conditions written in the old version appear where the new one has them', async () => {
  const old = { ...resource, version: 'v1alpha1', name: 'moving' };
  const made = await objects.createClusterCustomObject({ ...old, body: body('moving', good, 'v1alpha1') });
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const former = { type: 'Discovered', status: 'False', severity: 'Error', reason: 'Failed', lastTransitionTime };
  const current = { type: 'Discovered', status: 'False', reason: 'NotDiscovered', message: '', lastTransitionTime };
  const status = { conditions: [former], v1beta2: { conditions: [current] } };
  await objects.replaceClusterCustomObjectStatus({ ...old, body: { ...made, status } });
  const asNew = await objects.getClusterCustomObject({ ...resource, name: 'moving' });
  expect(asNew.status).toEqual({ conditions: [current], deprecated: { v1beta1: { conditions: [former] } } });
  const asOld = await objects.getClusterCustomObject(old);
  expect(asOld.status).toEqual(status);
});

test('a stale update is a conflict', async () => {
  const name = 'stale';
  const current = await objects.createClusterCustomObject({ ...resource, body: body(name, good) });
  const changed = (team: string) => ({ ...current, metadata: { ...current.metadata, labels: { team } } });
  await objects.replaceClusterCustomObject({ ...resource, name, body: changed('a') });
  const { status } = await refusal(objects.replaceClusterCustomObject({ ...resource, name, body: changed('b') }));
  expect(status.reason).toBe('Conflict');
});

test('the status is written separately from the spec', async () => {
  const name = 'with-status';
  const current = await objects.createClusterCustomObject({ ...resource, body: body(name, good) });
  const next = { ...current, spec: { clientConfig: { url: 'https://ignored.example.com' } }, status: { handlers: [] } };
  const written = await objects.replaceClusterCustomObjectStatus({ ...resource, name, body: next });
  expect(written).toMatchObject({ spec: good, status: { handlers: [] } });
});

test('an informer sees existing objects, and changes', async () => {
  const seen: string[] = [];
  await objects.createClusterCustomObject({ ...resource, body: body('earlier', good) });
  const path = `/apis/${resource.group}/${resource.version}/${resource.plural}`;
  const informer = makeInformer(environment.config, path, async () => {
    return (await objects.listClusterCustomObject(resource)) as KubernetesListObject<KubernetesObject>;
  });
  for (const verb of ['add', 'update', 'delete'] as const) {
    informer.on(verb, (object: KubernetesObject) => seen.push(`${verb} ${object.metadata?.name}`));
  }
  await informer.start();
  await eventually(
    async () => seen,
    (events) => events.includes('add earlier'),
  );
  await objects.createClusterCustomObject({ ...resource, body: body('later', good) });
  await eventually(
    async () => seen,
    (events) => events.includes('add later'),
  );
  await objects.deleteClusterCustomObject({ ...resource, name: 'later' });
  await eventually(
    async () => seen,
    (events) => events.includes('delete later'),
  );
  await informer.stop();
  expect((await refusal(objects.getClusterCustomObject({ ...resource, name: 'later' }))).code).toBe(404);
});
