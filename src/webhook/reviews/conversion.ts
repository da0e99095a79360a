import type { Log } from '../../base/index.ts';
import { type ConversionResponse, type ConversionReviewResponse, type Json, objectAt } from '../../kubernetes/index.ts';
import { type BodyHandler, clientOf, jsonIn, Refusal } from '../../server/index.ts';
import { maxNameLength, type ReviewContext, rounded } from './review.ts';

/** Converts the objects of a ConversionReview; `problem` says, for the sender, why a body is none. */
export type Convert = (body: Json) => { review: ConversionReviewResponse } | { problem: string };

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
    const answer = converted.review.response;
    metrics.conversions.inc({ result: answer.result.status === 'Success' ? 'success' : 'failure' });
    metrics.durations.observe({ webhook: 'convert' }, durationMs / 1000);
    logConversion(log, body, answer, clientOf(request.socket), durationMs);
  };
}

const maxReasonLength = 1024;

/** A failed conversion is a warning, since objects can then be neither read nor written in that version. */
function logConversion(
  log: Log,
  body: Json,
  { uid, result }: ConversionResponse,
  client: string | undefined,
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
