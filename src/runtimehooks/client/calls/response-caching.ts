import { fieldAt, isJsonObject, type Json, type JsonObject } from '../../../kubernetes/index.ts';
import { hooksGroup } from '../../catalog/definitions/parts.ts';
import type { Extension } from '../registry/registration.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

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
