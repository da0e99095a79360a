import type { JsonObject } from '../../kubernetes/index.ts';
import type { Resource } from '../resources/resource.ts';
import type { VersionConverter } from '../webhooks/conversion.ts';

/** Number and bytes of writes that may wait for a slow watcher; beyond that, the watch is dropped. */
const maxBehind = { events: 1_000, bytes: 16 * 1024 * 1024 };
/** Number of objects that are converted ahead of time with one call of the webhook. */
const conversionsAhead = 100;
/** Sent items are removed from the queue once there are at least this many and they are more than half of it. */
const compactedItems = 1_000;

/** An action to run in its turn, or an object to send, as it is stored. */
type WatchItem =
  | { act(): void }
  | {
      type: string;
      stored: JsonObject;
      /** Whether it was written after the watch began, and so counts as backlog. */
      live: boolean;
      bytes: number;
    };

/** Where the items of a queue go. If the outlet ends by itself, `end` must be called. */
interface WatchOutlet {
  /**
   * Sends an object in the version of the watch. @returns whether it has been sent; if not, `drained` resolves once it
   * has.
   */
  send(type: string, object: JsonObject): boolean;
  /** Resolves when there is room for more; with false if the client is too slow. */
  drained(): Promise<boolean>;
  /** Called when the watcher is too far behind, or has disconnected. */
  drop(): void;
  /** Called when an object cannot be sent. */
  fail(error: unknown): void;
}

/** The items waiting to be sent to one watcher, in the order of the writes. */
interface WatchQueue {
  /** Adds an object as it is stored; `live` tells that it was written after the watch began and counts as backlog. */
  add(type: string, stored: JsonObject, live: boolean, bytes: number): void;
  /** Runs a callback when everything before it has been sent: at once, if nothing is queued. */
  act(action: () => void): void;
  isSending(): boolean;
  /** Discards the queued items, and accepts no more. */
  end(): void;
}

/** Creates the queue for a watch of a resource; `converter` converts its objects. */
export function createWatchQueue(resource: Resource, converter: VersionConverter, outlet: WatchOutlet): WatchQueue {
  /** Everything before `next` has been sent. */
  let items: WatchItem[] = [];
  let next = 0;
  const behind = { events: 0, bytes: 0 };
  let isSending = false;
  let ended = false;

  async function convertAhead(): Promise<void> {
    const ahead = items.slice(next, next + conversionsAhead).flatMap((item) => ('act' in item ? [] : [item.stored]));
    // A failed conversion is reported in its turn.
    await converter.presentAll(resource, ahead).catch(() => {});
  }

  function advance(item: WatchItem): void {
    next++;
    if ('live' in item && item.live) {
      behind.events--;
      behind.bytes -= item.bytes;
    }
    if (next > compactedItems && next * 2 > items.length) {
      items = items.slice(next);
      next = 0;
    }
  }

  /** Sends the queued items. Runs synchronously while the client reads and nothing needs conversion. */
  async function sendAll(): Promise<void> {
    isSending = true;
    try {
      while (!ended && next < items.length) {
        const item = items[next] as WatchItem;
        if ('act' in item) {
          advance(item);
          item.act();
          continue;
        }
        if (converter.mustAsk(resource, item.stored)) {
          await convertAhead();
        }
        const presented = converter.present(resource, item.stored);
        const object = presented instanceof Promise ? await presented : presented;
        advance(item);
        if (!ended && !outlet.send(item.type, object) && !(await outlet.drained())) {
          outlet.drop();
        }
      }
    } catch (error) {
      if (!ended) {
        outlet.fail(error);
      }
    } finally {
      isSending = false;
    }
  }

  function enqueue(item: WatchItem): void {
    if (ended) {
      return;
    }
    items.push(item);
    if ('live' in item && item.live) {
      behind.events++;
      behind.bytes += item.bytes;
    }
    if (!isSending) {
      void sendAll();
    } else if (behind.events > maxBehind.events || behind.bytes > maxBehind.bytes) {
      outlet.drop();
    }
  }

  return {
    add: (type, stored, live, bytes) => enqueue({ type, stored, live, bytes }),
    act: (act) => enqueue({ act }),
    isSending: () => isSending,
    end() {
      ended = true;
      items = [];
      next = 0;
    },
  };
}
