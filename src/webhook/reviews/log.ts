import type { Log } from '../../base/index.ts';
import { type AdmissionRequest, type ConversionResponse, type Json, objectAt } from '../../kubernetes/index.ts';
import type { AdmissionOutcome } from '../../policy/index.ts';

const messages = {
  allowed: 'allowed',
  warned: 'allowed with warnings',
  denied: 'denied',
  malformed: 'malformed review',
} as const;

/** Longest name that is logged, in characters: the longest that Kubernetes allows. */
const maxNameLength = 253;
const maxReasonLength = 1024;

const rounded = (durationMs: number) => Math.round(durationMs * 1000) / 1000;

/** Who called, by the address of the connection. */
interface Caller {
  client: string | undefined;
}

/** A review that was answered. */
interface AnsweredReview {
  webhook: 'mutate' | 'validate' | 'impact';
  /** Absent if the review was malformed. */
  request: AdmissionRequest | undefined;
  outcome: AdmissionOutcome;
  exchange: Caller;
  durationMs: number;
}

/** One line for a review, at info unless it was allowed. Never the object: messages and fields may contain secrets. */
export function logReview(log: Log, { webhook, request, outcome, exchange, durationMs }: AnsweredReview): void {
  const { response, verdict, deniedBy, warnedBy, knowledge } = outcome;
  const level = verdict === 'allowed' ? 'debug' : 'info';
  if (!log.isLevelEnabled(level)) {
    return;
  }
  log[level](
    {
      webhook,
      uid: response.uid,
      ...(request !== undefined && {
        operation: request.operation,
        ...(request.subResource !== '' && { subResource: request.subResource.slice(0, maxNameLength) }),
        name: request.name.slice(0, maxNameLength),
        username: request.username.slice(0, maxNameLength),
        dryRun: request.dryRun,
      }),
      ...(deniedBy.length > 0 && { deniedBy }),
      ...(warnedBy.length > 0 && { warnedBy }),
      ...(verdict === 'malformed' && { reason: response.status?.message }),
      ...(knowledge?.ageMs !== undefined && { factsAgeSeconds: Math.ceil(knowledge.ageMs / 1000) }),
      ...(knowledge !== undefined && knowledge.unknown.length > 0 && { factsUnknown: knowledge.unknown }),
      client: exchange.client,
      durationMs: rounded(durationMs),
    },
    messages[verdict],
  );
}

/** A failed conversion is a warning, since objects can then be neither read nor written in that version. */
export function logConversion(
  log: Log,
  body: Json,
  { uid, result }: ConversionResponse,
  { client }: Caller,
  durationMs: number,
): void {
  const level = result.status === 'Failure' ? 'warn' : 'debug';
  if (!log.isLevelEnabled(level)) {
    return;
  }
  const { desiredAPIVersion, objects } = objectAt(body, 'request');
  log[level](
    {
      webhook: 'convert',
      uid,
      // Names the object and the field, not its value.
      ...(result.status === 'Failure' && { reason: result.message.slice(0, maxReasonLength) }),
      ...(typeof desiredAPIVersion === 'string' && { desiredAPIVersion: desiredAPIVersion.slice(0, maxNameLength) }),
      ...(Array.isArray(objects) && { objects: objects.length }),
      client,
      durationMs: rounded(durationMs),
    },
    result.status === 'Failure' ? 'conversion failed' : 'converted',
  );
}
