import type { Log } from '../base/index.ts';

/** How many lines with the same message are written a minute: clients can cause them as often as they like. */
const maxPerMinute = 20;

/** Logs at info, at most 20 lines a minute with the same message; the first line of the next minute counts those left out. */
export function createLimitedLog(log: Log, nowMs = () => performance.now()) {
  const minutes = new Map<string, { startedMs: number; lines: number }>();
  return (fields: Record<string, unknown>, message: string): void => {
    let minute = minutes.get(message);
    let leftOut = 0;
    if (minute === undefined || nowMs() - minute.startedMs >= 60_000) {
      leftOut = Math.max(0, (minute?.lines ?? 0) - maxPerMinute);
      minute = { startedMs: nowMs(), lines: 0 };
      minutes.set(message, minute);
    }
    minute.lines++;
    if (minute.lines <= maxPerMinute) {
      log.info({ ...fields, ...(leftOut > 0 && { leftOut }) }, message);
    }
  };
}
