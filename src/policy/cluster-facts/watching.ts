import type { KubeConfig } from '@kubernetes/client-node';
import { connect, Informer, objectKey, type WatchPace } from '../../kubernetes/client/index.ts';
import { type AdmissionRequest, type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import type { ClusterKnowledge } from '../admission/admission.ts';
import { type CollectedKind, collectedKinds, createFactsStore, type FactKind } from '../facts/store.ts';
import { createRefresh } from './refresh.ts';

/** Maximum number of objects of a kind: some 1.6 KiB each, 80 MiB. With more, nothing is known about that kind. */
const maxObjects = 50_000;
/**
 * Maximum number of characters of JSON of a kind in memory, in case objects are as large as allowed: an ordinary one
 * takes 300.
 */
const maxLength = 32 * 1024 * 1024;
/** Age from which facts are unknown, in ms: the API server must be unreachable, or the permission to watch missing. */
const maxAgeMs = 600_000;
const requestDeadlineMs = 10_000;

/** Where an API server has the objects of a kind, and its name in permissions, in the version served since Cluster API 1.11. */
const ofGroup = (group: string, plural: string) => ({
  path: `/apis/${group}/v1beta2/${plural}`,
  resource: `${plural}.${group}`,
});
const resources = {
  ExtensionConfig: ofGroup('runtime.cluster.x-k8s.io', 'extensionconfigs'),
  ClusterClass: ofGroup('cluster.x-k8s.io', 'clusterclasses'),
  Cluster: ofGroup('cluster.x-k8s.io', 'clusters'),
  Namespace: { path: '/api/v1/namespaces', resource: 'namespaces' },
  Service: { path: '/api/v1/services', resource: 'services' },
} satisfies Record<CollectedKind, object>;

export interface WatchingOptions {
  config: KubeConfig;
  /** Called with why facts about a kind may be stale or missing, and a remedy; with undefined when they are current. */
  onProblem?(kind: FactKind, problem: string | undefined): void;
  /** Returns milliseconds of a monotonic clock. Default: that of the informers. */
  now?: () => number;
  /** Intervals of watching, in ms; tests pass shorter ones. */
  pace?: Partial<WatchPace>;
}

/** The metadata by which an object, and its version, is recognized. */
function identityOf(object: JsonObject): JsonObject {
  const { namespace = null, name = null, uid = null, resourceVersion = null } = objectAt(object, 'metadata');
  return { namespace, name, uid, resourceVersion };
}

/** Watches the objects that rules have facts about. APIs that are not served are looked for again from time to time. */
export function watchCluster({ config, onProblem, now = () => performance.now(), pace = {} }: WatchingOptions) {
  const stop = new AbortController();
  const cluster = connect(config, stop.signal, { retries: 0, deadlineMs: requestDeadlineMs });
  const named = createRefresh(cluster, (problem) => {
    if (!stop.signal.aborted) {
      onProblem?.('Secret', problem);
    }
  });
  const store = createFactsStore();
  const watches = collectedKinds.map((kind) => {
    const collection = store.collections[kind];
    const informer = new Informer(config, {
      ...resources[kind],
      mayBeAbsent: true,
      keep: (object) => ({
        metadata: identityOf(object),
        facts: collection.reduce(objectKey(object), object) as Json,
      }),
      maxObjects,
      maxLength,
      onChange({ type, key, object }) {
        if (type === 'deleted') {
          collection.delete(key);
        } else {
          collection.set(key, object.facts);
        }
      },
      onProblem: (problem) => onProblem?.(kind, problem),
      pace,
    });
    return { kind, collection, informer };
  });
  type KindWatch = (typeof watches)[number];

  /** How long ago the API server last confirmed the objects, in ms; undefined before all have been listed. */
  function ageOf({ informer: { isSynced, confirmedAt } }: KindWatch): number | undefined {
    return isSynced && confirmedAt !== undefined ? Math.max(0, now() - confirmedAt) : undefined;
  }

  function knownAgeOf(watch: KindWatch): number | undefined {
    const ageMs = ageOf(watch);
    return ageMs !== undefined && ageMs <= maxAgeMs ? ageMs : undefined;
  }

  /** The current facts, but for those about Secrets, without waiting. */
  function read(): ClusterKnowledge {
    const ages = new Map<CollectedKind, number>();
    for (const watch of watches) {
      const ageMs = knownAgeOf(watch);
      if (ageMs !== undefined) {
        ages.set(watch.kind, ageMs);
      }
    }
    return {
      facts: store.factsAbout([...ages.keys()]),
      ageMs: ages.size === 0 ? undefined : Math.max(...ages.values()),
      unknown: collectedKinds.filter((kind) => !ages.has(kind)),
    };
  }

  /** `ageMs` is the age of the copy; undefined if nothing has been read yet, and for Secrets. */
  function status(kind: FactKind) {
    const watch = watches.find((candidate) => candidate.kind === kind);
    if (watch === undefined) {
      // Secrets are read one by one, when a request names one.
      const problem = named.secretProblem;
      return { isKnown: problem === undefined, ageMs: undefined, objects: 0, problem };
    }
    const { collection, informer } = watch;
    const isKnown = knownAgeOf(watch) !== undefined;
    return { isKnown, ageMs: ageOf(watch), objects: collection.size, problem: informer.problem };
  }

  return {
    read,
    /**
     * The facts for the decision on a request, with the objects that it names as they are now; undefined if `read` tells
     * as much. Takes a second at most, and never rejects.
     */
    refresh: (request: AdmissionRequest) => named.refresh(request, read),
    status,
    /** Resolves when every kind has been listed once, or is known not to be served. */
    synced: Promise.all(watches.map(({ informer }) => informer.synced)),
    stop(): void {
      stop.abort();
      for (const { informer } of watches) {
        informer.stop();
      }
    },
  };
}

export type Watching = ReturnType<typeof watchCluster>;
