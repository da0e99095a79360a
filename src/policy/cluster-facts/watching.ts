import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { connect, type WatchPace } from '../../kubernetes/client/index.ts';
import type { JsonObject } from '../../kubernetes/index.ts';
import type { ClusterKnowledge } from '../admission/admission.ts';
import type { FactKind } from '../facts/facts.ts';
import { collectedKinds, createFactsStore } from '../facts/store.ts';
import { annotatedSecret } from '../rules/fields/secret.ts';
import { KindWatch, type KindWatchContext } from './kind-watch.ts';
import { type KindStatus, knowledgeOf, statusOf } from './knowledge.ts';
import { createSecretReader, defaultSecretPace, type SecretReaderPace } from './secret-reader.ts';

/** Intervals of watching, in ms; tests pass shorter ones. */
export interface WatchingPace {
  informers: Partial<WatchPace>;
  secrets: SecretReaderPace;
  /** How often to ask the API server which versions it serves. */
  versionsMs: number;
  /** How often to read the Secrets of all ExtensionConfigs. */
  sweepMs: number;
  /** Age from which facts count as unknown. */
  maxAgeMs: number;
}

/**
 * Facts that are ten minutes old are not used: the API server must be unreachable, or the permission to watch missing.
 */
const defaultPace: WatchingPace = {
  informers: {},
  secrets: defaultSecretPace,
  versionsMs: 10_000,
  sweepMs: 300_000,
  maxAgeMs: 600_000,
};

/** Timeout of one request, in ms. */
const requestDeadlineMs = 10_000;

/** Options of `watchCluster`. */
export interface WatchingOptions {
  config: KubeConfig;
  /**
   * Called with the reason why facts about a kind may be stale or missing and what to do about it; with undefined when
   * they are current again.
   */
  onProblem?(kind: FactKind, problem: string | undefined): void;
  /** Returns milliseconds of a monotonic clock. Default: that of the informers. */
  now?: () => number;
  pace?: Partial<WatchingPace>;
}

/** Facts that are kept up to date with a cluster. */
export interface Watching {
  /** The current facts, without waiting. */
  read(): ClusterKnowledge;
  status(kind: FactKind): KindStatus;
  /** Resolves when every kind has been listed once, or is known not to be served. */
  readonly synced: Promise<void>;
  /** Resolves when no Secret is waiting to be read. */
  secretsRead(): Promise<void>;
  stop(): void;
}

/**
 * Watches the objects that rules have facts about. APIs that are not served are looked for again from time to time;
 * until then it is known that they have no objects. Decisions never wait for any of this.
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
  const synced = Promise.withResolvers<void>();
  const context: KindWatchContext = {
    config,
    cluster,
    now,
    pace: pace.informers,
    onObject(kind, object) {
      if (kind === 'ExtensionConfig') {
        wantSecretOf(object);
      }
    },
    onProblem: tell,
    onSettled() {
      if (watches.every(({ isSettled }) => isSettled)) {
        synced.resolve();
      }
    },
  };
  const watches = collectedKinds.map((kind) => new KindWatch(kind, store.collections[kind], context));

  function tell(kind: FactKind, problem: string | undefined): void {
    if (!stop.signal.aborted) {
      onProblem?.(kind, problem);
    }
  }

  /** Reads the Secret of an ExtensionConfig before a review needs it. */
  function wantSecretOf(object: JsonObject): void {
    const secret = annotatedSecret(object);
    if (secret !== undefined) {
      reader.want(secret.namespace, secret.name);
    }
  }

  async function followVersions(): Promise<void> {
    while (!stop.signal.aborted) {
      await Promise.all(watches.map((watch) => watch.findVersion()));
      await sleep(pace.versionsMs, undefined, { signal: stop.signal, ref: false }).catch(() => {});
    }
  }

  async function sweepSecrets(): Promise<void> {
    for (;;) {
      await sleep(pace.sweepMs, undefined, { signal: stop.signal, ref: false }).catch(() => {});
      if (stop.signal.aborted) {
        return;
      }
      for (const watch of watches) {
        if (watch.kind === 'ExtensionConfig') {
          watch.list().forEach(wantSecretOf);
        }
      }
    }
  }

  const sources = { watches, reader, store, maxAgeMs: pace.maxAgeMs };
  void followVersions();
  void sweepSecrets();
  return {
    read: () => knowledgeOf(sources),
    status: (kind) => statusOf(kind, sources),
    synced: synced.promise,
    secretsRead: reader.idle,
    stop() {
      stop.abort();
      for (const watch of watches) {
        watch.stop();
      }
    },
  };
}
