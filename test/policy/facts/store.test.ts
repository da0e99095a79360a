import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ellipticEntropy, issueCa, issueServingCertificate } from '../../../src/base/x509/index.ts';
import { injectCaFromSecretAnnotation } from '../../../src/extensionconfig/index.ts';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { type CollectedKind, collectedKinds, createFactsStore } from '../../../src/policy/facts/store.ts';
import { createManifestFacts, type Facts, type KnownSecret } from '../../../src/policy/index.ts';
import {
  example,
  exampleCaBundle,
  exampleClass,
  exampleCluster,
  exampleExpiredCaBundle,
  exampleForeignSecret,
  exampleFutureCaBundle,
  exampleHandler,
  exampleSecret,
  exampleServingCertificate,
} from '../rules/examples.ts';

const noSecrets = { secrets: { find: () => undefined } };

function allKnown() {
  const store = createFactsStore(noSecrets);
  return { ...store, facts: store.factsAbout(collectedKinds) };
}

/** What is known about the server of a clientConfig. */
function serverAddress(clientConfig: JsonObject | undefined): string | undefined {
  const { facts, add } = createManifestFacts();
  add({
    apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
    kind: 'ExtensionConfig',
    metadata: { name: 'x' },
    spec: clientConfig === undefined ? {} : { clientConfig },
  });
  return facts.extensionConfigs?.find('x')?.address;
}

/** What is known about a Secret with these fields. */
function readSecret(fields: JsonObject): KnownSecret {
  const { facts, add } = createManifestFacts();
  add({ ...fields, apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'a', name: 'b' } });
  return facts.secrets?.find('a', 'b') as KnownSecret;
}

/** The results of all lookups for a few names, as plain data. */
function answers({ facts }: { facts: Facts }): unknown {
  const names = ['a', 'b', 'c'];
  return names.map((name) => ({
    config: facts.extensionConfigs?.find(name),
    address: Array.from(facts.extensionConfigs?.byAddress(`${name}:443`) ?? [], (item) => item.name).sort(),
    hook: Array.from(facts.extensionConfigs?.byHook(`Hook.${name}`) ?? [], (item) => item.name).sort(),
    secret: Array.from(facts.extensionConfigs?.bySecret(`x/${name}`) ?? [], (item) => item.name).sort(),
    extension: Array.from(facts.clusterClasses?.namingExtension(name) ?? [], (item) => item.clusterClass).sort(),
    waiting: Array.from(facts.clusters?.waitingFor(name) ?? [], (item) => item.key).sort(),
    namespaces: [...(facts.clusters?.namespacesOfClass(`clusters/${name}`) ?? [])].sort(),
  }));
}

const name = fc.constantFrom('a', 'b', 'c');
const config = fc.record({ name, host: name, secret: name, hook: name }).map(({ name, host, secret, hook }) => ({
  kind: 'ExtensionConfig' as const,
  object: example({
    name,
    annotations: { [injectCaFromSecretAnnotation]: `x/${secret}` },
    clientConfig: { url: `https://${host}` },
    handlers: [exampleHandler({ requestHook: { apiVersion: `${hook}/v1`, hook: 'Hook' } })],
  }),
}));
const clusterClass = fc.record({ name, handler: name }).map(({ name, handler }) => ({
  kind: 'ClusterClass' as const,
  object: exampleClass(`h.${handler}`, name),
}));
const cluster = fc.record({ name, clusterClass: name, pending: fc.array(name) }).map((made) => {
  const object = exampleCluster({ 'runtime.cluster.x-k8s.io/pending-hooks': made.pending.join(',') }, made.name);
  object.spec = { topology: { classRef: { name: made.clusterClass } } };
  return { kind: 'Cluster' as const, object };
});
const change = fc.record({ put: fc.boolean(), what: fc.oneof(config, clusterClass, cluster) });

