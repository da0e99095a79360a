import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { isJsonObject, type JsonObject } from '../kubernetes/index.ts';
import { askedWait, StatusError } from './cluster.ts';
import { explain } from './forbidden.ts';
import { listPages } from './list.ts';
import { ConnectionError, ResponseError } from './transport.ts';
import { connectToFollow, type WatchPace, waitAfter } from './watch-pace.ts';

/** A change of one object. `object` of a deletion is the last one that was seen. */
export interface InformerChange {
  type: 'added' | 'updated' | 'deleted';
  /** `NAMESPACE/NAME`, or the name alone for objects of the whole cluster. */
  key: string;
  object: JsonObject;
  /** The object before an update. */
  previous?: JsonObject;
}

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
  /** What permissions call it: `extensionconfigs.runtime.cluster.x-k8s.io`. */
  resource: string;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /** What is kept of an object; `metadata` has to stay. Default: all but `metadata.managedFields`. */
  keep?(object: JsonObject): JsonObject;
  /**
   * Maximum number of objects. A collection with more is a problem, and the copy stays as it was. Default:
   * 10,000.
   */
  maxObjects?: number;
  /** Maximum number of characters of JSON that are kept; beyond, as with too many objects. Default: not counted. */
  maxLength?: number;
  /** Called for each change, in their order, after the copy has it. It must not throw. */
  onChange?(change: InformerChange): void;
  /** Why the copy may be stale, with what to do about it; undefined when it follows the server again. */
  onProblem?(problem: string | undefined): void;
  pace?: Partial<WatchPace>;
}

/** A copy of a collection that follows the API server. */
export interface Informer {
  /** Resolves when all objects were read for the first time; never, when it is stopped before. */
  readonly synced: Promise<void>;
  readonly isSynced: boolean;
  /**
   * When the server last confirmed the state, on the clock of `performance.now()`, in ms; undefined before the first
   * time.
   */
  readonly heardAt: number | undefined;
  /** Why the copy may be stale; undefined when it is not. */
  readonly problem: string | undefined;
  get(key: string): JsonObject | undefined;
  list(): JsonObject[];
  stop(): void;
}

/** The key of an object: `NAMESPACE/NAME`, or the name alone. */
export function objectKey(object: JsonObject): string {
  const { namespace, name } = isJsonObject(object.metadata) ? object.metadata : {};
  return typeof namespace === 'string' && namespace !== '' ? `${namespace}/${String(name)}` : String(name);
}

function withoutManagedFields(object: JsonObject): JsonObject {
  const { managedFields: _, ...metadata } = isJsonObject(object.metadata) ? object.metadata : {};
  return { ...object, metadata };
}

function textIn(object: JsonObject | undefined, field: 'uid' | 'resourceVersion'): string {
  const value = isJsonObject(object?.metadata) ? object.metadata[field] : undefined;
  return typeof value === 'string' ? value : '';
}

const describe = (error: unknown, resource: string) => (explain(error, 'watch', resource, '(all)') as Error).message;

/**
 * Copies a collection and follows it: across lost connections, a server that is gone and comes back (also one whose
 * versions began anew), versions that are too old (410), and watches that die without a word. Needs `list` and `watch`.
 *
 * The informer of @kubernetes/client-node is not used: it stops at the first error until it is started again, reads
 * lists of any length in one response, loses events whose JSON it cannot read, and swallows exceptions of its
 * callbacks.
 */
