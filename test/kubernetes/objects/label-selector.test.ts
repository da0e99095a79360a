import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type LabelSelector,
  labelSelectorContradiction,
  labelSelectorProblems,
  selectorSize,
  selectorsOverlap,
  selectsEverything,
  selectsLabels,
} from '../../../src/kubernetes/index.ts';
import { runs } from '../../support/runs.ts';

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
/**
 * All labels that can make a difference: each key absent, with a value that the selector names, or with another one.
 */
const candidates = [undefined, ...values, 'other'].flatMap((a) =>
  [undefined, ...values, 'other'].map(
    (b) => ({ ...(a === undefined ? {} : { a }), ...(b === undefined ? {} : { b }) }) as Record<string, string>,
  ),
);

test('a selector contradicts itself if and only if no labels match', () => {
  const seen = { contradicting: 0, selecting: 0 };
  const numRuns = runs(1000);
  fc.assert(
    fc.property(selector, (one) => {
      const selects = candidates.some((labels) => selectsLabels(one, labels));
      expect(labelSelectorContradiction(one) === undefined).toBe(selects);
      seen[selects ? 'selecting' : 'contradicting'] += 1;
    }),
    { numRuns },
  );
  if (numRuns >= 1000) {
    expect(Math.min(seen.contradicting, seen.selecting)).toBeGreaterThan(100);
  }
});

test('problems are in order', () => {
  const bad = { matchExpressions: [{ key: '-', operator: 'in' }, ...Array(1000).fill({ key: 'a', operator: 'In' })] };
  expect(labelSelectorProblems(bad, 3)).toEqual([
    { path: ['matchExpressions', 0, 'key'], message: expect.stringMatching(/^key "-": name part must consist/) },
    { path: ['matchExpressions', 0, 'operator'], message: expect.stringMatching(/^operator "in" is not one of/) },
    { path: ['matchExpressions', 1, 'values'], message: 'values must not be empty for operator In' },
  ]);
});

const part =
  "must consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit (e.g. 'MyName')";
const value =
  "must be empty, or consist of letters, digits, '-', '_' and '.', and begin and end with a letter or digit (e.g. 'my_value')";
const only = (operator: string, ...given: string[]): LabelSelector => ({
  matchExpressions: [{ key: 'a', operator, ...(given.length > 0 && { values: given }) }],
});

test.each<[LabelSelector, [path: string, message: string][]]>([
  [{}, []],
  [{ matchLabels: {}, matchExpressions: [] }, []],
  [{ matchLabels: { a: '', 'x.io/b': 'c' } }, []],
  [
    { matchLabels: { '-': '_', '/b': 'c' } },
    [
      ['matchLabels', `key "-": name part ${part}`],
      ['matchLabels.-', `value "_" ${value}`],
      ['matchLabels', 'key "/b": prefix part must not be empty'],
    ],
  ],
  [only('In', 'x', ''), []],
  [only('Exists'), []],
  [only('In'), [['matchExpressions.0.values', 'values must not be empty for operator In']]],
  [only('NotIn'), [['matchExpressions.0.values', 'values must not be empty for operator NotIn']]],
  [only('Exists', 'x'), [['matchExpressions.0.values', 'values must be empty for operator Exists']]],
  [only('DoesNotExist', 'x'), [['matchExpressions.0.values', 'values must be empty for operator DoesNotExist']]],
  [only('', 'x'), [['matchExpressions.0.operator', 'operator "" is not one of In, NotIn, Exists, DoesNotExist']]],
  [
    {
      matchExpressions: [
        { key: 'a', operator: 'NotIn', values: ['x', '-'] },
        { key: '', operator: 'Exists' },
      ],
    },
    [
      ['matchExpressions.0.values.1', `value "-" ${value}`],
      ['matchExpressions.1.key', 'key "": name part must not be empty'],
    ],
  ],
])('the problems of %j', (selector, problems) => {
  const found = labelSelectorProblems(selector, 10).map(({ path, message }) => [path.join('.'), message]);
  expect(found).toEqual(problems);
});

test.each<[string, (count: number) => LabelSelector]>([
  ['labels', (count) => ({ matchLabels: Object.fromEntries(Array.from({ length: count }, (_, i) => [`-${i}`, '-'])) })],
  ['requirements', (count) => ({ matchExpressions: Array(count).fill({ key: '-', operator: 'in', values: ['-'] }) })],
  ['values', (count) => only('In', ...Array(count).fill('-'))],
])('problems of %s are looked for until there are enough', (_, selectorOf) => {
  let reads = 0;
  const counting = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(of, key) {
        const found = Reflect.get(of, key) as unknown;
        reads += /^-?\d+$/.test(String(key)) ? 1 : 0;
        return typeof found === 'object' && found !== null ? counting(found) : found;
      },
    });
  expect(labelSelectorProblems(counting(selectorOf(1000)), 2)).toHaveLength(2);
  expect(reads).toBeLessThan(6);
});

