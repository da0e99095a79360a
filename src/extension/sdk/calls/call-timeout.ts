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
 * How long a caller waits for an answer, in milliseconds: according to the query of the call, else to the handler, and
 * never longer than Cluster API.
 */
export function callTimeoutMs(query: string, handlerSeconds = defaultTimeoutSeconds): number {
  return Math.min(timeoutOf(query) ?? handlerSeconds * 1000, maxTimeoutMs);
}
