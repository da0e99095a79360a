import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import { apiVersionOf, hubVersion, kind } from '../../extensionconfig/index.ts';
import { isStatus, type KubernetesClient } from '../../kubernetes/client/index.ts';
import { timeText } from '../../kubernetes/index.ts';
import type { StoredConfig } from './stored.ts';

export interface ConfigEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

const component = 'extensionconfig-webhook';
/** Namespace of events about cluster-scoped objects. */
const namespace = 'default';
/** Longest message and longest name of a replica that the API accepts, in characters. */
const maxMessage = 1_024;
const maxInstance = 128;
/** Maximum number of events waiting to be written; beyond that, events are dropped. */
const maxWaiting = 1_000;

export interface Reporter {
  identity: string;
  log: Logger;
  now: () => Date;
}

/** Writes events (v1), one at a time, and logs them. A failure never fails or holds up the work that is reported. */
export function createEventRecorder(cluster: KubernetesClient, { identity, log, now }: Reporter) {
  let waiting = 0;
  let written = Promise.resolve();
  let lastProblem: string | undefined;

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
        reportingInstance: identity.slice(0, maxInstance),
        firstTimestamp: time,
        lastTimestamp: time,
        count: 1,
      });
    } catch (error) {
      const problem = (error as Error).message;
      // With a 409, no other event has this name: the answer to the first attempt was lost.
      if (!isStatus(error, 409) && problem !== lastProblem) {
        lastProblem = problem;
        log.warn({ problem }, 'an event could not be written');
      }
    }
  }

  return {
    record(config: StoredConfig, event: ConfigEvent): void {
      const { type, reason, message } = event;
      log[type === 'Warning' ? 'warn' : 'info']({ extensionConfig: config.metadata.name, reason }, message);
      if (waiting < maxWaiting) {
        waiting++;
        const at = now();
        written = written.then(() => write(config, event, at)).finally(() => waiting--);
      }
    },
    flush: () => written,
  };
}