test.each<[LabelSelector, Record<string, string>, boolean]>([
  [{}, {}, true],
  [{ matchLabels: { a: 'x' } }, { a: 'x', b: 'y' }, true],
  [{ matchLabels: { a: 'x' } }, { a: 'y' }, false],
  [{ matchLabels: { a: 'x' } }, {}, false],
  // Properties that every JavaScript object inherits are not labels.
  [{ matchExpressions: [{ key: 'constructor', operator: 'Exists' }] }, {}, false],
  [only('In', 'x', 'y'), { a: 'y' }, true],
  [only('In', 'x'), { a: 'y' }, false],
  [only('In', 'undefined'), {}, false],
  [only('In'), { a: 'x' }, false],
  [only('NotIn', 'x'), { a: 'x' }, false],
  [only('NotIn', 'x'), { a: 'y' }, true],
  [only('NotIn', 'x'), {}, true],
  [only('NotIn'), { a: 'x' }, true],
  [only('Exists'), { a: '' }, true],
  [only('Exists'), {}, false],
  [only('DoesNotExist'), {}, true],
  [only('DoesNotExist'), { a: '' }, false],
  [only('in', 'x'), { a: 'x' }, false],
  [{ matchLabels: { b: 'y' }, ...only('Exists') }, { a: 'x', b: 'z' }, false],
])('whether %j matches %j: %j', (selector, labels, isSelected) => {
  expect(selectsLabels(selector, labels)).toBe(isSelected);
});

const both = (...requirements: [operator: string, ...values: string[]][]): LabelSelector => ({
  matchExpressions: requirements.map(([operator, ...given]) => ({ key: 'a', operator, values: given })),
});
const absent = 'label "a" must both be present and absent';
const noValue = 'no value of label "a" satisfies all requirements on it';

test.each<[LabelSelector, string | undefined]>([
  [both(['Exists'], ['DoesNotExist']), absent],
  [both(['In', 'x'], ['DoesNotExist']), absent],
  [{ matchLabels: { a: 'x' }, ...only('DoesNotExist') }, absent],
  [both(['In', 'x'], ['In', 'y']), noValue],
  [both(['In', 'x', 'y'], ['NotIn', 'x'], ['NotIn', 'y']), noValue],
  [{ matchLabels: { a: 'x' }, ...only('NotIn', 'x') }, noValue],
  [both(['In', 'x', 'y'], ['In', 'y', 'z'], ['NotIn', 'x']), undefined],
  [both(['NotIn', 'x'], ['DoesNotExist']), undefined],
  [both(['NotIn', 'x'], ['Exists']), undefined],
  [{ matchLabels: { a: 'x' }, ...only('Exists') }, undefined],
  [{ matchLabels: { b: 'x' }, ...only('DoesNotExist') }, undefined],
  [only('In', 'x'), undefined],
])('why %j matches nothing: %s', (selector, contradiction) => {
  expect(labelSelectorContradiction(selector)).toBe(contradiction);
});

test('two selectors overlap if and only if some labels match both', () => {
  fc.assert(
    fc.property(selector, selector, (a, b) => {
      const some = candidates.some((labels) => selectsLabels(a, labels) && selectsLabels(b, labels));
      expect(selectorsOverlap(a, b)).toBe(some);
    }),
    { numRuns: runs(150) },
  );
});

test.each<[LabelSelector, LabelSelector, boolean]>([
  [{}, {}, true],
  [{ matchLabels: { a: 'x' } }, { matchLabels: { b: 'y' } }, true],
  [{ matchLabels: { a: 'x' } }, { matchLabels: { a: 'x', b: 'y' } }, true],
  [{ matchLabels: { a: 'x' } }, { matchLabels: { a: 'y' } }, false],
  [{ matchLabels: { toString: 'x' } }, {}, true],
  [{ matchLabels: { a: 'x' } }, only('NotIn', 'x'), false],
  [only('NotIn', 'x'), { matchLabels: { a: 'x' } }, false],
  [only('In', 'x', 'y'), only('In', 'y', 'z'), true],
  [only('In', 'x'), only('In', 'z'), false],
  [only('In', 'x'), {}, true],
])('whether %j and %j overlap: %j', (a, b, overlap) => {
  expect(selectorsOverlap(a, b)).toBe(overlap);
});

test.each<[LabelSelector, size: number]>([
  [{}, 0],
  [{ matchLabels: { a: 'x', b: 'y' } }, 2],
  [only('Exists'), 1],
  [{ matchLabels: { b: 'y' }, ...both(['In', 'x', 'y'], ['NotIn', 'z']) }, 6],
])('the size of %j is %d, and only an empty selector matches everything', (selector, size) => {
  expect(selectorSize(selector)).toBe(size);
  expect(selectsEverything(selector)).toBe(size === 0);
});
