import { goDurationMs } from '../../../kubernetes/index.ts';
import { defaultTimeoutSeconds, maxTimeoutSeconds } from '../../../runtimehooks/index.ts';

/**
 * How long a caller waits for an answer, in milliseconds: according to the query of the call, else to the handler, and
 * never longer than Cluster API.
 */
export function callTimeoutMs(query: string, handlerSeconds = defaultTimeoutSeconds): number {
  const ms = goDurationMs(/(?:^|&)timeout=([^&]*)/.exec(query)?.[1] ?? '') ?? 0;
  // 0 counts as absent, as it does for API servers: a caller that waits for nothing would not call.
  return Math.min(ms > 0 ? ms : handlerSeconds * 1000, maxTimeoutSeconds * 1000);
}
