import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { type JsonObject, objectAt, textAt } from '../../objects/json/json.ts';
import { perObject } from '../../objects/per-object.ts';
import {
  askedWait,
  connect,
  explain,
  Forbidden,
  isStatus,
  type KubernetesClient,
  listPages,
} from '../requests/kubernetes-client.ts';
import { ConnectionError, ResponseError } from '../requests/transport.ts';

export interface WatchPace {
  /** How long one watch lasts; API servers accept whole seconds. */
  watchMs: number;
  /** How long after that a silent connection is considered dead. */
  graceMs: number;
  /** The shortest and the longest wait between failed attempts. */
  minRetryMs: number;
  maxRetryMs: number;
  /** How long the response to a page of a list may take. */
  readDeadlineMs: number;
}

/** A connection that died silently is noticed within 35 s. */
const retryPace = { minRetryMs: 1_000, maxRetryMs: 30_000 };
const defaultPace: WatchPace = { watchMs: 30_000, graceMs: 5_000, ...retryPace, readDeadlineMs: 20_000 };

/** A change of one object. For a deletion, `object` is its last known state. */
export interface InformerChange {
  type: 'added' | 'updated' | 'deleted';
  key: string;
  object: JsonObject;
  previous?: JsonObject;
}

export interface InformerOptions {
  /** Path of the collection, without a query: `/apis/GROUP/VERSION/PLURAL`, or that of one namespace. */
  path: string;
  /** Its name in permissions: `extensionconfigs.runtime.cluster.x-k8s.io`. */
  resource: string;
  query?: Readonly<Record<string, string>>;
  /** The only object that this selects (`NAMESPACE/NAME`), on which `list` and `watch` are enough. */
  name?: string;
  remedy?: string;
  /** Whether a collection that is not served is an empty one: its definition may come later. Default: a problem. */
  mayBeAbsent?: boolean;
  /** The part of an object to keep, with its `metadata`. Default: all but `metadata.managedFields`. */
  keep?(object: JsonObject): JsonObject;
  /** Maximum number of objects. A larger collection is a problem, and the copy remains as it was. Default: 10,000. */
  maxObjects?: number;
  /** The same for characters of JSON. Default: no limit. */
  maxLength?: number;
  /** Called once a change is in the copy. Must not throw. */
  onChange?(change: InformerChange): void;
  /** Called with why the copy may be stale, and what to do about it; with undefined when it is current again. */
  onProblem?(problem: string | undefined): void;
  pace?: Partial<WatchPace>;
}

/** The key of an object: `NAMESPACE/NAME`, or just the name. */
export function objectKey(object: JsonObject): string {
  const [namespace, name] = [textAt(object, 'metadata', 'namespace'), textAt(object, 'metadata', 'name')];
  return namespace === '' ? name : `${namespace}/${name}`;
}

function withoutManagedFields(object: JsonObject): JsonObject {
  const { managedFields: _, ...metadata } = objectAt(object, 'metadata');
  return { ...object, metadata };
}

/**
 * A copy of a collection, up to date across lost connections, a server that restarts (even with versions that start over),
 * versions that are too old (410), and watches that die silently. Needs `list` and `watch`. The informer of
 * @kubernetes/client-node stops at the first error, reads lists of any length in one response, and loses events.
 */
export class Informer {
  readonly #options: InformerOptions & Required<Pick<InformerOptions, 'keep' | 'maxObjects' | 'maxLength'>>;
  readonly #pace: WatchPace;
  readonly #stop = new AbortController();
  readonly #cluster: KubernetesClient;
  readonly #copy = new Map<string, JsonObject>();
  readonly #lengthOf: (object: JsonObject) => number;
  #length = 0;
  readonly #firstList = Promise.withResolvers<void>();
  /** Resolves when all objects have been listed for the first time; never, if the informer is stopped before. */
  readonly synced = this.#firstList.promise;
  problem: string | undefined;
  #confirmedAt: number | undefined;
  /** The last watch: whether the server has accepted it, since when, from which version, and how many events came. */
  #watch = { isOpen: false, began: 0, from: '', events: 0 };
  /** The version to watch from; undefined if the collection has to be listed first. */
  #version: string | undefined;

