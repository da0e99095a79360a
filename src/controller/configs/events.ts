import { randomInt } from 'node:crypto';
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
/** Longest message that the API accepts, in characters. */
const maxMessage = 1_024;
/** Maximum number of events waiting to be written; beyond that, events are dropped. */
const maxWaiting = 1_000;

interface EventRecorderOptions {
  cluster: KubernetesClient;
  /** The reporting program, and its instance. */
  component: string;
  instance: string;
  now: () => Date;
  onProblem(problem: string): void;
}

/** Writes events (v1), one at a time. A failure never fails or holds up the work that is reported. */
export function createEventRecorder({ cluster, component, instance, now, onProblem }: EventRecorderOptions) {
  let waiting = 0;
  let written = Promise.resolve();

  async function write({ metadata }: StoredConfig, event: ConfigEvent, at: Date): Promise<void> {
    const { name, uid, resourceVersion } = metadata;
    // Named as in client-go, by the time in nanoseconds, so that events are listed in order. At most 253 characters.
    const nanoseconds = BigInt(at.getTime()) * 1_000_000n + BigInt(randomInt(1_000_000));
    const time = timeText(at);
    try {
      await cluster.request('POST', `/api/v1/namespaces/${namespace}/events`, {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: `${name.slice(0, 200)}.${nanoseconds.toString(16)}`, namespace },
        involvedObject: { apiVersion: apiVersionOf(hubVersion), kind, name, uid, resourceVersion },
        type: event.type,
        reason: event.reason,
        message: event.message.slice(0, maxMessage),
        source: { component },
        reportingComponent: component,
        reportingInstance: instance,
        firstTimestamp: time,
        lastTimestamp: time,
        count: 1,
      });
    } catch (error) {
      // No other event has this name: the answer to the first attempt was lost.
      if (!isStatus(error, 409)) {
        onProblem((error as Error).message);
      }
    }
  }

  return {
    record(config: StoredConfig, event: ConfigEvent): void {
      if (waiting < maxWaiting) {
        waiting++;
        const at = now();
        written = written.then(() => write(config, event, at)).finally(() => waiting--);
      }
    },
    /** Resolves when everything recorded has been written, or has failed. */
    flush: () => written,
  };
}

export type EventRecorder = ReturnType<typeof createEventRecorder>;
