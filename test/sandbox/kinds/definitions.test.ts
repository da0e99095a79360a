import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { applyMergePatch, type Json, type JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { testCa } from '../../base/x509/certificates.ts';
import { send } from '../client.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

function version(name: string, fields: object = {}) {
  return { name, served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } }, ...fields };
}

const good = {
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Cluster',
    names: { plural: 'things', kind: 'Thing' },
    versions: [version('v1', { storage: true })],
  },
};

async function causesOf(body: Json): Promise<[string, string][]> {
  const { status, json } = await send(sandbox, 'POST', `${definitions}?dryRun=All`, { body: body as object });
  if (status === 201) {
    return [];
  }
  expect(json).toMatchObject({ status: 'Failure', reason: 'Invalid', code: 422 });
  const { causes } = json.details as { causes: { field: string; reason: string }[] };
  return causes.map(({ field, reason }) => [field, reason]);
}

test('a valid definition is accepted', async () => {
  expect(await causesOf(good)).toEqual([]);
});

test.each<[string, JsonObject, [string, string][]]>([
  ['another name', { metadata: { name: 'others.example.com' } }, [['metadata.name', 'FieldValueInvalid']]],
  [
    'a group without a dot',
    { metadata: { name: 'things.example' }, spec: { group: 'example' } },
    [['spec.group', 'FieldValueInvalid']],
  ],
  ['no scope', { spec: { scope: null } }, [['spec.scope', 'FieldValueRequired']]],
  ['another scope', { spec: { scope: 'World' } }, [['spec.scope', 'FieldValueNotSupported']]],
  ['no kind', { spec: { names: { kind: null } } }, [['spec.names.kind', 'FieldValueRequired']]],
  ['the kind as list kind', { spec: { names: { listKind: 'Thing' } } }, [['spec.names.listKind', 'FieldValueInvalid']]],
  [
    'a short name in upper case',
    { spec: { names: { shortNames: ['ok', 'No'] } } },
    [['spec.names.shortNames[1]', 'FieldValueInvalid']],
  ],
  ['no stored version', { spec: { versions: [version('v1')] } }, [['spec.versions', 'FieldValueInvalid']]],
  [
    'two stored versions',
    { spec: { versions: [version('v1', { storage: true }), version('v2', { storage: true })] } },
    [['spec.versions', 'FieldValueInvalid']],
  ],
  [
    'a version twice',
    { spec: { versions: [version('v1', { storage: true }), version('v1')] } },
    [['spec.versions[1].name', 'FieldValueInvalid']],
  ],
  [
    'a version that is not a label',
    { spec: { versions: [version('V1', { storage: true })] } },
    [['spec.versions[0].name', 'FieldValueInvalid']],
  ],
  [
    'no schema',
    { spec: { versions: [version('v1', { storage: true, schema: null })] } },
    [['spec.versions[0].schema.openAPIV3Schema', 'FieldValueRequired']],
  ],
  [
    'a schema of a string',
    { spec: { versions: [version('v1', { storage: true, schema: { openAPIV3Schema: { type: 'string' } } })] } },
    [['spec.versions[0].schema.openAPIV3Schema.type', 'FieldValueInvalid']],
  ],
  [
    'additional properties that are neither a schema nor true',
    {
      spec: {
        versions: [
          version('v1', {
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', additionalProperties: 'x' } },
          }),
        ],
      },
    },
    [['spec.versions[0].schema.openAPIV3Schema.additionalProperties', 'FieldValueForbidden']],
  ],
  [
    'an unknown conversion',
    { spec: { conversion: { strategy: 'Magic' } } },
    [['spec.conversion.strategy', 'FieldValueNotSupported']],
  ],
  [
    'a conversion webhook without an address',
    { spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig: {}, conversionReviewVersions: ['v1'] } } } },
    [['spec.conversion.webhook.clientConfig', 'FieldValueRequired']],
  ],
  [
    'a conversion webhook without versions',
    { spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: 'https://a.example.com' } } } } },
    [['spec.conversion.webhook.conversionReviewVersions', 'FieldValueRequired']],
  ],
  [
    'a version that keeps unknown fields by an old switch',
    { spec: { preserveUnknownFields: true } },
    [['spec.preserveUnknownFields', 'FieldValueInvalid']],
  ],
  [
    'no names',
    { spec: { names: null } },
    [
      ['spec.names.plural', 'FieldValueRequired'],
      ['spec.names.kind', 'FieldValueRequired'],
    ],
  ],
  [
    'columns without a type, a path or a name',
    {
      spec: {
        versions: [
          version('v1', {
            storage: true,
            additionalPrinterColumns: [
              { name: 'A', type: 'text', jsonPath: 'spec.a' },
              { jsonPath: '.a', type: 'date' },
            ],
          }),
        ],
      },
    },
    [
      ['spec.versions[0].additionalPrinterColumns[0].jsonPath', 'FieldValueInvalid'],
      ['spec.versions[0].additionalPrinterColumns[0].type', 'FieldValueInvalid'],
      ['spec.versions[0].additionalPrinterColumns[1].name', 'FieldValueRequired'],
    ],
  ],
])('%s is rejected', async (_name, change, causes) => {
  expect(await causesOf(applyMergePatch(good as JsonObject, change))).toEqual(causes);
});

