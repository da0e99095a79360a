import { goDurationMs } from './duration.ts';

/** How long Cluster API waits for an answer by default, in seconds. */
const defaultTimeoutSeconds = 10;
/** Longest time that a call may take, in milliseconds: Cluster API's limit. */
const maxTimeoutMs = 30_000;

/**
 * The `timeout` in a call's query, in milliseconds; undefined if it is absent or not a duration. 0 counts as absent, as it
 * does for API servers: a caller that waits for nothing would not call.
 */
function timeoutOf(query: string): number | undefined {
  const text = /(?:^|&)timeout=([^&]*)/.exec(query)?.[1];
  const ms = text === undefined ? undefined : goDurationMs(text);
  return ms !== undefined && ms > 0 ? ms : undefined;
}

/**
 * Returns how long a caller waits for an answer, in milliseconds: according to the query of the call, else to the
 * handler, and never longer than Cluster API.
 */
export type CallTimeout = (query: string, handlerSeconds: number | undefined) => number;

/** Creates a reader that caches the last query, since a caller sends the same one with each call. */
export function createCallTimeout(): CallTimeout {
  let last: { query: string; ms: number | undefined } | undefined;
  return (query, handlerSeconds = defaultTimeoutSeconds) => {
    if (last?.query !== query) {
      last = { query, ms: timeoutOf(query) };
    }
    return Math.min(last.ms ?? handlerSeconds * 1000, maxTimeoutMs);
  };
}
