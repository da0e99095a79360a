import { setTimeout as wait } from 'node:timers/promises';
import { type JsonObject, objectsAt, textAt } from '../../kubernetes/index.ts';
import { type CallResult, type Client, isCallError, onlyHandlerFor } from '../../runtimehooks/client/index.ts';
import {
  compareReleases,
  exclusiveHooks,
  type HookDefinition,
  type HookName,
  hooks,
  newestKnownRelease,
  type Release,
  v1,
} from '../../runtimehooks/index.ts';

/** How the call of one handler ended. `Ignored`: failurePolicy `Ignore` suppressed the failure. `Error`: there was no answer. */
export interface HandlerCall {
  /** `HANDLER.EXTENSIONCONFIG`. */
  handler: string;
  status: 'Success' | 'Failure' | 'Error' | 'Ignored';
  message: string;
  retryAfterSeconds: number;
  /** Why it failed, in Cluster API's words; empty for a success. */
  error: string;
}

/** The call of a handler, by default a success without a message. */
export const handlerCall = (handler: string, more: Partial<HandlerCall>): HandlerCall => ({
  ...{ handler, status: 'Success', message: '', retryAfterSeconds: 0, error: '' },
  ...more,
});

/** The outcome of a call. If there is no handler, it is a success without calls. */
export type Outcome = { calls: readonly HandlerCall[] } & (
  | { ok: true; response: JsonObject }
  | { ok: false; error: string }
);

export interface Call {
  hook: HookName;
  request: JsonObject;
  object: { namespace: string; name: string; uid: string };
  /** Absent: all handlers of the hook. */
  handler?: string;
}

export type Condition = { kind: 'condition'; status: 'True' | 'False'; reason: string; message: string };

export type SimulatedEvent =
  | Condition
  | { kind: 'finding'; severity: 'error' | 'warning'; text: string; remedy: string }
  | { kind: 'user' | 'control-plane' | 'worker' | 'machine' | 'pending-hooks' | 'plan'; text: string };

export interface CallEntry {
  type: 'call';
  /** `NAMESPACE/NAME` of the Cluster; for DiscoverVariables `ClusterClass NAMESPACE/NAME`; empty for Discovery. */
  cluster: string;
  number: number;
  /** Milliseconds since the simulation began. */
  at: number;
  hook: HookName;
  call: HandlerCall;
  kubernetesVersion: string | undefined;
  fromKubernetesVersion: string | undefined;
  toKubernetesVersion: string | undefined;
  controlPlaneUpgrades: readonly string[] | undefined;
  workersUpgrades: readonly string[] | undefined;
  machine: string | undefined;
  /** The Cluster's annotation of pending hooks at the time of the call. */
  pendingHooks: string;
}

export interface EventEntry {
  type: 'event';
  cluster: string;
  at: number;
  event: SimulatedEvent;
}

export interface EndEntry {
  type: 'end';
  cluster: string;
  at: number;
  isComplete: boolean;
  reason: string;
  calls: number;
}

export type Entry = CallEntry | EventEntry | EndEntry;

/** Thrown inside a simulation when a reconcile fails. The message becomes that of the condition. */
export class ReconcileError extends Error {}

/** Thrown inside a simulation when it cannot be completed. */
export class SimulationStopped extends Error {}

export type Caller = (call: Call, signal: AbortSignal) => Promise<Outcome>;

/** Longest message of an extension that is kept, in characters. */
const maxMessage = 4096;

const messageOf = (message: unknown): string => (typeof message === 'string' ? message.slice(0, maxMessage) : '');

/** The first release whose errors and conditions have the messages of extensions that fail. */
const failureMessagesSince = v1(14);

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

/** A caller that calls extensions as Cluster API's controllers do, and words errors as a release does. */
export function createCaller(client: Client, release: Release = newestKnownRelease): Caller {
  return async ({ hook: name, handler: named, object, request }, signal) => {
    const hook = hooks[name] as HookDefinition<object, object> as HookDefinition<JsonObject, JsonObject>;
    const isExclusive = named === undefined && exclusiveHooks.has(name);
    const handler = isExclusive ? await onlyHandlerFor(client, hook, object) : named;
    if (isCallError(handler)) {
      return { ok: false, error: handler.message, calls: [] };
    }
    if (isExclusive && handler === undefined) {
      return name === 'UpdateMachine'
        ? { ok: false, error: 'no extensions registered for UpdateMachine hook', calls: [] }
        : { ok: true, response: {}, calls: [] };
    }
    const call = { object, request, signal };
    const result =
      handler === undefined
        ? await client.callAllExtensions(hook, call)
        : await client.callExtension(hook, { handler, ...call });
    const made = 'calls' in result ? result.calls : [{ handler: handler ?? '', result }];
    const calls = made.map((one) => callOf(hook, one.handler, one.result, release));
    return result.ok
      ? { ok: true, response: { ...result.response, message: messageOf(result.response.message) }, calls }
      : { ok: false, error: errorText(result.error.message, release), calls };
  };
}

