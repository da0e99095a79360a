import { expect, test } from 'vitest';
import { responseCachingOf } from '../../../../src/runtimehooks/client/calls/response-caching.ts';
import { hooksGroup } from '../../../../src/runtimehooks/index.ts';

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
