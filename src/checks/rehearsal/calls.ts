import type { JsonObject } from '../../kubernetes/index.ts';
import {
  type CallError,
  type CallResult,
  type Client,
  isCallError,
  onlyHandlerFor,
} from '../../runtimehooks/client/index.ts';
import {
  compareReleases,
  exclusiveHooks,
  type HookDefinition,
  hooks,
  newestKnownRelease,
  type Release,
  v1,
} from '../../runtimehooks/index.ts';
import { type Call, type HandlerCall, handlerCall, isRehearsed, type Outcome, type RehearsedHook } from './events.ts';

/** Makes the calls that simulations request. */
export type Caller = (call: Call, signal: AbortSignal) => Promise<Outcome>;

/** Longest message of an extension that is kept, in characters. */
const maxMessage = 4096;

/** A copy: the result of `slice` would keep the whole response, perhaps megabytes, in memory as long as the entry. */
const messageOf = (message: unknown): string =>
  typeof message === 'string' ? Buffer.from(message.slice(0, maxMessage)).toString() : '';

/** A response with a message short enough to be kept and repeated. */
const shortened = (response: JsonObject): JsonObject => ({ ...response, message: messageOf(response.message) });

/** The first release whose errors and conditions have the messages of extensions that fail. */
const failureMessagesSince = v1(14);

/** Errors in the words of a release. */
function errorText(error: string, release: Release): string {
  return compareReleases(release, failureMessagesSince) >= 0
    ? error
    : error.replace(
        /(got failure response|got unknown response status "[^"]{0,1000}") with message: [\s\S]*$/,
        '$1, please check controller logs for errors',
      );
}

function callOf(hook: HookDefinition, handler: string, result: CallResult<JsonObject>, release: Release): HandlerCall {
  if (!result.ok) {
    const status = result.error.step === 'status' ? 'Failure' : 'Error';
    return handlerCall(handler, { status, error: errorText(result.error.message, release) });
  }
  if (result.swallowed !== undefined) {
    return handlerCall(handler, { status: 'Ignored', error: result.swallowed.message });
  }
  const { message, retryAfterSeconds } = result.response;
  return handlerCall(handler, {
    message: messageOf(message),
    // For hooks that cannot block, Cluster API does not read this field.
    retryAfterSeconds: hook.isBlocking && typeof retryAfterSeconds === 'number' ? retryAfterSeconds : 0,
  });
}

/** Creates a caller that calls extensions through a client, as Cluster API's controllers do. */
export function createCaller(client: Client, release: Release = newestKnownRelease): Caller {
  const failed = (error: string, calls: readonly HandlerCall[] = []) => ({ ok: false as const, error, calls });
  const outcomeOf = (
    result: { ok: true; response: JsonObject } | { ok: false; error: CallError },
    calls: readonly HandlerCall[],
  ) =>
    result.ok
      ? { ok: true as const, response: shortened(result.response), calls }
      : failed(errorText(result.error.message, release), calls);

  return async ({ hook: name, handler: named, object, request }, signal) => {
    const hook = hooks[name] as HookDefinition<object, object> as HookDefinition<JsonObject, JsonObject>;
    let handler = named;
    if (handler === undefined && exclusiveHooks.has(name)) {
      const only = await onlyHandlerFor(client, hook, object);
      if (isCallError(only)) {
        return failed(only.message);
      }
      handler = only;
      if (handler === undefined) {
        return name === 'UpdateMachine'
          ? failed('no extensions registered for UpdateMachine hook')
          : { ok: true, response: {}, calls: [] };
      }
    }
    if (handler !== undefined) {
      const result = await client.callExtension(hook, { handler, object, request, signal });
      return outcomeOf(result, [callOf(hook, handler, result, release)]);
    }
    const result = await client.callAllExtensions(hook, { object, request, signal });
    const calls = result.calls.map(({ handler: one, result: answer }) => callOf(hook, one, answer, release));
    return outcomeOf(result, calls);
  };
}

