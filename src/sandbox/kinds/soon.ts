/**
 * Runs something once for all calls of `schedule` until then: after a delay, or in the next turn of the event loop.
 *
 * @param delayMs in milliseconds.
 */
export function soon(run: () => void, delayMs?: number): { schedule(): void; stop(): void } {
  let isScheduled = false;
  let isStopped = false;
  const start = () => {
    isScheduled = false;
    if (!isStopped) {
      run();
    }
  };
  return {
    schedule() {
      if (!isScheduled) {
        isScheduled = true;
        delayMs === undefined ? setImmediate(start) : setTimeout(start, delayMs).unref();
      }
    },
    stop() {
      isStopped = true;
    },
  };
}
