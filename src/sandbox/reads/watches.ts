import type { JsonObject } from '../../kubernetes/index.ts';
import { apiVersionOf, badRequest, expired, metadataOf, RequestError } from '../resources/index.ts';
import type { Collection, Selector, StoreEvent } from '../storage/index.ts';
import { isOn } from './query-flag.ts';
import { type ReadContext, type ReadRequest, selectorOf, shown, versionOf } from './reads.ts';

/** The receiver of the lines of a watch. */
export interface WatchSink {
  /** Takes one line. @returns whether it has been sent; otherwise `drained` says when. */
  write(line: string): boolean;
  /** Resolves when the client has read enough to get more; with false when it is not worth waiting for. */
  drained(): Promise<boolean>;
  end(): void;
  /** Ends it at once, even if the client has not read everything. */
  drop(): void;
}

/** Number and bytes of writes that may wait for a slow watcher; with more it is dropped. */
const maxBehind = { events: 1_000, bytes: 16 * 1024 * 1024 };
/** Number of objects that one call of the webhook converts ahead of time. */
const conversionsAhead = 100;

/** JSON of objects that many watchers get, made once. */
const texts = new WeakMap<JsonObject, string>();

function textOf(object: JsonObject): string {
  let text = texts.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    texts.set(object, text);
  }
  return text;
}

/** Something to send to a watcher, or to do when its turn comes. */
interface WatchItem {
  type: string;
  /** The object as it is stored. */
  stored?: JsonObject;
  act?(): void;
  /** Whether it was written after the watch began, and so counts as backlog. */
  live: boolean;
  bytes: number;
}

/** How often a watch that allows bookmarks gets one, in milliseconds. */
const bookmarkInterval = 60_000;
/** Default duration of a watch, in seconds: the real server picks from 30 to 60 minutes. */
const defaultWatchSeconds = 1_800;

/** A change as one watcher sees it: what enters its selection is ADDED, what leaves it DELETED. */
function seenAs(
  event: Pick<StoreEvent, 'type' | 'object' | 'previous'>,
  selects: Selector,
): StoreEvent['type'] | undefined {
  const before = event.previous !== undefined && selects(event.previous);
  const after = event.type !== 'DELETED' && selects(event.object);
  return after ? (before ? 'MODIFIED' : 'ADDED') : before ? 'DELETED' : undefined;
}

/**
 * Begins a watch: first what exists (without a version), or what was written since a version, then every write.
 *
 * @returns a function that ends it silently.
 * @throws {RequestError} for a wrong request; a version that is too old is reported in the stream, as the real server
 *   does.
 */
