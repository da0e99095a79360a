import { describe, expect, test } from 'vitest';
import { type KubernetesClient, ResponseError, StatusError } from '../../../src/kubernetes/client/index.ts';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import {
  annotatedExtensionConfigs,
  Conflict,
  clusterTargets,
  isInSync,
  noTargets,
  type TargetKind,
} from '../../../src/webhook/certs/index.ts';

const service = { namespace: 'ns', name: 'webhook' };
const base64 = (text: string) => Buffer.from(text).toString('base64');
const metadata = { name: 'ours', resourceVersion: '7' };
const webhooks = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/ours';
const mutating = (...entries: Json[]): JsonObject => ({ metadata, webhooks: entries });
const ours = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  clientConfig: { service: { ...service, path: '/x' }, ...more },
});
/** An API server that answers as the test says; `requests` holds the requests it received. */
function clusterOf(answers: (method: string, path: string) => JsonObject) {
  const requests: string[] = [];
  const bodies: unknown[] = [];
  const cluster: KubernetesClient = {
    async request(method, path, body) {
      requests.push(`${method} ${path}`);
      bodies.push(body);
      return answers(method, path);
    },
    async watch() {},
  };
  return { cluster, requests, bodies };
}
const read = async (object: JsonObject, kind: TargetKind = 'MutatingWebhookConfiguration') => {
  const { cluster } = clusterOf(() => object);
  const [target] = await clusterTargets(cluster, { named: [{ kind, name: 'ours' }], service }).read();
  return target!;
};
const accessTo = (cluster: KubernetesClient) => clusterTargets(cluster, { named: [], service });

