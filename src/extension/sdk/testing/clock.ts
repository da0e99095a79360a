import { AsyncLocalStorage } from 'node:async_hooks';

/** By how many milliseconds `Date` is ahead in what an action does. */
const ahead = new AsyncLocalStorage<number>();
let actions = 0;
let real = Date;

/** `Date` as an action sees it; for everything else it shows the real time. */
function shiftedDate(): DateConstructor {
  const now = () => real.now() + (ahead.getStore() ?? 0);
  return new Proxy(real, {
    construct: (target, values, newTarget) =>
      Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget),
    apply: () => new real(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
}

/** Runs an action for which `Date` is ahead of time. Timers and `performance` are as always. */
export async function withDateAhead<T>(milliseconds: number, action: () => Promise<T>): Promise<T> {
  if (actions++ === 0) {
    real = globalThis.Date;
    globalThis.Date = shiftedDate();
  }
  try {
    return await ahead.run(milliseconds, action);
  } finally {
    if (--actions === 0) {
      globalThis.Date = real;
    }
  }
}

/** A clock that the test advances, for `now` of `createJobs`. */
export function fakeClock(startMs = 0): { now: () => number; advance(seconds: number): void } {
  let current = startMs;
  return {
    now: () => current,
    advance(seconds) {
      current += seconds * 1000;
    },
  };
}
