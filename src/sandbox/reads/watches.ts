import type { JsonObject } from '../../kubernetes/index.ts';
import { badRequest, expired, RequestError } from '../resources/errors.ts';
import { apiVersionOf, metadataOf } from '../resources/resource.ts';
import type { StoreEvent } from '../storage/store.ts';
import { isOn, type ReadContext, type ReadRequest, selectorOf, shown, versionOf } from './reads.ts';

/** The receiver of a watch's lines. */
interface WatchSink {
  /** Takes one line. @returns whether it has been sent; if not, `drained` resolves once it has. */
  write(line: string | Buffer): boolean;
  /** Resolves when the client has read enough to get more; with false if the client is too slow. */
  drained(): Promise<boolean>;
  end(): void;
  /** Closes the connection at once, even if the client has not read everything. */
  drop(): void;
}

/** Interval between the bookmarks of a watch that allows them, in milliseconds. */
const bookmarkInterval = 60_000;
/** Default duration of a watch, in seconds: the real API server picks one of 30 to 60 minutes. */
const defaultWatchSeconds = 1_800;
/** Number and bytes of writes that may wait for a slow watcher; beyond that, the watch is dropped. */
const maxBehind = { events: 1_000, bytes: 16 * 1024 * 1024 };
/** Number of objects that are converted ahead of time with one call of the webhook. */
const conversionsAhead = 100;

/** An action to run in its turn, or an object to send, as it is stored. */
type WatchItem =
  | { act(): void }
  | {
      type: string;
      stored: JsonObject;
      /** What it adds to the backlog: nothing unless it was written after the watch began. */
      backlog: { events: number; bytes: number };
    };

const lineOf = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

/** Lines with whole objects, encoded once for many watches: one for each type of event. */
const lines = new WeakMap<JsonObject, Map<string, Buffer>>();

function sharedLineOf(type: string, object: JsonObject): Buffer {
  const known = lines.get(object) ?? new Map<string, Buffer>();
  const line = known.get(type) ?? Buffer.from(lineOf(type, object));
  lines.set(object, known.set(type, line));
  return line;
}

/**
 * Starts a watch: first the existing objects (without a version), or the writes since a version, then every write.
 *
 * @returns a function that ends it silently.
 * @throws {RequestError} for an invalid request; a version that is too old is reported in the stream, as by the real
 *   API server.
 */
