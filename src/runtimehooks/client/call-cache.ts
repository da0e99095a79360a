import { LRUCache } from 'lru-cache';
import { fieldAt, isJsonObject, type Json, type JsonObject } from '../../kubernetes/index.ts';
import { formatGroupHook, type HookDefinition } from '../catalog/definition.ts';
import type { CalledObject } from './client-types.ts';
import type { RegisteredHandler } from './registry.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

/** Settings in a fixed order: with Go's random order, upstream misses its own cache. */
const settingsOf = ({ settings }: JsonObject): Json =>
  isJsonObject(settings) ? Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1)) : [];

/** How long a response is cached, in ms, and under which key; undefined: not at all. */
type ResponseCaching = [lifeMs: number, keyOf: (request: JsonObject, handler: RegisteredHandler) => Json | undefined];

/** The responses that upstream caches, for the same time; by UIDs, not names, which objects that are created again share. */
const responseCaching: Readonly<Record<string, ResponseCaching>> = {
  DiscoverVariables: [
    10 * minute,
    (request, { extension: { uid, resourceVersion } }) => [uid, resourceVersion, settingsOf(request)],
  ],
  GenerateUpgradePlan: [
    10 * minute,
    (request) => {
      const { fromControlPlaneKubernetesVersion, fromWorkersKubernetesVersion = null, toKubernetesVersion } = request;
      const uid = fieldAt(request, 'cluster', 'metadata', 'uid');
      return uid === undefined
        ? undefined
        : [uid, fromControlPlaneKubernetesVersion as Json, fromWorkersKubernetesVersion, toKubernetesVersion as Json];
    },
  ],
  CanUpdateMachineSet: [day, ({ current = null, desired = null }) => [current, desired]],
};

/** @param now returns milliseconds of a monotonic clock. */
export function createCallCache(now: () => number) {
  // With `max`, each client would take 400 KiB at once, and most of its time to start.
  const answers = new LRUCache<string, JsonObject>({
    maxSize: 10_000,
    sizeCalculation: () => 1,
    ttlResolution: 0,
    perf: { now },
  });
  return {
    responseKey(hook: HookDefinition, handler: RegisteredHandler, request: JsonObject): string | undefined {
      const key = responseCaching[hook.name]?.[1](request, handler);
      return key === undefined ? undefined : JSON.stringify([formatGroupHook(hook), handler.name, key]);
    },
    /** The key of the wait that a handler, or all handlers of a hook, asked for; undefined if the hook cannot block. */
    waitKey: (hook: HookDefinition, { uid }: CalledObject, handler?: string): string | undefined =>
      hook.isBlocking && uid !== undefined ? JSON.stringify([formatGroupHook(hook), uid, handler]) : undefined,
    get(key: string | undefined): JsonObject | undefined {
      const answer = key === undefined ? undefined : structuredClone(answers.get(key));
      return answer?.retryAfterSeconds === undefined
        ? answer
        : { ...answer, retryAfterSeconds: Math.max(1, Math.ceil(answers.getRemainingTTL(key as string) / 1000)) };
    },
    /** Of a hook that can block, only a wait is remembered, for at most a day. */
    set(key: string | undefined, { name, isBlocking }: HookDefinition, response: JsonObject): void {
      const waitMs = Math.min(Number(response.retryAfterSeconds) * 1000, day);
      const lifeMs = isBlocking ? waitMs : (responseCaching[name]?.[0] ?? 0);
      if (key !== undefined && lifeMs > 0) {
        answers.set(key, structuredClone(response), { ttl: lifeMs });
      }
    },
  };
}
