import { vi } from 'vitest';

interface Timer {
  at: number;
  /** Whether it keeps the process alive. */
  isReferenced: boolean;
  everyMs: number | undefined;
  run: () => void;
}

/** Time that a test advances: `performance.now`, timers and immediates of everything that runs until `restore`. */
export function takeTime() {
  let now = 1_000;
  const timers = new Set<Timer>();
  const immediates: (() => void)[] = [];
  const add = (run: () => void, ms: number, everyMs?: number) => {
    const timer: Timer = { at: now + ms, isReferenced: true, everyMs, run };
    timers.add(timer);
    return Object.assign(timer, {
      unref() {
        timer.isReferenced = false;
        return timer;
      },
    });
  };
  const clear = (timer: unknown) => void timers.delete(timer as Timer);
  const spies = [
    vi.spyOn(performance, 'now').mockImplementation(() => now),
    vi
      .spyOn(globalThis, 'setInterval')
      .mockImplementation(((run: () => void, ms: number) => add(run, ms, ms)) as never),
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms: number) => add(run, ms)) as never),
    vi.spyOn(globalThis, 'setImmediate').mockImplementation(((run: () => void) => immediates.push(run)) as never),
    vi.spyOn(globalThis, 'clearInterval').mockImplementation(clear as never),
    vi.spyOn(globalThis, 'clearTimeout').mockImplementation(clear as never),
  ];
  /** Runs everything that is not waiting: immediates and settled promises. */
  async function settle(): Promise<void> {
    for (let turn = 0; turn < 10; turn++) {
      for (const run of immediates.splice(0)) {
        run();
      }
      await Promise.resolve();
    }
  }
  return {
    settle,
    /** Number of active timers. */
    pending: () => timers.size,
    /** The number of those that keep the process alive. */
    referenced: () => [...timers].filter(({ isReferenced }) => isReferenced).length,
    /** Advances the time, and runs what becomes due, in order. */
    async advance(ms: number): Promise<void> {
      const end = now + ms;
      for (;;) {
        const next = [...timers].sort((a, b) => a.at - b.at).find(({ at }) => at <= end);
        if (next === undefined) {
          break;
        }
        now = next.at;
        if (next.everyMs === undefined) {
          timers.delete(next);
        } else {
          next.at += next.everyMs;
        }
        next.run();
        await settle();
      }
      now = end;
      await settle();
    },
    restore() {
      for (const spy of spies) {
        spy.mockRestore();
      }
    },
  };
}
