import type { Log } from '../../../base/index.ts';

/** From which time on a warning says that nothing else could run, and how often it may, in milliseconds. */
const blockedMs = 100;
const silenceMs = 60_000;
const intervalMs = 50;

/** Watches for handlers that keep the event loop from answering other calls. */
export interface LoopWatch {
  /** A handler ran this long until it returned. */
  returned(handler: string, ms: number): void;
  /** A handler returned a promise, and may block later; the result is to be called when it has ended. */
  waiting(handler: string): () => void;
}

/** @param stopping when nothing is watched any more, whatever never ends. */
export function createLoopWatch(log: Pick<Log, 'warn'>, stopping: AbortSignal): LoopWatch {
  let warnedMs = Number.NEGATIVE_INFINITY;
  const inFlight = new Map<symbol, string>();
  let interval: NodeJS.Timeout | undefined;

  function warn(handlers: readonly string[], ms: number): void {
    const now = performance.now();
    if (ms > blockedMs && now - warnedMs > silenceMs) {
      warnedMs = now;
      log.warn(
        { handlers, blockedMs: Math.round(ms) },
        'the event loop was blocked, and no other call was answered meanwhile: handlers must not compute or wait synchronously for that long',
      );
    }
  }

  stopping.addEventListener('abort', () => clearInterval(interval));

  let [wasMs, cpu] = [performance.now(), process.cpuUsage()];
  /** What a timer that is late tells, but not if the whole machine was busy with something else. */
  function check(): void {
    const [nowMs, used] = [performance.now(), process.cpuUsage(cpu)];
    warn([...new Set(inFlight.values())], Math.min(nowMs - wasMs - intervalMs, (used.user + used.system) / 1000));
    [wasMs, cpu] = [nowMs, process.cpuUsage()];
  }

  return {
    returned: (handler, ms) => warn([handler], ms),
    waiting(handler) {
      const id = Symbol(handler);
      inFlight.set(id, handler);
      if (interval === undefined) {
        [wasMs, cpu] = [performance.now(), process.cpuUsage()];
        interval = setInterval(check, intervalMs).unref();
      }
      return () => {
        check();
        inFlight.delete(id);
        if (inFlight.size === 0) {
          clearInterval(interval);
          interval = undefined;
        }
      };
    },
  };
}
