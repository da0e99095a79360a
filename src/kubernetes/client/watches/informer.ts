import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { type JsonObject, objectAt, textAt } from '../../objects/json/json.ts';
import { perObject } from '../../objects/per-object.ts';
import { askedWait, connect, explain, Forbidden, isStatus, listPages } from '../requests/kubernetes-client.ts';
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

export type Informer = ReturnType<typeof startInformer>;

/**
 * Starts a copy of a collection that stays up to date across lost connections, a server that restarts (even with versions that
 * start over), versions that are too old (410), and watches that die silently. Needs `list` and `watch`. The informer of
 * @kubernetes/client-node stops at the first error, reads lists of any length in one response, and loses events.
 */
export function startInformer(config: KubeConfig, options: InformerOptions) {
  const { path, resource, query, name, remedy = '', keep = withoutManagedFields } = options;
  const { maxObjects = 10_000, maxLength = Number.POSITIVE_INFINITY } = options;
  const pace = { ...defaultPace, ...options.pace };
  const stopping = new AbortController();
  const { signal } = stopping;
  // Failures are reported, and the time of the next attempt depends on them.
  const cluster = connect(config, signal, { retries: 0, deadlineMs: pace.readDeadlineMs });
  const copy = new Map<string, JsonObject>();
  const lengthOf =
    options.maxLength === undefined ? () => 0 : perObject((object: JsonObject) => JSON.stringify(object).length);
  const { promise: synced, resolve: onSynced } = Promise.withResolvers<void>();
  let length = 0;
  let problem: string | undefined;
  let confirmedAt: number | undefined;
  /** The last watch: whether the server has accepted it, since when, from which version, and how many events came. */
  let watch = { isOpen: false, began: 0, from: '', events: 0 };
  /** The version to watch from; undefined if the collection has to be listed first. */
  let version: string | undefined;

  async function run(): Promise<void> {
    const { minRetryMs, maxRetryMs } = pace;
    let failures = 0;
    while (!signal.aborted) {
      watch = { isOpen: false, began: performance.now(), from: '', events: 0 };
      const error = await follow().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      const hasLasted = performance.now() - watch.began >= minRetryMs;
      const isLost = error instanceof ConnectionError && watch.isOpen;
      // A server that repeats what is known already, and ends, would do so again at once.
      const isUseful = hasLasted || (watch.events > 0 && version !== watch.from);
      if (isUseful && (error === undefined || isLost)) {
        failures = 0;
        if (error === undefined) {
          continue;
        }
      }
      if (error !== undefined) {
        // Changes were missed, and a server that lost its storage counts versions from the beginning.
        version = undefined;
      }
      // A load balancer may end each connection, and a version may be too old: a problem only if it happens again.
      const isExpected = (isLost && hasLasted) || isStatus(error, 410);
      if (!isExpected || failures > 0) {
        report(problemOf(error));
      }
      // Replicas lose a server at the same time, and must not all list at the same time: as in client-go, up to twice as long.
      const waitMs = Math.min(maxRetryMs, minRetryMs * 2 ** failures) * (1 + Math.random());
      failures++;
      await sleep(Math.max(askedWait(error), waitMs), undefined, { signal, ref: false }).catch(() => {});
    }
  }

  const isAbsence = (error: unknown) => options.mayBeAbsent === true && isStatus(error, 404);

  function problemOf(error: unknown): string | undefined {
    if (isAbsence(error)) {
      return undefined;
    }
    const reason = error ?? new Error('the API server ends the watch at once');
    const explained = explain(reason, 'watch', resource, name ?? '(all)') as Error;
    const subject = name === undefined ? resource : `${resource} ${name}`;
    return `${subject}: ${explained.message}${explained instanceof Forbidden ? remedy : ''}`;
  }

  /** The copy changes only when the list is complete. Returns its version. */
  async function readAll(): Promise<string> {
    const listed = new Map<string, JsonObject>();
    let listedLength = 0;
    let listedVersion = '';
    try {
      for await (const page of listPages(cluster, { path, resource, query, name, maxObjects })) {
        listedVersion = page.resourceVersion;
        for (const object of page.items.map(keep)) {
          listedLength += lengthOf(object);
          checkLength(listedLength, maxLength);
          listed.set(objectKey(object), object);
        }
      }
    } catch (error) {
      if (isAbsence(error)) {
        takeOver(new Map());
      }
      throw error;
    }
    takeOver(listed);
    return listedVersion;
  }

  function takeOver(listed: ReadonlyMap<string, JsonObject>): void {
    for (const key of [...copy.keys()]) {
      if (!listed.has(key)) {
        remove(key);
      }
    }
    for (const object of listed.values()) {
      // The list as a whole is within the limit; while it is being applied, the copy may exceed it.
      put(object, Number.POSITIVE_INFINITY);
    }
    // The callback for a change may have stopped the informer.
    signal.throwIfAborted();
    confirm();
    onSynced();
  }

  async function follow(): Promise<void> {
    version ??= await readAll();
    // The time of the list does not count.
    watch.began = performance.now();
    watch.from = version;
    const { watchMs, graceMs } = pace;
    await cluster.watch(`${path}?${new URLSearchParams({ ...query, resourceVersion: version })}`, {
      watchMs,
      graceMs,
      onOpen() {
        watch.isOpen = true;
        confirm();
        report(undefined);
      },
      onEvent({ type, object }) {
        watch.events++;
        confirm();
        version = textAt(object, 'metadata', 'resourceVersion') || version;
        if (type === 'DELETED') {
          remove(objectKey(object));
        } else if (type !== 'BOOKMARK') {
          put(keep(object), maxLength);
        }
      },
    });
    confirm();
  }

  /** Adds or updates an object, unless its version is known. @throws {ResponseError} when there is no room for it. */
  function put(object: JsonObject, most: number): void {
    const key = objectKey(object);
    const isSame = (field: string) => textAt(copy.get(key), 'metadata', field) === textAt(object, 'metadata', field);
    // An object that was deleted and created again has a different uid.
    if (!isSame('uid')) {
      remove(key);
    }
    const previous = copy.get(key);
    if (previous !== undefined && isSame('resourceVersion')) {
      return;
    }
    if (previous === undefined && copy.size >= maxObjects) {
      throw new ResponseError(`there are more than ${maxObjects} ${resource}: select by label`);
    }
    const newLength = length - (previous ? lengthOf(previous) : 0) + lengthOf(object);
    checkLength(newLength, most);
    length = newLength;
    copy.set(key, object);
    tell(previous === undefined ? { type: 'added', key, object } : { type: 'updated', key, object, previous });
  }

  function remove(key: string): void {
    const object = copy.get(key);
    if (object !== undefined) {
      copy.delete(key);
      length -= lengthOf(object);
      tell({ type: 'deleted', key, object });
    }
  }

  function checkLength(characters: number, most: number): void {
    if (characters > most) {
      throw new ResponseError(`the copy of ${resource} takes more than ${maxLength / 1024 / 1024} MiB`);
    }
  }

  function tell(change: InformerChange): void {
    if (!signal.aborted) {
      options.onChange?.(change);
    }
  }

  function confirm(): void {
    confirmedAt = performance.now();
  }

  function report(next: string | undefined): void {
    if (next !== problem && !signal.aborted) {
      problem = next;
      options.onProblem?.(problem);
    }
  }

  void run();
  return {
    /** Resolves when all objects have been listed for the first time; never, if the informer is stopped before. */
    synced,
    /** Why the copy may be stale; undefined if it is not. */
    get problem(): string | undefined {
      return problem;
    },
    /** How long ago the server last confirmed the copy, in ms; undefined before it is complete. */
    get ageMs(): number | undefined {
      return confirmedAt === undefined ? undefined : performance.now() - confirmedAt;
    },
    get: (key: string): JsonObject | undefined => copy.get(key),
    list: (): JsonObject[] => [...copy.values()],
    stop: (): void => stopping.abort(),
  };
}
