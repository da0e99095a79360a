import { knownLifecycles } from './known.ts';
import type { Lifecycle } from './lifecycle.ts';

export interface HookCatalog {
  /** The lifecycle of a hook (or kind) in one version, or undefined when the catalog does not have it. */
  find(group: string, version: string, name: string): Lifecycle | undefined;
  /** The known hook whose name differs from `name` only in case, or undefined. */
  findIgnoringCase(group: string, version: string, name: string): Lifecycle | undefined;
}

const hookKey = (group: string, version: string, name: string) => `${group}/${version}/${name}`;

/**
 * A catalog of the hooks and APIs that Cluster API publishes.
 *
 * @param more lifecycles, for examples and tests of what no known hook has; one with the key of a known one replaces it.
 */
export function createHookCatalog(more: readonly Lifecycle[] = []): HookCatalog {
  const byKey = new Map<string, Lifecycle>();
  const byLowerCaseKey = new Map<string, Lifecycle>();
  for (const lifecycle of [...knownLifecycles, ...more]) {
    const key = hookKey(lifecycle.group, lifecycle.version, lifecycle.name);
    byKey.set(key, lifecycle);
    byLowerCaseKey.set(key.toLowerCase(), lifecycle);
  }
  return {
    find: (group, version, name) => byKey.get(hookKey(group, version, name)),
    findIgnoringCase: (group, version, name) => byLowerCaseKey.get(hookKey(group, version, name).toLowerCase()),
  };
}

/** The hooks and APIs that Cluster API publishes. */
export const hookCatalog: HookCatalog = createHookCatalog();
