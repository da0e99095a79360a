import { expect, test } from 'vitest';
import { LruCache } from '../../../src/base/index.ts';

const keptOf = (recent: LruCache<number>, keys: string) =>
  [...keys].filter((key) => recent.get(key) !== undefined).join('');

test('what was not used for longest is dropped first', () => {
  const recent = new LruCache<number>(3);
  for (const key of 'abc') {
    recent.set(key, 1);
  }
  recent.get('a');
  recent.set('b', 2);
  recent.set('d', 1);
  expect(keptOf(recent, 'abcd')).toBe('abd');
  expect(recent.get('b')).toBe(2);
});

test('what is used again and again is not dropped', () => {
  const recent = new LruCache<number>(2);
  recent.set('a', 1);
  for (const key of 'bcd') {
    expect(recent.get('a')).toBe(1);
    recent.set(key, 1);
    expect([recent.get('a'), recent.get('a')]).toEqual([1, 1]);
  }
  recent.delete('a');
  expect(recent.get('a')).toBeUndefined();
});

test('values count by their weight, and one that is too heavy leaves the others in place', () => {
  const recent = new LruCache<number>(10, (key, value) => key.length + value);
  recent.set('a', 4);
  recent.set('b', 4);
  recent.set('c', 10);
  expect(keptOf(recent, 'abc')).toBe('ab');
  recent.set('b', 3);
  recent.set('d', 0);
  expect(keptOf(recent, 'abd')).toBe('abd');
  recent.set('e', 9);
  expect(keptOf(recent, 'abde')).toBe('e');
});

test('what is deleted has no weight, and a value that became too heavy is gone', () => {
  const recent = new LruCache<number>(2);
  recent.set('a', 1);
  recent.set('b', 2);
  recent.delete('a');
  recent.delete('b');
  recent.delete('b');
  recent.set('c', 1);
  recent.set('d', 1);
  expect(keptOf(recent, 'abcd')).toBe('cd');
  const heavy = new LruCache<number>(2, (_, value) => value);
  heavy.set('a', 1);
  heavy.set('a', 3);
  expect(heavy.get('a')).toBeUndefined();
});
