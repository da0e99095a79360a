import type { JsonObject } from '../../kubernetes/index.ts';
import type { HookName } from '../../runtimehooks/index.ts';
import { ReconcileError, SimulationStopped } from './player.ts';
import type { State } from './state.ts';

/** Wait after a number of failures in a row, in ms: 1 s plus 5 ms that double each time, up to 1000 s. */
export const backoffMs = (failures: number): number => 1000 + Math.min(5 * 2 ** (failures - 1), 999_000);

/** Longest wait that an answer can cause, in seconds: Cluster API forgets it after a day, and calls again. */
const longestWait = 24 * 3600;

export const waitMs = (retryAfterSeconds: number): number => Math.min(retryAfterSeconds, longestWait) * 1000;

export function block({ reconcile }: State, hook: string, message: string, until: number): void {
  reconcile.blocking.set(hook, message);
  reconcile.requeueAt = Math.min(reconcile.requeueAt ?? until, until);
}

/** Makes the user's edit that comes right before a hook, or when nothing more happens; returns whether there was one. */
export function editBefore(state: State, hook: HookName | undefined): boolean {
  const text = state.edit(state.cluster.spec, hook);
  if (text === undefined) {
    return false;
  }
  state.write({ spec: {} });
  state.tell({ kind: 'user', text: `the user ${text}` });
  return true;
}

/** Calls one handler, or all handlers of a hook. `fields`: of the request, besides the Cluster. */
export function call(
  state: State,
  hook: HookName,
  fields: JsonObject,
  { handler, withCluster = false }: { handler?: string; withCluster?: boolean } = {},
): ReturnType<State['send']> {
  editBefore(state, hook);
  const { name, namespace, limits, conditionMessage: message } = state;
  if (state.calls >= limits.maxCalls) {
    const shown = message === '' ? '' : ` (${message})`;
    throw new SimulationStopped(
      `${limits.maxCalls} calls were made, the limit, and ${hook} would be called next${shown}`,
    );
  }
  return state.send({
    hook,
    request: { ...(withCluster && { cluster: state.made.inRequest(state.cluster, hook) }), ...fields },
    object: { namespace, name, uid: String(state.cluster.metadata.uid) },
    ...(handler !== undefined && { handler }),
  });
}

/** The response to a call. @throws {ReconcileError} when it fails: the condition has the error behind `prefix`. */
export async function responseTo(prefix: string, ...request: Parameters<typeof call>): Promise<JsonObject> {
  const answer = await call(...request);
  if (!answer.ok) {
    throw new ReconcileError(`${prefix}${answer.error}`);
  }
  return answer.response;
}

/** Calls a hook that may block, unless an earlier answer is cached, even for another request. @throws {ReconcileError} */
export async function ask(
  state: State,
  hook: HookName,
  fields: JsonObject = {},
  prefix = '',
): Promise<'passed' | 'blocked'> {
  const wait = state.waits.get(hook);
  if (wait !== undefined && wait.until > state.now) {
    block(state, hook, wait.message, Math.max(wait.until, state.now + 1000));
    return 'blocked';
  }
  state.waits.delete(hook);
  const response = await responseTo(prefix, state, hook, fields, { withCluster: true });
  const { retryAfterSeconds, message } = response;
  if (typeof retryAfterSeconds !== 'number' || retryAfterSeconds === 0) {
    return 'passed';
  }
  const until = state.now + waitMs(retryAfterSeconds);
  const text = typeof message === 'string' ? message : '';
  state.waits.set(hook, { until, message: text });
  block(state, hook, text, Math.max(until, state.now + 1000));
  return 'blocked';
}
