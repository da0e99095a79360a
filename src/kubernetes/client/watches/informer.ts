import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { isJsonObject, type JsonObject } from '../../objects/json/json.ts';
import { explain, Forbidden } from '../requests/forbidden.ts';
import { askedWait, connect, isStatus, type KubernetesClient } from '../requests/kubernetes-client.ts';
import { listPages } from '../requests/list.ts';
import { CollectionCopy, type InformerChange, objectKey, versionOf } from './collection-copy.ts';
import { type AfterWatch, type WatchLife, type WatchPace, WatchRetries, waitAfter } from './retries.ts';

/** A connection that died silently is noticed within 35 s. */
const defaultPace: WatchPace = {
  watchMs: 30_000,
  graceMs: 5_000,
  minRetryMs: 1_000,
  maxRetryMs: 30_000,
  readDeadlineMs: 20_000,
  pollMs: 1_000,
  maxPollMs: 5_000,
};

interface NamedObject {
  name: string;
  /** The object in problems: `Secret NAMESPACE/NAME`. */
  subject: string;
  /** Its name with its namespace, for messages about permissions. */
  key: string;
  /** What to do about missing permissions. */
  remedy: string;
}

export interface InformerOptions {
  /** Path of the collection, without a query: `/apis/GROUP/VERSION/PLURAL`, or that of one namespace. */
  path: string;
  /** Its name in permissions: `extensionconfigs.runtime.cluster.x-k8s.io`. */
  resource: string;
  /**
   * Only this object of the collection. Needs `get` and `watch` on it, instead of `list` and `watch`; while it cannot be
   * watched it is polled.
   */
  only?: NamedObject | undefined;
  /** Whether a collection that is not served is an empty one: its definition may come later. Default: a problem. */
  mayBeAbsent?: boolean;
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
  readonly confirmedAt: number | undefined;
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

/** Replicas lose a server at the same time, and must not all list at the same time: from one to two times, as client-go. */
const jitter = () => 1 + Math.random();

/** Reads a collection or an object and watches it from there, over and over, until it is stopped. */
class CollectionFollower implements Informer {
  readonly #options: InformerOptions;
  readonly #keep: (object: JsonObject) => JsonObject;
  readonly #maxObjects: number;
  readonly #pace: WatchPace;
  readonly #stop = new AbortController();
  readonly #cluster: KubernetesClient;
  readonly #copy: CollectionCopy;
  readonly #firstList = Promise.withResolvers<void>();
  readonly synced = this.#firstList.promise;
  isSynced = false;
  confirmedAt: number | undefined;
  problem: string | undefined;
  /** The watch that is running, or the last one. */
  #life: { isOpen: boolean; began: number; from?: string; events: number } = { isOpen: false, began: 0, events: 0 };
  /** The version to watch from; undefined if the collection has to be listed first, and for a single object. */
  #version: string | undefined;
  /** Number of changes that watches have reported, so that a slow read does not overwrite a newer one. */
  #changes = 0;

  constructor(config: KubeConfig, options: InformerOptions) {
    const { resource, maxLength = Number.POSITIVE_INFINITY } = options;
    this.#options = options;
    this.#keep = options.keep ?? withoutManagedFields;
    this.#maxObjects = options.maxObjects ?? 10_000;
    this.#pace = { ...defaultPace, ...options.pace };
    // It does not retry by itself: failures are reported, and the time of the next attempt depends on them.
    this.#cluster = connect(config, this.#stop.signal, { retries: 0, deadlineMs: this.#pace.readDeadlineMs });
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
    const { signal } = this.#stop;
    const retries = new WatchRetries(this.#pace, jitter);
    while (!signal.aborted) {
      let problem: string | undefined;
      let next: AfterWatch;
      this.#life = { isOpen: false, began: performance.now(), events: 0 };
      try {
        await (this.#options.only === undefined ? this.#followCollection() : this.#followObject(this.#options.only));
        next = retries.afterEnd(this.#lifeOfWatch());
        problem = `${this.#subject}: the API server ends the watch at once`;
      } catch (error) {
        const lastedMs = this.#lifeOfWatch();
        // It is unknown which changes were missed, and a server that lost its storage counts versions from the
        // beginning.
        this.#version = undefined;
        const isTooOld = isStatus(error, 410);
        next = retries.afterError(error, lastedMs, isTooOld);
        problem = this.#isAbsence(error) ? undefined : this.#describe(error, 'watch');
      }
      if (next !== 'again') {
        await (next.isProblem ? this.#waitWith(problem, next.waitMs) : this.#sleep(next.waitMs));
      }
    }
  }

  #isAbsence(error: unknown): boolean {
    return this.#options.mayBeAbsent === true && isStatus(error, 404);
  }

  get #subject(): string {
    return this.#options.only?.subject ?? this.#options.resource;
  }

  #describe(error: unknown, verb: 'get' | 'watch'): string {
    const { only, resource } = this.#options;
    const explained = explain(error, verb, resource, only?.key ?? '(all)') as Error;
    return `${this.#subject}: ${explained.message}${only !== undefined && explained instanceof Forbidden ? only.remedy : ''}`;
  }

  #sleep(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#stop.signal, ref: false }).catch(() => {});
  }