  constructor(config: KubeConfig, options: InformerOptions) {
    const defaults = { keep: withoutManagedFields, maxObjects: 10_000, maxLength: Number.POSITIVE_INFINITY };
    this.#options = { ...defaults, ...options };
    this.#lengthOf = options.maxLength === undefined ? () => 0 : perObject((object) => JSON.stringify(object).length);
    this.#pace = { ...defaultPace, ...options.pace };
    // Failures are reported, and the time of the next attempt depends on them.
    this.#cluster = connect(config, this.#stop.signal, { retries: 0, deadlineMs: this.#pace.readDeadlineMs });
    void this.#run();
  }

  /** How long ago the server last confirmed the copy, in ms; undefined before it is complete. */
  get ageMs(): number | undefined {
    return this.#confirmedAt === undefined ? undefined : performance.now() - this.#confirmedAt;
  }

  get(key: string): JsonObject | undefined {
    return this.#copy.get(key);
  }

  list(): JsonObject[] {
    return [...this.#copy.values()];
  }

  stop(): void {
    this.#stop.abort();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    let failures = 0;
    while (!signal.aborted) {
      this.#watch = { isOpen: false, began: performance.now(), from: '', events: 0 };
      const error = await this.#follow().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      const { minRetryMs, maxRetryMs } = this.#pace;
      const hasLasted = performance.now() - this.#watch.began >= minRetryMs;
      const isLost = error instanceof ConnectionError && this.#watch.isOpen;
      // A server that repeats what is known already, and ends, would do so again at once.
      const isUseful = hasLasted || (this.#watch.events > 0 && this.#version !== this.#watch.from);
      if (isUseful && (error === undefined || isLost)) {
        failures = 0;
        if (error === undefined) {
          continue;
        }
      }
      if (error !== undefined) {
        // Changes were missed, and a server that lost its storage counts versions from the beginning.
        this.#version = undefined;
      }
      // A load balancer may end each connection, and a version may be too old: a problem only if it happens again.
      const isExpected = (isLost && hasLasted) || isStatus(error, 410);
      if (!isExpected || failures > 0) {
        this.#report(this.#problemOf(error));
      }
      // Replicas lose a server at the same time, and must not all list at the same time: as in client-go, up to twice as long.
      const waitMs = Math.min(maxRetryMs, minRetryMs * 2 ** failures) * (1 + Math.random());
      failures++;
      await sleep(Math.max(askedWait(error), waitMs), undefined, { signal, ref: false }).catch(() => {});
    }
  }

  #isAbsence(error: unknown): boolean {
    return this.#options.mayBeAbsent === true && isStatus(error, 404);
  }

  #problemOf(error: unknown): string | undefined {
    if (this.#isAbsence(error)) {
      return undefined;
    }
    const { resource, name, remedy = '' } = this.#options;
    const reason = error ?? new Error('the API server ends the watch at once');
    const explained = explain(reason, 'watch', resource, name ?? '(all)') as Error;
    const subject = name === undefined ? resource : `${resource} ${name}`;
    return `${subject}: ${explained.message}${explained instanceof Forbidden ? remedy : ''}`;
  }

