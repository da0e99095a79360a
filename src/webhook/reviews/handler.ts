import express from 'express';
import type { Log } from '../../base/index.ts';
import {
  type AdmissionRequest,
  type ConversionReviewResponse,
  decodeAdmissionReview,
  type Json,
  JsonError,
  parseJson,
  reviewOf,
} from '../../kubernetes/index.ts';
import { type Admission, type AdmissionOutcome, type ClusterKnowledge, rejectMalformed } from '../../policy/index.ts';
import type { Exchange, Handler, Refusal } from '../../server/index.ts';
import { logConversion, logReview } from './log.ts';
import type { ReviewMetrics, Webhook } from './metrics.ts';

/** Paths as controller-runtime names them for this API. */
export const webhookPaths = {
  mutate: '/mutate-runtime-cluster-x-k8s-io-v1beta2-extensionconfig',
  validate: '/validate-runtime-cluster-x-k8s-io-v1beta2-extensionconfig',
  convert: '/convert',
  impact: '/impact',
} as const satisfies Record<Webhook, string>;

/** How reviews are decided. */
export interface Decisions {
  admission: Admission;
  /** Converts the objects of a ConversionReview; `problem` says, for the sender, why a body is none. Without it: 404. */
  convert?: ((body: Json) => { review: ConversionReviewResponse } | { problem: string }) | undefined;
  /**
   * What is known for one request, with the objects that it names; undefined if none had to be read. Never rejects. Without
   * it, what is known about the cluster may be older than the request.
   */
  refresh?: ((request: AdmissionRequest) => Promise<ClusterKnowledge> | undefined) | undefined;
  /** Says which Machines a write of a Cluster or a ClusterClass replaces. Never rejects. Without it: 404. */
  impact?: ((request: AdmissionRequest) => Promise<AdmissionOutcome>) | undefined;
}

/** Responds to AdmissionReviews and ConversionReviews. */
export function createHandler(
  { admission, convert, refresh, impact }: Decisions,
  { metrics, log }: { metrics: ReviewMetrics; log: Log },
): Handler {
  const webhooks: readonly Webhook[] = [
    'mutate',
    'validate',
    ...(convert === undefined ? [] : (['convert'] as const)),
    ...(impact === undefined ? [] : (['impact'] as const)),
  ];
  const otherPaths = createOtherPaths(webhooks.map((webhook) => webhookPaths[webhook]));

  function respondToConversion(body: Json, exchange: Exchange): void {
    const converted = convert?.(body) ?? { problem: 'this server does not convert' };
    if ('problem' in converted) {
      exchange.refuse({ code: 400, message: converted.problem });
      return;
    }
    exchange.respond({ code: 200, text: JSON.stringify(converted.review) });
    const durationMs = performance.now() - exchange.startedMs;
    const result = converted.review.response.result.status === 'Success' ? 'success' : 'failure';
    metrics.conversions.inc({ result });
    metrics.addDuration.convert(durationMs / 1000);
    logConversion(log, body, converted.review.response, exchange, durationMs);
  }

  function respond(
    webhook: 'mutate' | 'validate' | 'impact',
    outcome: AdmissionOutcome,
    exchange: Exchange,
    request?: AdmissionRequest,
  ): void {
    if (exchange.isGone) {
      return;
    }
    exchange.respond({ code: 200, text: JSON.stringify(reviewOf(outcome.response)) });
    const durationMs = performance.now() - exchange.startedMs;
    const { verdict, deniedBy, warnedBy, knowledge } = outcome;
    metrics.reviewCounts[webhook][request?.operation ?? 'UNKNOWN'][verdict]++;
    metrics.addDuration[webhook](durationMs / 1000);
    for (const rule of deniedBy) {
      metrics.denials.inc({ rule });
    }
    for (const rule of warnedBy) {
      metrics.warnings.inc({ rule });
    }
    for (const kind of knowledge?.unknown ?? []) {
      metrics.withoutFacts.inc({ kind });
    }
    logReview(log, { webhook, request, outcome, exchange, durationMs });
  }

  /** Responds at once, or when what the decision needs has been read. */
  function decide(webhook: Webhook, bytes: Buffer | Refusal, exchange: Exchange): void | Promise<void> {
    if (!(bytes instanceof Uint8Array)) {
      exchange.refuse(bytes);
      return;
    }
    let body: Json;
    try {
      body = parseJson(bytes);
    } catch (error) {
      if (!(error instanceof JsonError)) {
        throw error;
      }
      exchange.refuse({ code: 400, message: error.message });
      return;
    }
    if (webhook === 'convert') {
      respondToConversion(body, exchange);
      return;
    }
    const decoded = decodeAdmissionReview(body);
    if (!('request' in decoded)) {
      if (decoded.uid === undefined) {
        exchange.refuse({ code: 400, message: decoded.problem });
      } else {
        respond(webhook, rejectMalformed(decoded.uid, decoded.problem), exchange);
      }
      return;
    }
    const { request } = decoded;
    if (webhook === 'impact') {
      return impact?.(request).then((outcome) => respond(webhook, outcome, exchange, request));
    }
    const refreshing = webhook === 'validate' ? refresh?.(request) : undefined;
    if (refreshing !== undefined) {
      return refreshing.then((known) => respond(webhook, admission.validate(request, known), exchange, request));
    }
    respond(webhook, admission[webhook](request), exchange, request);
  }

  return (exchange) => {
    const { path } = exchange;
    const webhook = webhooks.find((one) => webhookPaths[one] === path);
    if (webhook === undefined) {
      otherPaths(exchange);
    } else {
      exchange.readBody('posted JSON', (body) => decide(webhook, body, exchange));
    }
  };
}

/** Handles everything except reviews, which bypass Express: it would cost more than the decision. */
function createOtherPaths(paths: readonly string[]): (exchange: Exchange) => void {
  const exchanges = new WeakMap<object, Exchange>();
  const application = express().disable('x-powered-by');
  application.use((request) => {
    exchanges.get(request)?.refuse({ code: 404, message: `no such path; the webhooks are ${paths.join(', ')}` });
  });
  return (exchange) => {
    exchanges.set(exchange.request, exchange);
    application(exchange.request, exchange.response);
  };
}
