import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long steps may take in one turn of the event loop, in milliseconds. */
const maxTurnMs = 10;

/**
 * Does work that comes in steps, with a turn of the event loop for others whenever some steps have taken ten
 * milliseconds.
 *
 * @param now a clock in milliseconds.
 * @returns the result of the last step.
 * @throws what a step throws, or when the signal is aborted.
 */
export async function inTurns<T>(
  steps: Iterator<undefined, T>,
  signal: AbortSignal,
  now: () => number = () => performance.now(),
): Promise<T> {
  let began = now();
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) {
      return step.value;
    }
    if (now() - began >= maxTurnMs) {
      await nextTurn(undefined, { signal });
      began = now();
    }
  }
}