describe('a target', () => {
  test('takes the entries that refer to the service, and says why it skips the others', async () => {
    const target = await read(
      mutating(
        ours('a.example', { caBundle: base64('old') }),
        { name: 'b.example', clientConfig: { service: { namespace: 'ns', name: 'other' } } },
        { name: 'c.example', clientConfig: { service: { namespace: 'other', name: 'webhook' } } },
        { name: 'd.example', clientConfig: { url: 'https://example.com' } },
        ours('e.example'),
        ours('f\u001b', { caBundle: 7 }),
        { clientConfig: {} },
        'x',
      ),
    );
    expect(target).toMatchObject({
      id: 'MutatingWebhookConfiguration/ours',
      state: 'present',
      bundles: ['old', '', ''],
      skipped: [
        'webhooks[1] (b.example) calls the service ns/other, not ns/webhook',
        'webhooks[2] (c.example) calls the service other/webhook, not ns/webhook',
        'webhooks[3] (d.example) calls no service, not ns/webhook',
        'webhooks[6] () calls no service, not ns/webhook',
        'webhooks[7] () calls no service, not ns/webhook',
      ],
    });
    expect(target.skipped).toHaveLength(5);
  });

  test('that an annotation names has every entry, whatever it refers to', async () => {
    const annotations = { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': 'a/b' };
    const config = { metadata: { ...metadata, annotations }, spec: { clientConfig: { url: 'https://h' } } };
    const { cluster } = clusterOf(() => ({ metadata: { resourceVersion: '9' }, items: [config, { metadata }] }));
    expect(await annotatedExtensionConfigs(cluster).read()).toMatchObject([
      { bundles: [''], skipped: [], source: 'a/b' },
    ]);
  });

  test.each<[TargetKind, JsonObject]>([
    ['ValidatingWebhookConfiguration', mutating(ours('a'))],
    ['CustomResourceDefinition', { metadata, spec: { conversion: { webhook: { clientConfig: { service } } } } }],
    ['ExtensionConfig', { metadata, spec: { clientConfig: { service } } }],
  ])('%s has its bundle in the right place', async (kind, object) => {
    expect(await read(object, kind)).toMatchObject({ id: `${kind}/ours`, bundles: [''], skipped: [] });
  });

  test.each<[string, JsonObject, TargetKind?]>([
    ['no webhooks', mutating()],
    ['webhooks null', { metadata, webhooks: null }],
    ['webhooks absent', { metadata }],
    ['no conversion webhook', { metadata, spec: { conversion: { strategy: 'None' } } }, 'CustomResourceDefinition'],
    [
      'a clientConfig that is not an object',
      { metadata, spec: { conversion: { webhook: { clientConfig: 'x' } } } },
      'CustomResourceDefinition',
    ],
  ])('%s: there is nothing to inject', async (_name, object, kind) => {
    expect(await read(object, kind)).toMatchObject({ bundles: [], skipped: ['it has no webhook'] });
  });

  test('rejects an object that was not requested', async () => {
    await expect(read({ metadata, webhooks: {} })).rejects.toThrow(
      'the API server returned a webhook configuration whose webhooks are not a list',
    );
    await expect(read({ metadata: { ...metadata, name: 'other' } })).rejects.toThrow(
      'is not the MutatingWebhookConfiguration ours: metadata.name is not ours',
    );
    await expect(read({ metadata: { name: 'ours' } })).rejects.toThrow('it has no resourceVersion');
  });

  test('reads a bundle of half a MiB and more as empty', async () => {
    const bundleOf = async (length: number) =>
      (await read(mutating(ours('a', { caBundle: 'YWFh'.repeat(length / 4) })))).bundles[0]?.length;
    expect([await bundleOf(512 * 1024 - 4), await bundleOf(512 * 1024)]).toEqual([(512 * 1024 - 4) * 0.75, 0]);
  });

  test('a target is in sync when it exists and every entry has the bundle', async () => {
    const target = await read(mutating(ours('a', { caBundle: base64('new') }), ours('b', { caBundle: base64('new') })));
    expect([isInSync(target, 'new'), isInSync(target, 'old')]).toEqual([true, false]);
    expect(isInSync(await read(mutating(ours('a', { caBundle: base64('new') }), ours('b'))), 'new')).toBe(false);
    expect(isInSync({ ...target, state: 'missing' }, 'new')).toBe(false);
  });

  test('ignores the order of certificates in a bundle, and nothing else', async () => {
    const pem = (text: string) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;
    const isIn = async (held: string) =>
      isInSync(await read(mutating(ours('a', { caBundle: base64(held) }))), pem('one') + pem('two'));
    expect(await isIn(pem('two') + pem('one'))).toBe(true);
    for (const held of [pem('one'), pem('one') + pem('one'), pem('two') + pem('eno'), `${pem('two')}${pem('one')}#`]) {
      expect(await isIn(held)).toBe(false);
    }
  });
});

const status = (code: number): never => {
  throw new StatusError(code, 'no');
};

describe('an injection', async () => {
  const target = await read(mutating(ours('a')));
  const inject = (code: number, now?: JsonObject) => {
    const { cluster, requests } = clusterOf((method) => (method === 'PATCH' ? status(code) : (now ?? status(404))));
    return { requests, done: accessTo(cluster).inject(target, 'new') };
  };

  test('patches the object as it was read, and writes only what differs', async () => {
    const several = await read(
      mutating(
        ours('a', { caBundle: base64('old') }),
        { name: 'b' },
        ours('c'),
        ours('d', { caBundle: base64('new') }),
      ),
    );
    const { cluster, requests, bodies } = clusterOf(() => ({}));
    await accessTo(cluster).inject(several, 'new');
    expect(requests).toEqual([`PATCH ${webhooks}`]);
    expect(bodies).toEqual([
      [
        { op: 'test', path: '/metadata/resourceVersion', value: '7' },
        { op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: base64('new') },
        { op: 'add', path: '/webhooks/2/clientConfig/caBundle', value: base64('new') },
      ],
    ]);
  });

  test.each([404, 409])('treats %i as a conflict with another client', async (code) => {
    const { done, requests } = inject(code);
    await expect(done).rejects.toThrow(Conflict);
    await expect(done).rejects.toThrow('MutatingWebhookConfiguration/ours was changed by another client');
    expect(requests).toEqual([`PATCH ${webhooks}`]);
  });

  test('treats 422 as a conflict if the object has changed, and otherwise as a rejection', async () => {
    const changed = inject(422, { metadata: { ...metadata, resourceVersion: '8' } });
    await expect(changed.done).rejects.toThrow(Conflict);
    await expect(changed.done).rejects.toThrow('was changed by another client');
    expect(changed.requests).toEqual([`PATCH ${webhooks}`, `GET ${webhooks}`]);
    expect(await inject(422, { metadata }).done).toBe('no');
  });

  test.each([
    [400, 'no'],
    [
      403,
      'forbidden: the permission to patch mutatingwebhookconfigurations.admissionregistration.k8s.io ours is missing (no)',
    ],
  ])('treats %i as a failure of this target, with an explanation', async (code, message) => {
    const { done, requests } = inject(code);
    expect(await done).toBe(message);
    expect(requests).toHaveLength(1);
  });

  test('does not treat an unusable response as a failure of this target', async () => {
    const { cluster } = clusterOf(() => {
      throw new ResponseError('too long');
    });
    await expect(accessTo(cluster).inject(target, 'new')).rejects.toThrow(ResponseError);
  });
});

describe('reading targets', () => {
  const targets = (cluster: KubernetesClient, named: { kind: TargetKind; name: string }[], selector?: string) =>
    clusterTargets(cluster, { named, selector, service }).read();

  test('a named target that does not exist is missing, one that cannot be read has failed', async () => {
    const { cluster, requests } = clusterOf((_method, path) => status(path.endsWith('/gone') ? 404 : 403));
    expect(
      await targets(cluster, [
        { kind: 'ExtensionConfig', name: 'gone' },
        { kind: 'ExtensionConfig', name: 'v1 x' },
      ]),
    ).toEqual([
      {
        id: 'ExtensionConfig/gone',
        state: 'missing',
        problem: 'does not exist: create it, or name other targets',
        bundles: [],
        skipped: [],
      },
      {
        id: 'ExtensionConfig/v1 x',
        state: 'failed',
        problem: 'forbidden: the permission to get extensionconfigs.runtime.cluster.x-k8s.io v1 x is missing (no)',
        bundles: [],
        skipped: [],
      },
    ]);
    expect(requests).toEqual([
      'GET /apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs/gone',
      'GET /apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs/v1%20x',
    ]);
  });

  test('stops at an unusable response', async () => {
    const { cluster } = clusterOf(() => ({ metadata: { name: 'other' } }));
    await expect(targets(cluster, [{ kind: 'ExtensionConfig', name: 'x' }])).rejects.toThrow(ResponseError);
  });

  test('lists all kinds with a selector, and reads a target that is also named only once', async () => {
    const item = (name: string) => ({ metadata: { name, resourceVersion: '1' }, spec: { clientConfig: { service } } });
    const { cluster, requests } = clusterOf((_method, path) =>
      path.includes('?')
        ? {
            metadata: { resourceVersion: '9' },
            items: path.includes('/extensionconfigs?') ? [item('a'), item('b')] : [],
          }
        : { ...item('a'), spec: {} },
    );
    const found = await targets(cluster, [{ kind: 'ExtensionConfig', name: 'a' }], 'app=ours');
    expect(found.map(({ id, bundles }) => [id, bundles.length])).toEqual([
      ['ExtensionConfig/a', 0],
      ['ExtensionConfig/b', 1],
    ]);
    expect(requests).toEqual([
      'GET /apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs/a',
      'GET /apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations?labelSelector=app%3Dours&limit=100',
      'GET /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?labelSelector=app%3Dours&limit=100',
      'GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions?labelSelector=app%3Dours&limit=100',
      'GET /apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs?labelSelector=app%3Dours&limit=100',
    ]);
  });

  test('finds none without names and selector', async () => {
    const { cluster, requests } = clusterOf(() => status(500));
    expect(await targets(cluster, [])).toEqual([]);
    expect(requests).toEqual([]);
    expect(await noTargets.read()).toEqual([]);
  });

  test('a kind that the cluster does not serve has no objects; one that cannot be listed is a failed target', async () => {
    const { cluster, requests } = clusterOf(() => status(404));
    expect(await targets(cluster, [], 'a=b')).toEqual([]);
    expect(requests).toHaveLength(4);
    const failing = clusterOf((_method, path) => status({ m: 403, e: 500 }[path.split('/')[4]?.[0] ?? ''] ?? 404));
    expect(await targets(failing.cluster, [], 'a=b')).toMatchObject([
      {
        id: 'MutatingWebhookConfiguration/*',
        state: 'failed',
        problem:
          'forbidden: the permission to list mutatingwebhookconfigurations.admissionregistration.k8s.io (all) is missing (no)',
      },
      { id: 'ExtensionConfig/*', state: 'failed', problem: 'no' },
    ]);
  });

  test('a list that ends with a 404 halfway has failed, one that contains impossible names is an error', async () => {
    const page = (name: string, more: JsonObject = {}) => ({
      metadata: more,
      items: [{ metadata: { name, resourceVersion: '1' } }],
    });
    const half = clusterOf((_method, path) =>
      path.includes('continue=t') ? status(404) : page('a', { continue: 't' }),
    );
    expect((await targets(half.cluster, [], 'a=b')).map(({ id, state }) => [id, state]).slice(0, 2)).toEqual([
      ['MutatingWebhookConfiguration/a', 'present'],
      ['MutatingWebhookConfiguration/*', 'failed'],
    ]);
    const strange = clusterOf(() => page('a/../b'));
    await expect(targets(strange.cluster, [], 'a=b')).rejects.toThrow(
      'the API server listed an object that is not one of mutatingwebhookconfigurations.admissionregistration.k8s.io',
    );
    const broken = clusterOf(() => {
      throw Object.assign(new TypeError('a bug'), { code: 404 });
    });
    await expect(targets(broken.cluster, [], 'a=b')).rejects.toThrow(TypeError);
  });
});