export function startInformer(config: KubeConfig, options: InformerOptions): Informer {
  const {
    path,
    resource,
    keep = withoutManagedFields,
    maxObjects = 10_000,
    maxLength = Number.POSITIVE_INFINITY,
  } = options;
  const pace = { ...defaultPace, ...options.pace };
  const { watchMs, graceMs, minRetryMs, maxRetryMs } = pace;
  const stop = new AbortController();
  const cluster = connectToFollow(config, stop.signal, pace);
  const query: Record<string, string> = {
    ...(options.labelSelector === undefined ? {} : { labelSelector: options.labelSelector }),
    ...(options.fieldSelector === undefined ? {} : { fieldSelector: options.fieldSelector }),
  };
  const synced = Promise.withResolvers<void>();
  const objects = new Map<string, JsonObject>();
  /** Characters of JSON of the objects together. */
  let length = 0;
  let isSynced = false;
  let heardAt: number | undefined;
  let problem: string | undefined;
  /** The version to watch from; undefined when the collection has to be listed first. */
  let version: string | undefined;

  const lengths = new WeakMap<JsonObject, number>();
  function lengthOf(object: JsonObject | undefined): number {
    if (object === undefined || maxLength === Number.POSITIVE_INFINITY) {
      return 0;
    }
    const known = lengths.get(object) ?? JSON.stringify(object).length;
    lengths.set(object, known);
    return known;
  }

  function checkLength(characters: number, most: number): void {
    if (characters > most) {
      throw new ResponseError(`what is kept of ${resource} is more than ${maxLength / 1024 / 1024} MiB`);
    }
  }

  function tell(news: string | undefined): void {
    if (news !== problem && !stop.signal.aborted) {
      problem = news;
      options.onProblem?.(news);
    }
  }

  function change(what: InformerChange): void {
    if (!stop.signal.aborted) {
      options.onChange?.(what);
    }
  }

  function remove(key: string): void {
    const object = objects.get(key);
    if (object !== undefined) {
      objects.delete(key);
      length -= lengthOf(object);
      change({ type: 'deleted', key, object });
    }
  }

  /**
   * @param object what `keep` left of it.
   * @param most most characters afterwards; a list was counted as a whole before.
   */
  function put(object: JsonObject, most = maxLength): void {
    const key = objectKey(object);
    // An object that was deleted and created again has another uid.
    if (textIn(objects.get(key), 'uid') !== textIn(object, 'uid')) {
      remove(key);
    }
    const previous = objects.get(key);
    if (previous !== undefined && textIn(previous, 'resourceVersion') === textIn(object, 'resourceVersion')) {
      return;
    }
    if (previous === undefined && objects.size >= maxObjects) {
      throw new ResponseError(`there are more than ${maxObjects} ${resource}: choose by label`);
    }
    const grown = length - lengthOf(previous) + lengthOf(object);
    checkLength(grown, most);
    length = grown;
    objects.set(key, object);
    change(previous === undefined ? { type: 'added', key, object } : { type: 'updated', key, object, previous });
  }

  /** Lists everything; the copy changes only when all of it has arrived. */
  async function list(): Promise<string> {
    const found = new Map<string, JsonObject>();
    let foundLength = 0;
    let listVersion = '';
    for await (const { items, resourceVersion } of listPages(cluster, { path, resource, query, maxObjects })) {
      listVersion = resourceVersion;
      for (const object of items) {
        const kept = keep(object);
        foundLength += lengthOf(kept);
        checkLength(foundLength, maxLength);
        found.set(objectKey(object), kept);
      }
    }
    heardAt = performance.now();
    for (const key of [...objects.keys()]) {
      if (!found.has(key)) {
        remove(key);
      }
    }
    for (const object of found.values()) {
      put(object, Number.POSITIVE_INFINITY);
    }
    isSynced = true;
    synced.resolve();
    return listVersion;
  }

  /** One watch, until the server ends it. */
  async function follow(from: string): Promise<void> {
    const parameters = new URLSearchParams({ ...query, resourceVersion: from });
    await cluster.watch(`${path}?${parameters}`, {
      watchMs,
      graceMs,
      onOpen() {
        heardAt = performance.now();
        tell(undefined);
      },
      onEvent({ type, object }) {
        heardAt = performance.now();
        version = textIn(object, 'resourceVersion') || version;
        if (type === 'DELETED') {
          remove(objectKey(object));
        } else {
          put(keep(object));
        }
      },
      onBookmark(resourceVersion) {
        heardAt = performance.now();
        version = resourceVersion;
      },
    });
    heardAt = performance.now();
  }

  async function run(): Promise<void> {
    let failures = 0;
    while (!stop.signal.aborted) {
      const began = performance.now();
      let asked = 0;
      try {
        version ??= await list();
        await follow(version);
        if (performance.now() - began >= minRetryMs) {
          failures = 0;
          continue;
        }
        tell(`${resource}: the API server ends the watch at once`);
      } catch (error) {
        // It is not known what was missed, and a server that lost its storage counts versions from the beginning.
        version = undefined;
        const isOrdinary =
          (error instanceof StatusError && error.code === 410) ||
          (error instanceof ConnectionError && performance.now() - began >= minRetryMs);
        if (isOrdinary && failures === 0) {
          failures++;
          continue;
        }
        asked = askedWait(error);
        tell(`${resource}: ${describe(error, resource)}`);
      }
      failures++;
      // Jitter: several informers lose the same server at once and must not all come back at once.
      const wait = waitAfter(failures, minRetryMs, maxRetryMs) * (0.75 + Math.random() / 2);
      await sleep(Math.max(asked, wait), undefined, { signal: stop.signal, ref: false }).catch(() => {});
    }
  }

  void run();
  return {
    synced: synced.promise,
    get isSynced() {
      return isSynced;
    },
    get heardAt() {
      return heardAt;
    },
    get problem() {
      return problem;
    },
    get: (key) => objects.get(key),
    list: () => [...objects.values()],
    stop: () => stop.abort(),
  };
}
