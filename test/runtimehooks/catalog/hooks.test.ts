import { describe, expect, test } from 'vitest';
import { knownLifecycles } from '../../../src/runtimehooks/catalog/catalog.ts';
import {
  clusterApiHooks,
  compareReleases,
  createHookCatalog,
  formatRelease,
  hookCatalog,
  type Lifecycle,
  newestKnownRelease,
  parseRelease,
  phaseIn,
  unknownReleaseProblem,
} from '../../../src/runtimehooks/index.ts';

const newest = formatRelease(newestKnownRelease);
const release = (text: string) => parseRelease(text)!;
const life = (version: string, more: Partial<Lifecycle> = {}): Lifecycle => ({
  group: 'hooks.example.com',
  version,
  name: 'Hook',
  introduced: release('1.2'),
  ...more,
});

test.each([
  ['1.11', 'v1.11'],
  ['v1.11', 'v1.11'],
  ['v1.11.3', 'v1.11.3'],
  ['v1.12.0-rc.1', 'v1.12.0'],
  ['1', undefined],
  ['', undefined],
  ['1.x', undefined],
  ['latest', undefined],
])('release %j is %s', (text, expected) => {
  const parsed = parseRelease(text);
  expect(parsed && formatRelease(parsed)).toBe(expected);
});

test('releases are compared as numbers', () => {
  expect(compareReleases(release('1.9'), release('1.10'))).toBeLessThan(0);
  expect(compareReleases(release('2.0'), release('1.99'))).toBeGreaterThan(0);
  expect(compareReleases(release('1.2'), release('1.2.7'))).toBe(0);
  expect(compareReleases(release('1.2.6'), release('1.2.7'))).toBeLessThan(0);
});

test.each([
  ['1.1', 'future'],
  ['1.2', 'supported'],
  ['1.4', 'supported'],
  ['1.5', 'deprecated'],
  ['1.7', 'deprecated'],
  ['1.8', 'removed'],
])('in %s it is %s', (text, phase) => {
  const lifecycle = life('v1beta1', {
    deprecated: { release: release('1.5'), date: '2023-06' },
    removed: release('1.8'),
  });
  expect(phaseIn(lifecycle, release(text))).toBe(phase);
});

test('a lifecycle without an end stays as it is', () => {
  expect(phaseIn(life('v1'), release('9.9'))).toBe('supported');
  const deprecated = { release: release('1.5'), date: '2023-11' };
  expect(phaseIn(life('v1', { deprecated }), release('9.9'))).toBe('deprecated');
});

describe('the catalog', () => {
  const catalog = createHookCatalog([life('v1')]);

  test('contains the published hooks, the API versions, and what is added', () => {
    expect(catalog.find('hooks.runtime.cluster.x-k8s.io', 'v1alpha1', 'GeneratePatches')?.introduced).toEqual(
      release('1.2'),
    );
    expect(catalog.find('runtime.cluster.x-k8s.io', 'v1alpha1', 'ExtensionConfig')?.replacedBy?.version).toBe(
      'v1beta2',
    );
    expect(catalog.find('hooks.example.com', 'v1', 'Hook')).toEqual(life('v1'));
    expect(catalog.find('hooks.example.com', 'v1', 'constructor')).toBeUndefined();
  });

  test('finds names in another case', () => {
    const group = 'hooks.runtime.cluster.x-k8s.io';
    expect(catalog.findIgnoringCase(group, 'v1alpha1', 'generatepatches')?.name).toBe('GeneratePatches');
    expect(catalog.findIgnoringCase(group, 'v1alpha1', 'GENERATEPATCHES')?.name).toBe('GeneratePatches');
    expect(catalog.findIgnoringCase(group, 'v1alpha1', 'Generate')).toBeUndefined();
    expect(catalog.find(group, 'v1alpha1', 'generatepatches')).toBeUndefined();
  });

  test('is consistent, and knows its newest release', () => {
    for (const lifecycle of knownLifecycles) {
      expect(compareReleases(newestKnownRelease, lifecycle.introduced)).toBeGreaterThanOrEqual(0);
    }
  });

  test.each([
    ['1.1', 'older ones have no Runtime Hooks'],
    ['0.4', 'older ones have no Runtime Hooks'],
    [`1.${newestKnownRelease.minor + 1}`, `use ${newest}, or a newer version`],
    ['9.9', `use ${newest}, or a newer version`],
  ])('release %s is not covered', (text, problem) => {
    expect(unknownReleaseProblem(release(text))).toContain(`known are the releases v1.2 to ${newest}: ${problem}`);
  });

  test.each(['1.2', '1.11', newest])('release %s is known', (text) => {
    expect(unknownReleaseProblem(release(text))).toBeUndefined();
  });
});

test('the catalog has the hooks', () => {
  for (const hook of clusterApiHooks) {
    expect(hookCatalog.find(hook.group, hook.version, hook.name)).toBe(hook);
    expect(hook.isBlocking).toBe(hook.blockingSince !== undefined);
  }
});
