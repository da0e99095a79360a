import { expect, test } from 'vitest';
import { setArguments } from '../../../../src/extension/sdk/topology/index.ts';
import type { Json } from '../../../../src/kubernetes/index.ts';

test.each<[string, Json | undefined, Json]>([
  ['a/v1beta1', undefined, { v: '2', w: '3' }],
  [
    'a/v1beta2',
    undefined,
    [
      { name: 'v', value: '2' },
      { name: 'w', value: '3' },
    ],
  ],
  ['a/v1beta1', { v: '1', a: '0' }, { v: '2', a: '0', w: '3' }],
  [
    'a/v1beta2',
    [
      { name: 'v', value: '1' },
      { name: 'a', value: '0' },
    ],
    [
      { name: 'v', value: '2' },
      { name: 'a', value: '0' },
      { name: 'w', value: '3' },
    ],
  ],
  ['a/v1beta1', null, { v: '2', w: '3' }],
  // Components take the last one.
  [
    'a/v1beta2',
    [{ name: 'a', value: '0' }, { name: 'v', value: '1' }, { name: 'a', value: '1' }, { name: 'v', value: '9' }, 'b'],
    [{ name: 'a', value: '0' }, { name: 'v', value: '2' }, { name: 'a', value: '1' }, 'b', { name: 'w', value: '3' }],
  ],
  // What is there counts for more than the version.
  ['a/v1', { a: '0' }, { a: '0', v: '2', w: '3' }],
])('%s: %j becomes %j', (apiVersion, extraArgs, after) => {
  const template = { apiVersion, spec: { ...(extraArgs !== undefined && { extraArgs }) } as Record<string, Json> };
  setArguments(template, 'spec.extraArgs', { v: '2', w: '3' });
  expect(template.spec.extraArgs).toEqual(after);
});
