import type { Release } from './release.ts';

/** One version of a Runtime Hook, or of an API: which one, and its life. */
export interface Lifecycle {
  /** API group, e.g. `hooks.runtime.cluster.x-k8s.io`. */
  group: string;
  /** API version, e.g. `v1alpha1`. */
  version: string;
  /** Name of the hook, or the kind of an API. */
  name: string;
  /** First release that has it. */
  introduced: Release;
  deprecated?: { release: Release /** Month of the announcement, as YYYY-MM. */; date: string };
  /** First release without it. */
  removed?: { release: Release };
  replacedBy?: { group: string; version: string; name: string };
  /** Whether an extension server has at most one handler for it. */
  singleton?: boolean;
  /** First release in which its response can ask Cluster API to wait (`retryAfterSeconds`). */
  blockingSince?: Release;
}

/** The known hooks. */
export interface HookCatalog {
  /** The life of a hook in one version, or undefined when the catalog does not have it. */
  find(group: string, version: string, hook: string): Lifecycle | undefined;
  /** Every version of a group's hook, in no particular order. */
  versionsOf(group: string, hook: string): readonly Lifecycle[];
}
