import type { Log } from '../base/index.ts';

/** How long the last lines of a log may take, in ms, if that is less than a tenth of the whole time. */
const lastLinesMs = 1_000;

async function isInTime(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), timeoutMs);
  const inTime = await Promise.race([promise.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}

/**
 * Stops a server and writes the rest of its log, within `timeoutMs` milliseconds altogether, though nobody reads the log.
 * Returns whether all has ended. @param stop gets the milliseconds after which it is to end whatever is still open.
 */
export async function stopInTime(log: Log, timeoutMs: number, stop: (timeoutMs: number) => Promise<void>) {
  const lastMs = Math.min(lastLinesMs, timeoutMs / 10);
  const hasStopped = await isInTime(stop(timeoutMs - 2 * lastMs), timeoutMs - lastMs);
  const isWritten = await isInTime(new Promise<void>((resolve) => log.flush(() => resolve())), lastMs);
  return hasStopped && isWritten;
}