test('after any sequence of changes, lookups return what they would if the remaining objects had been added once', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const store = allKnown();
      const left = new Map<string, { kind: CollectedKind; key: string; object: JsonObject }>();
      for (const { put, what } of changes) {
        const { namespace, name } = what.object.metadata as Record<string, string>;
        const key = namespace === undefined ? name! : `${namespace}/${name}`;
        if (put) {
          store.collections[what.kind].put(key, what.object);
          left.set(`${what.kind} ${key}`, { kind: what.kind, key, object: what.object });
        } else {
          store.collections[what.kind].remove(key);
          left.delete(`${what.kind} ${key}`);
        }
      }
      const fresh = allKnown();
      for (const { kind, key, object } of left.values()) {
        fresh.collections[kind].put(key, object);
      }
      expect(answers(store)).toEqual(answers(fresh));
    }),
  );
});

test('the memory for Clusters and ClusterClasses hardly depends on their contents', () => {
  const { collections, facts } = allKnown();
  const put = (name: string, pending: string) =>
    collections.Cluster.put(name, exampleCluster({ 'runtime.cluster.x-k8s.io/pending-hooks': pending }, name));
  put('many', Array.from({ length: 300 }, (_, index) => `h${index}`).join(','));
  expect(facts.clusters?.waitingFor('h200').size).toBe(0);
  put('short', Array.from({ length: 40 }, (_, index) => `h${index}`).join(','));
  expect(facts.clusters?.waitingFor('h31').size).toBe(1);
  expect(facts.clusters?.waitingFor('h32').size).toBe(0);

  const patches = Array.from({ length: 1000 }, () => ({
    external: { generatePatchesExtension: 'a.b', validateTopologyExtension: 'a.b' },
  }));
  collections.ClusterClass.put('x/y', { ...exampleClass(), spec: { patches } });
  expect([...(facts.clusterClasses?.namingExtension('b') ?? [])]).toEqual([
    { clusterClass: 'x/y', field: 'spec.patches[0].external.generatePatchesExtension', handler: 'a.b' },
  ]);
});

describe('manifests', () => {
  test('objects of other groups are ignored, and objects without a namespace belong to default', () => {
    const { facts, add } = createManifestFacts();
    add({ apiVersion: 'serving.knative.dev/v1', kind: 'Service', metadata: { name: 'x' } });
    add({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'y' }, spec: { ports: [{ port: 1 }, null, 'x'] } });
    add({ apiVersion: 'v1', kind: 'Service' });
    expect(facts.services?.find('default', 'x')).toBe('absent');
    expect(facts.services?.find('default', 'y')).toEqual({ ports: [1] });
    expect(facts.services?.find('elsewhere', 'z')).toBeUndefined();
    expect(facts.secrets?.find('a', 'b')).toBeUndefined();
  });

  const object = (apiVersion: Json, kind: string, metadata: Json, more: JsonObject = {}): JsonObject => ({
    apiVersion,
    kind,
    metadata,
    ...more,
  });
  const named = { name: 'x', namespace: 'n' };
  const capi = 'cluster.x-k8s.io/v1beta2';
  test.each<[JsonObject, boolean]>([
    [object('runtime.cluster.x-k8s.io/v1alpha1', 'ExtensionConfig', named), true],
    [object(capi, 'ClusterClass', named), true],
    [object(capi, 'Cluster', named), true],
    [object('v1', 'Namespace', named), true],
    [object('v1', 'Service', named), true],
    [object('v1', 'Secret', named), true],
    [object('v1', 'Secret', { name: 'x' }), true],
    [object('v1', 'Secret', {}), false],
    [object('v1', 'Service', {}), false],
    [object('v1', 'Pod', named), false],
    [object('v1', 'Cluster', named), false],
    [object('example.com/v1', 'Secret', named), false],
    [object(`${capi}/x`, 'Service', named), false],
    [object(7, 'Service', named), true],
    [{}, false],
  ])('%j is used: %j', (given, isTaken) => {
    expect(createManifestFacts().add(given)).toBe(isTaken);
  });

  test('cluster-scoped objects have no namespace, others belong to default', () => {
    const { facts, add } = createManifestFacts();
    add(object('runtime.cluster.x-k8s.io/v1alpha1', 'ExtensionConfig', { name: 'e' }));
    add(object('v1', 'Namespace', { name: 'ns' }));
    add(object('v1', 'Secret', { name: 's', namespace: '' }));
    add(object('v1', 'Secret', { name: 's', namespace: 'other' }, { data: { 'ca.crt': exampleCaBundle } }));
    add(object(capi, 'Cluster', { name: 'c' }, { spec: { topology: { classRef: { name: 'q' } } } }));
    expect(facts.extensionConfigs?.find('e')?.name).toBe('e');
    expect(facts.namespaces?.labelsOf('ns')).toEqual({ 'kubernetes.io/metadata.name': 'ns' });
    expect(facts.secrets?.find('default', 's')).toMatchObject({ problem: 'has no ca.crt' });
    expect(facts.secrets?.find('other', 's')).toMatchObject({ problem: undefined });
    expect([...(facts.clusters?.namespacesOfClass('default/q') ?? [])]).toEqual(['default']);
  });

  test('of two objects with the same name, the last one counts', () => {
    const { facts, add } = createManifestFacts();
    const service = (port: number) => object('v1', 'Service', named, { spec: { ports: [{ port }] } });
    add(service(1));
    add(service(2));
    expect(facts.services?.find('n', 'x')).toEqual({ ports: [2] });
  });

  const junk = [null, 1, 'x', [], {}, [null], { a: null }];
  test('no object makes it throw', () => {
    const { facts, add } = createManifestFacts();
    for (const kind of ['ExtensionConfig', 'ClusterClass', 'Cluster', 'Namespace', 'Service', 'Secret']) {
      for (const value of junk) {
        const group = {
          ExtensionConfig: 'runtime.cluster.x-k8s.io/',
          ClusterClass: 'cluster.x-k8s.io/',
          Cluster: 'cluster.x-k8s.io/',
        };
        const apiVersion = `${group[kind as keyof typeof group] ?? ''}v1`;
        add({ apiVersion, kind, metadata: value });
        for (const field of ['spec', 'status', 'data', 'stringData']) {
          add({ apiVersion, kind, metadata: { name: 'x', labels: value, annotations: value }, [field]: value });
        }
        const patches = [value, { external: value }, { external: { generatePatchesExtension: value } }];
        add({
          apiVersion,
          kind,
          metadata: { name: 'x' },
          spec: {
            patches,
            upgrade: value,
            topology: { classRef: value },
            clientConfig: value,
            namespaceSelector: value,
          },
          status: { handlers: [value, { requestHook: value }] },
        });
      }
    }
    add({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'y' }, spec: { ports: [{ port: 1 }] } });
    expect(facts.services?.find('default', 'y')).toEqual({ ports: [1] });
  });
});