test('immutable fields cannot be changed', async () => {
  onTestFinished(async () => void (await send(sandbox, 'DELETE', `${definitions}/${good.metadata.name}`)));
  await send(sandbox, 'POST', definitions, { body: good });
  const patch = (spec: object) =>
    send(sandbox, 'PATCH', `${definitions}/things.example.com`, {
      body: { spec },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
  const scope = await patch({ scope: 'Namespaced' });
  expect((scope.json.details as JsonObject).causes).toMatchObject([{ field: 'spec.scope' }]);
  // There may be objects stored in that version.
  const versions = await patch({ versions: [version('v2', { storage: true })] });
  expect((versions.json.details as JsonObject).causes).toMatchObject([{ field: 'status.storedVersions[0]' }]);
});

test('a definition with an unusable caBundle is not established, and an established one cannot get one', async () => {
  const path = `${definitions}/gears.example.com`;
  const bundle = (text: string) => ({
    spec: { conversion: { webhook: { clientConfig: { caBundle: Buffer.from(text).toString('base64') } } } },
  });
  const patch = (body: object) =>
    send(sandbox, 'PATCH', path, { body, headers: { 'content-type': 'application/merge-patch+json' } });
  const established = () =>
    vi.waitFor(
      async () => {
        const { conditions } = (await send(sandbox, 'GET', path)).json.status as { conditions: JsonObject[] };
        const { status, reason } = conditions.find(({ type }) => type === 'Established') as JsonObject;
        return [status, reason];
      },
      { timeout: 30_000 },
    );
  const gears = {
    metadata: { name: 'gears.example.com' },
    spec: {
      ...good.spec,
      names: { plural: 'gears', kind: 'Gear' },
      conversion: {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig: { url: 'https://127.0.0.1:1', caBundle: Buffer.from('\n').toString('base64') },
        },
      },
    },
  };
  expect(await send(sandbox, 'POST', definitions, { body: gears })).toMatchObject({ status: 201 });
  expect(await established()).toEqual(['False', 'InvalidCABundle']);
  expect((await send(sandbox, 'GET', '/apis/example.com/v1/gears')).status).toBe(404);
  // After a byte order mark Go finds no certificate.
  expect((await patch(bundle(`\ufeff${testCa.cert}`))).status).toBe(200);
  expect((await patch(bundle(`# of a test\n${testCa.cert}`))).status).toBe(200);
  await vi.waitFor(async () => expect(await established()).toEqual(['True', 'InitialNamesAccepted']), {
    timeout: 30_000,
  });
  const refused = await patch(bundle(testCa.cert.trimEnd() + testCa.cert));
  expect(refused).toMatchObject({ status: 422, json: { reason: 'Invalid' } });
  expect(refused.json.details).toMatchObject({
    causes: [{ field: 'spec.conversion.webhookClientConfig.caBundle', reason: 'FieldValueInvalid' }],
  });
  expect((await patch(bundle(''))).status).toBe(200);
  expect((await send(sandbox, 'DELETE', path)).status).toBe(200);
});

test('a caBundle is read up to the first valid certificate', async () => {
  const read = vi.spyOn(X509Certificate.prototype, 'publicKey', 'get');
  onTestFinished(() => read.mockRestore());
  const clientConfig = {
    url: 'https://127.0.0.1:1',
    caBundle: Buffer.from(testCa.cert.repeat(50)).toString('base64'),
  };
  const conversion = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } };
  const spec = { ...good.spec, names: { plural: 'pulleys', kind: 'Pulley' }, conversion };
  const body = { metadata: { name: 'pulleys.example.com' }, spec };
  expect((await send(sandbox, 'POST', definitions, { body })).status).toBe(201);
  await vi.waitFor(
    async () => {
      const { json } = await send(sandbox, 'GET', `${definitions}/pulleys.example.com`);
      expect(json.status).toMatchObject({ conditions: [{}, { type: 'Established', status: 'True' }] });
    },
    { timeout: 30_000 },
  );
  expect(read).toHaveBeenCalledTimes(1);
  expect((await send(sandbox, 'DELETE', `${definitions}/pulleys.example.com`)).status).toBe(200);
});

