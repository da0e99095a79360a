import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { JsonObject } from '../../kubernetes/index.ts';
import { badRequest, failed, RequestError } from '../resources/errors.ts';
import { apiVersionOf, type ResourceRequest } from '../resources/resource.ts';
import type { StoreEvent } from '../storage/store.ts';
import type { ApiContext } from '../webhooks/admission.ts';
import { presentAll } from '../webhooks/conversion.ts';
import { isOn, numberOf, selectorOf, shownAlone, versionOf } from './reads.ts';

/** Interval between the bookmarks of a watch that allows them, in milliseconds. */
const bookmarkInterval = 60_000;
/** Default duration of a watch, in seconds: the real API server picks one of 30 to 60 minutes. */
const defaultWatchSeconds = 1_800;
const batchSize = 100;

/** How long a client may take to read what was sent, in milliseconds. */
const maxStall = 30_000;

/** Waits until the client has read enough to get more. @returns false if it is too slow. */
const isDrained = (response: ServerResponse) =>
  once(response, 'drain', { signal: AbortSignal.timeout(maxStall) }).then(
    () => true,
    () => false,
  );

/** An event, with the object as it is stored. */
interface WatchItem {
  type: string;
  object: JsonObject;
}

const lineOf = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

/**
 * Starts a watch, which reads the store's history as fast as its client reads; when that no longer has what comes next, the client is
 * told to begin again. Returns a function that ends it silently. @throws {RequestError} for an invalid request; a version that is too
 * old is reported in the stream, as by the real API server.
 */
export function watch(context: ApiContext, request: ResourceRequest, response: ServerResponse): () => void {
  const { resource, query, view } = request;
  const { store } = context;
  const collection = store.collection(resource.storage);
  const selects = selectorOf(request);
  const version = versionOf(context, query);
  const bookmarks = isOn(query, 'allowWatchBookmarks');
  const initial = isOn(query, 'sendInitialEvents');
  const seconds = numberOf(query, 'timeoutSeconds') || defaultWatchSeconds;
  const fromNow = version === undefined || initial;
  let existing = fromNow ? collection.list().map(([, object]) => object) : [];
  /** Writes up to this version have been sent, once `existing` has. */
  let sentVersion = fromNow ? store.version : version;
  let wake: (() => void) | undefined;
  let isOver = false;
  let ended = false;
  let isFirst = true;

  function stop(): void {
    ended = true;
    unsubscribe();
    timers.forEach(clearTimeout);
    wake?.();
  }
  function bookmark(annotations?: JsonObject): void {
    const metadata = { ...(annotations === undefined ? {} : { annotations }), resourceVersion: String(sentVersion) };
    response.write(lineOf('BOOKMARK', { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata }));
  }
  /** A write as this watch sees it: an object that enters its selection is ADDED, one that leaves it DELETED. */
  function seen({ isDeleted, object, previous }: StoreEvent): WatchItem[] {
    const before = previous !== undefined && selects(previous);
    const after = !isDeleted && selects(object);
    return before || after ? [{ type: after ? (before ? 'MODIFIED' : 'ADDED') : 'DELETED', object }] : [];
  }
  /** All that there is, and then each write, until the time is over. @throws {RequestError} 410. */
  async function* batches(): AsyncGenerator<WatchItem[]> {
    for (let from = 0; from < existing.length && !isOver; from += batchSize) {
      const batch = existing.slice(from, from + batchSize).filter(selects);
      yield batch.map((object) => ({ type: 'ADDED', object }));
    }
    // A watch that goes on for long must not keep what was replaced since.
    existing = [];
    if (initial && bookmarks && !isOver) {
      bookmark({ 'k8s.io/initial-events-end': 'true' });
    }
    while (!ended && !isOver) {
      const events = collection.eventsAfter(sentVersion);
      if (events === undefined) {
        throw failed(410, 'Expired', `too old resource version: ${sentVersion} (${collection.oldest})`);
      }
      const batch = events.slice(0, batchSize);
      sentVersion = events.length > batchSize ? (batch.at(-1) as StoreEvent).version : store.version;
      if (batch.length > 0) {
        yield batch.flatMap(seen);
        continue;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      wake = undefined;
    }
  }
  async function send(): Promise<void> {
    for await (const items of batches()) {
      const objects = items.map(({ object }) => object);
      for (const [index, object] of (await presentAll(context, resource, objects)).entries()) {
        if (ended) {
          return;
        }
        const { type } = items[index] as WatchItem;
        const line = lineOf(type, shownAlone(context, resource, object, view, isFirst));
        isFirst = false;
        if (!response.write(line) && !(await isDrained(response))) {
          stop();
          response.destroy();
        }
      }
    }
    if (!ended && bookmarks) {
      bookmark();
    }
  }

  const unsubscribe = collection.subscribe(() => wake?.());
  const end = () => {
    isOver = true;
    wake?.();
  };
  const timers = [
    setTimeout(end, Math.min(seconds, 2 ** 31 / 1000 - 1) * 1000),
    setInterval(() => bookmarks && wake !== undefined && bookmark(), bookmarkInterval),
  ];
  send()
    .catch((error: unknown) => {
      if (!ended) {
        const { status } = error instanceof RequestError ? error : badRequest((error as Error).message);
        response.write(lineOf('ERROR', status));
      }
    })
    .finally(() => {
      if (!ended) {
        stop();
        response.end();
      }
    });
  return stop;
}