test.each([
  ['https://A.example.com', 'a.example.com:443'],
  ['https://a.example.com.:443/', 'a.example.com:443'],
  ['https://a.example.com//x/../y/', 'a.example.com:443/y'],
  ['https://u:p@a.example.com:8443/x?q=1', 'a.example.com:8443/x'],
  ['https://[::1]:1', '[::1]:1'],
  ['https://svc.ns.svc.cluster.local/', 'svc.ns.svc:443'],
  ['https://a.example.com/x#y', 'a.example.com:443/x'],
  ['https://xsvc.cluster.local', 'xsvc.cluster.local:443'],
  ['https://a.example.com:99999', undefined],
  ['https:opaque', undefined],
  ['http://a.example.com', undefined],
  ['https://', undefined],
  ['https://a b', undefined],
])('the address of %s', (url, address) => {
  expect(serverAddress({ url })).toBe(address);
});

test.each<[JsonObject | undefined, string | undefined]>([
  [{ service: { namespace: 'ns', name: 'svc' } }, 'svc.ns.svc:443'],
  [{ service: { namespace: 'ns', name: 'svc', port: 8443, path: '/' } }, 'svc.ns.svc:8443'],
  [{ service: { namespace: 'ns', name: 'svc', port: '8443', path: 7 } }, 'svc.ns.svc:443'],
  [{ service: { namespace: 'ns', name: 'svc', path: '' }, url: 'https://h' }, 'svc.ns.svc:443'],
  [{ service: { namespace: 'ns' } }, undefined],
  [{ service: { name: 'svc' } }, undefined],
  [{ service: { name: 'svc' }, url: 'https://h' }, 'h:443'],
  [{ service: 'svc' }, undefined],
  [{}, undefined],
  [undefined, undefined],
])('the address of %j is %j', (clientConfig, address) => {
  expect(serverAddress(clientConfig)).toBe(address);
});

