import { expect, test } from 'vitest';
import { hooksGroup } from '../../../src/hooks/index.ts';
import { createCache, responseCachingOf } from '../../../src/runtime/calls/caches.ts';

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

test('of more than 10,000 entries the oldest is evicted', () => {
  const cache = createCache<number>(() => 0);
  for (let index = 0; index < 10_000; index++) {
    cache.set(String(index), index, 1);
  }
  cache.set('0', -1, 1);
  expect([cache.get('0'), cache.get('1')]).toEqual([-1, 1]);
  cache.set('more', 7, 1);
  expect([cache.get('0'), cache.get('1'), cache.get('2'), cache.get('more')]).toEqual([-1, undefined, 2, 7]);
});

const extension = { uid: 'u', resourceVersion: '5' } as never;
const minute = 60_000;

test.each([
  ['DiscoverVariables', {}, 10 * minute, ['h', 'u', '5', []]],
  [
    'DiscoverVariables',
    { settings: { b: '1', a: '2' } },
    10 * minute,
    [
      'h',
      'u',
      '5',
      [
        ['a', '2'],
        ['b', '1'],
      ],
    ],
  ],
  ['GenerateUpgradePlan', { cluster: { metadata: { uid: 'c' } } }, 10 * minute, ['h', 'c', null, null, null]],
  [
    'GenerateUpgradePlan',
    {
      cluster: { metadata: { uid: 'c' } },
      fromControlPlaneKubernetesVersion: '1',
      fromWorkersKubernetesVersion: '2',
      toKubernetesVersion: '3',
    },
    10 * minute,
    ['h', 'c', '1', '2', '3'],
  ],
  ['GenerateUpgradePlan', { cluster: { metadata: {} } }, 10 * minute, undefined],
  ['CanUpdateMachineSet', {}, 24 * 60 * minute, ['h', null, null]],
  ['CanUpdateMachineSet', { current: { a: 1 }, desired: { a: 2 } }, 24 * 60 * minute, ['h', { a: 1 }, { a: 2 }]],
])('a %s response to %j is cached for %d ms as %j', (name, request, lifeMs, key) => {
  const caching = responseCachingOf({ group: hooksGroup, name });
  expect(caching?.lifeMs).toBe(lifeMs);
  expect(caching?.keyOf('h', extension, request)).toEqual(key);
});

test.each([
  { group: hooksGroup, name: 'GeneratePatches' },
  { group: hooksGroup, name: 'constructor' },
  { group: 'hooks.example.com', name: 'DiscoverVariables' },
])('responses of $name.$group are not cached', (hook) => {
  expect(responseCachingOf(hook)).toBeUndefined();
});
