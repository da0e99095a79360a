import type { Log } from '../../base/index.ts';
import {
  type AdmissionRequest,
  type ConversionReviewResponse,
  decodeAdmissionReview,
  type Json,
  objectAt,
  reviewOf,
} from '../../kubernetes/index.ts';
import { type AdmissionOutcome, rejectMalformed } from '../../policy/index.ts';
import { type BodyHandler, clientOf, type InFlight, jsonIn, Refusal } from '../../server/index.ts';
import type { ReviewMetrics } from './metrics.ts';

type ReviewWebhook = 'mutate' | 'validate' | 'impact';

export interface ReviewContext {
  inFlight: InFlight;
  metrics: ReviewMetrics;
  log: Log;
}

/** The route of a webhook: decode, decide, respond, count, log. */
export function review(
  webhook: ReviewWebhook,
  decide: (request: AdmissionRequest) => AdmissionOutcome | Promise<AdmissionOutcome>,
  { inFlight, metrics, log }: ReviewContext,
): BodyHandler {
  return async (call, response) => {
    const decoded = decodeAdmissionReview(jsonIn(call.body));
    const request = 'request' in decoded ? decoded.request : undefined;
    let outcome: AdmissionOutcome;
    if ('request' in decoded) {
      const decided = decide(decoded.request);
      outcome = decided instanceof Promise ? await decided : decided;
    } else if (decoded.uid === undefined) {
      throw new Refusal(400, decoded.problem);
    } else {
      outcome = rejectMalformed(decoded.uid, decoded.problem);
    }
    if (response.destroyed) {
      return;
    }
    inFlight.send(response, { code: 200, text: JSON.stringify(reviewOf(outcome.response)) });
    const durationMs = performance.now() - response.locals.startedMs;
    const { verdict, deniedBy, warnedBy, knowledge } = outcome;
    metrics.reviews.inc({ webhook, operation: request?.operation ?? 'UNKNOWN', verdict });
    metrics.durations.observe({ webhook }, durationMs / 1000);
    for (const rule of deniedBy) {
      metrics.denials.inc({ rule });
    }
    for (const rule of warnedBy) {
      metrics.warnings.inc({ rule });
    }
    for (const kind of knowledge?.unknown ?? []) {
      metrics.withoutFacts.inc({ kind });
    }
    logReview(log, { webhook, request, outcome, socket: call.socket, durationMs });
  };
}

const messages = {
  allowed: 'allowed',
  warned: 'allowed with warnings',
  denied: 'denied',
  malformed: 'malformed review',
} as const;

/** Longest name that is logged, in characters, and that Kubernetes allows. */
const maxNameLength = 253;

const rounded = (durationMs: number) => Math.round(durationMs * 1000) / 1000;

interface AnsweredReview {
  webhook: ReviewWebhook;
  /** Absent if the review was malformed. */
  request: AdmissionRequest | undefined;
  outcome: AdmissionOutcome;
  socket: { remoteAddress?: string | undefined };
  durationMs: number;
}

/** One line for a review, at info unless it was allowed. Never the object: messages and fields may contain secrets. */
export function logReview(log: Log, { webhook, request, outcome, socket, durationMs }: AnsweredReview): void {
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
      client: clientOf(socket),
      durationMs: rounded(durationMs),
    },
    messages[verdict],
  );
}

/** Converts the objects of a ConversionReview; `problem` says why a body is none. */
export type Convert = (body: Json) => { review: ConversionReviewResponse } | { problem: string };

const maxReasonLength = 1024;

/** The route of conversions: decode, convert, respond, count, log. */
export function conversion(convert: Convert, { inFlight, metrics, log }: ReviewContext): BodyHandler {
  return (request, response) => {
    const body = jsonIn(request.body);
    const converted = convert(body);
    if ('problem' in converted) {
      throw new Refusal(400, converted.problem);
    }
    inFlight.send(response, { code: 200, text: JSON.stringify(converted.review) });
    const durationMs = performance.now() - response.locals.startedMs;
    const { uid, result } = converted.review.response;
    // Objects can then be neither read nor written in that version. The reason names object and field, not the value.
    const failure = result.status === 'Failure' && { reason: result.message.slice(0, maxReasonLength) };
    metrics.conversions.inc({ result: failure ? 'failure' : 'success' });
    metrics.durations.observe({ webhook: 'convert' }, durationMs / 1000);
    const level = failure ? 'warn' : 'debug';
    if (log.isLevelEnabled(level)) {
      const { desiredAPIVersion, objects } = objectAt(body, 'request');
      log[level](
        {
          webhook: 'convert',
          uid,
          ...failure,
          ...(typeof desiredAPIVersion === 'string' && {
            desiredAPIVersion: desiredAPIVersion.slice(0, maxNameLength),
          }),
          ...(Array.isArray(objects) && { objects: objects.length }),
          client: clientOf(request.socket),
          durationMs: rounded(durationMs),
        },
        failure ? 'conversion failed' : 'converted',
      );
    }
  };
}
