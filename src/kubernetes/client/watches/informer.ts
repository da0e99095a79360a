import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { isJsonObject, type JsonObject } from '../../objects/json/json.ts';
import { explain } from '../requests/forbidden.ts';
import { type KubernetesClient, StatusError } from '../requests/kubernetes-client.ts';
import { listPages } from '../requests/list.ts';
import { CollectionCopy, type InformerChange, objectKey, versionOf } from './collection-copy.ts';
import { connectToFollow, type WatchPace } from './pace.ts';
import { type AfterWatch, type WatchLife, WatchRetries } from './retries.ts';

/** A connection that died silently is noticed within 35 s. */
const defaultPace: WatchPace = {
  watchMs: 30_000,
  graceMs: 5_000,
  minRetryMs: 1_000,
  maxRetryMs: 30_000,
  readDeadlineMs: 20_000,
};

/** Options and callbacks of an informer. */
export interface InformerOptions {
  /** Path of the collection, without a query: `/apis/GROUP/VERSION/PLURAL`, or that of one namespace. */
  path: string;
  /** Its name in permissions: `extensionconfigs.runtime.cluster.x-k8s.io`. */
  resource: string;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /**
   * Returns the part of an object to keep, which must include `metadata`. Default: all but `metadata.managedFields`.
   */
  keep?(object: JsonObject): JsonObject;
  /** Maximum number of objects. A larger collection is a problem, and the copy remains as it was. Default: 10,000. */
  maxObjects?: number;
  /**
   * Maximum number of characters of JSON in the copy; exceeding it is handled like too many objects. Default: no limit.
   */
  maxLength?: number;
  /** Called for each change, in order, once it is in the copy. Must not throw. */
  onChange?(change: InformerChange): void;
  /**
   * Called with the reason why the copy may be stale and what to do about it; with undefined when it is current again.
   */
  onProblem?(problem: string | undefined): void;
  pace?: Partial<WatchPace>;
}

/** A copy of a collection that is kept up to date by watching. */
export interface Informer {
  /** Resolves when all objects have been listed for the first time; never, if the informer is stopped before. */
  readonly synced: Promise<void>;
  readonly isSynced: boolean;
  /**
   * When the server last confirmed the state, on the clock of `performance.now()`, in ms; undefined before the first
   * time.
   */
  readonly heardAt: number | undefined;
  /** Why the copy may be stale; undefined if it is not. */
  readonly problem: string | undefined;
  get(key: string): JsonObject | undefined;
  list(): JsonObject[];
  stop(): void;
}

function withoutManagedFields(object: JsonObject): JsonObject {
  const { managedFields: _, ...metadata } = isJsonObject(object.metadata) ? object.metadata : {};
  return { ...object, metadata };
}

const describe = (error: unknown, resource: string) => (explain(error, 'watch', resource, '(all)') as Error).message;

/** Informers lose a server at the same time, and must not all reconnect at the same time. */
const jitter = () => 0.75 + Math.random() / 2;

/** Lists a collection and watches it from there, over and over, until it is stopped. */
class CollectionFollower implements Informer {
  readonly #options: InformerOptions;
  readonly #keep: (object: JsonObject) => JsonObject;
  readonly #maxObjects: number;
  readonly #pace: WatchPace;
  readonly #query: Readonly<Record<string, string>>;
  readonly #stop = new AbortController();
  readonly #cluster: KubernetesClient;
  readonly #copy: CollectionCopy;
  readonly #firstList = Promise.withResolvers<void>();
  #isSynced = false;
  #heardAt: number | undefined;
  #problem: string | undefined;
  /** The watch that is running, or the last one. */
  #life: { isOpen: boolean; began: number; from?: string; events: number } = { isOpen: false, began: 0, events: 0 };
  /** The version to watch from; undefined if the collection has to be listed first. */
  #version: string | undefined;

