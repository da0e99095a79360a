import { createCache } from '../../../base/index.ts';
import type { JsonObject } from '../../../kubernetes/index.ts';
import { formatGroupHook, type HookDefinition } from '../../catalog/definition.ts';
import type { CalledObject } from '../client-types.ts';

/** Longest time for which a wait is remembered, in ms, whatever retryAfterSeconds says. */
const maxWaitMs = 24 * 60 * 60_000;

/** A successful response without any other fields. */
export function emptyResponse(hook: HookDefinition): JsonObject {
  return {
    apiVersion: `${hook.group}/${hook.version}`,
    kind: hook.response.kind,
    status: 'Success',
    message: '',
    ...(hook.isBlocking ? { retryAfterSeconds: 0 } : {}),
  };
}

/**
 * The waits that extensions have asked for. Until a wait expires, the extension is not called again.
 *
 * @param now returns milliseconds of a monotonic clock.
 */
export function createWaits(now: () => number) {
  const waits = createCache<{ until: number; message: string }>(now);
  return {
    /**
     * The key of a wait; undefined if waits of this hook are not remembered. Without a handler, it is the key for all
     * handlers of the hook.
     */
    keyOf: (hook: HookDefinition, { uid }: CalledObject, handler?: string): string | undefined =>
      hook.isBlocking && uid !== undefined ? JSON.stringify([formatGroupHook(hook), uid, handler]) : undefined,
    /** The response that replaces a call until the wait expires; undefined if there is no wait. */
    running(hook: HookDefinition, key: string | undefined): JsonObject | undefined {
      const wait = key === undefined ? undefined : waits.get(key);
      return (
        wait && {
          ...emptyResponse(hook),
          message: wait.message,
          retryAfterSeconds: Math.max(1, Math.ceil((wait.until - now()) / 1000)),
        }
      );
    },
    /** Remembers the wait that a response asks for, if any, for at most a day. */
    remember(key: string | undefined, { retryAfterSeconds, message }: Record<string, unknown>): void {
      if (key !== undefined && typeof retryAfterSeconds === 'number' && retryAfterSeconds > 0) {
        const lifeMs = Math.min(retryAfterSeconds * 1000, maxWaitMs);
        waits.set(key, { until: now() + lifeMs, message: typeof message === 'string' ? message : '' }, lifeMs);
      }
    },
  };
}
