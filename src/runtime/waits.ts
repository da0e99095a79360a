import { formatGroupHook, type HookDefinition } from '../hooks/index.ts';
import type { JsonObject } from '../kubernetes/index.ts';
import { createCache, maxWaitMs } from './caches.ts';
import type { CalledObject } from './client-types.ts';

/** A remembered wait: until when, in ms, and what the extension said. */
interface Wait {
  until: number;
  message: string;
}

/** The waits that extensions have asked for: until they run out, an extension is not called again. */
export interface Waits {
  /** The key of a wait; undefined where none is remembered. Without a handler it is that of all handlers of a hook. */
  keyOf(hook: HookDefinition, object: CalledObject, handler?: string): string | undefined;
  /** The response in place of a call while a wait has not run out; undefined when there is none. */
  running(hook: HookDefinition, key: string | undefined): JsonObject | undefined;
  /** Remembers the wait that a response asks for, if any, for at most a day. */
  remember(key: string | undefined, response: Record<string, unknown>): void;
}

/** A response with nothing but Success. */
export function emptyResponse(hook: HookDefinition): JsonObject {
  return {
    apiVersion: `${hook.group}/${hook.version}`,
    kind: hook.response.kind,
    status: 'Success',
    message: '',
    ...(hook.isBlocking ? { retryAfterSeconds: 0 } : {}),
  };
}

/** Creates a store of waits. `now` is in milliseconds, on a monotonic clock. */
export function createWaits(now: () => number): Waits {
  const waits = createCache<Wait>(now);
  return {
    keyOf: (hook, { uid }, handler) =>
      hook.isBlocking && uid !== undefined ? JSON.stringify([formatGroupHook(hook), uid, handler]) : undefined,
    running(hook, key) {
      const wait = key === undefined ? undefined : waits.get(key);
      return (
        wait && {
          ...emptyResponse(hook),
          message: wait.message,
          retryAfterSeconds: Math.max(1, Math.ceil((wait.until - now()) / 1000)),
        }
      );
    },
    remember(key, { retryAfterSeconds, message }) {
      if (key !== undefined && typeof retryAfterSeconds === 'number' && retryAfterSeconds > 0) {
        const lifeMs = Math.min(retryAfterSeconds * 1000, maxWaitMs);
        waits.set(key, { until: now() + lifeMs, message: typeof message === 'string' ? message : '' }, lifeMs);
      }
    },
  };
}
