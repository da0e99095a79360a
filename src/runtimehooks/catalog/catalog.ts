import { knownLifecycles } from './known.ts';
import type { Lifecycle } from './lifecycle.ts';

export interface HookCatalog {
  /** The lifecycle of a hook (or kind) in one version, or undefined when the catalog does not have it. */
  find(group: string, version: string, name: string): Lifecycle | undefined;
  /** The known hook whose name differs from `name` only in case, or undefined. */
  findIgnoringCase(group: string, version: string, name: string): Lifecycle | undefined;
  readonly lifecycles: readonly Lifecycle[];
}

const hookKey = (group: string, version: string, name: string) => `${group}/${version}/${name}`;

/**
 * A catalog of the hooks and APIs that Cluster API publishes, and of a provider's own.
 *
 * @param own lifecycles of a provider; one with the same key as a known one replaces it.
 */
export function createHookCatalog(own: readonly Lifecycle[] = []): HookCatalog {
  const byKey = new Map<string, Lifecycle>();
  const byLowerCaseKey = new Map<string, Lifecycle>();
  for (const lifecycle of [...knownLifecycles, ...own]) {
    const key = hookKey(lifecycle.group, lifecycle.version, lifecycle.name);
    byKey.set(key, lifecycle);
    byLowerCaseKey.set(key.toLowerCase(), lifecycle);
  }
  return {
    find: (group, version, name) => byKey.get(hookKey(group, version, name)),
    findIgnoringCase: (group, version, name) => byLowerCaseKey.get(hookKey(group, version, name).toLowerCase()),
    lifecycles: [...byKey.values()],
  };
}
