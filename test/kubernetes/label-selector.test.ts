import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type LabelSelector,
  labelSelectorContradiction,
  labelSelectorProblems,
  selectsLabels,
} from '../../src/kubernetes/index.ts';
import { runs } from '../tools/runs.ts';

const keys = ['a', 'b'];
const values = ['x', 'y', 'z'];
const requirement = fc.oneof(
  fc.record({
    key: fc.constantFrom(...keys),
    operator: fc.constantFrom('In', 'NotIn'),
    values: fc.array(fc.constantFrom(...values), { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ key: fc.constantFrom(...keys), operator: fc.constantFrom('Exists', 'DoesNotExist') }),
);
const selector: fc.Arbitrary<LabelSelector> = fc.record(
  {
    matchLabels: fc.dictionary(fc.constantFrom(...keys), fc.constantFrom(...values)),
    matchExpressions: fc.array(requirement, { maxLength: 5 }),
  },
  { requiredKeys: [] },
);
/** All labels that can make a difference: each key absent, with a value that is spoken of, or with another. */
const candidates = [undefined, ...values, 'other'].flatMap((a) =>
  [undefined, ...values, 'other'].map(
    (b) => ({ ...(a === undefined ? {} : { a }), ...(b === undefined ? {} : { b }) }) as Record<string, string>,
  ),
);

test('a selector contradicts itself exactly when no labels are selected', () => {
  const seen = { contradicting: 0, selecting: 0 };
  fc.assert(
    fc.property(selector, (one) => {
      const selects = candidates.some((labels) => selectsLabels(one, labels));
      expect(labelSelectorContradiction(one) === undefined).toBe(selects);
      seen[selects ? 'selecting' : 'contradicting'] += 1;
    }),
    { numRuns: runs(1000) },
  );
  expect(Math.min(seen.contradicting, seen.selecting)).toBeGreaterThan(100);
});

test('problems come in order, and no more than are asked for', () => {
  const bad = { matchExpressions: [{ key: '-', operator: 'in' }, ...Array(1000).fill({ key: 'a', operator: 'In' })] };
  expect(labelSelectorProblems(bad, 3)).toEqual([
    { path: ['matchExpressions', 0, 'key'], message: expect.stringMatching(/^key "-": name part must consist/) },
    { path: ['matchExpressions', 0, 'operator'], message: expect.stringMatching(/^operator "in" is not one of/) },
    { path: ['matchExpressions', 1, 'values'], message: 'values must not be empty for operator In' },
  ]);
});
