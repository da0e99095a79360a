import type { Log } from '../../../base/index.ts';
import type { Json } from '../../../kubernetes/index.ts';
import type { Handler } from '../handlers/handler.ts';
import { type CallOutcome, call } from './call.ts';
import type { LoopWatch } from './event-loop.ts';
import type { Lifetime } from './lifetime.ts';

/** How long a handler may still answer after the caller's timeout, at which its signal is aborted, in milliseconds. */
const graceMs = 500;

/** How a call ended: with an outcome, too late for the caller, or because the caller disconnected. */
type TimedOutcome = CallOutcome | 'late' | 'gone';

/**
 * Runs a handler, and returns the first outcome of the call. The handler's signal is aborted when the caller's timeout
 * expires or the caller disconnects. If the handler returns its answer directly, no timers or promises are created: they
 * take longer than most such handlers.
 *
 * @param gone returns the signal that is aborted when the caller disconnects.
 */
export function callInTime(
  handler: Handler,
  body: Json,
  gone: () => AbortSignal,
  timeoutMs: number,
  { log, lifetime, loop }: { log: Log; lifetime: Lifetime; loop: LoopWatch },
): TimedOutcome | Promise<TimedOutcome> {
  // It creates its signal on first use: most handlers do not read it.
  const ending = new AbortController();
  const startedMs = performance.now();
  const outcome = call(handler, body, { ending, log, lifetime, loop });
  const elapsedMs = performance.now() - startedMs;
  if (!(outcome instanceof Promise)) {
    return elapsedMs > timeoutMs ? 'late' : outcome;
  }
  const ended = loop.waiting(handler.name);
  let isLate = false;
  void outcome.then(() => {
    ended();
    if (isLate) {
      const durationMs = Math.round(performance.now() - startedMs);
      log.warn({ hook: handler.hook.name, handler: handler.name, durationMs }, 'the handler ended, too late');
    }
  });
  // The time until the handler returned its promise counts.
  const leftMs = Math.max(0, timeoutMs - Math.round(elapsedMs));
  return firstInTime(outcome, ending, gone(), timeoutMs, leftMs).then((first) => {
    isLate = first === 'late' || first === 'gone';
    return first;
  });
}

async function firstInTime(
  outcome: Promise<CallOutcome>,
  ending: AbortController,
  gone: AbortSignal,
  timeoutMs: number,
  leftMs: number,
): Promise<TimedOutcome> {
  const { promise, resolve } = Promise.withResolvers<TimedOutcome>();
  let lateTimer: NodeJS.Timeout | undefined;
  const timer = setTimeout(() => {
    lateTimer = setTimeout(() => resolve('late'), graceMs);
    ending.abort(new DOMException(`the caller waits only ${timeoutMs / 1000} s`, 'TimeoutError'));
  }, leftMs);
  const disconnected = () => {
    resolve('gone');
    ending.abort(new DOMException('the caller disconnected', 'AbortError'));
  };
  if (gone.aborted) {
    disconnected();
  }
  gone.addEventListener('abort', disconnected);
  void outcome.then(resolve);
  const first = await promise;
  clearTimeout(timer);
  clearTimeout(lateTimer);
  return first;
}
