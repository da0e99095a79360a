import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { connect, type WatchPace } from '../../kubernetes/client/index.ts';
import type { AdmissionRequest } from '../../kubernetes/index.ts';
import type { ClusterKnowledge } from '../admission/admission.ts';
import type { FactKind } from '../facts/facts.ts';
import { type CollectedKind, collectedKinds, createFactsStore } from '../facts/store.ts';
import { KindWatch, type KindWatchContext } from './kind-watch.ts';
import { createNamedObjects } from './named-objects.ts';
import { refreshed } from './refresh.ts';

/** Intervals of watching, in ms; tests pass shorter ones. */
export interface WatchingPace {
  informers: Partial<WatchPace>;
  versionsMs: number;
  maxAgeMs: number;
}

/** After ten minutes the API server must be unreachable, or the permission to watch missing. */
const defaultPace: WatchingPace = {
  informers: {},
  versionsMs: 10_000,
  maxAgeMs: 600_000,
};

const requestDeadlineMs = 10_000;

export interface WatchingOptions {
  config: KubeConfig;
  /** Called with why facts about a kind may be stale or missing, and a remedy; with undefined when they are current. */
  onProblem?(kind: FactKind, problem: string | undefined): void;
  /** Returns milliseconds of a monotonic clock. Default: that of the informers. */
  now?: () => number;
  pace?: Partial<WatchingPace>;
}

export interface KindStatus {
  isKnown: boolean;
  /** The age of the copy, in ms; undefined if nothing has been read yet, and for Secrets. */
  ageMs: number | undefined;
  objects: number;
  problem: string | undefined;
}

/** Watches the objects that rules have facts about. APIs that are not served are looked for again from time to time. */
export function watchCluster({ config, onProblem, now = () => performance.now(), ...options }: WatchingOptions) {
  const pace = { ...defaultPace, ...options.pace };
  const stop = new AbortController();
  const cluster = connect(config, stop.signal, { retries: 0, deadlineMs: requestDeadlineMs });
  const objects = createNamedObjects(cluster, (kind, problem) => {
    // The watch of Services reports its own problems.
    if (kind === 'Secret') {
      logState(kind, problem);
    }
  });
  const store = createFactsStore();
  const synced = Promise.withResolvers<void>();
  const context: KindWatchContext = {
    config,
    cluster,
    now,
    pace: pace.informers,
    onProblem: logState,
    onSettled() {
      if (watches.every(({ isSettled }) => isSettled)) {
        synced.resolve();
      }
    },
  };
  const watches = collectedKinds.map((kind) => new KindWatch(kind, store.collections[kind], context));

  function logState(kind: FactKind, problem: string | undefined): void {
    if (!stop.signal.aborted) {
      onProblem?.(kind, problem);
    }
  }

  async function followVersions(): Promise<void> {
    while (!stop.signal.aborted) {
      await Promise.all(watches.map((watch) => watch.findVersion()));
      await sleep(pace.versionsMs, undefined, { signal: stop.signal, ref: false }).catch(() => {});
    }
  }

  function knownAgeOf({ ageMs }: KindWatch): number | undefined {
    return ageMs !== undefined && ageMs <= pace.maxAgeMs ? ageMs : undefined;
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

  function status(kind: FactKind): KindStatus {
    const watch = watches.find((candidate) => candidate.kind === kind);
    if (watch === undefined) {
      // Secrets are read one by one, when a request names one.
      const problem = objects.problem('Secret');
      return { isKnown: problem === undefined, ageMs: undefined, objects: 0, problem };
    }
    const { ageMs, size, problem } = watch;
    return { isKnown: knownAgeOf(watch) !== undefined, ageMs, objects: size, problem };
  }

  void followVersions();
  return {
    read,
    /**
     * The facts for the decision on a request, with the objects that it names as they are now; undefined if `read` tells
     * as much. Takes a second at most, and never rejects.
     */
    refresh: (request: AdmissionRequest) => refreshed(request, read, objects),
    status,
    /** Resolves when every kind has been listed once, or is known not to be served. */
    synced: synced.promise,
    stop(): void {
      stop.abort();
      for (const watch of watches) {
        watch.stop();
      }
    },
  };
}

export type Watching = ReturnType<typeof watchCluster>;
