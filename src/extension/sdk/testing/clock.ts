let last: Promise<unknown> = Promise.resolve();

/** `Date` that many milliseconds ahead. It goes on, so that a handler may wait until some time has passed. */
function dateAhead(milliseconds: number, RealDate: DateConstructor): DateConstructor {
  const now = () => RealDate.now() + milliseconds;
  function DateAhead(...values: []): unknown {
    return new.target === undefined
      ? new RealDate(now()).toString()
      : Reflect.construct(RealDate, values.length === 0 ? [now()] : values, new.target);
  }
  return Object.assign(Object.setPrototypeOf(DateAhead, RealDate), { now, prototype: RealDate.prototype });
}

/** Runs an action at a date that is ahead, one at a time. Timers and `performance` are as always. */
export function withDateAhead<T>(milliseconds: number, action: () => Promise<T>): Promise<T> {
  const result = last.then(async () => {
    const RealDate = Date;
    globalThis.Date = dateAhead(milliseconds, RealDate);
    try {
      return await action();
    } finally {
      globalThis.Date = RealDate;
    }
  });
  last = result.catch(() => {});
  return result;
}
