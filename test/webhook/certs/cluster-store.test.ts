import { describe, expect, test } from 'vitest';
import { issueCa } from '../../../src/base/x509/index.ts';
import { type KubernetesClient, ResponseError, StatusError } from '../../../src/kubernetes/client/index.ts';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { annotatedExtensionConfigs, bundleOfSecret, Conflict, clusterStore } from '../../../src/webhook/certs/index.ts';
import { day } from '../../base/x509/keys.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const secrets = '/api/v1/namespaces/ns/secrets';

/** An API server that answers with an object, a status code or an error. */
function clusterOf(answers: Record<string, JsonObject | number | Error>) {
  const requests: [string, Json | undefined][] = [];
  const cluster: KubernetesClient = {
    async request(method, path, body) {
      requests.push([`${method} ${path}`, body]);
      const found = answers[`${method} ${path}`] ?? 404;
      if (typeof found === 'number') {
        throw new StatusError(found, 'no');
      }
      if (found instanceof Error) {
        throw found;
      }
      return found;
    },
    async watch() {},
  };
  return { cluster, requests };
}

describe('the two Secrets in a cluster', () => {
  const storeOf = (answers: Record<string, JsonObject | number | Error>) => {
    const { cluster, requests } = clusterOf(answers);
    return { store: clusterStore(cluster, 'ns', { ca: 'the-ca', serving: 'the-tls' }), requests };
  };
  const secret = {
    metadata: { name: 'the-ca', resourceVersion: '7', annotations: { a: 'b', c: 1 } },
    data: { 'ca.crt': base64('pem') },
  };

  test('are named as operators know them', () => {
    const { store } = storeOf({});
    expect([store.describe('ca'), store.describe('serving')]).toEqual(['Secret ns/the-ca', 'Secret ns/the-tls']);
  });

  test('are read with what a write needs, and annotations', async () => {
    const { store } = storeOf({ [`GET ${secrets}/the-ca`]: secret });
    expect(await store.read('ca')).toEqual({
      data: { 'ca.crt': 'pem' },
      annotations: { a: 'b' },
      raw: secret,
    });
    expect(await store.read('serving')).toBeUndefined();
  });

  test('that are immutable: the error says what to do', async () => {
    const { store } = storeOf({
      [`GET ${secrets}/the-tls`]: { metadata: { name: 'the-tls', resourceVersion: '1' }, immutable: true },
      [`PUT ${secrets}/the-tls`]: 422,
    });
    const before = await store.read('serving');
    await expect(store.write('serving', { data: {}, annotations: {} }, before)).rejects.toThrow(
      'Secret ns/the-tls is immutable, so nobody can change it: delete it (pods keep the certificate that they have) and run certs bootstrap',
    );
  });

  test.each([
    ['are immutable and may not be changed', true, 403, /^forbidden: the permission to update secrets/],
    ['may be changed, but not so', false, 422, /^no$/],
  ])('that %s: the error is that of the API server', async (_name, immutable, code, message) => {
    const { store } = storeOf({ [`PUT ${secrets}/the-ca`]: code });
    const from = { data: {}, annotations: {}, raw: { ...secret, immutable } };
    await expect(store.write('ca', { data: {}, annotations: {} }, from)).rejects.toThrow(message);
  });

  test('that may not be read: the error names the missing permission', async () => {
    const { store } = storeOf({ [`GET ${secrets}/the-ca`]: 403, [`GET ${secrets}/the-tls`]: 500 });
    await expect(store.read('ca')).rejects.toThrow(
      'forbidden: the permission to get secrets ns/the-ca is missing (no)',
    );
    await expect(store.read('serving')).rejects.toMatchObject({ code: 500 });
  });

  test('are created with the type and labels of this program', async () => {
    const { store, requests } = storeOf({ [`POST ${secrets}`]: {} });
    await store.write('ca', { data: { 'ca.crt': 'pem' }, annotations: { a: 'b' } }, undefined);
    await store.write('serving', { data: {}, annotations: {} }, undefined);
    expect(requests.map(([what]) => what)).toEqual([`POST ${secrets}`, `POST ${secrets}`]);
    expect(requests[0]?.[1]).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'Opaque',
      metadata: {
        name: 'the-ca',
        namespace: 'ns',
        labels: { 'app.kubernetes.io/managed-by': 'extensionconfig-webhook' },
        annotations: { a: 'b' },
      },
      data: { 'ca.crt': base64('pem') },
    });
    expect(requests[1]?.[1]).toMatchObject({ type: 'kubernetes.io/tls', metadata: { name: 'the-tls' } });
  });

  test('keep what this program does not know, and detect other writes in between', async () => {
    const raw = {
      ...secret,
      type: 'custom',
      immutable: false,
      metadata: { ...secret.metadata, labels: { own: 'x', 'app.kubernetes.io/managed-by': 'me' }, finalizers: ['f'] },
    };
    const { store, requests } = storeOf({ [`GET ${secrets}/the-ca`]: raw, [`PUT ${secrets}/the-ca`]: {} });
    await store.write('ca', { data: { 'ca.crt': 'new' }, annotations: {} }, await store.read('ca'));
    expect(requests[1]).toEqual([
      `PUT ${secrets}/the-ca`,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'custom',
        immutable: false,
        metadata: {
          name: 'the-ca',
          namespace: 'ns',
          resourceVersion: '7',
          finalizers: ['f'],
          labels: { own: 'x', 'app.kubernetes.io/managed-by': 'me' },
          annotations: {},
        },
        data: { 'ca.crt': base64('new') },
      },
    ]);
  });

  test.each([
    [
      'a Secret that was created in the meantime',
      'POST',
      409,
      Conflict,
      'Secret ns/the-ca was changed by another client',
    ],
    ['a Secret that was changed', 'PUT', 409, Conflict, 'Secret ns/the-ca was changed by another client'],
    ['a Secret that was deleted', 'PUT', 404, Conflict, 'Secret ns/the-ca was changed by another client'],
    ['a missing namespace', 'POST', 404, StatusError, 'create the namespace, or name another with --namespace'],
    ['no permission to create it', 'POST', 403, Error, 'the permission to create secrets ns/the-ca is missing'],
    ['no permission to change it', 'PUT', 403, Error, 'the permission to update secrets ns/the-ca is missing'],
  ])('a write fails: %s', async (_name, method, code, type, message) => {
    const { store } = storeOf({ [method === 'POST' ? `POST ${secrets}` : `PUT ${secrets}/the-ca`]: code });
    const from = method === 'POST' ? undefined : { data: {}, annotations: {}, raw: secret };
    const written = store.write('ca', { data: {}, annotations: {} }, from);
    await expect(written).rejects.toThrow(type);
    await expect(written).rejects.toThrow(message);
  });
});

