import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import type { ClusterKnowledge } from '../admission/index.ts';
import { injectCaFromSecretAnnotation } from '../api/index.ts';
import { connect, type Informer, startInformer, type WatchPace } from '../cluster/index.ts';
import { type CollectedKind, collectedKinds, createFactsStore, type FactKind } from '../facts/index.ts';
import { isJsonObject, type JsonObject } from '../kubernetes/index.ts';
import { secretNameOf } from '../rules/index.ts';
import { factResources, keptOf, resourceName, versionPath } from './resources.ts';
import { createSecretReader, defaultSecretPace, type SecretReaderPace } from './secret-reader.ts';
import { servedVersion } from './versions.ts';

/** Times of watching, in ms; tests pass shorter ones. */
export interface WatchingPace {
  informers: Partial<WatchPace>;
  secrets: SecretReaderPace;
  /** How often the API server is asked which versions it serves. */
  versionsMs: number;
  /** How often the Secrets of all ExtensionConfigs are read. */
  sweepMs: number;
  /** How old facts may be before they count as not known. */
  maxAgeMs: number;
}

/** Facts that are ten minutes old are not used: the API server is gone, or the permission to watch. */
const defaultPace: WatchingPace = {
  informers: {},
  secrets: defaultSecretPace,
  versionsMs: 10_000,
  sweepMs: 300_000,
  maxAgeMs: 600_000,
};

/**
 * Maximum number of objects of a kind that are kept: some 1.6 KiB each, 80 MiB. In a cluster with more of a kind there
 * are no facts about that kind, only about the others.
 */
const maxObjects = 50_000;
/**
 * Maximum number of characters of JSON of a kind that are kept, for objects that are as large as they may
 * be: an ordinary one takes 300. The indexes over them take some five times as much.
 */
const maxLength = 32 * 1024 * 1024;
/** How long one request may take, in ms. */
const requestDeadlineMs = 10_000;

/** Options of `watchCluster`. */
export interface WatchingOptions {
  config: KubeConfig;
  /**
   * Why facts about a kind may be old or missing, with what to do about it; undefined when they follow the cluster
   * again.
   */
  onProblem?(kind: FactKind, problem: string | undefined): void;
  /** Milliseconds of a clock that never goes back; that of informers, unless a test has another. */
  now?: () => number;
  pace?: Partial<WatchingPace>;
}

/** How much is known about one kind. */
export interface KindStatus {
  isKnown: boolean;
  /** The age of the copy, in ms; undefined when nothing has been read yet. */
  ageMs: number | undefined;
  objects: number;
  problem: string | undefined;
}

/** Facts that follow a cluster. */
export interface Watching {
  /** What is known at this moment. Immediate. */
  read(): ClusterKnowledge;
  status(kind: FactKind): KindStatus;
  /** Resolves when every kind was read once, or is known not to be served. */
  readonly synced: Promise<void>;
  /** Resolves when no Secret waits to be read. */
  secretsRead(): Promise<void>;
  stop(): void;
}

/** The watch of one kind: its informer, once the version that the API server serves is known. */
interface Watch {
  kind: CollectedKind;
  informer: Informer | undefined;
  version: string | undefined;
  /** When the API server last said that it does not serve the kind. */
  absentAt: number | undefined;
  /** How many times in a row it said so. */
  misses: number;
  problem: string | undefined;
}

/**
 * An API server that has just started may not know its definitions yet: a resource is gone after three 404s in a row.
 */
const missesOfGone = 3;

/**
 * Watches the objects that rules know about. APIs that are not served are looked for again from time to time; until
 * then it is known that there are no such objects. Decisions never wait for any of this.
 */