  /** Reports a problem and waits until the next watch. A single object is polled meanwhile. */
  async #waitWith(problem: string | undefined, durationMs: number): Promise<void> {
    const { only } = this.#options;
    const { pollMs, maxPollMs } = this.#pace;
    if (only === undefined) {
      this.#report(problem);
      return this.#sleep(durationMs);
    }
    const until = performance.now() + durationMs;
    let failures = 0;
    while (!this.#stop.signal.aborted) {
      let retryAfterMs = 0;
      try {
        await this.#readObject(only);
        failures = 0;
        this.#report(`${problem}; until it can be watched, it is read every ${pollMs / 1000} s`);
      } catch (error) {
        failures++;
        retryAfterMs = askedWait(error);
        this.#report(`${this.#describe(error, 'get')}; the last version that was read stays in use`);
      }
      const next = Math.max(retryAfterMs, failures === 0 ? pollMs : waitAfter(failures, pollMs, maxPollMs));
      const left = until - performance.now();
      if (left <= next) {
        return this.#sleep(Math.max(0, left));
      }
      await this.#sleep(next);
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
    const list = this.#copy.newList();
    let version = '';
    const pages = listPages(this.#cluster, { path, resource, maxObjects: this.#maxObjects });
    try {
      for await (const { items, resourceVersion } of pages) {
        version = resourceVersion;
        for (const object of items) {
          list.add(this.#keep(object));
        }
      }
    } catch (error) {
      if (this.#isAbsence(error)) {
        this.#takeOver(this.#copy.newList());
      }
      throw error;
    }
    this.#takeOver(list);
    return version;
  }

  #takeOver(list: { replace(): void }): void {
    this.#confirm();
    list.replace();
    // The callback for a change may have stopped the informer.
    this.#stop.signal.throwIfAborted();
    this.isSynced = true;
    this.#firstList.resolve();
  }

  async #followCollection(): Promise<void> {
    this.#version ??= await this.#readAll();
    // What the list took does not count.
    this.#life.began = performance.now();
    this.#life.from = this.#version;
    await this.#watch({ resourceVersion: this.#version }, () => this.#report(undefined));
  }

  /**
   * Without a version, a watch begins with the current state (that of an object may be too old to watch from), but does
   * not report that the object is absent. That takes a read, which begins when no change can be missed any more.
   */
  async #followObject(only: NamedObject): Promise<void> {
    let reading: Promise<void> | undefined;
    await this.#watch({ fieldSelector: `metadata.name=${only.name}` }, () => {
      reading = this.#readObject(only).then(
        () => this.#report(undefined),
        (error) => this.#report(this.#describe(error, 'get')),
      );
    });
    await reading;
  }

  /** Reads the current state. Rejects when that fails; that the object is absent is also a state. */
  async #readObject({ name }: NamedObject): Promise<void> {
    const before = this.#changes;
    const list = this.#copy.newList();
    try {
      list.add(this.#keep(await this.#cluster.request('GET', `${this.#options.path}/${encodeURIComponent(name)}`)));
    } catch (error) {
      if (!isStatus(error, 404)) {
        throw error;
      }
    }
    if (this.#changes === before) {
      this.#takeOver(list);
    }
  }

  async #watch(query: Readonly<Record<string, string>>, onOpen: () => void): Promise<void> {
    const { watchMs, graceMs } = this.#pace;
    await this.#cluster.watch(`${this.#options.path}?${new URLSearchParams(query)}`, {
      watchMs,
      graceMs,
      onOpen: () => {
        this.#life.isOpen = true;
        this.#confirm();
        onOpen();
      },
      onEvent: ({ type, object }) => {
        this.#life.events++;
        this.#changes++;
        this.#confirm();
        this.#moveTo(versionOf(object));
        if (type === 'DELETED') {
          this.#copy.remove(objectKey(object));
        } else {
          this.#copy.put(this.#keep(object));
        }
      },
      onBookmark: (version) => {
        this.#life.events++;
        this.#confirm();
        this.#moveTo(version);
      },
    });
    this.#confirm();
  }

  #moveTo(version: string): void {
    if (this.#options.only === undefined && version !== '') {
      this.#version = version;
    }
  }

  #confirm(): void {
    this.confirmedAt = performance.now();
  }

  #report(problem: string | undefined): void {
    if (problem !== this.problem && !this.#stop.signal.aborted) {
      this.problem = problem;
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
