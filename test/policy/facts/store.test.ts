import { Buffer } from 'node:buffer';
import { describe, expect, test } from 'vitest';
import { issueCa, issueServingCertificate } from '../../../src/base/x509/index.ts';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { kinds } from '../../../src/policy/facts/store.ts';
import { createManifestFacts, type KnownSecret } from '../../../src/policy/index.ts';
import {
  exampleCaBundle,
  exampleClass,
  exampleCluster,
  exampleExpiredCaBundle,
  exampleForeignSecret,
  exampleFutureCaBundle,
  exampleSecret,
  exampleServingCertificate,
} from '../rules/examples.ts';

/** What is known about the server of a clientConfig. */
function serverAddress(clientConfig: JsonObject | undefined): string | undefined {
  const { facts, add } = createManifestFacts();
  add({
    apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
    kind: 'ExtensionConfig',
    metadata: { name: 'x' },
    spec: clientConfig === undefined ? {} : { clientConfig },
  });
  return facts.extensionConfigs?.get('x')?.address;
}

/** What is known about a Secret with these fields. */
function readSecret(fields: JsonObject): KnownSecret {
  const { facts, add } = createManifestFacts();
  add({ ...fields, apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'a', name: 'b' } });
  return facts.secrets?.find('a', 'b') as KnownSecret;
}

test('the memory for Clusters and ClusterClasses hardly depends on their contents', () => {
  const hooks = (length: number) => Array.from({ length }, (_, index) => `h${index}`);
  const pendingOf = (length: number) =>
    kinds.Cluster.read('a/b', exampleCluster({ 'runtime.cluster.x-k8s.io/pending-hooks': hooks(length).join(',') }))
      .pending;
  expect(pendingOf(300)).toEqual([]);
  expect(pendingOf(40)).toEqual(hooks(32));

  const patches = Array.from({ length: 1000 }, () => ({
    external: { generatePatchesExtension: 'a.b', validateTopologyExtension: 'a.b' },
  }));
  expect(kinds.ClusterClass.read('x/y', { ...exampleClass(), spec: { patches } })).toEqual([
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
    expect(facts.extensionConfigs?.get('e')?.name).toBe('e');
    expect(facts.namespaces?.get('ns')).toEqual({ 'kubernetes.io/metadata.name': 'ns' });
    expect(facts.secrets?.find('default', 's')).toMatchObject({ problem: 'has no ca.crt' });
    expect(facts.secrets?.find('other', 's')).toMatchObject({ problem: undefined });
    expect(facts.clusters?.get('default/c')).toMatchObject({ namespace: 'default', clusterClass: 'default/q' });
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
      newestNotBefore: Date.UTC(2100, 0, 1),
      firstNotAfter: Date.UTC(2021, 0, 1),
      isSigner: undefined,
    });
  });

  test('need only one of several CAs to have signed', async () => {
    const now = new Date('2026-01-01T00:00:00Z');
    const ca = issueCa(now, 86_400_000);
    const other = issueCa(now, 86_400_000);
    const serving = issueServingCertificate(ca, ['h.example.com'], now, 3_600_000);
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