  constructor(config: KubeConfig, options: InformerOptions) {
    const { resource, labelSelector, fieldSelector, maxLength = Number.POSITIVE_INFINITY } = options;
    this.#options = options;
    this.#keep = options.keep ?? withoutManagedFields;
    this.#maxObjects = options.maxObjects ?? 10_000;
    this.#pace = { ...defaultPace, ...options.pace };
    this.#query = {
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    };
    this.#cluster = connectToFollow(config, this.#stop.signal, this.#pace);
    this.#copy = new CollectionCopy({
      resource,
      maxObjects: this.#maxObjects,
      maxLength,
      onChange: (change) => {
        if (!this.#stop.signal.aborted) {
          options.onChange?.(change);
        }
      },
    });
  }

  get synced(): Promise<void> {
    return this.#firstList.promise;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  get heardAt(): number | undefined {
    return this.#heardAt;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  get(key: string): JsonObject | undefined {
    return this.#copy.get(key);
  }

  list(): JsonObject[] {
    return this.#copy.list();
  }

  stop(): void {
    this.#stop.abort();
  }

  async run(): Promise<void> {
    const { resource } = this.#options;
    const { signal } = this.#stop;
    const retries = new WatchRetries(this.#pace, jitter);
    while (!signal.aborted) {
      let problem: string;
      let next: AfterWatch;
      this.#life = { isOpen: false, began: performance.now(), events: 0 };
      try {
        this.#version ??= await this.#readAll();
        // What the list took does not count.
        this.#life.began = performance.now();
        this.#life.from = this.#version;
        await this.#watch(this.#version);
        next = retries.afterEnd(this.#lifeOfWatch());
        problem = `${resource}: the API server ends the watch at once`;
      } catch (error) {
        const life = this.#lifeOfWatch();
        // It is unknown which changes were missed, and a server that lost its storage counts versions from the
        // beginning.
        this.#version = undefined;
        const isTooOld = error instanceof StatusError && error.code === 410;
        next = retries.afterError(error, life, isTooOld);
        problem = `${resource}: ${describe(error, resource)}`;
      }
      if (next !== 'again') {
        this.#tell(problem);
        await sleep(next.waitMs, undefined, { signal, ref: false }).catch(() => {});
      }
    }
  }

  #lifeOfWatch(): WatchLife {
    const { isOpen, began, from, events } = this.#life;
    // A server that repeats what is known already, and ends, would do so again at once.
    return { isOpen, lastedMs: performance.now() - began, events: this.#version === from ? 0 : events };
  }

  /** Lists everything; the copy changes only when the list is complete. Returns the version of the list. */
  async #readAll(): Promise<string> {
    const { path, resource } = this.#options;
    const found = this.#copy.newList();
    let version = '';
    const collection = { path, resource, query: this.#query, maxObjects: this.#maxObjects };
    for await (const { items, resourceVersion } of listPages(this.#cluster, collection)) {
      version = resourceVersion;
      for (const object of items) {
        found.add(this.#keep(object));
      }
    }
    this.#heard();
    found.replace();
    // The callback for a change may have stopped the informer.
    this.#stop.signal.throwIfAborted();
    this.#isSynced = true;
    this.#firstList.resolve();
    return version;
  }

  /** Runs one watch, until the server ends it. */
  async #watch(from: string): Promise<void> {
    const { watchMs, graceMs } = this.#pace;
    const parameters = new URLSearchParams({ ...this.#query, resourceVersion: from });
    await this.#cluster.watch(`${this.#options.path}?${parameters}`, {
      watchMs,
      graceMs,
      onOpen: () => {
        this.#life.isOpen = true;
        this.#heard();
        this.#tell(undefined);
      },
      onEvent: ({ type, object }) => {
        this.#life.events++;
        this.#heard();
        this.#version = versionOf(object) || this.#version;
        if (type === 'DELETED') {
          this.#copy.remove(objectKey(object));
        } else {
          this.#copy.put(this.#keep(object));
        }
      },
      onBookmark: (version) => {
        this.#life.events++;
        this.#heard();
        this.#version = version;
      },
    });
    this.#heard();
  }

  #heard(): void {
    this.#heardAt = performance.now();
  }

  #tell(problem: string | undefined): void {
    if (problem !== this.#problem && !this.#stop.signal.aborted) {
      this.#problem = problem;
      this.#options.onProblem?.(problem);
    }
  }
}

/**
 * Copies a collection and keeps it up to date: across lost connections, a server that restarts (even with versions that
 * start over), versions that are too old (410), and watches that die silently. Needs `list` and `watch`.
 *
 * The informer of @kubernetes/client-node is not used: it stops at the first error until it is restarted, reads lists
 * of any length in one response, loses events whose JSON it cannot parse, and swallows exceptions of its callbacks.
 */
export function startInformer(config: KubeConfig, options: InformerOptions): Informer {
  const follower = new CollectionFollower(config, options);
  void follower.run();
  return follower;
}
