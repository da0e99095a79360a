import { AssertionError, deepStrictEqual } from 'node:assert';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { pino } from 'pino';
import {
  copyOf,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonPatchOf,
  objectsAt,
  textAt,
} from '../../../kubernetes/index.ts';
import { defaultTimeoutSeconds, hooks, type UpgradePlan, upgradePlanProblem } from '../../../runtimehooks/index.ts';
import { sampleRequest } from '../../../runtimehooks/messages/index.ts';
import { type CallOutcome, call } from '../calls/call.ts';
import { createLifetime } from '../calls/lifetime.ts';
import type { HookName, OrUndefined, RequestFor, ResponseFor } from '../handlers/answer.ts';
import { definitionOf, type Handler } from '../handlers/handler.ts';
import { checkNumber } from '../handlers/options.ts';
import { type ApplyOptions, applyPatches } from './apply-patches.ts';
import { varied, withDateAhead } from './varied.ts';

/** A sample request of a hook, with every field; `fields` replace some. @throws {TypeError} for an unknown hook. */
export function requestFor<H extends HookName>(hook: H, fields?: OrUndefined<Partial<RequestFor<H>>>): RequestFor<H> {
  return { ...sampleRequest(definitionOf(hook)), ...fields } as RequestFor<H>;
}

/**
 * The request in a JSON file, such as one that `extensionconfig-webhook rehearse --write DIR` wrote.
 *
 * @throws {TypeError} for a name that is not a hook of Cluster API.
 * @throws {Error} for a file that cannot be read, or that has no request of the hook.
 */
export function requestFromFile<H extends HookName>(hook: H, file: string | URL): RequestFor<H> {
  const { request } = definitionOf(hook);
  let read: Json;
  try {
    read = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw error instanceof SyntaxError ? new Error(`${file} has no JSON: ${error.message}`) : error;
  }
  const kind = textAt(read, 'kind');
  if (kind !== request.kind) {
    throw new Error(`${file} has ${kind === '' ? 'no kind' : `a ${kind}`}, where a ${request.kind} is needed`);
  }
  return read as RequestFor<H>;
}

function freezeDeep(value: unknown): void {
  if (isJsonObject(value) || Array.isArray(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freezeDeep);
  }
}

/** How a call in a test ended. */
export interface TestOutcome<H extends HookName = HookName> extends Omit<CallOutcome, 'response'> {
  /** A Failure has no fields of its hook. */
  response: Partial<ResponseFor<H>> & { status?: 'Success' | 'Failure'; message?: string };
  /** What the handler logged. */
  lines: Record<string, unknown>[];
}

/**
 * Calls a handler in this process as over HTTPS: request (by default a sample of the hook) and answer are checked.
 *
 * @throws {Error} when the handler has not answered after its `timeoutSeconds`, at which its signal is aborted.
 */
export async function callHandler<H extends HookName>(
  handler: Handler<H>,
  request?: RequestFor<H>,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<TestOutcome<H>> {
  const { name, hook, timeoutSeconds = defaultTimeoutSeconds } = handler;
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'trace', base: null, timestamp: false },
    { write: (line: string) => lines.push(JSON.parse(line)) },
  );
  const called = copyOf((request ?? sampleRequest(hook)) as JsonObject);
  for (const item of objectsAt(called, 'items')) {
    // A change of it would have no effect.
    freezeDeep(item.object);
  }
  const timeout = new AbortController();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const message = `${name}: no answer within ${timeoutSeconds}s, after which Cluster API gives up`;
    timeout.abort(new DOMException(message, 'TimeoutError'));
    late.reject(new Error(message));
  }, timeoutSeconds * 1000);
  try {
    const outcome = await Promise.race([
      call(handler, called, {
        ending: { signal: signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]) },
        log,
        lifetime: createLifetime(),
      }),
      late.promise,
    ]);
    return { ...outcome, response: outcome.response as TestOutcome<H>['response'], lines };
  } finally {
    clearTimeout(timer);
  }
}

