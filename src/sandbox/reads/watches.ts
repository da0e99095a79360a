import type { JsonObject } from '../../kubernetes/index.ts';
import { badRequest, expired, RequestError } from '../resources/errors.ts';
import type { Selector } from '../storage/selectors.ts';
import type { Collection, StoreEvent } from '../storage/store.ts';
import { isOn } from './query-flag.ts';
import { type ReadContext, type ReadRequest, selectorOf, versionOf } from './reads.ts';
import { createWatchLines } from './watch-lines.ts';
import { createWatchQueue } from './watch-queue.ts';

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

/**
 * A change from the point of view of one watch: an object that enters its selection is ADDED, one that leaves it
 * DELETED.
 */
function seenAs(
  event: Pick<StoreEvent, 'type' | 'object' | 'previous'>,
  selects: Selector,
): StoreEvent['type'] | undefined {
  const before = event.previous !== undefined && selects(event.previous);
  const after = event.type !== 'DELETED' && selects(event.object);
  return after ? (before ? 'MODIFIED' : 'ADDED') : before ? 'DELETED' : undefined;
}

/**
 * Starts a watch: first the existing objects (without a version), or the writes since a version, then every write.
 *
 * @returns a function that ends it silently.
 * @throws {RequestError} for an invalid request; a version that is too old is reported in the stream, as by the real
 *   API server.
 */
export function watch(context: ReadContext, request: ReadRequest, sink: WatchSink): () => void {
  const { resource, query } = request;
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
  const lines = createWatchLines(context, request);
  const queue = createWatchQueue(resource, context.converter, {
    send: (type, object) => sink.write(lines.event(type, object)),
    drained: () => sink.drained(),
    drop() {
      stop();
      sink.drop();
    },
    fail,
  });
  const bookmark = (at: number, annotations?: JsonObject) => void sink.write(lines.bookmark(at, annotations));

  function fail(error: unknown): void {
    const { status } = error instanceof RequestError ? error : badRequest((error as Error).message);
    sink.write(lines.error(status));
    stop();
    sink.end();
  }
  function finish(): void {
    // The bookmark is sent after the writes so far; no later writes are sent before it.
    const sentVersion = lastVersion;
    queue.act(() => {
      if (bookmarks) {
        bookmark(sentVersion);
      }
      stop();
      sink.end();
    });
  }
  let unsubscribe = () => {};
  const timers = [
    setTimeout(finish, Math.min(seconds, 2 ** 31 / 1000 - 1) * 1000),
    setInterval(() => bookmarks && !queue.isSending() && queue.act(() => bookmark(lastVersion)), bookmarkInterval),
  ];
  function stop(): void {
    queue.end();
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
      queue.add(type, event.object, live, event.bytes);
    }
  };
  // Nothing can be written between reading and subscribing, since both are synchronous.
  unsubscribe = collection.subscribe((event) => deliver(event, true));
  for (const [, object] of existing) {
    if (selects(object)) {
      queue.add('ADDED', object, false, 0);
    }
  }
  if (initial && bookmarks) {
    queue.act(() => bookmark(startVersion, { 'k8s.io/initial-events-end': 'true' }));
  }
  for (const event of history) {
    deliver(event, false);
  }
  return stop;
}
