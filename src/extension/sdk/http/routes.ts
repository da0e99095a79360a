import { hooks } from '../../../runtimehooks/index.ts';
import type { BodyRefusal, Foundation, TrackedResponse } from '../../../server/index.ts';
import { envelopeOf } from '../calls/call.ts';
import type { CallTimeout } from '../calls/call-timeout.ts';
import type { Lifetime } from '../calls/lifetime.ts';
import { callInTime, type TimedOutcome } from '../calls/timed-call.ts';
import { discoveryOf } from '../handlers/discovery.ts';
import type { Handler } from '../handlers/handler.ts';
import { type CallRecord, createCallRecord, type RecordContext } from './call-record.ts';
import { failureOf, readRequest } from './request-body.ts';

/** Replaces a handler's answer: with another body, another HTTP status, or (undefined) not at all. */
export type ReplaceAnswer = (handler: string) => { body?: string | undefined; code?: number | undefined } | undefined;

/** The handling of one path. Everything that its calls have in common is prepared once. */
export interface Route {
  /** Answers a call whose body has been read. */
  answer(bytes: Buffer, response: TrackedResponse, startedMs: number, query: string): void;
  /** The response to a call whose body was not read; undefined for a Status with the HTTP code of the refusal. */
  refuse(refused: BodyRefusal, startedMs: number): { code: number; text: string } | undefined;
}

/** The state that handlers share. */
export interface HandlerRouteContext extends RecordContext {
  connections: Pick<Foundation['connections'], 'holdDecision'>;
  timeoutFor: CallTimeout;
  replaceAnswer?: ReplaceAnswer | undefined;
  lifetime: Lifetime;
}

function refuseUnread(record: CallRecord, refused: BodyRefusal, startedMs: number, envelope: object) {
  const failure = failureOf(refused);
  if (failure === undefined) {
    return undefined;
  }
  record.refuse(refused.message, startedMs);
  return { code: 200, text: JSON.stringify({ ...envelope, ...failure }) };
}

/** The route of Discovery, whose answer is always the same. */
export function discoveryRoute(handlers: readonly Handler[], context: RecordContext): Route {
  const record = createCallRecord(hooks.Discovery.name, '', context);
  const discovery = JSON.stringify(discoveryOf(handlers));
  return {
    answer(bytes, response, startedMs) {
      const read = readRequest(bytes);
      if ('failure' in read) {
        record.finish({ result: 'invalid request', text: JSON.stringify(read.failure) }, response, startedMs);
      } else {
        record.finish({ result: 'success', text: discovery }, response, startedMs);
      }
    },
    refuse: (refused, startedMs) => refuseUnread(record, refused, startedMs, {}),
  };
}

/** The route of one handler. */
export function handlerRoute(handler: Handler, context: HandlerRouteContext): Route {
  const { connections, log, timeoutFor, replaceAnswer } = context;
  const { name, hook, timeoutSeconds } = handler;
  const envelope = envelopeOf(handler);
  const record = createCallRecord(hook.name, name, context);

  /** Sends the result of a call, or a 504 if the handler has not answered in `timeoutMs`. */
  function conclude(outcome: TimedOutcome, response: TrackedResponse, startedMs: number, timeoutMs: number) {
    if (outcome === 'gone') {
      record.count('error', startedMs);
      log.warn(record.names, 'the caller disconnected before its answer');
    } else if (outcome === 'late') {
      // As when the call times out at the caller: failurePolicy applies, unlike for a Failure.
      const message = `handler ${name} did not answer within ${timeoutMs / 1000} s`;
      log.error({ ...record.names, timeoutMs }, 'the handler did not answer in time');
      const text = JSON.stringify({ ...envelope, status: 'Failure', message });
      record.finish({ result: 'error', code: 504, text }, response, startedMs);
    } else {
      const { response: answered, result, cluster } = outcome;
      const replaced = replaceAnswer?.(name);
      const text = replaced?.body ?? outcome.text;
      const { retryAfterSeconds } = answered;
      record.finish({ result, code: replaced?.code, text, retryAfterSeconds, cluster }, response, startedMs);
    }
  }

  return {
    answer(bytes, response, startedMs, query) {
      // However long the handler takes, the client does not count as stalled.
      connections.holdDecision(response);
      const read = readRequest(bytes);
      if ('failure' in read) {
        const text = JSON.stringify({ ...envelope, ...read.failure });
        record.finish({ result: 'invalid request', text }, response, startedMs);
        return;
      }
      const timeoutMs = timeoutFor(query, timeoutSeconds);
      callInTime(handler, read.request, response, timeoutMs, context, (outcome) =>
        conclude(outcome, response, startedMs, timeoutMs),
      );
    },
    refuse: (refused, startedMs) => refuseUnread(record, refused, startedMs, envelope),
  };
}
