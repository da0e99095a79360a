import type { Logger } from 'pino';
import type { AdmissionOutcome } from '../admission/index.ts';
import type { AdmissionRequest } from '../kubernetes/index.ts';
import type { Webhook } from './metrics.ts';

/** Names from a review are cut here: a log line is no place for somebody's megabyte. */
const maxNameLength = 253;

const messages = {
  allowed: 'allowed',
  warned: 'allowed with warnings',
  denied: 'denied',
  malformed: 'malformed review',
} as const;

/**
 * Logs one line for a review: at info when it was denied or warned about, at debug when it was allowed. Who, what and
 * by which rules; never the object, since messages and fields may hold what is secret.
 */
export function logDecision(
  log: Logger,
  webhook: Webhook,
  request: AdmissionRequest | undefined,
  outcome: AdmissionOutcome,
  durationMs: number,
): void {
  const level = outcome.verdict === 'allowed' ? 'debug' : 'info';
  if (!log.isLevelEnabled(level)) {
    return;
  }
  log[level](
    {
      webhook,
      uid: outcome.response.uid,
      ...(request !== undefined && {
        operation: request.operation,
        ...(request.subResource !== '' && { subResource: request.subResource.slice(0, maxNameLength) }),
        name: request.name.slice(0, maxNameLength),
        username: request.username.slice(0, maxNameLength),
        dryRun: request.dryRun,
      }),
      ...(outcome.deniedBy.length > 0 && { deniedBy: outcome.deniedBy }),
      ...(outcome.warnedBy.length > 0 && { warnedBy: outcome.warnedBy }),
      durationMs: Math.round(durationMs * 1000) / 1000,
    },
    messages[outcome.verdict],
  );
}