export function watch(context: ReadContext, request: ReadRequest, sink: WatchSink): () => void {
  const { resource, query, view } = request;
  const collection: Collection = context.store.collection(resource.storage);
  const selects = selectorOf(request);
  const version = versionOf(context, query.get('resourceVersion'));
  const bookmarks = isOn(query, 'allowWatchBookmarks');
  const initial = isOn(query, 'sendInitialEvents');
  const seconds = Number(query.get('timeoutSeconds') ?? '0') || defaultWatchSeconds;
  const history = version === undefined || initial ? [] : collection.eventsAfter(version);
  const existing = version === undefined || initial ? collection.list() : [];
  const startVersion = context.store.version;
  let lastVersion = startVersion;
  let ended = false;
  let columns = true;
  /** What is still to be sent, in the order of the writes; everything before `next` is sent. */
  let queue: WatchItem[] = [];
  let next = 0;
  const behind = { events: 0, bytes: 0 };
  let isSending = false;

  function lineOf(type: string, object: JsonObject): string {
    const { resourceVersion = '' } = metadataOf(object);
    const [view0] = shown(context, resource, [object], { resourceVersion }, view, columns);
    columns = false;
    const text = view.as === 'object' ? textOf(object) : JSON.stringify(view0);
    return `{"type":"${type}","object":${text}}\n`;
  }
  async function convertAhead(): Promise<void> {
    const ahead = queue
      .slice(next, next + conversionsAhead)
      .flatMap(({ stored }) => (stored === undefined ? [] : [stored]));
    // A failed conversion is reported when its turn comes.
    await context.converter.presentAll(resource, ahead).catch(() => {});
  }
  /** Sends what waits. It runs synchronously while the client reads and nothing needs conversion. */
  async function sendAll(): Promise<void> {
    isSending = true;
    try {
      while (!ended && next < queue.length) {
        const item = queue[next] as WatchItem;
        if (item.stored !== undefined && context.converter.mustAsk(resource, item.stored)) {
          await convertAhead();
        }
        const shownObject = item.stored === undefined ? undefined : context.converter.present(resource, item.stored);
        const object = shownObject instanceof Promise ? await shownObject : shownObject;
        next++;
        if (item.live) {
          behind.events--;
          behind.bytes -= item.bytes;
        }
        if (next > 1_000 && next * 2 > queue.length) {
          queue = queue.slice(next);
          next = 0;
        }
        if (ended) {
          return;
        }
        if (item.stored === undefined) {
          item.act?.();
        } else if (!sink.write(lineOf(item.type, object as JsonObject)) && !(await sink.drained())) {
          drop();
        }
      }
    } catch (error) {
      fail(error);
    } finally {
      isSending = false;
    }
  }
  function enqueue(item: WatchItem): void {
    if (ended) {
      return;
    }
    queue.push(item);
    if (item.live) {
      behind.events++;
      behind.bytes += item.bytes;
    }
    if (!isSending) {
      void sendAll();
    } else if (behind.events > maxBehind.events || behind.bytes > maxBehind.bytes) {
      drop();
    }
  }
  function drop(): void {
    stop();
    sink.drop();
  }
  function emit(type: StoreEvent['type'], stored: JsonObject, live: boolean, bytes = 0): void {
    enqueue({ type, stored, live, bytes });
  }
  function act(action: () => void): void {
    enqueue({ type: '', live: false, bytes: 0, act: action });
  }
  function fail(error: unknown): void {
    const status = error instanceof RequestError ? error.status : badRequest((error as Error).message).status;
    if (!ended) {
      sink.write(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
      stop();
      sink.end();
    }
  }
  function bookmark(version: number, annotations?: JsonObject): void {
    const metadata = { ...(annotations === undefined ? {} : { annotations }), resourceVersion: String(version) };
    const object = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
    sink.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  }
  function finish(): void {
    // Its turn comes after what was written so far; what is written until then is not sent.
    const version = lastVersion;
    act(() => {
      if (bookmarks) {
        bookmark(version);
      }
      stop();
      sink.end();
    });
  }
  let unsubscribe = () => {};
  const timers = [
    setTimeout(finish, Math.min(seconds, 2 ** 31 / 1000 - 1) * 1000),
    setInterval(() => bookmarks && !isSending && act(() => bookmark(lastVersion)), bookmarkInterval),
  ];
  function stop(): void {
    ended = true;
    queue = [];
    next = 0;
    unsubscribe();
    timers.forEach(clearTimeout);
  }
  if (history === undefined) {
    fail(expired(`too old resource version: ${version} (${collection.oldest})`));
    return stop;
  }
  const deliver = (event: StoreEvent, live: boolean) => {
    lastVersion = event.version;
    const type = seenAs(event, selects);
    if (type !== undefined) {
      emit(type, event.object, live, event.bytes);
    }
  };
  // Nothing can be written between reading and subscribing: both are synchronous.
  unsubscribe = collection.subscribe((event) => deliver(event, true));
  for (const [, object] of existing) {
    if (selects(object)) {
      emit('ADDED', object, false);
    }
  }
  if (initial && bookmarks) {
    act(() => bookmark(startVersion, { 'k8s.io/initial-events-end': 'true' }));
  }
  for (const event of history) {
    deliver(event, false);
  }
  return stop;
}
