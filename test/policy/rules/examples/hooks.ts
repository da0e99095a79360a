import type { Lifecycle } from '../../../../src/runtimehooks/index.ts';

export const removedHook = 'BeforeThing';
export const deprecatedHook = 'AfterThing';
export const futureHook = 'DuringThing';

const group = 'hooks.example.com';
const release = (minor: number) => ({ major: 1, minor });

/** Hooks of an invented provider: Cluster API has not removed or deprecated any hook version yet. */
export const exampleLifecycles: readonly Lifecycle[] = [
  {
    group,
    version: 'v1alpha1',
    name: removedHook,
    introduced: release(2),
    deprecated: { release: release(4), date: '2023-03' },
    removed: release(5),
    replacedBy: { group, version: 'v1beta1', name: removedHook },
  },
  { group, version: 'v1beta1', name: removedHook, introduced: release(4) },
  {
    group,
    version: 'v1beta1',
    name: deprecatedHook,
    introduced: release(4),
    deprecated: { release: release(11), date: '2025-08' },
    replacedBy: { group, version: 'v1', name: deprecatedHook },
  },
  { group, version: 'v1', name: deprecatedHook, introduced: release(11) },
  { group, version: 'v1', name: futureHook, introduced: release(99) },
];
