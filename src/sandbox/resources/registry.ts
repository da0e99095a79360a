import type { Resource } from './resource.ts';

const versionKey = ({ group, version }: Pick<Resource, 'group' | 'version'>) => `${group}/${version}`;

export class Registry {
  readonly #byStorage = new Map<string, readonly Resource[]>();
  /** By group and version, once they are asked for. */
  readonly #byVersion = new Map<string, readonly Resource[]>();
  readonly #listeners = new Map<string, Set<() => void>>();

  /** Adds or replaces the versions of one resource; with an empty list the resource is no longer served. */
  set(storage: string, resources: readonly Resource[]): void {
    for (const resource of [...this.ofStorage(storage), ...resources]) {
      this.#byVersion.delete(versionKey(resource));
    }
    if (resources.length === 0) {
      this.#byStorage.delete(storage);
    } else {
      this.#byStorage.set(storage, resources);
    }
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
    return this.of(group, version).find((resource) => resource.plural === plural);
  }

  /** The resources of one group and version, sorted by name; the same list until they change. */
  of(group: string, version: string): readonly Resource[] {
    const key = versionKey({ group, version });
    const known = this.#byVersion.get(key);
    if (known !== undefined) {
      return known;
    }
    const isFound = (resource: Resource) => versionKey(resource) === key;
    const found = this.#all()
      .filter(isFound)
      .sort((a, b) => (a.plural < b.plural ? -1 : 1));
    if (found.length > 0) {
      this.#byVersion.set(key, found);
    }
    return found;
  }

  versions(): { group: string; version: string }[] {
    return [...Map.groupBy(this.#all(), versionKey).values()].map(([first]) => first as Resource);
  }

  #all(): Resource[] {
    return [...this.#byStorage.values()].flat();
  }

  /** The collections of all resources. Those of cluster-scoped ones have no objects in a namespace. */
  storages(): Iterable<string> {
    return this.#byStorage.keys();
  }

  ofStorage(storage: string): readonly Resource[] {
    return this.#byStorage.get(storage) ?? [];
  }
}
