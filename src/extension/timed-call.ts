import type { Logger } from 'pino';
import type { Json } from '../kubernetes/index.ts';
import type { TrackedResponse } from '../server/index.ts';
import { type CallOutcome, call } from './call.ts';
import type { Handler } from './handler.ts';

/** How long a handler may still answer after the caller's timeout, in milliseconds: its signal was aborted then. */
const graceMs = 500;

/** How a call ended: with an outcome, too late for its caller, or without one. */
export type TimedOutcome = CallOutcome | 'late' | 'gone';

/**
 * Runs a handler, and passes on the first outcome of the call. The handler's signal is aborted when the caller's
 * timeout has passed, and when the caller has disconnected.
 */
export function callInTime(
  handler: Handler,
  body: Json,
  response: TrackedResponse,
  timeoutMs: number,
  log: Logger,
  onEnd: (outcome: TimedOutcome) => void,
): void {
  const ending = new AbortController();
  let lateTimer: NodeJS.Timeout | undefined;
  const timer = setTimeout(() => {
    lateTimer = setTimeout(() => end('late'), graceMs);
    ending.abort(new DOMException(`the caller waits only ${timeoutMs / 1000} s`, 'TimeoutError'));
  }, timeoutMs);
  let hasEnded = false;
  /** The first of them counts. Not Promise.race, which takes longer than most handlers. */
  function end(outcome: TimedOutcome): void {
    if (hasEnded) {
      return;
    }
    hasEnded = true;
    clearTimeout(timer);
    clearTimeout(lateTimer);
    onEnd(outcome);
  }
  response.on('close', () => {
    if (!hasEnded) {
      end('gone');
      ending.abort(new DOMException('the caller disconnected', 'AbortError'));
    }
  });
  void call(handler, body, { ending, log }).then(end);
}
