import { expect, test } from 'vitest';
import { Counts } from '../../../src/policy/facts/counts.ts';

test('a value exists until it has been deleted as often as added', () => {
  const counts = new Counts();
  const of = (key: string) => {
    const values = counts.get(key);
    return values && [...values];
  };
  for (const value of ['b', 'a', 'b', 'b']) {
    counts.add('k', value);
  }
  counts.add('l', 'c');
  expect([of('k'), of('l'), of('m')]).toEqual([['b', 'a'], ['c'], undefined]);
  counts.delete('k', 'b');
  counts.delete('k', 'b');
  expect(of('k')).toEqual(['b', 'a']);
  counts.delete('k', 'b');
  expect(of('k')).toEqual(['a']);
  counts.delete('k', 'b');
  counts.delete('m', 'b');
  expect(of('k')).toEqual(['a']);
  counts.delete('k', 'a');
  expect([of('k'), of('l')]).toEqual([undefined, ['c']]);
  counts.add('k', 'a');
  expect(of('k')).toEqual(['a']);
});
