import { randomInt } from 'node:crypto';
import { LruCache } from '../../base/index.ts';
import { apiVersionOf, hubVersion, kind } from '../../extensionconfig/index.ts';
import { isStatus, type KubernetesClient } from '../../kubernetes/client/index.ts';
import { timeText } from '../../kubernetes/index.ts';
import type { StoredConfig } from './stored.ts';

/** An event of an ExtensionConfig, as `kubectl describe` shows it. */
export interface ConfigEvent {
  type: 'Normal' | 'Warning';
  /** In CamelCase. */
  reason: string;
  message: string;
}

/** Records events. A failure to do so never fails the work that is reported. */
export interface EventRecorder {
  record(config: StoredConfig, event: ConfigEvent): void;
  /** Forgets a deleted object. */
  forget(uid: string): void;
  /** Resolves when everything recorded has been written, or has failed. */
  flush(): Promise<void>;
}

/** Namespace of events about cluster-scoped objects. */
const namespace = 'default';
const eventsPath = `/api/v1/namespaces/${namespace}/events`;
/** Longest message that the API accepts, in characters. */
const maxMessage = 1_024;
/**
 * Maximum number of events that are remembered, so that a repetition increases a count instead of creating another
 * event.
 */
const maxKnown = 4_096;
/** Maximum number of events waiting to be written; beyond that, events are dropped. */
const maxWaiting = 1_000;
/** How long the stored count of a repeating event may be out of date, in ms. */
const repeatMs = 5 * 60_000;

/**
 * How many events an object may have in a burst, and the time after which it may have one more, in ms; as in client-go.
 */
const burst = 25;
const refillMs = 5 * 60_000;

interface Known {
  name: string;
  uid: string;
  count: number;
  /** When it was last written, in ms of the clock. */
  writtenAt: number;
}

interface Waiting {
  config: StoredConfig;
  event: ConfigEvent;
  key: string;
  at: Date;
}

/** Options of a recorder of events. */
interface EventRecorderOptions {
  cluster: KubernetesClient;
  /** The reporting program, and its instance. */
  component: string;
  instance: string;
  now: () => Date;
  /** Called when an event could not be written. */
  onProblem(problem: string): void;
}

/** How many writes each object may still have. */
class Budgets {
  /** What is left, and when it was last computed. */
  readonly #budgets = new LruCache<{ left: number; at: number }>(maxKnown);

  /** Takes one write from the budget of an object, if there is any left. */
  take(uid: string, at: number): boolean {
    const before = this.#budgets.get(uid) ?? { left: burst, at };
    const left = Math.min(burst, before.left + Math.max(0, at - before.at) / refillMs);
    this.#budgets.set(uid, { left: left >= 1 ? left - 1 : left, at });
    return left >= 1;
  }

  forget(uid: string): void {
    this.#budgets.delete(uid);
  }
}

/**
 * Writes events (v1), one at a time. A repeating event is one object with a count, which is written at most every five
 * minutes unless another event happened in between. Each object may have 25 events at once and then one every five
 * minutes, however often the message changes. An API server that rejects events never holds up the work.
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { cluster, component, instance, now, onProblem } = options;
  const known = new LruCache<Known>(maxKnown);
  const waiting: Waiting[] = [];
  /** The last event of each object. */
  const latest = new LruCache<string>(maxKnown);
  const budgets = new Budgets();
  let working: Promise<void> | undefined;
  let lastName = 0n;

  async function create({ config, event, key, at }: Waiting): Promise<void> {
    const { name: object, uid, resourceVersion } = config.metadata;
    // Named as in client-go, by the time in nanoseconds, so that events are listed in order. At most 253 characters.
    const nanoseconds = BigInt(at.getTime()) * 1_000_000n + BigInt(randomInt(1_000_000));
    lastName = nanoseconds > lastName ? nanoseconds : lastName + 1n;
    const name = `${object.slice(0, 200)}.${lastName.toString(16)}`;
    const time = timeText(at);
    const written = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject: { apiVersion: apiVersionOf(hubVersion), kind, name: object, uid, resourceVersion },
      type: event.type,
      reason: event.reason,
      message: event.message,
      source: { component },
      reportingComponent: component,
      reportingInstance: instance,
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    };
    try {
      await cluster.request('POST', eventsPath, written);
    } catch (error) {
      // No other event has this name: the answer to the first attempt was lost.
      if (!isStatus(error, 409)) {
        throw error;
      }
    }
    known.set(key, { name, uid, count: 1, writtenAt: at.getTime() });
  }

  /** Whether the last event of an object was a different one. */
  function isNews({ config, key }: Waiting): boolean {
    const { uid } = config.metadata;
    const before = latest.get(uid);
    latest.set(uid, key);
    return before !== undefined && before !== key;
  }

  async function write(one: Waiting): Promise<void> {
    const before = known.get(one.key);
    const happensAnew = isNews(one);
    if (before === undefined) {
      if (budgets.take(one.config.metadata.uid, one.at.getTime())) {
        await create(one);
      }
      return;
    }
    const count = before.count + 1;
    const sinceMs = one.at.getTime() - before.writtenAt;
    // An event that recurs after a different one, such as success after a new failure, is written at once.
    const isDue = happensAnew && budgets.take(one.config.metadata.uid, one.at.getTime());
    // If the clock has been set back, the event must not be suppressed forever.
    if (!isDue && sinceMs >= 0 && sinceMs < repeatMs) {
      known.set(one.key, { ...before, count });
      return;
    }
    try {
      await cluster.request('PATCH', `${eventsPath}/${before.name}`, { count, lastTimestamp: timeText(one.at) });
      known.set(one.key, { ...before, count, writtenAt: one.at.getTime() });
    } catch (error) {
      // The API server deletes events after an hour.
      if (!isStatus(error, 404)) {
        throw error;
      }
      known.delete(one.key);
      await create(one);
    }
  }

  async function work(): Promise<void> {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      try {
        await write(one);
      } catch (error) {
        onProblem((error as Error).message);
      }
    }
    working = undefined;
  }

  return {
    record(config, { type, reason, message }) {
      const event = { type, reason, message: message.slice(0, maxMessage) };
      const key = JSON.stringify([config.metadata.uid, type, reason, event.message]);
      if (waiting.length < maxWaiting) {
        waiting.push({ config, event, key, at: now() });
        working ??= work();
      }
    },
    forget(uid) {
      budgets.forget(uid);
      latest.delete(uid);
      known.deleteAll((one) => one.uid === uid);
    },
    async flush() {
      await working;
    },
  };
}
