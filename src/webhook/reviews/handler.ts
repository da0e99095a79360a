import express from 'express';
import type { Log } from '../../base/index.ts';
import type { Exchange, Handler } from '../../server/index.ts';
import type { Decide, Reply, Webhook } from './decide.ts';
import { logConversion, logReview } from './log.ts';
import type { ReviewMetrics } from './metrics.ts';

/** Paths as controller-runtime names them for this API. */
export const webhookPaths = {
  mutate: '/mutate-runtime-cluster-x-k8s-io-v1beta2-extensionconfig',
  validate: '/validate-runtime-cluster-x-k8s-io-v1beta2-extensionconfig',
  convert: '/convert',
} as const satisfies Record<Webhook, string>;

interface HandlerOptions {
  webhooks: readonly Webhook[];
  decide: Decide;
  metrics: ReviewMetrics;
  /** Counts a body that gets no decision, by HTTP status code. */
  refused: (code: number) => void;
  log: Log;
}

export function createHandler({ webhooks, decide, metrics, refused, log }: HandlerOptions): Handler {
  const byPath = new Map<string, Webhook>(webhooks.map((webhook) => [webhookPaths[webhook], webhook]));
  const otherPaths = createOtherPaths([...byPath.keys()]);

  function record(webhook: Webhook, { code, note }: Reply, durationMs: number): void {
    switch (note.kind) {
      case 'review':
        metrics.review(webhook, note.request?.operation ?? 'UNKNOWN', note, durationMs / 1000);
        logReview(log, webhook, note, durationMs);
        break;
      case 'conversion':
        metrics.conversion(note.result, durationMs / 1000);
        logConversion(log, note, durationMs);
        break;
      case 'bug':
        refused(code);
        log.error({ error: note.error, stack: note.stack }, 'the decision failed');
        break;
      case 'refused':
        refused(code);
        break;
    }
  }

  return async (exchange) => {
    const webhook = byPath.get(exchange.path);
    if (webhook === undefined) {
      otherPaths(exchange);
      return;
    }
    const body = await exchange.readBody('posted JSON');
    if (!(body instanceof Uint8Array)) {
      exchange.refuse(body);
      return;
    }
    const reply = await decide(webhook, body, () => exchange.gone);
    if (!exchange.isGone) {
      exchange.respond(reply);
      record(webhook, reply, performance.now() - exchange.startedMs);
    }
  };
}

/** Handles everything except reviews, which bypass Express: it would cost more than the decision. */
function createOtherPaths(paths: readonly string[]): (exchange: Exchange) => void {
  const exchanges = new WeakMap<object, Exchange>();
  const application = express().disable('x-powered-by');
  application.use((request) => {
    const exchange = exchanges.get(request) as Exchange;
    exchange.refuse({ code: 404, message: `no such path; the webhooks are ${paths.join(', ')}` });
  });
  return (exchange) => {
    exchanges.set(exchange.request, exchange);
    // Express accepts only Node's own requests, which these are, since this port speaks only HTTP/1.1.
    application(exchange.request as never, exchange.response as never);
  };
}
