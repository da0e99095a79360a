import { expect, test } from 'vitest';
import { decodeExtensionConfig } from '../../../src/extensionconfig/index.ts';
import { example, exampleCaBundle, exampleExpiredCaBundle, exampleFutureCaBundle } from './examples.ts';
import { linesWith } from './lines.ts';

const year2021 = Date.UTC(2021, 0, 1);
const year2100 = Date.UTC(2100, 0, 1);
const days30 = 30 * 24 * 60 * 60 * 1000;
const rules = ['ca-certificate-not-yet-valid', 'ca-certificate-expiring', 'ca-certificate-expired'];

test.each<[string, string, number, string[]]>([
  ['30 days before it expires', exampleExpiredCaBundle, year2021 - days30, []],
  ['a little later', exampleExpiredCaBundle, year2021 - days30 + 1, ['ca-certificate-expiring']],
  ['when it expires', exampleExpiredCaBundle, year2021, ['ca-certificate-expiring']],
  ['after it has expired', exampleExpiredCaBundle, year2021 + 1, ['ca-certificate-expired']],
  ['before it becomes valid', exampleFutureCaBundle, year2100 - 1, ['ca-certificate-not-yet-valid']],
  ['when it becomes valid', exampleFutureCaBundle, year2100, []],
  ['in between', exampleCaBundle, year2021, []],
])('a certificate %s', (_name, caBundle, at, found) => {
  const object = example({ annotations: {}, clientConfig: { caBundle } });
  expect(rules.flatMap((id) => linesWith(id, object, { now: new Date(at) }).map(() => id))).toEqual(found);
});

const injected = { service: { namespace: 'a', name: 'b' }, caBundle: exampleCaBundle };

test.each<[string, object | undefined, number]>([
  ['new', undefined, 1],
  ['set together with another change', { metadata: {} }, 1],
  ['set where there was no clientConfig', { metadata: { annotations: {} }, spec: {} }, 1],
  ['set where there was no caBundle', { metadata: {}, spec: { clientConfig: {} } }, 1],
  ['unchanged', { metadata: {}, spec: { clientConfig: { caBundle: exampleCaBundle } } }, 0],
  [
    'written by the controller that injects it',
    { metadata: { annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': 'a/b' } } },
    0,
  ],
])('a caBundle beside the annotation, %s', (_name, old, count) => {
  const oldObject = old as Parameters<typeof linesWith>[2]['oldObject'];
  expect(linesWith('ca-bundle-and-annotation', example({ clientConfig: injected }), { oldObject })).toHaveLength(count);
});

test.each<[string, object, number]>([
  ['changes only a label', { labels: { a: 'b' } }, 0],
  ['removes the annotation', { annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': 'a/b' } }, 1],
])('a missing CA is told to a write that %s: %#', (_, metadata, count) => {
  const bare = example({ annotations: {} });
  const old = decodeExtensionConfig({ ...bare, metadata: { name: 'a', ...metadata } }, 'v1beta2').object;
  expect(linesWith('ca-missing', bare, { oldObject: old })).toHaveLength(count);
});