test('a Service and its URL have the same address', () => {
  expect(serverAddress({ service: { namespace: 'ns', name: 'svc', path: 'x/' } })).toBe(
    serverAddress({ url: 'https://svc.ns.svc:443/x' }),
  );
});

describe('Secrets', () => {
  const problemOf = (data: JsonObject) => readSecret(exampleSecret(data)).problem;

  test('report what is wrong with ca.crt', () => {
    expect(problemOf({})).toBe('has no ca.crt');
    expect(problemOf({ 'ca.crt': '' })).toBe('has no ca.crt');
    expect(problemOf({ 'ca.crt': Buffer.from('x').toString('base64') })).toBe('has a ca.crt that is not PEM');
    expect(problemOf({ 'ca.crt': 'A'.repeat(200_000) })).toMatch(/is longer than/);
    expect(problemOf({ 'ca.crt': exampleCaBundle })).toBeUndefined();
    const marked = Buffer.concat([Buffer.from('\ufeff'), Buffer.from(exampleCaBundle, 'base64')]).toString('base64');
    expect(problemOf({ 'ca.crt': marked })).toMatch(/^has a ca\.crt that has a certificate that cannot be read/);
  });

  test('report whether ca.crt has signed tls.crt', () => {
    expect(readSecret(exampleSecret()).isSigner).toBeUndefined();
    expect(readSecret(exampleSecret(exampleForeignSecret)).isSigner).toBe(false);
    const own = { 'ca.crt': exampleServingCertificate, 'tls.crt': exampleServingCertificate };
    expect(readSecret(exampleSecret(own)).isSigner).toBe(true);
  });

  test('report the first expiry and the newest notBefore', () => {
    const both = Buffer.from(
      [exampleCaBundle, exampleExpiredCaBundle, exampleFutureCaBundle]
        .map((text) => Buffer.from(text, 'base64').toString())
        .join(''),
    ).toString('base64');
    expect(readSecret(exampleSecret({ 'ca.crt': both }))).toEqual({
      problem: undefined,
      caBundle: both,
      newestNotBefore: Date.UTC(2100, 0, 1),
      firstNotAfter: Date.UTC(2021, 0, 1),
      isSigner: undefined,
    });
  });

  test('need only one of several CAs to have signed', async () => {
    const now = new Date('2026-01-01T00:00:00Z');
    const ca = await issueCa(now, 86_400_000, ellipticEntropy);
    const other = await issueCa(now, 86_400_000, ellipticEntropy);
    const serving = await issueServingCertificate(ca, ['h.example.com'], now, 3_600_000, ellipticEntropy);
    const isSigner = (...by: string[]) =>
      readSecret({ stringData: { 'ca.crt': by.join(''), 'tls.crt': serving.certificate.pem } }).isSigner;
    expect(isSigner(ca.certificate.pem)).toBe(true);
    expect(isSigner(other.certificate.pem)).toBe(false);
    expect(isSigner(other.certificate.pem, ca.certificate.pem)).toBe(true);
    expect(isSigner(other.certificate.pem, serving.certificate.pem)).toBe(true);
  });

  test('are read up to 64 KiB, from data or stringData, and stringData takes precedence', () => {
    const pem = Buffer.from(exampleCaBundle, 'base64').toString();
    const max = 64 * 1024;
    const tooLong = `has a ca.crt that is longer than ${max} bytes`;
    for (const [length, problem] of [
      [max, undefined],
      [max + 1, tooLong],
      [10 * max, tooLong],
    ] as const) {
      const text = pem.padEnd(length, '\n');
      expect(readSecret({ stringData: { 'ca.crt': text } }).problem).toBe(problem);
      expect(problemOf({ 'ca.crt': Buffer.from(text).toString('base64') })).toBe(problem);
    }
    expect(readSecret({ stringData: { 'ca.crt': pem }, data: { 'ca.crt': '' } }).problem).toBeUndefined();
    expect(readSecret({ stringData: { 'ca.crt': 'x' }, data: { 'ca.crt': exampleCaBundle } }).problem).toBe(
      'has a ca.crt that is not PEM',
    );
  });

  test('may have stringData in a manifest', () => {
    const stringData = { 'ca.crt': Buffer.from(exampleCaBundle, 'base64').toString() };
    expect(readSecret({ stringData })).toEqual(readSecret(exampleSecret()));
  });
});