interface ExpectedStatus extends ApplyOptions {
  /** Default: `Success`. A handler that fails has the same answer each time, too. */
  status?: 'Success' | 'Failure' | undefined;
}

function checkStatus({ name }: Handler, outcome: TestOutcome, expected: ExpectedStatus['status'] = 'Success'): void {
  const { result, lines } = outcome;
  const response = outcome.response as JsonObject;
  const isFault = result === 'error' || result === 'invalid answer' || result === 'invalid request';
  if (isFault || (response.status !== expected && result !== 'blocking')) {
    const remedy =
      result === 'failure' ? "; pass a request that it accepts, or expect this ({ status: 'Failure' })" : '';
    const { stack, ...line } = lines.at(-1) ?? {};
    const logged = typeof stack === 'string' ? `\n${stack}` : ` ${JSON.stringify(line)}`;
    throw new Error(`${name}: ${result}: ${String(response.message ?? '')}${remedy}${logged}`);
  }
}

/** Longest answer, in bytes (3 MiB): an API server would not store the objects of a longer one. */
const maxAnswerBytes = 3 * 1024 * 1024;

/** An answer as tests compare it, with the patched templates. @throws {Error} for what Cluster API would refuse. */
function comparable(
  { hook, name }: Handler,
  request: JsonObject,
  outcome: TestOutcome,
  options: ApplyOptions,
): JsonObject {
  const response = outcome.response as JsonObject;
  if (Buffer.byteLength(outcome.text) > maxAnswerBytes) {
    throw new Error(`${name}: the answer has more than 3 MiB: answer with fewer items, or smaller ones`);
  }
  if (response.status !== 'Success') {
    return response;
  }
  if (hook === hooks.GenerateUpgradePlan) {
    const called = request as unknown as RequestFor<'GenerateUpgradePlan'>;
    const problem = upgradePlanProblem(called, response as UpgradePlan);
    if (problem !== undefined) {
      throw new Error(`${name}: ${problem}`);
    }
  }
  if (hook === hooks.GeneratePatches) {
    const { items: _, ...rest } = response;
    const called = request as unknown as RequestFor<'GeneratePatches'>;
    return { ...rest, templates: applyPatches(called, response, options) };
  }
  return response;
}

/** A day, an hour, a minute and a second, in milliseconds: times and dates in answers change. */
const turnMs = 90_061_000;

/** Calls a handler with a request that means the same; what is compared is as it would be for the given request. */
async function callVaried<H extends HookName>(
  handler: Handler<H>,
  request: RequestFor<H> | undefined,
  turn: number,
  { status, ...options }: ExpectedStatus,
): Promise<{ outcome: TestOutcome<H>; compared: JsonObject }> {
  const original = (request ?? sampleRequest(handler.hook)) as JsonObject;
  const variation = turn === 0 ? undefined : varied(original, turn);
  const outcome = await callHandler(handler, (variation?.request ?? original) as RequestFor<H>);
  checkStatus(handler, outcome, status);
  const response = variation?.original(outcome.response as JsonObject) ?? (outcome.response as JsonObject);
  return { outcome, compared: comparable(handler, original, { ...outcome, response }, options) };
}

/** Options of `assertDeterministic`. */
export interface DeterministicOptions extends ExpectedStatus {
  /** Number of calls, at least 2. Default: 3. */
  times?: number | undefined;
}

/** Of the differences, 20 are shown, each with at most 300 characters. */
function assertSame(actual: JsonObject, expected: JsonObject, what: string): void {
  if (!isDeepStrictEqual(actual, expected)) {
    const differences = jsonPatchOf(expected, actual).slice(0, 20);
    const lines = differences.map((operation) => `  ${JSON.stringify(operation).slice(0, 300)}`);
    throw new AssertionError({ message: [`${what}:`, ...lines].join('\n'), actual, expected });
  }
}

