import { type JsonObject, textAt } from '../../../kubernetes/index.ts';
import {
  ControllerRestart,
  type EffectOutcome,
  ReconcileError,
  type RehearsedHook,
  type Simulation,
  SimulationStopped,
} from './effects.ts';
import { clusterInRequest, conditionMessage, findOnce, pendingHooksOf, type State, tell, wrote } from './state.ts';
import { waitMs } from './time.ts';

/** Limits for a simulation that would otherwise never end. */
export interface ClusterApiLimits {
  /** Maximum number of calls of handlers. */
  maxCalls: number;
  /** Maximum number of reconciles that fail in a row. */
  maxFailures: number;
}

/** State of one reconcile. */
export interface Reconcile {
  state: State;
  limits: ClusterApiLimits;
  /** Hooks that block, with their messages. */
  blocking: Map<string, string>;
  /** Whether one of them blocks for a negative time: Cluster API then names none of them during an upgrade. */
  isNegative: boolean;
  /** When the next reconcile is due because a hook blocks, in ms. */
  requeueAt: number | undefined;
  /** Whether something was written, so that another reconcile follows. */
  isChanged: boolean;
}

/** A failure that Cluster API would report in the condition. Callers add prefixes. */
export const failed = (message: string, prefix = ''): ReconcileError => new ReconcileError(`${prefix}${message}`);

/** Records that a hook blocks until a given time. */
export function block(reconcile: Reconcile, hook: string, message: string, until: number): void {
  reconcile.blocking.set(hook, message);
  reconcile.requeueAt = Math.min(reconcile.requeueAt ?? until, until);
}

/**
 * Makes the user's edits that come right before a hook, or when nothing more happens on its own.
 *
 * @returns whether there was one.
 */
export function* editBefore(state: State, hook: RehearsedHook | undefined): Simulation<boolean> {
  const { length } = state.edits;
  for (const edit of state.edits.filter(({ before }) => before === hook)) {
    state.edits = state.edits.filter((other) => other !== edit);
    edit.apply(state.cluster.spec);
    wrote(state, 'spec');
    yield tell(state, { kind: 'user', text: edit.text, flag: 'edit' });
  }
  return state.edits.length < length;
}

/** Why a simulation ended that reached its limit of calls. */
function stopReason(state: State, hook: RehearsedHook, maxCalls: number): string {
  const { blocked, failures } = state;
  const times = blocked.get(hook) ?? 0;
  const why =
    times > 0
      ? `${hook} has blocked ${times === 1 ? 'once' : `${times} times in a row`}`
      : failures > 0
        ? `${failures === 1 ? 'a reconcile' : `${failures} reconciles in a row`} failed`
        : `${hook} would be called next`;
  const message = conditionMessage(state);
  const shown = message === '' ? '' : ` (${message})`;
  return `${maxCalls} calls were made, the limit of --max-calls, and ${why}${shown}`;
}

/** Calls one handler, or all handlers of a hook, within the limits. */
export function* call(
  { state, limits }: Pick<Reconcile, 'state' | 'limits'>,
  hook: RehearsedHook,
  fields: JsonObject | ((cluster: JsonObject) => JsonObject),
  handler?: string,
): Simulation<EffectOutcome & { ok: true | false }> {
  yield* editBefore(state, hook);
  if (state.calls >= limits.maxCalls) {
    throw new SimulationStopped(stopReason(state, hook, limits.maxCalls));
  }
  const { metadata } = state.cluster;
  const answer = yield {
    do: 'call',
    at: state.now,
    hook,
    request: typeof fields === 'function' ? fields(clusterInRequest(state, hook)) : fields,
    object: {
      namespace: textAt(metadata, 'namespace'),
      name: textAt(metadata, 'name'),
      uid: textAt(metadata, 'uid'),
    },
    pendingHooks: pendingHooksOf(state),
    ...(handler !== undefined && { handler }),
  };
  if (answer === undefined) {
    throw new TypeError('a call must be answered');
  }
  state.calls += answer.calls.length;
  if (answer.ok === 'restart') {
    throw new ControllerRestart();
  }
  return answer;
}

/** Reports a negative retryAfterSeconds, once for each hook. */
export function* reportNegative(
  state: State,
  hook: RehearsedHook,
  seconds: number,
  meaning = 'treats it as blocking, but without a wait, and calls again as soon as the Cluster is reconciled',
): Simulation {
  if (seconds < 0) {
    const text = `${hook} returned retryAfterSeconds ${seconds}: Cluster API ${meaning}`;
    const remedy = 'return a positive number of seconds while work is in progress, and 0 when it is done';
    yield* findOnce(state, 'error', text, remedy, `negative ${hook}`);
  }
}

/**
 * Calls all handlers of a hook that may block, unless an earlier answer is still cached: then none is called, even if
 * the request has changed.
 *
 * @throws {ReconcileError} when one fails.
 */
export function* ask(
  reconcile: Reconcile,
  hook: RehearsedHook,
  fields: JsonObject = {},
  prefix = '',
): Simulation<'passed' | 'blocked'> {
  const { state } = reconcile;
  const wait = state.waits.get(hook);
  if (wait !== undefined && wait.until > state.now) {
    block(reconcile, hook, wait.message, Math.max(wait.until, state.now + 1000));
    return 'blocked';
  }
  state.waits.delete(hook);
  const answer = yield* call(reconcile, hook, (cluster) => ({ cluster, ...fields }));
  if (!answer.ok) {
    throw failed(answer.error, prefix);
  }
  const { retryAfterSeconds, message } = answer.response;
  if (typeof retryAfterSeconds !== 'number' || retryAfterSeconds === 0) {
    state.blocked.delete(hook);
    return 'passed';
  }
  state.blocked.set(hook, (state.blocked.get(hook) ?? 0) + 1);
  yield* reportNegative(state, hook, retryAfterSeconds);
  reconcile.isNegative ||= retryAfterSeconds < 0;
  const until = state.now + waitMs(retryAfterSeconds);
  const text = typeof message === 'string' ? message : '';
  state.waits.set(hook, { until, message: text });
  block(reconcile, hook, text, Math.max(until, state.now + 1000));
  return 'blocked';
}
