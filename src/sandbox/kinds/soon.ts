/**
 * A function after whose calls something runs once: in a moment, or after a delay in milliseconds; not once the signal is
 * aborted.
 */
export function soon(run: () => void, signal: AbortSignal, delayMs = 0): () => void {
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
      setTimeout(start, delayMs).unref();
    }
  };
}
