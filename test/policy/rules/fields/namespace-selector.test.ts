import { expect, test } from 'vitest';
import type { ExtensionConfig } from '../../../../src/extensionconfig/index.ts';
import { namespaceSelectorOf } from '../../../../src/policy/rules/fields/namespace-selector.ts';

const of = (namespaceSelector: object | undefined) =>
  namespaceSelectorOf({ metadata: {}, spec: { namespaceSelector } } as ExtensionConfig);

test.each([
  ['nothing', {}],
  ['labels', { matchLabels: { a: 'b' } }],
  ['requirements', { matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }],
  ['requirements without values', { matchLabels: {}, matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
])('a selector of %s is used unchanged', (_, selector) => {
  expect(of(selector)).toBe(selector);
});

test.each([
  [
    'a key',
    [
      { key: 'a', operator: 'Exists' },
      { operator: 'In', values: ['b'] },
    ],
  ],
  ['an operator', [{ key: 'a', operator: 'Exists' }, { key: 'a' }]],
  ['everything', [{}]],
])('a requirement without %s gets empty parts', (_, matchExpressions) => {
  const complete = matchExpressions.map((given) => ({ key: '', operator: '', ...given }));
  expect(of({ matchExpressions })).toEqual({ matchExpressions: complete });
  expect(of({ matchLabels: { c: 'd' }, matchExpressions })).toEqual({
    matchLabels: { c: 'd' },
    matchExpressions: complete,
  });
});

test('an object without a selector has none', () => {
  expect(of(undefined)).toBeUndefined();
  expect(namespaceSelectorOf({ metadata: {} } as ExtensionConfig)).toBeUndefined();
});
