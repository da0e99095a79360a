import { goDurationMs } from '../../../kubernetes/index.ts';

/** How long Cluster API waits for an answer by default, in seconds. */
const defaultTimeoutSeconds = 10;
/** Longest time that a call may take, in milliseconds: Cluster API's limit. */
const maxTimeoutMs = 30_000;

/**
 * How long a caller waits for an answer, in milliseconds: according to the query of the call, else to the handler, and
 * never longer than Cluster API.
 */
export function callTimeoutMs(query: string, handlerSeconds = defaultTimeoutSeconds): number {
  const ms = goDurationMs(/(?:^|&)timeout=([^&]*)/.exec(query)?.[1] ?? '') ?? 0;
  // 0 counts as absent, as it does for API servers: a caller that waits for nothing would not call.
  return Math.min(ms > 0 ? ms : handlerSeconds * 1000, maxTimeoutMs);
}
