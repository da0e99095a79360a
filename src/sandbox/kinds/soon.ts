/**
 * A function after whose calls something runs once: in the next turn of the event loop, or after a delay in milliseconds; not
 * once the signal is aborted.
 */
export function soon(run: () => void, signal: AbortSignal, delayMs?: number): () => void {
  let isScheduled = false;
  function start(): void {
    isScheduled = false;
    if (!signal.aborted) {
      run();
    }
  }
  return () => {
    if (!isScheduled) {
      isScheduled = true;
      delayMs === undefined ? setImmediate(start) : setTimeout(start, delayMs).unref();
    }
  };
}
