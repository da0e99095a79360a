import type { Logger } from 'pino';
import type { Json } from '../kubernetes/index.ts';
import type { TrackedResponse } from '../server/index.ts';
import { type CallOutcome, call } from './call.ts';
import type { Handler } from './handler.ts';

/** How long a handler may still answer after the caller's timeout, at which its signal is aborted, in milliseconds. */
const graceMs = 500;

/** How a call ended: with an outcome, too late for the caller, or because the caller disconnected. */
export type TimedOutcome = CallOutcome | 'late' | 'gone';

/**
 * Runs a handler and reports the first outcome of the call. The handler's signal is aborted when the caller's timeout
 * expires or the caller disconnects.
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
  /** Only the first call of this has an effect. Not Promise.race, which takes longer than most handlers. */
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
