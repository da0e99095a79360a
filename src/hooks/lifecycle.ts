import type { Release } from './release.ts';

/** What identifies one version of a hook, or of an API. */
export interface LifecycleKey {
  /** API group, e.g. `hooks.runtime.cluster.x-k8s.io`. */
  group: string;
  /** API version, e.g. `v1alpha1`. */
  version: string;
  /** Name of the hook, or the kind of an API. */
  name: string;
}

/** The lifecycle of one version of a Runtime Hook, or of an API. Releases are Cluster API's. */
export interface Lifecycle extends LifecycleKey {
  /** First release that has it. */
  introduced: Release;
  deprecated?: {
    /** Release that announced it. */
    release: Release;
    /** Month of that release, as YYYY-MM. */
    date: string;
  };
  /** First release without it. */
  removed?: Release;
  replacedBy?: LifecycleKey;
  /** Whether an extension server has at most one handler for it. */
  singleton?: boolean;
  /** First release in which its response can ask Cluster API to wait (`retryAfterSeconds`). */
  blockingSince?: Release;
}
