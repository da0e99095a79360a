import { expect, test } from 'vitest';
import {
  decodeSecret,
  encodeData,
  metadataOf,
  ResponseError,
  secretPath,
} from '../../../../src/kubernetes/client/index.ts';

import type { JsonObject } from '../../../../src/kubernetes/index.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const metadata = { name: 'tls', resourceVersion: '1' };
const isNot = "the API server's answer is not the Secret ns/tls";

test('decodes the data of a Secret as text', () => {
  const secret = { metadata, kind: 'Secret', data: { 'tls.crt': base64('pem'), ü: base64('ü') } };
  expect(decodeSecret(secret, 'ns', 'tls')).toEqual({ 'tls.crt': 'pem', ü: 'ü' });
  expect(decodeSecret({ metadata }, 'ns', 'tls')).toEqual({});
  expect(decodeSecret({ metadata, data: null }, 'ns', 'tls')).toEqual({});
});

test('an unchanged value keeps its bytes, even if they are not text', () => {
  const binary = Buffer.from([0xff, 0xfe]).toString('base64');
  const decoded = decodeSecret({ metadata, data: { binary } }, 'ns', 'tls');
  expect(encodeData(decoded, { binary })).toEqual({ binary });
  expect(encodeData({ binary: 'new', other: decoded.binary as string }, { binary })).toEqual({
    binary: base64('new'),
    other: base64('\ufffd\ufffd'),
  });
});

test.each<[string, JsonObject, string]>([
  ['no metadata', {}, `${isNot}: metadata.name is not tls, or it has no resourceVersion`],
  [
    'another name',
    { metadata: { ...metadata, name: 'x' } },
    `${isNot}: metadata.name is not tls, or it has no resourceVersion`,
  ],
  ['no version', { metadata: { name: 'tls' } }, `${isNot}: metadata.name is not tls, or it has no resourceVersion`],
  [
    'an empty version',
    { metadata: { name: 'tls', resourceVersion: '' } },
    `${isNot}: metadata.name is not tls, or it has no resourceVersion`,
  ],
  ['another kind', { metadata, kind: 'ConfigMap' }, `${isNot}: it is of another kind, or its data is not text`],
  ['data that is not an object', { metadata, data: [] }, `${isNot}: it is of another kind, or its data is not text`],
  [
    'a value that is not text',
    { metadata, data: { a: 'eA==', b: 1 } },
    `${isNot}: it is of another kind, or its data is not text`,
  ],
])('an object with %s is not the requested Secret', (_what, object, message) => {
  expect(() => decodeSecret(object, 'ns', 'tls')).toThrow(new ResponseError(message));
});

test('reads the metadata of a requested object', () => {
  const object = { metadata: { ...metadata, labels: { a: 'b' } } };
  expect(metadataOf(object, 'the thing', 'tls')).toEqual({ ...metadata, labels: { a: 'b' } });
  expect(() => metadataOf({}, 'the thing', 'tls')).toThrow(
    "the API server's answer is not the thing: metadata.name is not tls, or it has no resourceVersion",
  );
});

test('the paths of a Secret, and of all Secrets in a namespace', () => {
  expect(secretPath('ns', 'tls')).toBe('/api/v1/namespaces/ns/secrets/tls');
  expect(secretPath('ns')).toBe('/api/v1/namespaces/ns/secrets');
  expect(secretPath('a/b', 'c?d')).toBe('/api/v1/namespaces/a%2Fb/secrets/c%3Fd');
});
