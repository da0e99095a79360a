const maxAtOnce = 10;

/** Runs work on all items, some concurrently; the results come in the order of the items. */
export async function* inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): AsyncGenerator<R> {
  const running: Promise<R>[] = [];
  for (const item of items) {
    const one = work(item);
    // Awaited later, in order.
    one.catch(() => {});
    running.push(one);
    if (running.length === maxAtOnce) {
      yield (await running.shift()) as R;
    }
  }
  for (const one of running) {
    yield await one;
  }
}
