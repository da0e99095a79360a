import type { Resource } from './resource.ts';

/** Sorts versions as Kubernetes prefers them: v2, v1, v1beta2, v1beta1, v1alpha1, then others by name. */
export function compareVersions(a: string, b: string): number {
  const rank = (version: string): [number, number, number] => {
    const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
    if (match === null) {
      return [-1, 0, 0];
    }
    const stage = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0;
    return [stage, Number(match[1]), Number(match[3] ?? 0)];
  };
  const [rankA, rankB] = [rank(a), rank(b)];
  for (const index of [0, 1, 2] as const) {
    if (rankA[index] !== rankB[index]) {
      return rankB[index] - rankA[index];
    }
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

export class Registry {
  readonly #byStorage = new Map<string, readonly Resource[]>();
  /** By group and version, then by plural. */
  readonly #byVersion = new Map<string, Map<string, Resource>>();
  readonly #listeners = new Map<string, Set<() => void>>();
  /** A number that increases whenever anything changes. */
  revision = 0;

  /** Adds or replaces the versions of one resource; with an empty list the resource is no longer served. */
  set(storage: string, resources: readonly Resource[]): void {
    for (const { group, version, plural } of this.ofStorage(storage)) {
      const key = `${group}/${version}`;
      const inVersion = this.#byVersion.get(key);
      inVersion?.delete(plural);
      if (inVersion?.size === 0) {
        this.#byVersion.delete(key);
      }
    }
    this.#byStorage.delete(storage);
    if (resources.length > 0) {
      this.#byStorage.set(storage, resources);
    }
    for (const resource of resources) {
      const key = `${resource.group}/${resource.version}`;
      const inVersion = this.#byVersion.get(key) ?? new Map<string, Resource>();
      this.#byVersion.set(key, inVersion.set(resource.plural, resource));
    }
    this.revision++;
    for (const listener of this.#listeners.get(storage) ?? []) {
      listener();
    }
  }

  /** Calls the listener whenever the resource is replaced. @returns a function that ends that. */
  onChange(storage: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(storage) ?? new Set();
    this.#listeners.set(storage, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** The resource of a path, or undefined if this group and version does not serve it. The core group is empty. */
  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#byVersion.get(`${group}/${version}`)?.get(plural);
  }

  serves(group: string, version: string): boolean {
    return this.#byVersion.has(`${group}/${version}`);
  }

  /** The resources of one group and version, sorted by name. */
  of(group: string, version: string): Resource[] {
    const resources = this.#byVersion.get(`${group}/${version}`)?.values() ?? [];
    return [...resources].sort((a, b) => (a.plural < b.plural ? -1 : 1));
  }

  /** The collections of all resources. Those of cluster-scoped ones have no objects in a namespace. */
  storages(): Iterable<string> {
    return this.#byStorage.keys();
  }

  ofStorage(storage: string): readonly Resource[] {
    return this.#byStorage.get(storage) ?? [];
  }

  /** The served groups, each with its versions, the preferred one first. */
  groups(): Map<string, string[]> {
    const groups = new Map<string, string[]>();
    for (const key of this.#byVersion.keys()) {
      const [group = '', version = ''] = key.split('/');
      groups.set(group, [...(groups.get(group) ?? []), version].sort(compareVersions));
    }
    return groups;
  }
}
