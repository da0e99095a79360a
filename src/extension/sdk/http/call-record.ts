import type { Logger } from 'pino';
import type { Json } from '../../../kubernetes/index.ts';
import type { TrackedResponse } from '../../../server/index.ts';
import type { HandledCall } from '../calls/call.ts';
import type { HandlerMetrics } from './metrics.ts';

/** How a call ended, and the response to send. */
export interface Answered {
  result: HandledCall;
  /** HTTP status; default: 200. */
  code?: number | undefined;
  text: string;
  retryAfterSeconds?: Json | undefined;
  cluster?: string | undefined;
}

/** Where calls are logged and measured. */
export interface RecordContext {
  respond: (response: TrackedResponse, code: number, text: string) => void;
  log: Logger;
  metrics: HandlerMetrics;
  /** Milliseconds of a monotonic clock. */
  monotonicNow: () => number;
}

/** Logs and measures the calls of one handler, each of them once. */
export interface CallRecord {
  /** The names of hook and handler, for log lines. */
  names: { hook: string; handler?: string };
  /** Counts a call that gets no answer from the handler's code. */
  count(result: HandledCall, startedMs: number): void;
  /** Counts a call whose body was not read, and logs the reason. */
  refuse(problem: string, startedMs: number): void;
  /** Sends the answer to a call, counts it, and logs it. */
  finish(answered: Answered, response: TrackedResponse, startedMs: number): void;
}

/** Creates the record of a handler's calls; `handler` is empty for Discovery. */
export function createCallRecord(
  hook: string,
  handler: string,
  { respond, log, metrics, monotonicNow }: RecordContext,
): CallRecord {
  const names = { hook, ...(handler !== '' && { handler }) };
  const counted = metrics.of(hook, handler);
  // The names are serialized once. The parent's level applies, as for all others.
  const callLog = log.child(names, { level: 'trace' });

  /** Returns how long the call took, in milliseconds, to the microsecond. */
  function count(result: HandledCall, startedMs: number): number {
    const durationMs = monotonicNow() - startedMs;
    counted(result, durationMs / 1000);
    return Math.round(durationMs * 1000) / 1000;
  }

  return {
    names,
    count,
    refuse(problem, startedMs) {
      count('invalid request', startedMs);
      log.warn({ ...names, problem }, 'request refused');
    },
    finish({ result, code = 200, text, retryAfterSeconds, cluster }, response, startedMs) {
      respond(response, code, text);
      const durationMs = count(result, startedMs);
      if (log.isLevelEnabled('info')) {
        // The log omits fields that are undefined.
        const seconds = result === 'blocking' ? retryAfterSeconds : undefined;
        callLog.info({ cluster, result, durationMs, retryAfterSeconds: seconds }, 'call answered');
      }
    },
  };
}
