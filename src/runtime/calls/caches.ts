import { hooksGroup } from '../../hooks/index.ts';
import { fieldAt, isJsonObject, type Json, type JsonObject } from '../../kubernetes/index.ts';
import type { Extension } from '../registry/index.ts';

/** A cache whose entries expire. */
export interface Cache<T> {
  get(key: string): T | undefined;
  set(key: string, value: T, lifeMs: number): void;
}

/** Maximum number of entries of a cache. Each belongs to a Cluster or a handler; the oldest is evicted first. */
const maxEntries = 10_000;

/** Creates a cache of at most 10,000 entries. */
export function createCache<T>(now: () => number): Cache<T> {
  const entries = new Map<string, { value: T; until: number }>();
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry !== undefined && entry.until <= now()) {
        entries.delete(key);
        return undefined;
      }
      return entry?.value;
    },
    set(key, value, lifeMs) {
      entries.delete(key);
      entries.set(key, { value, until: now() + lifeMs });
      const [oldest] = entries.keys();
      if (entries.size > maxEntries && oldest !== undefined) {
        entries.delete(oldest);
      }
    },
  };
}

const minute = 60_000;
const day = 24 * 60 * minute;

/** Longest time for which a wait is remembered, in ms, whatever retryAfterSeconds says. */
export const maxWaitMs = day;

/** Settings in a fixed order: with Go's random order, upstream misses its own cache. */
function settingsOf(request: JsonObject): Json {
  const { settings } = request;
  return isJsonObject(settings) ? Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1)) : [];
}

/** How long a response is cached, and under which key; undefined: not cached. */
interface ResponseCaching {
  lifeMs: number;
  keyOf(handler: string, extension: Extension, request: JsonObject): Json | undefined;
}

/**
 * The responses that upstream caches, for the same time. The keys contain UIDs where upstream's have names, so that a
 * cached response is not used for an object that was deleted and created again.
 */
const responseCaching: Readonly<Record<string, ResponseCaching>> = {
  DiscoverVariables: {
    lifeMs: 10 * minute,
    keyOf: (handler, { uid, resourceVersion }, request) => [handler, uid, resourceVersion, settingsOf(request)],
  },
  GenerateUpgradePlan: {
    lifeMs: 10 * minute,
    keyOf: (handler, _extension, request) => {
      const uid = fieldAt(request, 'cluster', 'metadata', 'uid');
      return uid === undefined
        ? undefined
        : [
            handler,
            uid,
            request.fromControlPlaneKubernetesVersion ?? null,
            request.fromWorkersKubernetesVersion ?? null,
            request.toKubernetesVersion ?? null,
          ];
    },
  },
  CanUpdateMachineSet: {
    lifeMs: day,
    keyOf: (handler, _extension, request) => [handler, request.current ?? null, request.desired ?? null],
  },
};

/** How responses of a hook are cached; undefined for hooks that are always called. */
export function responseCachingOf({ group, name }: { group: string; name: string }): ResponseCaching | undefined {
  return group === hooksGroup && Object.hasOwn(responseCaching, name) ? responseCaching[name] : undefined;
}
