import { randomInt } from 'node:crypto';
import { LRUCache } from 'lru-cache';
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

/** Namespace of events about cluster-scoped objects. */
const namespace = 'default';
const eventsPath = `/api/v1/namespaces/${namespace}/events`;
/** Longest message that the API accepts, in characters. */
const maxMessage = 1_024;
/** Maximum number of objects that are remembered. */
const maxObjects = 1_024;
/** Maximum number of events of an object that are remembered, so that a repetition increases a count. */
const maxKnown = 16;
/** Maximum number of events waiting to be written; beyond that, events are dropped. */
const maxWaiting = 1_000;
/** How long the stored count of a repeating event may be out of date, in ms. */
const repeatMs = 5 * 60_000;

interface Known {
  name: string;
  count: number;
  /** When it was last written, in ms of the clock. */
  writtenAt: number;
}

interface ObjectEvents {
  /** By type, reason and message. */
  known: LRUCache<string, Known>;
  latest: string;
}

/** An event to write. */
interface Written {
  config: StoredConfig;
  event: ConfigEvent;
  at: Date;
}

interface EventRecorderOptions {
  cluster: KubernetesClient;
  /** The reporting program, and its instance. */
  component: string;
  instance: string;
  now: () => Date;
  onProblem(problem: string): void;
}

/**
 * Writes events (v1), one at a time. A repeating event is one object with a count, which is written at most every five
 * minutes unless another event happened in between. A failure never fails or holds up the work that is reported.
 */
export function createEventRecorder(options: EventRecorderOptions) {
  const { cluster, component, instance, now, onProblem } = options;
  const objects = new LRUCache<string, ObjectEvents>({ max: maxObjects });
  let waiting = 0;
  let written = Promise.resolve();
  let lastName = 0n;

  async function create({ config, event, at }: Written): Promise<Known> {
    const { name: object, uid, resourceVersion } = config.metadata;
    // Named as in client-go, by the time in nanoseconds, so that events are listed in order. At most 253 characters.
    const nanoseconds = BigInt(at.getTime()) * 1_000_000n + BigInt(randomInt(1_000_000));
    lastName = nanoseconds > lastName ? nanoseconds : lastName + 1n;
    const name = `${object.slice(0, 200)}.${lastName.toString(16)}`;
    const time = timeText(at);
    const body = {
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
      await cluster.request('POST', eventsPath, body);
    } catch (error) {
      // No other event has this name: the answer to the first attempt was lost.
      if (!isStatus(error, 409)) {
        throw error;
      }
    }
    return { name, count: 1, writtenAt: at.getTime() };
  }

  /** Counts an event that was written before: at the API server only if another one happened since, or after a while. */
  async function repeat(before: Known, one: Written, isNews: boolean): Promise<Known> {
    const at = one.at.getTime();
    const count = before.count + 1;
    const sinceMs = at - before.writtenAt;
    // If the clock has been set back, the event must not be suppressed forever.
    if (!isNews && sinceMs >= 0 && sinceMs < repeatMs) {
      return { ...before, count };
    }
    try {
      await cluster.request('PATCH', `${eventsPath}/${before.name}`, { count, lastTimestamp: timeText(one.at) });
      return { ...before, count, writtenAt: at };
    } catch (error) {
      // The API server deletes events after an hour.
      if (!isStatus(error, 404)) {
        throw error;
      }
      return create(one);
    }
  }

  async function write(one: Written): Promise<void> {
    const { uid } = one.config.metadata;
    const { type, reason, message } = one.event;
    const key = JSON.stringify([type, reason, message]);
    const object = objects.get(uid) ?? { known: new LRUCache<string, Known>({ max: maxKnown }), latest: '' };
    objects.set(uid, object);
    const before = object.known.get(key);
    const isNews = object.latest !== key;
    object.latest = key;
    object.known.set(key, before === undefined ? await create(one) : await repeat(before, one, isNews));
  }

  return {
    record(config: StoredConfig, event: ConfigEvent): void {
      if (waiting >= maxWaiting) {
        return;
      }
      waiting++;
      const one = { config, event: { ...event, message: event.message.slice(0, maxMessage) }, at: now() };
      written = written
        .then(() => write(one))
        .catch((error: Error) => onProblem(error.message))
        .finally(() => waiting--);
    },
    forget: (uid: string) => objects.delete(uid),
    /** Resolves when everything recorded has been written, or has failed. */
    flush: () => written,
  };
}

export type EventRecorder = ReturnType<typeof createEventRecorder>;