export function watch(context: ReadContext, request: ReadRequest, sink: WatchSink): () => void {
  const { resource, query, view } = request;
  const { converter } = context;
  const collection = context.store.collection(resource.storage);
  const selects = selectorOf(request);
  const version = versionOf(context, query.get('resourceVersion'));
  const bookmarks = isOn(query, 'allowWatchBookmarks');
  const initial = isOn(query, 'sendInitialEvents');
  const seconds = Number(query.get('timeoutSeconds') ?? '0') || defaultWatchSeconds;
  const history = version === undefined || initial ? [] : collection.eventsAfter(version);
  const existing = version === undefined || initial ? collection.list() : [];
  const startVersion = context.store.version;
  let lastVersion = startVersion;
  /** What has not been taken for sending yet. */
  let waiting: WatchItem[] = [];
  const behind = { events: 0, bytes: 0 };
  let isSending = false;
  let ended = false;
  /** In a table view, the first line contains the columns. */
  let columns = true;
  let unsubscribe = () => {};

  function stop(): void {
    ended = true;
    waiting = [];
    unsubscribe();
    timers.forEach(clearTimeout);
  }
  function drop(): void {
    stop();
    sink.drop();
  }
  function fail(error: unknown): void {
    const { status } = error instanceof RequestError ? error : badRequest((error as Error).message);
    sink.write(lineOf('ERROR', status));
    stop();
    sink.end();
  }
  function bookmark(at: number, annotations?: JsonObject): void {
    const metadata = { ...(annotations === undefined ? {} : { annotations }), resourceVersion: String(at) };
    sink.write(lineOf('BOOKMARK', { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata }));
  }
  /** An event as a line, with the object in the view that the client asked for. */
  function eventLine(type: string, object: JsonObject): string | Buffer {
    if (view.as === 'object') {
      return sharedLineOf(type, object);
    }
    const { resourceVersion = '' } = metadataOf(object);
    const [seen] = shown(context, resource, [object], { resourceVersion }, view, columns);
    columns = false;
    return lineOf(type, seen as JsonObject);
  }

  /** Sends what is waiting, batch by batch. Runs synchronously while the client reads and nothing needs conversion. */
  async function sendAll(): Promise<void> {
    isSending = true;
    try {
      while (waiting.length > 0) {
        const batch = waiting;
        waiting = [];
        for (const [index, item] of batch.entries()) {
          if (ended) {
            return;
          }
          if ('act' in item) {
            item.act();
            continue;
          }
          if (converter.mustAsk(resource, item.stored)) {
            const ahead = batch.slice(index, index + conversionsAhead);
            // A failed conversion is reported in its turn.
            await converter
              .presentAll(
                resource,
                ahead.flatMap((next) => ('act' in next ? [] : [next.stored])),
              )
              .catch(() => {});
          }
          const presented = converter.present(resource, item.stored);
          const object = presented instanceof Promise ? await presented : presented;
          behind.events -= item.backlog.events;
          behind.bytes -= item.backlog.bytes;
          if (!ended && !sink.write(eventLine(item.type, object)) && !(await sink.drained())) {
            drop();
          }
        }
      }
    } catch (error) {
      if (!ended) {
        fail(error);
      }
    } finally {
      isSending = false;
    }
  }
  function add(item: WatchItem): void {
    if (ended) {
      return;
    }
    waiting.push(item);
    if ('backlog' in item) {
      behind.events += item.backlog.events;
      behind.bytes += item.backlog.bytes;
    }
    if (!isSending) {
      void sendAll();
    } else if (behind.events > maxBehind.events || behind.bytes > maxBehind.bytes) {
      drop();
    }
  }
  /** A change as this watch sees it: an object that enters its selection is ADDED, one that leaves it DELETED. */
  function deliver({ type, version, object, previous, bytes }: StoreEvent, isLive: boolean): void {
    lastVersion = version;
    const before = previous !== undefined && selects(previous);
    const after = type !== 'DELETED' && selects(object);
    if (before || after) {
      const backlog = isLive ? { events: 1, bytes } : { events: 0, bytes: 0 };
      add({ type: after ? (before ? 'MODIFIED' : 'ADDED') : 'DELETED', stored: object, backlog });
    }
  }
  function finish(): void {
    // The bookmark is sent after the writes so far; no later writes are sent before it.
    const sentVersion = lastVersion;
    add({
      act() {
        if (bookmarks) {
          bookmark(sentVersion);
        }
        stop();
        sink.end();
      },
    });
  }

  const timers = [
    setTimeout(finish, Math.min(seconds, 2 ** 31 / 1000 - 1) * 1000),
    setInterval(() => bookmarks && !isSending && bookmark(lastVersion), bookmarkInterval),
  ];
  if (history === undefined) {
    fail(expired(`too old resource version: ${version} (${collection.oldest})`));
    return stop;
  }
  // Nothing can be written between reading and subscribing, since both are synchronous.
  unsubscribe = collection.subscribe((event) => deliver(event, true));
  for (const [, object] of existing) {
    if (selects(object)) {
      add({ type: 'ADDED', stored: object, backlog: { events: 0, bytes: 0 } });
    }
  }
  if (initial && bookmarks) {
    add({ act: () => bookmark(startVersion, { 'k8s.io/initial-events-end': 'true' }) });
  }
  for (const event of history) {
    deliver(event, false);
  }
  return stop;
}