  /** The copy changes only when the list is complete. Returns its version. */
  async #readAll(): Promise<string> {
    const { path, resource, query, name } = this.#options;
    const listed = new Map<string, JsonObject>();
    let length = 0;
    let version = '';
    const pages = listPages(this.#cluster, { path, resource, query, name, maxObjects: this.#options.maxObjects });
    try {
      for await (const { items, resourceVersion } of pages) {
        version = resourceVersion;
        for (const object of items.map(this.#options.keep)) {
          length += this.#lengthOf(object);
          this.#checkLength(length, this.#options.maxLength);
          listed.set(objectKey(object), object);
        }
      }
    } catch (error) {
      if (this.#isAbsence(error)) {
        this.#takeOver(new Map());
      }
      throw error;
    }
    this.#takeOver(listed);
    return version;
  }

  #takeOver(listed: ReadonlyMap<string, JsonObject>): void {
    for (const key of [...this.#copy.keys()]) {
      if (!listed.has(key)) {
        this.#remove(key);
      }
    }
    for (const object of listed.values()) {
      // The list as a whole is within the limit; while it is being applied, the copy may exceed it.
      this.#put(object, Number.POSITIVE_INFINITY);
    }
    // The callback for a change may have stopped the informer.
    this.#stop.signal.throwIfAborted();
    this.#confirm();
    this.#firstList.resolve();
  }

  async #follow(): Promise<void> {
    this.#version ??= await this.#readAll();
    // The time of the list does not count.
    this.#watch.began = performance.now();
    this.#watch.from = this.#version;
    const { watchMs, graceMs } = this.#pace;
    const query = new URLSearchParams({ ...this.#options.query, resourceVersion: this.#version });
    await this.#cluster.watch(`${this.#options.path}?${query}`, {
      watchMs,
      graceMs,
      onOpen: () => {
        this.#watch.isOpen = true;
        this.#confirm();
        this.#report(undefined);
      },
      onEvent: ({ type, object }) => {
        this.#watch.events++;
        this.#confirm();
        this.#version = textAt(object, 'metadata', 'resourceVersion') || this.#version;
        if (type === 'DELETED') {
          this.#remove(objectKey(object));
        } else if (type !== 'BOOKMARK') {
          this.#put(this.#options.keep(object), this.#options.maxLength);
        }
      },
    });
    this.#confirm();
  }

  /** Adds or updates an object, unless its version is known. @throws {ResponseError} when there is no room for it. */
  #put(object: JsonObject, most: number): void {
    const key = objectKey(object);
    const isSame = (field: string) =>
      textAt(this.#copy.get(key), 'metadata', field) === textAt(object, 'metadata', field);
    // An object that was deleted and created again has a different uid.
    if (!isSame('uid')) {
      this.#remove(key);
    }
    const previous = this.#copy.get(key);
    if (previous !== undefined && isSame('resourceVersion')) {
      return;
    }
    const { maxObjects, resource } = this.#options;
    if (previous === undefined && this.#copy.size >= maxObjects) {
      throw new ResponseError(`there are more than ${maxObjects} ${resource}: select by label`);
    }
    const length = this.#length - (previous ? this.#lengthOf(previous) : 0) + this.#lengthOf(object);
    this.#checkLength(length, most);
    this.#length = length;
    this.#copy.set(key, object);
    this.#tell(previous === undefined ? { type: 'added', key, object } : { type: 'updated', key, object, previous });
  }

  #remove(key: string): void {
    const object = this.#copy.get(key);
    if (object !== undefined) {
      this.#copy.delete(key);
      this.#length -= this.#lengthOf(object);
      this.#tell({ type: 'deleted', key, object });
    }
  }

  #checkLength(characters: number, most: number): void {
    if (characters > most) {
      const limit = `${this.#options.maxLength / 1024 / 1024} MiB`;
      throw new ResponseError(`the copy of ${this.#options.resource} takes more than ${limit}`);
    }
  }

  #tell(change: InformerChange): void {
    if (!this.#stop.signal.aborted) {
      this.#options.onChange?.(change);
    }
  }

  #confirm(): void {
    this.#confirmedAt = performance.now();
  }

  #report(problem: string | undefined): void {
    if (problem !== this.problem && !this.#stop.signal.aborted) {
      this.problem = problem;
      this.#options.onProblem?.(problem);
    }
  }
}