/**
 * Asserts that the same request gets the same answer, with the same templates as patched, on other days and with other uids
 * and another order of items, and that Cluster API accepts it: a patch that changes makes Clusters roll out forever.
 *
 * @throws {Error} that shows where the answers differ, or what is wrong with one, such as a Failure.
 */
export async function assertDeterministic<H extends HookName>(
  handler: Handler<H>,
  request?: RequestFor<H>,
  { times = 3, ...options }: DeterministicOptions = {},
): Promise<TestOutcome<H>> {
  // With one call, nothing would be compared.
  checkNumber('times', times, { min: 2, isWhole: true });
  const first = await withDateAhead(0, () => callVaried(handler, request, 0, options));
  let last = first;
  for (let turn = 1; turn < times; turn++) {
    const next = await withDateAhead(turn * turnMs, () => callVaried(handler, request, turn, options));
    // Work that was waited for may be done by now.
    if (last.outcome.result !== 'blocking' || next.outcome.result === 'blocking') {
      assertSame(next.compared, last.compared, `${handler.name}: the same request has different answers`);
    }
    last = next;
  }
  return first.outcome;
}

/** Options of `assertIdempotent`. */
export interface IdempotentOptions extends ExpectedStatus {
  /** Called after each blocking answer to let the work proceed, for example by advancing a fake clock. */
  between?: ((retryAfterSeconds: number) => unknown) | undefined;
  /** Maximum number of calls before the handler must be done. Default: 20. */
  maxCalls?: number | undefined;
  /** Returns the work done so far, such as the number of backups: the repeated call must not change it. */
  effects?: (() => unknown) | undefined;
}

/**
 * Calls a handler until it no longer blocks, and then once more, as Cluster API does when another handler blocked or failed
 * (CallAllExtensions in internal/runtime/client/client.go, v1.14). Asserts that it finishes with Success, and that the
 * repeated call gets the same answer and has no `effects`.
 *
 * @throws {Error} when it blocks for too long, fails, or the answers differ.
 */
export async function assertIdempotent<H extends HookName>(
  handler: Handler<H>,
  request?: RequestFor<H>,
  { between, effects, maxCalls = 20, ...options }: IdempotentOptions = {},
): Promise<TestOutcome<H>> {
  for (let turn = 0; turn < maxCalls; turn++) {
    const { outcome, compared } = await callVaried(handler, request, turn, options);
    if (outcome.result !== 'blocking') {
      const before = structuredClone(effects?.());
      const again = await callVaried(handler, request, turn + 1, options);
      assertSame(again.compared, compared, `${handler.name}: called again, it answers differently`);
      deepStrictEqual(effects?.(), before, `${handler.name}: called again, it does its work again`);
      return outcome;
    }
    await between?.(Number((outcome.response as JsonObject).retryAfterSeconds));
  }
  throw new Error(`${handler.name}: it still blocks after ${maxCalls} calls`);
}

/**
 * Asserts that Clusters do not share what is their own, such as a value that was kept from the first: each of two requests,
 * whose answers must differ, has the same answer before and after the other.
 *
 * @throws {Error} when the answers do not differ, one changes, or is wrong.
 */
export async function assertIsolated<H extends HookName>(
  handler: Handler<H>,
  requests: readonly [RequestFor<H>, RequestFor<H>],
  options: ExpectedStatus = {},
): Promise<void> {
  const first = await callVaried(handler, requests[0], 0, options);
  const second = await callVaried(handler, requests[1], 0, options);
  if (isDeepStrictEqual(second.compared, first.compared)) {
    const remedy = 'pass requests that need other answers, or look for a value that is kept for all Clusters';
    throw new Error(`${handler.name}: the second request has the answer of the first: ${remedy}`);
  }
  for (const [index, before] of [first, second].entries()) {
    const again = await callVaried(handler, requests[index], 0, options);
    const what = `${handler.name}: after a request of another Cluster, the answer differs`;
    assertSame(again.compared, before.compared, what);
  }
}
