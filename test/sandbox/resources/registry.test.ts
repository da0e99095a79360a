import { expect, test } from 'vitest';
import { compareVersions } from '../../../src/sandbox/resources/registry.ts';

test('versions are sorted by stage, then by number', () => {
  const sorted = ['v10', 'v2', 'v1', 'v2beta1', 'v1beta2', 'v1alpha1', 'foo'];
  expect(sorted.toReversed().sort(compareVersions)).toEqual(sorted);
});