/** Faults, and how many tries fail or for how many seconds a second handler blocks, by default. */
const amounts = { down: 3, restart: 1, block: 30 } as const;

/** A fault to inject. */
export interface Fault {
  kind: keyof typeof amounts;
  /** The hook whose first call fails, or the number of the call, from 1. */
  where: string | number;
  amount: number;
}

/** Whether a second handler may block a hook: of those for updates in place, Cluster API accepts only one. */
const isBlockable = (hook: RehearsedHook): boolean => hooks[hook].isBlocking && hooks[hook].calls === 'all';

/**
 * Parses `KIND@WHERE` or `KIND@WHERE=AMOUNT`.
 *
 * @returns the fault, or what is wrong with the text.
 */
export function parseFault(text: string): Fault | { problem: string } {
  const [, name = '', place = '', amount] =
    /^(down|restart|block)@([A-Za-z]{1,40}|[1-9]\d{0,5})(?:=([1-9]\d{0,4}))?$/.exec(text) ?? [];
  if (name === '' || (name === 'restart' && amount !== undefined)) {
    return {
      problem:
        'it must be of the form down@BeforeClusterUpgrade=3, restart@7 or block@BeforeControlPlaneUpgrade=30, with numbers from 1',
    };
  }
  const kind = name as Fault['kind'];
  const where = /^\d/.test(place) ? Number(place) : place;
  if (typeof where === 'string') {
    if (!Object.hasOwn(hooks, where)) {
      return { problem: `${where} is not a hook: "hooks" lists them` };
    }
    if (!isRehearsed(where) || hooks[where].calls === 'server') {
      return { problem: `a rehearsal plays no call of ${where}` };
    }
    if (kind === 'block' && !isBlockable(where)) {
      return { problem: `a second handler of ${where} cannot block it` };
    }
  }
  return { kind, where, amount: Number(amount ?? amounts[kind]) };
}

/**
 * Wraps a caller so that it injects the faults of one simulation.
 *
 * @param down makes calls to servers that do not exist.
 */
export function withFaults(up: Caller, down: Caller, faults: readonly Fault[]): Caller {
  let waiting = faults;
  let calls = 0;
  /** Number of further calls that fail because the extension is down. */
  let failures = 0;
  return async (effect, signal) => {
    const strike = (kind: Fault['kind']): number => {
      const isDue = ({ where }: Fault) => (typeof where === 'number' ? calls + 1 >= where : where === effect.hook);
      const fault = waiting.find((one) => one.kind === kind && isDue(one));
      waiting = waiting.filter((one) => one !== fault);
      return fault?.amount ?? 0;
    };
    const tries = strike('down');
    failures += tries;
    const outcome = await (failures > 0 ? down : up)(effect, signal);
    if (outcome.calls.length === 0) {
      return outcome;
    }
    failures = Math.max(0, failures - 1);
    const isRestarted = strike('restart') > 0;
    const seconds = !isRestarted && outcome.ok === true && isBlockable(effect.hook) ? strike('block') : 0;
    calls += outcome.calls.length;
    if (isRestarted) {
      return { ok: 'restart', calls: outcome.calls, fault: 'the controller restarts before it acts on the answer' };
    }
    if (seconds > 0 && outcome.ok === true) {
      const { retryAfterSeconds: first, message } = outcome.response;
      const second = { message: 'the second handler is not ready', retryAfterSeconds: seconds };
      const response = {
        ...outcome.response,
        retryAfterSeconds: typeof first === 'number' && first !== 0 ? Math.min(first, seconds) : seconds,
        message: [message, second.message].filter((text) => typeof text === 'string' && text !== '').join(', '),
      };
      const blocking = handlerCall('second-handler.rehearsal', second);
      return {
        ok: true,
        response,
        calls: [...outcome.calls, blocking],
        fault: `a second handler blocks for ${seconds}s`,
      };
    }
    return tries === 0
      ? outcome
      : { ...outcome, fault: `the extensions are down for ${tries === 1 ? 'one try' : `${tries} tries`}` };
  };
}
