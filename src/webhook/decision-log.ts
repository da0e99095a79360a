import type { Logger } from 'pino';
import type { AdmissionOutcome } from '../admission/index.ts';
import { type AdmissionRequest, type ConversionResponse, isJsonObject, type Json } from '../kubernetes/index.ts';
import type { Webhook } from './metrics.ts';

/** Names from a review are cut here: a log line is no place for somebody's megabyte. */
const maxNameLength = 253;

/** Longest reason of a failed conversion: it names an object, a field and what is wrong with it. */
const maxReasonLength = 1024;

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

/**
 * Logs one line for a ConversionReview: at warn when it failed, since objects can then be neither read nor written in that
 * version, at debug otherwise. The reason names the object and the field, not its value.
 */
export function logConversion(log: Logger, review: Json, response: ConversionResponse, durationMs: number): void {
  const { uid, result } = response;
  const level = result.status === 'Failure' ? 'warn' : 'debug';
  if (!log.isLevelEnabled(level)) {
    return;
  }
  const request = isJsonObject(review) && isJsonObject(review.request) ? review.request : {};
  const { desiredAPIVersion, objects } = request;
  log[level](
    {
      webhook: 'convert',
      uid,
      ...(typeof desiredAPIVersion === 'string' && { desiredAPIVersion: desiredAPIVersion.slice(0, maxNameLength) }),
      ...(Array.isArray(objects) && { objects: objects.length }),
      ...(result.status === 'Failure' && { reason: result.message.slice(0, maxReasonLength) }),
      durationMs: Math.round(durationMs * 1000) / 1000,
    },
    result.status === 'Failure' ? 'conversion failed' : 'converted',
  );
}
