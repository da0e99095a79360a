import { describe, expect, test } from 'vitest';
import { parseLabelSelector } from '../../../src/sandbox/storage/selectors.ts';

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
