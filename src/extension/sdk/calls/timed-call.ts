import type { Logger } from 'pino';
import type { Json } from '../../../kubernetes/index.ts';
import type { TrackedResponse } from '../../../server/index.ts';
import type { Handler } from '../handlers/handler.ts';
import { type CallOutcome, call } from './call.ts';
import type { Lifetime } from './lifetime.ts';

/** How long a handler may still answer after the caller's timeout, at which its signal is aborted, in milliseconds. */
const graceMs = 500;

/** How a call ended: with an outcome, too late for the caller, or because the caller disconnected. */
export type TimedOutcome = CallOutcome | 'late' | 'gone';

/** Tells a handler that no one waits for its answer any more. */
class Ending {
  #controller: AbortController | undefined;

  /** Created on first use: most handlers do not read it. */
  get signal(): AbortSignal {
    return this.#created().signal;
  }

  abort(reason: DOMException): void {
    this.#created().abort(reason);
  }

  #created(): AbortController {
    this.#controller ??= new AbortController();
    return this.#controller;
  }
}

/**
 * Runs a handler and reports the first outcome of the call. The handler's signal is aborted when the caller's timeout
 * expires or the caller disconnects. If the handler returns its answer directly, no timers or promises are created: they
 * take longer than most such handlers.
 */
export function callInTime(
  handler: Handler,
  body: Json,
  response: TrackedResponse,
  timeoutMs: number,
  { log, lifetime }: { log: Logger; lifetime: Lifetime },
  onEnd: (outcome: TimedOutcome) => void,
): void {
  const ending = new Ending();
  const startedMs = performance.now();
  const outcome = call(handler, body, { ending, log, lifetime });
  if (outcome instanceof Promise) {
    // The time until the handler returned its promise counts.
    const leftMs = Math.max(0, timeoutMs - Math.round(performance.now() - startedMs));
    awaitInTime(outcome, ending, { leftMs, timeoutMs }, response, onEnd);
  } else {
    onEnd(outcome);
  }
}

function awaitInTime(
  outcome: Promise<CallOutcome>,
  ending: Ending,
  { leftMs, timeoutMs }: { leftMs: number; timeoutMs: number },
  response: TrackedResponse,
  onEnd: (outcome: TimedOutcome) => void,
): void {
  let lateTimer: NodeJS.Timeout | undefined;
  const timer = setTimeout(() => {
    lateTimer = setTimeout(() => end('late'), graceMs);
    ending.abort(new DOMException(`the caller waits only ${timeoutMs / 1000} s`, 'TimeoutError'));
  }, leftMs);
  let hasEnded = false;
  /** Only the first call of this has an effect. Not Promise.race, which takes longer than most handlers. */
  function end(result: TimedOutcome): void {
    if (hasEnded) {
      return;
    }
    hasEnded = true;
    clearTimeout(timer);
    clearTimeout(lateTimer);
    onEnd(result);
  }
  response.on('close', () => {
    if (!hasEnded) {
      end('gone');
      ending.abort(new DOMException('the caller disconnected', 'AbortError'));
    }
  });
  void outcome.then(end);
}
