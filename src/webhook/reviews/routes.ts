import {
  type Application,
  createRespond,
  type Foundation,
  receiveBody,
  type TrackedResponse,
} from '../../server/index.ts';
import type { Decide, Judge, Reply } from './decide.ts';
import { logConversion, logReview } from './decision-log.ts';
import type { ReviewMetrics } from './metrics.ts';
import type { SideThread } from './side-thread.ts';
import { type Webhook, webhookPaths } from './webhook.ts';

/** The dependencies of the routes. */
export interface RouteContext extends Foundation {
  /** The webhooks to serve. */
  webhooks: readonly Webhook[];
  decide: Decide;
  /** Decides on large bodies; if absent, the event loop does. */
  sideThread?: SideThread | undefined;
  /** Decides on reviews that the side thread hands back. */
  judge?: Judge | undefined;
  reviews: ReviewMetrics;
}

/** The route of one webhook: reads a body within the limits, and sends the decision. */
function webhookRoute(webhook: Webhook, context: RouteContext): Application {
  const { metrics, reviews, log, connections, decide, sideThread, judge } = context;
  const respond = createRespond(context);

  function finish(response: TrackedResponse, startedMs: number, { code, text, note }: Reply): void {
    respond(response, code, text);
    const durationMs = context.monotonicNow() - startedMs;
    switch (note.kind) {
      case 'review':
        reviews.review(webhook, note.request?.operation ?? 'UNKNOWN', note, durationMs / 1000);
        logReview(log, webhook, note, durationMs);
        break;
      case 'conversion':
        reviews.conversion(note.result, durationMs / 1000);
        logConversion(log, note, durationMs);
        break;
      case 'bug':
        metrics.refused(code);
        log.error({ error: note.error, stack: note.stack }, 'the decision failed');
        break;
      case 'refused':
        metrics.refused(code);
        break;
    }
  }

  return (request, response) => {
    const startedMs = context.monotonicNow();
    receiveBody(context, 'posted JSON', request, response, (body) => {
      if (sideThread === undefined || body.length <= sideThread.overBytes) {
        const reply = decide(webhook, body);
        if (!(reply instanceof Promise)) {
          finish(response, startedMs, reply);
          return;
        }
        connections.holdDecision(response);
        let isGone = false;
        response.once('close', () => {
          isGone = true;
        });
        reply.then((decided) => {
          if (!isGone) {
            finish(response, startedMs, decided);
          }
        });
        return;
      }
      connections.holdDecision(response);
      const gone = new AbortController();
      response.once('close', () => gone.abort());
      sideThread.decide({ webhook, body }, gone.signal).then((decided) => {
        if (!gone.signal.aborted) {
          const { handedBack } = decided;
          const reply = handedBack && webhook === 'validate' ? judge?.(webhook, handedBack) : undefined;
          finish(response, startedMs, reply ?? decided);
        }
      });
    });
  };
}

/** The routes by path. */
export function webhookRoutes(context: RouteContext): ReadonlyMap<string, Application> {
  return new Map(context.webhooks.map((webhook) => [webhookPaths[webhook], webhookRoute(webhook, context)]));
}
