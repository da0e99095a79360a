import { expect, test } from 'vitest';
import { decodeExtensionConfig } from '../../../src/extensionconfig/index.ts';
import { example, exampleCaBundle, exampleExpiredCaBundle, exampleFutureCaBundle } from './examples.ts';
import { linesWith } from './lines.ts';

const year2021 = Date.UTC(2021, 0, 1);
const year2100 = Date.UTC(2100, 0, 1);
const days30 = 30 * 24 * 60 * 60 * 1000;
const rules = ['ca-certificate-not-yet-valid', 'ca-certificate-expiring', 'ca-certificate-expired'];
const expired = 'the certificate of CN=Expired CA expired on 2021-01-01T00:00:00.000Z; put its successor here';
const expiring =
  'the certificate of CN=Expired CA expires on 2021-01-01T00:00:00.000Z; add its successor next to it now';
const future =
  'the certificate of CN=Future CA is not valid before 2100-01-01T00:00:00.000Z; check the clocks, or put the current one here';

test.each<[string, string, number, string[]]>([
  ['30 days before it expires', exampleExpiredCaBundle, year2021 - days30, []],
  ['a little later', exampleExpiredCaBundle, year2021 - days30 + 1, [expiring]],
  ['when it expires', exampleExpiredCaBundle, year2021, [expiring]],
  ['after it has expired', exampleExpiredCaBundle, year2021 + 1, [expired]],
  ['before it becomes valid', exampleFutureCaBundle, year2100 - 1, [future]],
  ['when it becomes valid', exampleFutureCaBundle, year2100, []],
  ['in between', exampleCaBundle, year2021, []],
])('a certificate %s', (_name, caBundle, at, messages) => {
  const object = example({ annotations: {}, clientConfig: { caBundle } });
  const lines = rules.flatMap((id) => linesWith(id, object, { now: new Date(at) }));
  expect(lines).toEqual(messages.map((message) => `spec.clientConfig.caBundle Invalid -: ${message}`));
});

const injected = { service: { namespace: 'a', name: 'b' }, caBundle: exampleCaBundle };
const forbidden =
  'spec.clientConfig.caBundle Forbidden -: will be overwritten, because the annotation runtime.cluster.x-k8s.io/inject-ca-from-secret injects the CA from its Secret; remove one of the two';

test.each<[string, object | undefined, string[]]>([
  ['new', undefined, [forbidden]],
  ['set together with another change', { metadata: {} }, [forbidden]],
  ['set where there was no clientConfig', { metadata: { annotations: {} }, spec: {} }, [forbidden]],
  ['set where there was no caBundle', { metadata: {}, spec: { clientConfig: {} } }, [forbidden]],
  ['unchanged', { metadata: {}, spec: { clientConfig: { caBundle: exampleCaBundle } } }, []],
  [
    'written by the controller that injects it',
    { metadata: { annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': 'a/b' } } },
    [],
  ],
])('a caBundle beside the annotation, %s', (_name, old, lines) => {
  const oldObject = old as Parameters<typeof linesWith>[2]['oldObject'];
  expect(linesWith('ca-bundle-and-annotation', example({ clientConfig: injected }), { oldObject })).toEqual(lines);
});

test.each<[string, object, number]>([
  ['changes only a label', { labels: { a: 'b' } }, 0],
  ['removes the annotation', { annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': 'a/b' } }, 1],
])('a missing CA is told to a write that %s: %#', (_, metadata, count) => {
  const bare = example({ annotations: {} });
  const old = decodeExtensionConfig({ ...bare, metadata: { name: 'a', ...metadata } }, 'v1beta2').object;
  expect(linesWith('ca-missing', bare, { oldObject: old })).toHaveLength(count);
});
