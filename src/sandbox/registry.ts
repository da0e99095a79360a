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

/** The resources that are served now. Values are replaced, never changed. */
export class Registry {
  readonly #resources = new Map<string, Resource>();
  readonly #revisions = new Map<string, number>();
  #revision = 0;

  /** Adds or replaces the versions of one resource; with an empty list the resource is served no longer. */
  set(storage: string, resources: readonly Resource[]): void {
    for (const [key, resource] of this.#resources) {
      if (resource.storage === storage) {
        this.#resources.delete(key);
        this.#touch(resource);
      }
    }
    for (const resource of resources) {
      this.#resources.set(`${resource.group}/${resource.version}/${resource.plural}`, resource);
      this.#touch(resource);
    }
  }

  #touch({ group, version }: Resource): void {
    this.#revisions.set(`${group}/${version}`, ++this.#revision);
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#resources.get(`${group}/${version}/${plural}`);
  }

  /** The resources of one group and version, in the order of their names. */
  of(group: string, version: string): Resource[] {
    return [...this.#resources.values()]
      .filter((resource) => resource.group === group && resource.version === version)
      .sort((a, b) => (a.plural < b.plural ? -1 : 1));
  }

  /** Any served version of what is stored under a name. */
  ofStorage(storage: string): Resource[] {
    return [...this.#resources.values()].filter((resource) => resource.storage === storage);
  }

  /** The groups that are served, each with its versions, preferred one first. */
  groups(): Map<string, string[]> {
    const groups = new Map<string, Set<string>>();
    for (const { group, version } of this.#resources.values()) {
      groups.set(group, (groups.get(group) ?? new Set()).add(version));
    }
    return new Map([...groups].map(([group, versions]) => [group, [...versions].sort(compareVersions)]));
  }

  /** Counts up whenever something in the group and version changes. */
  revisionOf(group: string, version: string): number {
    return this.#revisions.get(`${group}/${version}`) ?? 0;
  }
}
