import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { createFactsStore, kinds } from '../../../src/policy/facts/store.ts';
import { type FactKind, type KnownExtensionConfig, referencesTo } from '../../../src/policy/index.ts';

type CollectedKind = Exclude<FactKind, 'Secret'>;

/** A store in which every kind is known, with the given objects. */
function storeOf(kind: CollectedKind, objects: Record<string, JsonObject> = {}) {
  const store = createFactsStore();
  const put = (key: string, object: JsonObject) =>
    (store.collections[kind] as Map<string, unknown>).set(key, kinds[kind].read(key, object));
  for (const [key, object] of Object.entries(objects)) {
    put(key, object);
  }
  return { ...store, put, facts: store.factsAbout(Object.keys(store.collections) as CollectedKind[]) };
}

describe('an ExtensionConfig', () => {
  const config = (spec: JsonObject, more: JsonObject = {}): JsonObject => ({ metadata: { name: 'x' }, spec, ...more });
  const known = (parts: Partial<KnownExtensionConfig>): KnownExtensionConfig => ({
    name: 'x',
    address: undefined,
    namespaceSelector: undefined,
    secret: undefined,
    hooks: [],
    ...parts,
  });
  const serving = (...requestHooks: Json[]) => ({
    status: { handlers: requestHooks.map((requestHook) => ({ name: 'h', requestHook })) },
  });
  const secret = (name: Json) => ({
    metadata: { annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': name } },
  });

  test.each<[string, JsonObject, Partial<KnownExtensionConfig>]>([
    ['nothing', {}, {}],
    ['an address', config({ clientConfig: { url: 'https://h/p/' } }), { address: 'h:443/p' }],
    ['a Secret', config({}, secret('a/b')), { secret: 'a/b' }],
    ['no Secret', config({}, secret('')), {}],
    ['an empty selector', config({ namespaceSelector: {} }), { namespaceSelector: {} }],
    ['no selector', config({ namespaceSelector: [] }), {}],
    [
      'a selector',
      config({
        namespaceSelector: {
          matchLabels: { a: 'b', c: 7 },
          matchExpressions: [{ key: 'k', operator: 'In', values: ['v', 7, null] }, {}, 'x', { operator: 'Exists' }],
        },
      }),
      {
        namespaceSelector: {
          matchLabels: { a: 'b' },
          matchExpressions: [
            { key: 'k', operator: 'In', values: ['v'] },
            { key: '', operator: '', values: [] },
            { key: '', operator: '', values: [] },
            { key: '', operator: 'Exists', values: [] },
          ],
        },
      },
    ],
    [
      'a malformed selector',
      config({ namespaceSelector: { matchLabels: [], matchExpressions: [] } }),
      { namespaceSelector: {} },
    ],
    [
      'hooks, each once, of any version',
      config(
        {},
        serving(
          { apiVersion: 'g/v1', hook: 'A' },
          { apiVersion: 'g/v2', hook: 'A' },
          { apiVersion: 'g/v1', hook: 'B' },
        ),
      ),
      { hooks: ['A.g', 'B.g'] },
    ],
    [
      'no hooks',
      config(
        {},
        serving(
          { apiVersion: 'v1', hook: 'A' },
          { apiVersion: '/v1', hook: 'B' },
          { hook: 'C' },
          { apiVersion: 'g/v1' },
          null,
        ),
      ),
      {},
    ],
  ])('%s', (_name, object, parts) => {
    expect(storeOf('ExtensionConfig', { x: object }).facts.extensionConfigs?.get('x')).toEqual(known(parts));
  });

  test('is known until it is deleted', () => {
    const url = (host: string) => config({ clientConfig: { url: `https://${host}` } });
    const store = storeOf('ExtensionConfig', { x: url('h'), y: url('h') });
    const found = () => Array.from(store.facts.extensionConfigs?.values() ?? [], ({ address }) => address);
    expect(found()).toEqual(['h:443', 'h:443']);
    store.put('x', url('i'));
    expect(found()).toEqual(['i:443', 'h:443']);
    store.collections.ExtensionConfig.delete('y');
    expect(found()).toEqual(['i:443']);
  });
});

describe('a ClusterClass', () => {
  const patches = (...externals: Json[]): JsonObject => ({
    spec: { patches: externals.map((external) => ({ external })) },
  });
  const long = (length: number) => `${'h'.repeat(length - 2)}.e`;
  test.each<[string, JsonObject, Record<string, string>]>([
    ['nothing', {}, {}],
    [
      'the hooks of a patch, as v1beta2 and older versions name them',
      patches(
        { generatePatchesExtension: 'a.e', validateTopologyExtension: 'b.e', discoverVariablesExtension: 'c.e' },
        { generateExtension: 'd.e', validateExtension: 'f.e', other: 'x.e' },
      ),
      {
        'a.e': 'spec.patches[0].external.generatePatchesExtension',
        'b.e': 'spec.patches[0].external.validateTopologyExtension',
        'c.e': 'spec.patches[0].external.discoverVariablesExtension',
        'd.e': 'spec.patches[1].external.generateExtension',
        'f.e': 'spec.patches[1].external.validateExtension',
      },
    ],
    [
      'the hook of upgrades',
      { spec: { upgrade: { external: { generateUpgradePlanExtension: 'a.e' } } } },
      { 'a.e': 'spec.upgrade.external.generateUpgradePlanExtension' },
    ],
    [
      'the first place of each handler',
      patches({ validateExtension: 'a.e' }, { generateExtension: 'a.e' }),
      { 'a.e': 'spec.patches[0].external.validateExtension' },
    ],
    [
      'only names of handlers, up to 512 characters',
      patches(
        { generateExtension: 'a', validateExtension: '' },
        { generateExtension: 7 },
        { generateExtension: long(512) },
        { generateExtension: long(513) },
      ),
      { [long(512)]: 'spec.patches[2].external.generateExtension' },
    ],
    [
      'nothing once it is being deleted',
      { metadata: { deletionTimestamp: 'x' }, ...patches({ generateExtension: 'a.e' }) },
      {},
    ],
  ])('names %s', (_name, object, fields) => {
    const { facts } = storeOf('ClusterClass', { 'n/c': object });
    const references = Object.entries(fields).map(([handler, field]) => ({ clusterClass: 'n/c', field, handler }));
    expect(referencesTo('e', facts)).toEqual(references);
    expect(referencesTo('other', facts)).toEqual([]);
    expect(referencesTo('e', {})).toBeUndefined();
  });

  test('that has been deleted names nothing', () => {
    const store = storeOf('ClusterClass', {
      'n/c': patches({ generateExtension: 'a.b.e' }),
      'n/d': patches({ generateExtension: 'a.b.e' }),
    });
    const classes = () => referencesTo('e', store.facts)?.map(({ clusterClass }) => clusterClass);
    expect(classes()).toEqual(['n/c', 'n/d']);
    store.collections.ClusterClass.delete('n/c');
    expect(classes()).toEqual(['n/d']);
    store.collections.ClusterClass.delete('n/c');
    store.collections.ClusterClass.delete('n/d');
    expect(classes()).toEqual([]);
  });
});

describe('a Cluster', () => {
  const cluster = (topology: Json, metadata: JsonObject = {}): JsonObject => ({
    metadata: { namespace: 'n', name: 'c', ...metadata },
    spec: { topology },
  });
  const pending = (text: Json, more: JsonObject = {}): JsonObject =>
    cluster(null, { annotations: { 'runtime.cluster.x-k8s.io/pending-hooks': text }, ...more });

  test.each<[string, Json, string | undefined]>([
    ['by reference', { classRef: { name: 'q' } }, 'n/q'],
    ['by reference to another namespace', { classRef: { name: 'q', namespace: 'm' } }, 'm/q'],
    ['as v1beta1 names it', { class: 'q' }, 'n/q'],
    ['as v1beta1 names it, of another namespace', { class: 'q', classNamespace: 'm' }, 'm/q'],
    ['by both', { classRef: { name: 'q', namespace: 'm' }, class: 'r', classNamespace: 'o' }, 'm/q'],
    ['none', {}, undefined],
    ['none, but a namespace', { classRef: { namespace: 'm' } }, undefined],
    ['no topology', null, undefined],
  ])('has a class %s', (_name, topology, key) => {
    const { clusters } = storeOf('Cluster', { 'n/c': cluster(topology) }).facts;
    expect(clusters?.get('n/c')).toMatchObject({ key: 'n/c', namespace: 'n', clusterClass: key });
  });

  test.each<[string, JsonObject, string[]]>([
    ['none', cluster({}), []],
    ['none without text', pending(''), []],
    ['none in another form', pending(['A']), []],
    ['one', pending('A'), ['A']],
    ['several', pending('A,B,C'), ['A', 'B', 'C']],
    ['1,024 characters', pending(`A,${'x'.repeat(1022)}`), ['A']],
    ['none of more', pending(`A,${'x'.repeat(1023)}`), []],
    ['none while it is being deleted', pending('A', { deletionTimestamp: 'x' }), []],
  ])('waits for hooks: %s', (_name, object, hooks) => {
    const { clusters } = storeOf('Cluster', { 'n/c': object }).facts;
    expect(clusters?.get('n/c')?.pending.filter((hook) => hook.length === 1)).toEqual(hooks);
  });
});

test('a Namespace has its labels, and the one with its name', () => {
  const store = storeOf('Namespace', {
    a: { metadata: { name: 'a', labels: { team: 'x', other: 7 } } },
    b: { metadata: { name: 'b', labels: { 'kubernetes.io/metadata.name': 'c' } } },
    d: {},
  });
  expect(['a', 'b', 'd', 'e'].map((name) => store.facts.namespaces?.get(name))).toEqual([
    { 'kubernetes.io/metadata.name': 'a', team: 'x' },
    { 'kubernetes.io/metadata.name': 'c' },
    { 'kubernetes.io/metadata.name': 'd' },
    undefined,
  ]);
});

test.each<[Json, number[]]>([
  [{ ports: [{ port: 443 }] }, [443]],
  [
    { ports: [{ port: 443, protocol: 'TCP' }, { port: 53, protocol: 'UDP' }, { port: 80 }, { port: '1' }, 7, null] },
    [443, 80],
  ],
  [{ ports: [{ port: 8443 }] }, [8443]],
  [{ ports: [{ port: 443 }, { port: 443 }] }, [443, 443]],
  [{ ports: 'x' }, []],
  [{ type: 'ExternalName', ports: [{ port: 443 }] }, []],
  [{ type: 'ClusterIP', ports: [{ port: 1 }] }, [1]],
  [null, []],
])('a Service with the spec %j has the ports %j', (spec, ports) => {
  const { services } = storeOf('Service', { 'n/s': { spec } }).facts;
  expect(services?.find('n', 's')).toEqual({ ports });
  expect(services?.find('n', 't')).toBe('absent');
});

test('each kind becomes known separately', () => {
  const parts = ['extensionConfigs', 'clusterClasses', 'clusters', 'namespaces', 'services'] as const;
  const kinds = ['ExtensionConfig', 'ClusterClass', 'Cluster', 'Namespace', 'Service'] as const;
  for (const [index, kind] of kinds.entries()) {
    const store = createFactsStore();
    const facts = store.factsAbout([kind]);
    expect(parts.filter((part) => facts[part] !== undefined)).toEqual([parts[index]]);
  }
});
