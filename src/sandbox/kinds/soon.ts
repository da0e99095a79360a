import type { Store } from '../storage/store.ts';

type Collection = ReturnType<Store['collection']>;

/** Something that runs once for all calls of `schedule` until then. */
interface Soon {
  schedule(): void;
  /** Schedules it after each write to a collection from now on, too. */
  follow(collection: Collection): void;
  stop(): void;
}

/** @param delayMs in milliseconds; by default it runs in the next turn of the event loop. */
export function soon(run: () => void, delayMs?: number): Soon {
  const followed = new Map<Collection, () => void>();
  let isScheduled = false;
  let isStopped = false;
  const start = () => {
    isScheduled = false;
    if (!isStopped) {
      run();
    }
  };
  function schedule(): void {
    if (!isScheduled) {
      isScheduled = true;
      delayMs === undefined ? setImmediate(start) : setTimeout(start, delayMs).unref();
    }
  }
  return {
    schedule,
    follow(collection) {
      followed.get(collection)?.();
      followed.set(collection, collection.subscribe(schedule));
    },
    stop() {
      isStopped = true;
      for (const unfollow of followed.values()) {
        unfollow();
      }
    },
  };
}
