import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyMergePatch, type Json } from '../../src/kubernetes/index.ts';
import { parseApiPath } from '../../src/sandbox/http/requests.ts';
import { applyJsonPatch } from '../../src/sandbox/patches/patches.ts';
import { isOn } from '../../src/sandbox/reads/reads.ts';
import { formatAge } from '../../src/sandbox/reads/tables.ts';
import { compareVersions } from '../../src/sandbox/resources/registry.ts';
import { parseLabelSelector } from '../../src/sandbox/storage/selectors.ts';
import { duplicateFields } from '../../src/sandbox/writes/duplicate-fields.ts';
import { limitWork } from '../support/work.ts';

test.each([
  [0, '0s'],
  [119, '119s'],
  [200, '3m20s'],
  [3600, '60m'],
  [4 * 3600, '4h'],
  [30 * 3600, '30h'],
  [5 * 86400, '5d'],
  [800 * 86400, '2y70d'],
])('an age of %d seconds is %s', (seconds, text) => {
  expect(formatAge(seconds * 1000)).toBe(text);
});

describe.each([
  ['a=b', true],
  ['a==b', true],
  ['a!=b', false],
  ['missing!=b', true],
  ['a in (x, b),c', true],
  ['a notin (b)', false],
  ['!a', false],
  ['!missing', true],
  ['', true],
])('label selector %j', (text, selected) => {
  test(`${selected}`, () => {
    expect(parseLabelSelector(text)({ metadata: { labels: { a: 'b', c: '' } } })).toBe(selected);
  });
});

test.each(['a=b=c', 'a in b', '(a)', 'a b'])('label selector %j is a bad request', (text) => {
  expect(() => parseLabelSelector(text)).toThrow('unable to parse requirement');
});

test('versions are sorted by stage, then by number', () => {
  const sorted = ['v10', 'v2', 'v1', 'v2beta1', 'v1beta2', 'v1alpha1', 'foo'];
  expect(sorted.toReversed().sort(compareVersions)).toEqual(sorted);
});

test.each([
  ['/api/v1/namespaces', { plural: 'namespaces', namespace: '', name: '' }],
  ['/api/v1/namespaces/a', { plural: 'namespaces', namespace: '', name: 'a' }],
  ['/api/v1/namespaces/a/status', { plural: 'namespaces', name: 'a', subresource: 'status' }],
  ['/api/v1/namespaces/a/secrets/b', { plural: 'secrets', namespace: 'a', name: 'b' }],
  ['/apis/apps/v1/namespaces/a/deployments/b/status', { group: 'apps', plural: 'deployments', subresource: 'status' }],
  ['/apis/rbac/v1/clusterroles/system%3Ax', { name: 'system:x' }],
])('path %s', (path, expected) => {
  expect(parseApiPath(path)).toMatchObject(expected);
});

test.each(['/api/v1', '/metrics', '/apis/a/v1/b/c/d/e', '/api/v1/%zz'])('path %s names no resource', (path) => {
  expect(parseApiPath(path)).toBeUndefined();
});

test('merge patch: the examples of RFC 7396, appendix A', () => {
  expect(applyMergePatch({ a: 'b' }, { a: 'c' })).toEqual({ a: 'c' });
  expect(applyMergePatch({ a: 'b', b: 'c' }, { a: null })).toEqual({ b: 'c' });
  expect(applyMergePatch({ a: { b: 'c' } }, { a: { b: 'd', c: null } })).toEqual({ a: { b: 'd' } });
  expect(applyMergePatch({ a: [{ b: 'c' }] }, { a: [1] })).toEqual({ a: [1] });
  expect(applyMergePatch({}, { a: { bb: { ccc: null } } })).toEqual({ a: { bb: {} } });
});

test.each([
  ['no array', {}, 400],
  ['a path that is not a pointer', [{ op: 'add', path: 'a', value: 1 }], 400],
  ['no from', [{ op: 'move', path: '/a' }], 400],
  ['a failing test', [{ op: 'test', path: '/a', value: 2 }], 422],
  ['a path into a number', [{ op: 'add', path: '/a/b', value: 1 }], 422],
  ['a missing path', [{ op: 'remove', path: '/b' }], 422],
])('JSON patch with %s', (_name, patch, code) => {
  expect(() => applyJsonPatch({ a: 1 }, patch)).toThrow(
    expect.objectContaining({ status: expect.objectContaining({ code }) }),
  );
});

test.each([
  ['{"a":1,"a":1}', ['a']],
  ['{"a":1,"\\u0061":1}', ['a']],
  ['{"spec":{"list":[{},{"foo":"\\"x\\":","foo":{"x":1}}]},"spec" :{}}', ['spec.list[1].foo', 'spec']],
  ['{"a":{"a":1},"b":["a","a"],"c":"\\",\\"a\\":"}', []],
])('the duplicate fields of %s', (text, paths) => {
  expect(duplicateFields(text)).toEqual(paths);
});

test('duplicate fields of a large body are found in linear time, and only some are listed', () => {
  const fields = Array.from({ length: 25_000 }, (_, i) => `"key-${i}":{"a":[1,"${'x'.repeat(10)}"],"a":2}`);
  const text = `{"data":{${fields.join(',')}},"long":"${'x\\n'.repeat(75_000)}"}`;
  // With a YAML parser that keeps positions: over 2 s and 250 MB.
  using _work = limitWork(1_000);
  const found = duplicateFields(text);
  expect(found).toHaveLength(100);
  expect(found[1]).toBe('data.key-1.a');
});

test('the output of JSON.stringify has no duplicate fields', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      // fc.json() may write duplicate keys itself; after parsing and serializing, each occurs once.
      const value = JSON.parse(text) as Json;
      expect(duplicateFields(JSON.stringify(value, undefined, 1))).toEqual([]);
    }),
  );
});

test.each([
  ['', false],
  ['watch', true],
  ['watch=', true],
  ['watch=True', true],
  ['watch=1', true],
  ['watch=yes', true],
  ['watch=0', false],
  ['watch=False', false],
])('the query %j requests a watch: %s', (query, watches) => {
  expect(isOn(new URLSearchParams(query), 'watch')).toBe(watches);
});
