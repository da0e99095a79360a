import { deepStrictEqual } from 'node:assert';
import { pino } from 'pino';
import { copyOf, type JsonObject } from '../../../kubernetes/index.ts';
import { type HookDefinition, hooks } from '../../../runtimehooks/index.ts';
import { sampleRequest } from '../../../runtimehooks/messages/index.ts';
import { type CallOutcome, call } from '../calls/call.ts';
import type { Hook, HookName, OrUndefined, RequestFor } from '../handlers/answer.ts';
import type { Handler } from '../handlers/handler.ts';

/**
 * A request of a hook with every field set, from the examples of the schemas; `fields` replaces or adds fields.
 *
 * @throws {TypeError} for a name that is not a hook of Cluster API.
 */
export function requestFor<H extends Hook>(hook: H, fields?: OrUndefined<Partial<RequestFor<H>>>): RequestFor<H> {
  if (typeof hook === 'string' && !Object.hasOwn(hooks, hook)) {
    const names = Object.keys(hooks).join(', ');
    throw new TypeError(`${JSON.stringify(String(hook).slice(0, 100))} is not a hook: there are ${names}`);
  }
  const definition: HookDefinition = typeof hook === 'string' ? hooks[hook as HookName] : hook;
  if (typeof definition?.request !== 'object') {
    throw new TypeError(
      "requestFor: pass the name of a hook, such as 'BeforeClusterCreate', or what defineHook returns",
    );
  }
  return { ...sampleRequest(definition), ...fields } as RequestFor<H>;
}

/** How a call in a test ended. */
export interface TestOutcome extends CallOutcome {
  /** What the handler logged. */
  lines: Record<string, unknown>[];
}

/**
 * Calls a handler in this process, by the same code as a call over HTTPS: request and answer are checked.
 *
 * @param request default: a sample of the hook.
 * @throws {TypeError} when the first argument is not a handler.
 */
export async function callHandler(
  handler: Handler,
  request?: object,
  { signal = new AbortController().signal }: { signal?: AbortSignal | undefined } = {},
): Promise<TestOutcome> {
  if (typeof handler?.hook?.request !== 'object') {
    throw new TypeError('this is not a handler: pass what handler(hook, { name, handle }) returns');
  }
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'trace', base: null, timestamp: false },
    { write: (line: string) => lines.push(JSON.parse(line)) },
  );
  const outcome = await call(handler, copyOf((request ?? sampleRequest(handler.hook)) as JsonObject), {
    ending: { signal },
    log,
  });
  return { ...outcome, lines };
}

function explain(outcome: TestOutcome): string {
  return `${outcome.result}: ${String(outcome.response.message ?? '')} ${JSON.stringify(outcome.lines.at(-1) ?? {})}`;
}

/** The outcome of a call. Throws for a mistake of the handler: an exception, or an invalid answer. */
async function sound(handler: Handler, request: object | undefined): Promise<TestOutcome> {
  const outcome = await callHandler(handler, request);
  if (outcome.result === 'error' || outcome.result === 'invalid answer' || outcome.result === 'invalid request') {
    throw new Error(`${handler.name}: ${explain(outcome)}`);
  }
  return outcome;
}

/**
 * Asserts that the same request gets the same answer, field for field, failures included: a patch that changes between
 * calls makes Clusters roll out forever, and a message that changes makes controllers loop.
 *
 * @throws {Error} that shows where the answers differ, or what is wrong with one.
 */
export async function assertDeterministic(handler: Handler, request?: object, times = 3): Promise<CallOutcome> {
  const first = await sound(handler, request);
  for (let count = 1; count < times; count++) {
    const next = await sound(handler, request);
    deepStrictEqual(next.response, first.response, `${handler.name}: the same request has different answers`);
  }
  return first;
}

/** Options of `assertIdempotent`. */
export interface IdempotentOptions {
  /** Called after each blocking answer to let the work proceed, for example by advancing a fake clock. */
  between?: ((retryAfterSeconds: number) => unknown) | undefined;
  /** Maximum number of calls before the handler must be done. Default: 20. */
  maxCalls?: number | undefined;
}

/**
 * Calls a handler until it no longer blocks, and then once more, as Cluster API does when another handler blocked or
 * failed, or when a write failed after the call. Asserts that the handler finishes, and that the repeated call gets the
 * same answer.
 *
 * @throws {Error} when it blocks for too long, or the answers differ.
 */
export async function assertIdempotent(
  handler: Handler,
  request?: object,
  { between, maxCalls = 20 }: IdempotentOptions = {},
): Promise<CallOutcome> {
  for (let count = 0; count < maxCalls; count++) {
    const outcome = await sound(handler, request);
    if (outcome.result !== 'blocking') {
      const again = await sound(handler, request);
      deepStrictEqual(again.response, outcome.response, `${handler.name}: called again it has another answer`);
      return outcome;
    }
    await between?.(Number(outcome.response.retryAfterSeconds));
  }
  throw new Error(`${handler.name}: it still blocks after ${maxCalls} calls`);
}

/** A clock that the test advances, for `now` of `createJobs`. */
export function fakeClock(startMs = 0): { now: () => number; advance(seconds: number): void } {
  let current = startMs;
  return {
    now: () => current,
    advance(seconds) {
      current += seconds * 1000;
    },
  };
}
