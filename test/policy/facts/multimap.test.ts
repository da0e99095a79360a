import { expect, test } from 'vitest';
import { Multimap } from '../../../src/policy/facts/multimap.ts';

test('a key has its items once each, in the order of insertion', () => {
  const map = new Multimap<string>();
  for (const item of ['b', 'a', 'b']) {
    map.add('k', item);
  }
  map.add('l', 'c');
  expect([...map.get('k')]).toEqual(['b', 'a']);
  expect([...map.get('l')]).toEqual(['c']);
  expect([...map.get('m')]).toEqual([]);
});

test('a key whose items were removed is like one that never had any', () => {
  const map = new Multimap<string>();
  map.add('k', 'a');
  map.add('k', 'b');
  map.delete('k', 'c');
  map.delete('m', 'a');
  map.delete('k', 'a');
  expect([...map.get('k')]).toEqual(['b']);
  map.delete('k', 'b');
  expect(map.get('k')).toBe(map.get('m'));
});
