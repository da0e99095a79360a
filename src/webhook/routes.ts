import type { Admission, AdmissionOutcome } from '../admission/index.ts';
import {
  type AdmissionRequest,
  decodeAdmissionReview,
  failure,
  type Json,
  JsonError,
  parseJson,
  reviewOf,
} from '../kubernetes/index.ts';
import {
  type Application,
  type Foundation,
  receiveBody,
  refusal,
  replying,
  type TrackedResponse,
} from '../server/index.ts';
import type { Convert } from './convert.ts';
import { logConversion, logDecision } from './decision-log.ts';
import type { ReviewMetrics, Webhook } from './metrics.ts';

/** Paths as controller-runtime names them for this API. */
export const webhookPaths = {
  mutate: '/mutate-runtime-cluster-x-k8s-io-v1beta2-extensionconfig',
  validate: '/validate-runtime-cluster-x-k8s-io-v1beta2-extensionconfig',
  convert: '/convert',
} as const satisfies Record<Webhook, string>;

/** What the routes need. */
export interface RouteContext extends Foundation {
  admission: Admission;
  convert?: Convert | undefined;
  reviews: ReviewMetrics;
}

/** The outcome for a review that could be answered, but not decided. */
function malformed(uid: string, problem: string): AdmissionOutcome {
  return {
    response: { uid, allowed: false, status: failure(400, 'BadRequest', problem) },
    verdict: 'malformed',
    deniedBy: [],
    warnedBy: [],
  };
}

/** A route that reads a JSON body within the limits and leaves it to `onJson`. */
function jsonRoute(
  context: RouteContext,
  onJson: (body: Json, response: TrackedResponse, startedMs: number) => void,
): Application {
  const { metrics, log } = context;
  const reply = replying(context);
  function refuse(response: TrackedResponse, code: number, message: string): void {
    metrics.refused(code);
    reply(response, code, JSON.stringify(refusal(code, message)));
  }
  return (request, response) => {
    const startedMs = context.monotonicNow();
    receiveBody(context, 'posted JSON', request, response, (bytes) => {
      let body: Json;
      try {
        body = parseJson(bytes);
      } catch (error) {
        if (!(error instanceof JsonError)) {
          throw error;
        }
        refuse(response, 400, error.message);
        return;
      }
      try {
        onJson(body, response, startedMs);
      } catch (error) {
        // A bug. The API server's failurePolicy says what becomes of the write. The stack names code, not values; the
        // message might hold a piece of the object.
        const name = error instanceof Error ? error.name : typeof error;
        const stack = error instanceof Error ? error.stack?.split('\n').filter((line) => /^\s+at /.test(line)) : [];
        log.error({ error: name, stack }, 'the decision failed');
        if (!response.headersSent) {
          refuse(response, 500, 'internal error; the log of extensionconfig-webhook has more');
        }
      }
    });
  };
}

/** The route of one admission webhook. */
export function admissionRoute(
  webhook: 'mutate' | 'validate',
  decide: (request: AdmissionRequest) => AdmissionOutcome,
  context: RouteContext,
): Application {
  const { metrics, reviews, log } = context;
  const reply = replying(context);
  return jsonRoute(context, (body, response, startedMs) => {
    const decoded = decodeAdmissionReview(body);
    let request: AdmissionRequest | undefined;
    let outcome: AdmissionOutcome;
    if ('request' in decoded) {
      request = decoded.request;
      outcome = decide(request);
    } else if (decoded.uid !== undefined) {
      outcome = malformed(decoded.uid, decoded.problem);
    } else {
      metrics.refused(400);
      reply(response, 400, JSON.stringify(refusal(400, decoded.problem)));
      return;
    }
    reply(response, 200, JSON.stringify(reviewOf(outcome.response)));
    const durationMs = context.monotonicNow() - startedMs;
    reviews.review(webhook, request?.operation ?? 'UNKNOWN', outcome, durationMs / 1000);
    logDecision(log, webhook, request, outcome, durationMs);
  });
}

/** The route of the conversion webhook. */
export function conversionRoute(convert: Convert, context: RouteContext): Application {
  const { metrics, reviews, log } = context;
  const reply = replying(context);
  return jsonRoute(context, (body, response, startedMs) => {
    const converted = convert(body);
    if ('problem' in converted) {
      metrics.refused(400);
      reply(response, 400, JSON.stringify(refusal(400, converted.problem)));
      return;
    }
    reply(response, 200, JSON.stringify(converted.review));
    const durationMs = context.monotonicNow() - startedMs;
    const { result } = converted.review.response;
    reviews.conversion(result.status, durationMs / 1000);
    logConversion(log, body, converted.review.response, durationMs);
  });
}

/** The routes by path. */
export function webhookRoutes(context: RouteContext): ReadonlyMap<string, Application> {
  const { admission, convert } = context;
  const routes = new Map<string, Application>([
    [webhookPaths.mutate, admissionRoute('mutate', (request) => admission.mutate(request), context)],
    [webhookPaths.validate, admissionRoute('validate', (request) => admission.validate(request), context)],
  ]);
  if (convert !== undefined) {
    routes.set(webhookPaths.convert, conversionRoute(convert, context));
  }
  return routes;
}
