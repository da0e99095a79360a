import { isJsonObject, type JsonObject } from '../../objects/json/json.ts';
import { perObject } from '../../objects/per-object.ts';
import { ResponseError } from '../requests/transport.ts';

/** A change of one object. For a deletion, `object` is its last known state. */
export interface InformerChange {
  type: 'added' | 'updated' | 'deleted';
  /** `NAMESPACE/NAME`, or just the name of a cluster-scoped object. */
  key: string;
  object: JsonObject;
  previous?: JsonObject;
}

export interface CollectionCopyOptions {
  /** Resource name in permissions: `extensionconfigs.runtime.cluster.x-k8s.io`. */
  resource: string;
  maxObjects: number;
  /** Maximum number of characters of JSON; if infinite, they are not counted. */
  maxLength: number;
  /** Called for each change, in order, once it is in the copy. Must not throw. */
  onChange(change: InformerChange): void;
}

/** The key of an object: `NAMESPACE/NAME`, or just the name. */
export function objectKey(object: JsonObject): string {
  const { namespace, name } = isJsonObject(object.metadata) ? object.metadata : {};
  return typeof namespace === 'string' && namespace !== '' ? `${namespace}/${String(name)}` : String(name);
}

function textIn(object: JsonObject | undefined, field: 'uid' | 'resourceVersion'): string {
  const value = isJsonObject(object?.metadata) ? object.metadata[field] : undefined;
  return typeof value === 'string' ? value : '';
}

/** The version of an object; empty if it has none. */
export const versionOf = (object: JsonObject): string => textIn(object, 'resourceVersion');

/** A copy of a collection, within its limits. Its contents are replaced by a list, or changed object by object. */
export class CollectionCopy {
  readonly #options: CollectionCopyOptions;
  readonly #objects = new Map<string, JsonObject>();
  /** Characters of JSON of an object: they count with a list, with its next change, and when it is deleted. */
  readonly #lengthOf: (object: JsonObject) => number;
  /** Total characters of JSON of the objects. */
  #length = 0;

  constructor(options: CollectionCopyOptions) {
    this.#options = options;
    this.#lengthOf =
      options.maxLength === Number.POSITIVE_INFINITY ? () => 0 : perObject((object) => JSON.stringify(object).length);
  }

  get(key: string): JsonObject | undefined {
    return this.#objects.get(key);
  }

  list(): JsonObject[] {
    return [...this.#objects.values()];
  }

  /**
   * Adds or updates an object; one with an unchanged uid and version changes nothing.
   *
   * @throws {ResponseError} when it would exceed the limit of objects or characters: then it is not added.
   */
  put(object: JsonObject): void {
    this.#put(object, this.#options.maxLength);
  }

  remove(key: string): void {
    const object = this.#objects.get(key);
    if (object !== undefined) {
      this.#objects.delete(key);
      this.#length -= this.#lengthOf(object);
      this.#options.onChange({ type: 'deleted', key, object });
    }
  }

  /**
   * Begins a list that will replace the contents of the copy.
   *
   * @returns `add` for each object, which throws a {@link ResponseError} for too many characters; and `replace`, until
   *   which the copy does not change.
   */
  newList(): { add(object: JsonObject): void; replace(): void } {
    const listed = new Map<string, JsonObject>();
    let length = 0;
    return {
      add: (object) => {
        length += this.#lengthOf(object);
        this.#checkLength(length, this.#options.maxLength);
        listed.set(objectKey(object), object);
      },
      replace: () => this.#replace(listed),
    };
  }

  #replace(listed: ReadonlyMap<string, JsonObject>): void {
    for (const key of [...this.#objects.keys()]) {
      if (!listed.has(key)) {
        this.remove(key);
      }
    }
    for (const object of listed.values()) {
      // The list as a whole is within the limit; while it is being applied, the copy may exceed it.
      this.#put(object, Number.POSITIVE_INFINITY);
    }
  }

  /** @param most maximum number of characters in the copy afterwards. */
  #put(object: JsonObject, most: number): void {
    const { resource, maxObjects, onChange } = this.#options;
    const key = objectKey(object);
    // An object that was deleted and created again has a different uid.
    if (textIn(this.#objects.get(key), 'uid') !== textIn(object, 'uid')) {
      this.remove(key);
    }
    const previous = this.#objects.get(key);
    if (previous !== undefined && versionOf(previous) === versionOf(object)) {
      return;
    }
    if (previous === undefined && this.#objects.size >= maxObjects) {
      throw new ResponseError(`there are more than ${maxObjects} ${resource}: select by label`);
    }
    const before = previous === undefined ? 0 : this.#lengthOf(previous);
    const length = this.#length - before + this.#lengthOf(object);
    this.#checkLength(length, most);
    this.#length = length;
    this.#objects.set(key, object);
    onChange(previous === undefined ? { type: 'added', key, object } : { type: 'updated', key, object, previous });
  }

  #checkLength(characters: number, most: number): void {
    if (characters > most) {
      const { resource, maxLength } = this.#options;
      throw new ResponseError(`the copy of ${resource} takes more than ${maxLength / 1024 / 1024} MiB`);
    }
  }
}