export function watchCluster({
  config,
  onProblem,
  now = () => performance.now(),
  ...options
}: WatchingOptions): Watching {
  const pace = { ...defaultPace, ...options.pace };
  const stop = new AbortController();
  const cluster = connect(config, stop.signal, {
    retries: 0,
    minTimeoutMs: 0,
    maxTimeoutMs: 0,
    deadlineMs: requestDeadlineMs,
  });
  const reader = createSecretReader(cluster, now, (problem) => tell('Secret', problem), pace.secrets);
  const store = createFactsStore({ secrets: reader.facts });
  const watches = collectedKinds.map(
    (kind): Watch => ({
      kind,
      informer: undefined,
      version: undefined,
      absentAt: undefined,
      misses: 0,
      problem: undefined,
    }),
  );
  const synced = Promise.withResolvers<void>();

  function tell(kind: FactKind, problem: string | undefined): void {
    if (!stop.signal.aborted) {
      onProblem?.(kind, problem);
    }
  }

  function tellOf(watch: Watch, problem: string | undefined): void {
    if (watch.problem !== problem) {
      watch.problem = problem;
      tell(watch.kind, problem);
    }
  }

  /** Reads the Secret of an ExtensionConfig before a review of it asks. */
  function wantSecretOf(object: JsonObject): void {
    const annotations = isJsonObject(object.metadata) ? object.metadata.annotations : undefined;
    const value = isJsonObject(annotations) ? annotations[injectCaFromSecretAnnotation] : undefined;
    const secret = secretNameOf(typeof value === 'string' ? value : undefined);
    if (secret !== undefined) {
      reader.want(secret.namespace, secret.name);
    }
  }

  function end(watch: Watch): void {
    watch.informer?.stop();
    watch.informer = undefined;
    watch.version = undefined;
    const collection = store.collections[watch.kind];
    for (const key of [...collection.keys()]) {
      collection.remove(key);
    }
  }

  function begin(watch: Watch, version: string): void {
    const resource = factResources[watch.kind];
    const collection = store.collections[watch.kind];
    end(watch);
    watch.version = version;
    watch.absentAt = undefined;
    const informer: Informer = startInformer(config, {
      path: `${versionPath(resource.group, version)}/${resource.plural}`,
      resource: resourceName(resource),
      keep: (object) => keptOf(resource, object),
      maxObjects,
      maxLength,
      onChange({ type, key, object }) {
        if (type === 'deleted') {
          collection.remove(key);
          return;
        }
        collection.put(key, object);
        if (watch.kind === 'ExtensionConfig') {
          wantSecretOf(object);
        }
      },
      onProblem: (problem) => tellOf(watch, problem),
      pace: pace.informers,
    });
    watch.informer = informer;
    void informer.synced.then(() => {
      // The problem may be that of a version before, or that the version was not known.
      tellOf(watch, informer.problem);
      settle();
    });
  }

  function settle(): void {
    if (watches.every(({ informer, absentAt }) => informer?.isSynced === true || absentAt !== undefined)) {
      synced.resolve();
    }
  }

  /** Finds the version of a kind that is served, and follows a change of it. */
  async function findVersion(watch: Watch): Promise<void> {
    const resource = factResources[watch.kind];
    try {
      const version = await servedVersion(cluster, resource);
      if (stop.signal.aborted) {
        return;
      }
      watch.misses = version === undefined ? watch.misses + 1 : 0;
      if (version === undefined) {
        if (watch.informer !== undefined && watch.misses < missesOfGone) {
          return;
        }
        end(watch);
        watch.absentAt = now();
        tellOf(watch, undefined);
        settle();
      } else if (version !== watch.version) {
        begin(watch, version);
      }
    } catch (error) {
      if (watch.informer === undefined && !stop.signal.aborted) {
        tellOf(watch, `${resourceName(resource)}: ${(error as Error).message}`);
      }
    }
  }

  async function followVersions(): Promise<void> {
    while (!stop.signal.aborted) {
      await Promise.all(watches.map(findVersion));
      await sleep(pace.versionsMs, undefined, { signal: stop.signal, ref: false }).catch(() => {});
    }
  }

  async function sweepSecrets(): Promise<void> {
    while (!stop.signal.aborted) {
      await sleep(pace.sweepMs, undefined, { signal: stop.signal, ref: false }).catch(() => {});
      for (const { informer, kind } of watches) {
        if (kind === 'ExtensionConfig') {
          informer?.list().forEach(wantSecretOf);
        }
      }
    }
  }

  function ageOf({ informer, absentAt }: Watch): number | undefined {
    const heardAt = informer === undefined ? absentAt : informer.isSynced ? informer.heardAt : undefined;
    return heardAt === undefined ? undefined : Math.max(0, now() - heardAt);
  }

  void followVersions();
  void sweepSecrets();
  return {
    read() {
      let oldest: number | undefined;
      const unknown: FactKind[] = [];
      for (const watch of watches) {
        const ageMs = ageOf(watch);
        const isKnown = ageMs !== undefined && ageMs <= pace.maxAgeMs;
        store.setKnown(watch.kind, isKnown);
        if (isKnown) {
          oldest = Math.max(oldest ?? 0, ageMs);
        } else {
          unknown.push(watch.kind);
        }
      }
      if (reader.problem !== undefined) {
        unknown.push('Secret');
      }
      return { facts: store.facts, ageMs: oldest, unknown };
    },
    status(kind) {
      const watch = watches.find((candidate) => candidate.kind === kind);
      if (watch === undefined || kind === 'Secret') {
        const { problem, size } = reader;
        return { isKnown: problem === undefined, ageMs: undefined, objects: size, problem };
      }
      const ageMs = ageOf(watch);
      const isKnown = ageMs !== undefined && ageMs <= pace.maxAgeMs;
      return { isKnown, ageMs, objects: store.collections[watch.kind].size, problem: watch.problem };
    },
    synced: synced.promise,
    secretsRead: reader.idle,
    stop() {
      stop.abort();
      for (const { informer } of watches) {
        informer?.stop();
      }
    },
  };
}