test('a changed definition ends the watches of its objects, of all its versions and of no other resource', async () => {
  const spec = { ...good.spec, names: { plural: 'watched', kind: 'Watched' } };
  spec.versions = [version('v1', { storage: true }), version('v2')];
  const body = { metadata: { name: 'watched.example.com' }, spec };
  const path = `${definitions}/watched.example.com`;
  expect((await send(sandbox, 'POST', definitions, { body })).status).toBe(201);
  await vi.waitFor(async () => expect((await send(sandbox, 'GET', '/apis/example.com/v2/watched')).status).toBe(200), {
    timeout: 30_000,
  });
  const ended: string[] = [];
  const watch = async (resource: string) => {
    const { status, text } = await send(sandbox, 'GET', `${resource}?watch=1&timeoutSeconds=100`);
    ended.push(resource);
    expect([status, text]).toEqual([200, '']);
  };
  const watches = ['/apis/example.com/v1/watched', '/apis/example.com/v2/watched'].map(watch);
  const headers = { authorization: `Bearer ${sandbox.token}` };
  const other = request(new URL('/api/v1/pods?watch=1', sandbox.url), { ca: sandbox.ca, headers }).end();
  onTestFinished(() => void other.destroy());
  const [unaffected] = (await once(other, 'response')) as [IncomingMessage];
  unaffected.resume();
  const patch = (change: object) =>
    send(sandbox, 'PATCH', path, { body: change, headers: { 'content-type': 'application/merge-patch+json' } });
  // The stored definition changes, but nothing that it says about its resources.
  expect((await patch({ metadata: { labels: { a: 'b' } } })).status).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(ended).toEqual([]);
  const began = performance.now();
  expect((await patch({ spec: { names: { ...spec.names, shortNames: ['w'] } } })).status).toBe(200);
  await Promise.all(watches);
  expect(performance.now() - began).toBeGreaterThan(900);
  expect(unaffected.closed).toBe(false);
  expect((await send(sandbox, 'DELETE', path)).status).toBe(200);
});

test('a deleted definition says that it waits for objects with finalizers', async () => {
  const path = `${definitions}/waits.example.com`;
  const spec = { ...good.spec, names: { plural: 'waits', kind: 'Wait' } };
  await send(sandbox, 'POST', definitions, { body: { metadata: { name: 'waits.example.com' }, spec } });
  const objects = '/apis/example.com/v1/waits';
  const object = { kind: 'Wait', apiVersion: 'example.com/v1', metadata: { name: 'a', finalizers: ['example.com/x'] } };
  await vi.waitFor(
    async () => expect(await send(sandbox, 'POST', objects, { body: object })).toHaveProperty('status', 201),
    {
      timeout: 30_000,
    },
  );
  await send(sandbox, 'DELETE', path);
  const terminating = { type: 'Terminating', status: 'True', reason: 'InstanceDeletionInProgress' };
  const conditions = expect.arrayContaining([expect.objectContaining(terminating)]);
  await vi.waitFor(async () => expect((await send(sandbox, 'GET', path)).json.status).toMatchObject({ conditions }));
  const headers = { 'content-type': 'application/merge-patch+json' };
  await send(sandbox, 'PATCH', `${objects}/a`, { body: { metadata: { finalizers: null } }, headers });
  await vi.waitFor(async () => expect(await send(sandbox, 'GET', path)).toHaveProperty('status', 404));
});
