import { expect, test } from 'vitest';
import { allowDeletionAnnotation } from '../../../src/extensionconfig/index.ts';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { shortDeletion } from '../../../src/policy/admission/short-deletion.ts';
import { requestFor } from './policy.ts';

const shortened = (oldObject: JsonObject | undefined) =>
  shortDeletion(requestFor({ metadata: { name: 'x' } }, { operation: 'DELETE', oldObject })).oldObject;

const none = { apiVersion: null, kind: null, metadata: { name: null }, spec: {}, status: { handlers: [] } };
const handlers = (...requestHooks: Json[]): JsonObject => ({
  status: { handlers: requestHooks.map((requestHook) => ({ name: 'h', requestHook })) },
});
const hooks = (...requestHooks: Json[]) => ({
  ...none,
  status: { handlers: requestHooks.map((requestHook) => ({ requestHook })) },
});
const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ apiVersion: 'g/v1', hook: `H${index}` }));
/** A selector with this many characters of JSON. */
const selector = (length: number) => ({ matchLabels: { a: 'x'.repeat(length - '{"matchLabels":{"a":""}}'.length) } });

test.each<[string, JsonObject | undefined, JsonObject]>([
  ['none, if there is no object', undefined, none],
  ['none of a malformed object', { metadata: 7, spec: [], status: 'x' }, none],
  [
    'its identity, and the fields that decide about its deletion',
    {
      apiVersion: 'g/v1',
      kind: 'K',
      metadata: {
        name: 'n',
        uid: 'u',
        deletionTimestamp: 'd',
        annotations: { [allowDeletionAnnotation]: 'true', other: 'x' },
      },
      spec: { namespaceSelector: { matchLabels: { a: 'b' } }, settings: { a: 'b' } },
    },
    {
      apiVersion: 'g/v1',
      kind: 'K',
      metadata: { name: 'n', deletionTimestamp: 'd', annotations: { [allowDeletionAnnotation]: 'true' } },
      spec: { namespaceSelector: { matchLabels: { a: 'b' } } },
      status: { handlers: [] },
    },
  ],
  ['no other annotations', { metadata: { name: 'n', annotations: { a: 'b' } } }, { ...none, metadata: { name: 'n' } }],
  [
    'each hook once, and no other fields of handlers',
    handlers(
      { apiVersion: 'g/v1', hook: 'A', x: 1 },
      { apiVersion: 'g/v1', hook: 'A' },
      { apiVersion: 'g/v2', hook: 'A' },
    ),
    hooks({ apiVersion: 'g/v1', hook: 'A' }, { apiVersion: 'g/v2', hook: 'A' }),
  ],
  [
    'handlers without a hook',
    handlers(null, {}, { apiVersion: 'g/v1' }, { hook: 'A' }, { apiVersion: 7, hook: 'A' }),
    none,
  ],
  [
    'a hook of 1,023 characters, but none of more',
    handlers({ apiVersion: 'g/v1', hook: 'x'.repeat(1019) }, { apiVersion: 'g/v1', hook: 'x'.repeat(1020) }),
    hooks({ apiVersion: 'g/v1', hook: 'x'.repeat(1019) }),
  ],
  ['the first 512 hooks', handlers(...numbered(600)), hooks(...numbered(512))],
  [
    'a selector of 64 KiB',
    { spec: { namespaceSelector: selector(65_536) } },
    { ...none, spec: { namespaceSelector: selector(65_536) } },
  ],
  ['no selector over 64 KiB', { spec: { namespaceSelector: selector(65_537) } }, none],
  ['a selector that is null', { spec: { namespaceSelector: null } }, { ...none, spec: { namespaceSelector: null } }],
])('these parts of a deleted object are passed on: %s', (_name, oldObject, expected) => {
  expect(shortened(oldObject)).toStrictEqual(expected);
});

test('the request is passed on without its objects', () => {
  const request = requestFor(
    { metadata: { name: 'x' } },
    { operation: 'DELETE', username: 'u', dryRun: true, oldObject: {} },
  );
  expect(shortDeletion(request)).toStrictEqual({ ...request, object: undefined, oldObject: none });
});