describe('ExtensionConfigs whose caBundle is to be injected', async () => {
  const list = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs';
  const inject = 'runtime.cluster.x-k8s.io/inject-ca-from-secret';
  const { certificate } = issueCa(new Date('2026-01-01'), day);
  const config = (name: string, annotations?: JsonObject): JsonObject => ({
    metadata: { name, resourceVersion: '1', ...(annotations && { annotations }) },
    spec: { clientConfig: { url: 'https://h', caBundle: base64('old') } },
  });
  const ask = async (annotation: string, answer: JsonObject | number | Error = 404) => {
    const { cluster, requests } = clusterOf({
      [`GET ${list}?limit=100`]: { metadata: {}, items: [config('one', { [inject]: annotation })] },
      'GET /api/v1/namespaces/a/secrets/b.c': answer,
    });
    const [target] = await annotatedExtensionConfigs(cluster).read();
    return { bundle: await bundleOfSecret(cluster, target!.source!), requests: requests.map(([what]) => what) };
  };

  test('are found by their annotation, whatever server they refer to', async () => {
    const { cluster, requests } = clusterOf({
      [`GET ${list}?limit=100`]: {
        metadata: {},
        items: [
          config('one', { [inject]: 'a/b' }),
          config('two', { other: 'x' }),
          config('three'),
          config('four', { [inject]: 1 }),
        ],
      },
      [`PATCH ${list}/one`]: {},
    });
    const targets = annotatedExtensionConfigs(cluster);
    const found = await targets.read();
    expect(found).toMatchObject([
      {
        id: 'ExtensionConfig/one',
        state: 'present',
        bundles: ['old'],
        skipped: [],
      },
    ]);
    await targets.inject(found[0]!, 'new');
    expect(requests.at(-1)).toEqual([
      `PATCH ${list}/one`,
      [
        { op: 'test', path: '/metadata/resourceVersion', value: '1' },
        { op: 'add', path: '/spec/clientConfig/caBundle', value: base64('new') },
      ],
    ]);
  });

  test('get ca.crt from the Secret that they name', async () => {
    const secret = { metadata: { name: 'b.c', resourceVersion: '1' }, data: { 'ca.crt': base64(certificate.pem) } };
    expect(await ask('a/b.c', secret)).toEqual({
      bundle: { state: 'usable', value: certificate.pem },
      requests: [`GET ${list}?limit=100`, 'GET /api/v1/namespaces/a/secrets/b.c'],
    });
  });

  test.each<[string, JsonObject | number | Error, string]>([
    ['does not exist', 404, 'Secret a/b.c does not exist'],
    ['is forbidden', 403, 'forbidden: the permission to get secrets a/b.c is missing (no)'],
    ['cannot be read at the moment', 500, 'no'],
    ['has no ca.crt', { metadata: { name: 'b.c', resourceVersion: '1' } }, 'Secret a/b.c has no ca.crt'],
    ['is another object', { metadata: { name: 'x' } }, 'is not the Secret a/b.c: metadata.name is not b.c'],
    ['comes in too long a response', new ResponseError('too long'), 'too long'],
  ])('say why there is no bundle: the Secret %s', async (_name, answer, problem) => {
    expect((await ask('a/b.c', answer)).bundle).toEqual({ state: 'broken', problem: expect.stringContaining(problem) });
  });

  test('do not hide a bug', async () => {
    await expect(ask('a/b.c', new TypeError('a bug'))).rejects.toThrow(TypeError);
  });

  test.each([
    '',
    'a',
    'a/',
    '/b',
    'a/b/c',
    'A/b',
    'a/B',
    'a.b/c',
    'a/b_c',
    'x\u001b/y',
  ])('the annotation %j does not name a Secret', async (text) => {
    const { bundle, requests } = await ask(text);
    const shown = JSON.stringify(text);
    expect(bundle).toEqual({
      state: 'broken',
      problem: `secret name ${shown} must be in the form <namespace>/<name>`,
    });
    expect(requests).toHaveLength(1);
  });

  test('show the first 300 characters of a long annotation', async () => {
    const { bundle } = await ask('x'.repeat(1000));
    expect(bundle).toMatchObject({ problem: expect.stringContaining(`name "${'x'.repeat(300)}" must`) });
  });
});
