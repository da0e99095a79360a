import { expect, test } from 'vitest';
import { createCache } from '../../../src/base/index.ts';

test('an entry exists until it expires', () => {
  let now = 0;
  const cache = createCache<string>(() => now);
  cache.set('a', 'x', 10);
  cache.set('b', 'y', 20);
  now = 9;
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual(['x', 'y', undefined]);
  now = 10;
  expect([cache.get('a'), cache.get('b')]).toEqual([undefined, 'y']);
  cache.set('a', 'z', 1);
  expect(cache.get('a')).toBe('z');
});

test('of more than 10,000 entries the one that was not used for longest is evicted', () => {
  const cache = createCache<number>(() => 0);
  for (let index = 0; index < 10_000; index++) {
    cache.set(String(index), index, 1);
  }
  cache.set('0', -1, 1);
  expect([cache.get('0'), cache.get('1')]).toEqual([-1, 1]);
  cache.set('more', 7, 1);
  expect([cache.get('0'), cache.get('1'), cache.get('2'), cache.get('more')]).toEqual([-1, 1, undefined, 7]);
});
