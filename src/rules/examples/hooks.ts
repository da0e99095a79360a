import type { Lifecycle } from '../../hooks/index.ts';

/** Name of the invented hook whose first version is gone. */
export const withdrawnHook = 'BeforeThing';
/** Name of the invented hook whose first version is deprecated. */
export const deprecatedHook = 'AfterThing';
/** Name of the invented hook that comes with a later release. */
export const futureHook = 'DuringThing';

const group = 'hooks.example.com';
const release = (minor: number) => ({ major: 1, minor });

/**
 * Hooks of an invented provider for the examples: Cluster API has not withdrawn or deprecated a hook version yet, so
 * its own table has none to show. The tests check the examples with them.
 */
export const exampleLifecycles: readonly Lifecycle[] = [
  {
    group,
    version: 'v1alpha1',
    name: withdrawnHook,
    introduced: release(2),
    deprecated: { release: release(4), date: '2023-03' },
    removed: release(5),
    replacedBy: { group, version: 'v1beta1', name: withdrawnHook },
  },
  { group, version: 'v1beta1', name: withdrawnHook, introduced: release(4) },
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