export interface Stage {
  /** Called for every entry; entries of the same Cluster come in order. */
  onEntry: (entry: Entry) => void;
  onRequest?: ((call: CallEntry, request: JsonObject) => void) | undefined;
  signal: AbortSignal;
  /** Waits for some milliseconds of real time. */
  sleep?: ((ms: number, signal: AbortSignal) => Promise<unknown>) | undefined;
}

/**
 * How much real time passes while simulated time does, so that an extension's background work can progress, in ms: one
 * after the first waiting answer in a row, then two, four, … up to `longest`, and at most `inAll` for one wait.
 */
const pace = { longest: 200, inAll: 4000 } as const;

const interruptible = (ms: number, signal: AbortSignal): Promise<unknown> =>
  wait(ms, undefined, { signal }).catch(() => signal.throwIfAborted());

const versionsOf = (request: JsonObject, list: string): string[] | undefined =>
  Array.isArray(request[list]) ? objectsAt(request, list).map((step) => textAt(step, 'version')) : undefined;

/** One simulation, of a Cluster or of what comes before: makes calls, records what happens, lets time pass. */
export class Player {
  readonly subject: string;
  readonly #caller: Caller;
  readonly #stage: Stage;
  /** Milliseconds since the simulation began. */
  now = 0;
  calls = 0;
  hasErrors = false;
  /** The current wait: the hook that has blocked in a row, and the real time spent on it, in ms. */
  #waiting: { hook: string; paused: number } | undefined;

  constructor(subject: string, caller: Caller, stage: Stage) {
    this.subject = subject;
    this.#caller = caller;
    this.#stage = stage;
  }

  get pendingHooks(): string {
    return '';
  }

  tell(event: SimulatedEvent): void {
    this.hasErrors ||= event.kind === 'finding' && event.severity === 'error';
    this.#stage.onEntry({ type: 'event', cluster: this.subject, at: this.now, event });
  }

  find(severity: 'error' | 'warning', text: string, remedy: string): void {
    this.tell({ kind: 'finding', severity, text, remedy });
  }

  end(isComplete: boolean, reason: string): void {
    this.#stage.onEntry({ type: 'end', cluster: this.subject, at: this.now, isComplete, reason, calls: this.calls });
  }

  tellCall({ hook, request }: Pick<Call, 'hook' | 'request'>, call: HandlerCall): void {
    this.calls++;
    const text = (...path: string[]) => textAt(request, ...path) || undefined;
    const entry: CallEntry = {
      ...{ type: 'call', cluster: this.subject, number: this.calls, at: this.now, hook, call },
      pendingHooks: this.pendingHooks,
      kubernetesVersion: text('kubernetesVersion'),
      fromKubernetesVersion: text('fromKubernetesVersion') ?? text('fromControlPlaneKubernetesVersion'),
      toKubernetesVersion: text('toKubernetesVersion'),
      controlPlaneUpgrades: versionsOf(request, 'controlPlaneUpgrades'),
      workersUpgrades: versionsOf(request, 'workersUpgrades'),
      machine: text('desired', 'machine', 'metadata', 'name') ?? text('desired', 'machineSet', 'metadata', 'name'),
    };
    this.#stage.onRequest?.(entry, request);
    this.#stage.onEntry(entry);
  }

  async send(call: Call): Promise<Outcome> {
    const { signal } = this.#stage;
    const outcome = await this.#caller(call, signal);
    signal.throwIfAborted();
    // Something to show if a call could not be made at all.
    const calls =
      outcome.calls.length === 0 && !outcome.ok
        ? [handlerCall(call.handler ?? '', { status: 'Error', error: outcome.error })]
        : outcome.calls;
    for (const one of calls) {
      this.tellCall(call, one);
    }
    const isWaiting = !outcome.ok || calls.some(({ retryAfterSeconds }) => retryAfterSeconds !== 0);
    if (isWaiting !== (this.#waiting?.hook === call.hook)) {
      this.#waiting = isWaiting ? { hook: call.hook, paused: 0 } : undefined;
    }
    return outcome;
  }

  async passUntil(until: number): Promise<void> {
    const waiting = this.#waiting;
    const due = waiting === undefined || waiting.paused >= pace.inAll ? 0 : waiting.paused + 1;
    const pause = Math.min(until - this.now, due, pace.longest);
    this.now = Math.max(this.now, until);
    if (waiting !== undefined && pause > 0) {
      waiting.paused += pause;
      const { sleep = interruptible, signal } = this.#stage;
      await sleep(pause, signal);
    }
  }
}
