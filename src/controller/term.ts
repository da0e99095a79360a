import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { type Cluster, connect, objectKey, startInformer } from '../cluster/index.ts';
import type { JsonObject } from '../kubernetes/index.ts';
import { conditionOf } from './conditions.ts';
import type { ControllerPace } from './pace.ts';
import { createQueue, type RunResult } from './queue.ts';
import { pollSecrets } from './secret-poll.ts';
import { ConfigConflict, ConfigGone, collectionPath, readStored, type StoredConfig } from './stored.ts';
import type { Worker } from './worker.ts';

/** What a term needs. */
export interface TermOptions {
  kubeConfig: KubeConfig;
  /** Makes what works on ExtensionConfigs, on a connection that ends with the term. */
  worker(cluster: Cluster): Worker;
  /** Whether Secrets named in annotations are followed. */
  followsSecrets: boolean;
  log: Logger;
  pace: ControllerPace;
  onSynced(): void;
  /** A run ended, after so many seconds. */
  onRun(result: 'success' | 'failure', seconds: number): void;
}

/** A term of working on ExtensionConfigs: from the start, or from winning an election, to the end. */
export interface Term {
  /** Why the copy of the ExtensionConfigs may be stale. */
  readonly problem: string | undefined;
  /** The present ExtensionConfigs. */
  configs(): StoredConfig[];
  /** When the API server was last heard from, on the clock of `performance.now()`. */
  readonly heardAt: number | undefined;
  /** Keys that wait for their turn, and that are worked on. */
  readonly load: { waiting: number; running: number };
  /** Aborts calls of extensions, lets writes finish, and stops. */
  end(): Promise<void>;
  /** Aborts everything at once, even writes in flight: another replica leads now. */
  cut(reason: Error): void;
}

/** How long writes in flight may take at the end, in ms. */
const endMs = 5_000;

/** Fewer retries than usual: the queue retries, too. */
const patience = { retries: 2, minTimeoutMs: 250, maxTimeoutMs: 1_000, deadlineMs: 20_000 };

/** Begins a term. */
export function startTerm(options: TermOptions): Term {
  const { kubeConfig, log, pace } = options;
  /** Ends discoveries; writes go on. */
  const work = new AbortController();
  const connection = new AbortController();
  const cluster = connect(kubeConfig, connection.signal, patience);
  const worker = options.worker(cluster);
  /** Objects that changed while they were worked on. */
  const changed = new Set<string>();
  let isSynced = false;

  function stored(object: JsonObject | undefined): StoredConfig | undefined {
    const config = object && readStored(object);
    if (object !== undefined && config === undefined) {
      log.error({ extensionConfig: objectKey(object) }, 'the API server has an ExtensionConfig that cannot be read');
    }
    return config;
  }

  async function run(name: string): Promise<RunResult> {
    const config = stored(informer.get(name));
    if (config === undefined || work.signal.aborted) {
      return { result: 'done' };
    }
    changed.delete(name);
    const began = performance.now();
    try {
      const outcome = await worker.run(config, work.signal);
      options.onRun(outcome.result === 'done' ? 'success' : 'failure', (performance.now() - began) / 1000);
      return outcome;
    } catch (error) {
      if (work.signal.aborted || error instanceof ConfigGone) {
        return { result: 'done' };
      }
      if (error instanceof ConfigConflict) {
        log.debug({ extensionConfig: name }, error.message);
        return { result: 'done', againMs: 0 };
      }
      const isBug = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
      // For a bug the stack is needed.
      log[isBug ? 'error' : 'warn'](
        { extensionConfig: name, ...(isBug ? { err: error } : { error: (error as Error).message }) },
        'ExtensionConfig will be tried again',
      );
      options.onRun('failure', (performance.now() - began) / 1000);
      return { result: 'failed' };
    } finally {
      const now = stored(informer.get(name));
      if (now?.metadata.uid !== config.metadata.uid) {
        // It was deleted during the run: what the run registered must be removed, too.
        worker.forget(config);
      }
      if (changed.delete(name) && now !== undefined && !worker.isSettled(now)) {
        queue.add(name, { afresh: now.metadata.generation !== config.metadata.generation });
      }
    }
  }

  const queue = createQueue({
    run,
    concurrency: pace.concurrency,
    failingConcurrency: pace.failingConcurrency,
    pace: pace.queue,
  });

  const informer = startInformer(kubeConfig, {
    path: collectionPath,
    resource: 'extensionconfigs.runtime.cluster.x-k8s.io',
    pace: pace.informer,
    onChange({ type, key, object, previous }) {
      const config = stored(object);
      if (config === undefined) {
        return;
      }
      if (type === 'deleted') {
        queue.forget(key);
        worker.forget(config);
        log.info({ extensionConfig: key }, 'ExtensionConfig deleted');
        return;
      }
      if (!isSynced) {
        return;
      }
      if (queue.isRunning(key)) {
        // It may be the run's own write: the event can arrive before the response to the write. So it is checked after
        // the run.
        changed.add(key);
      } else if (!worker.isSettled(config)) {
        const before = previous && readStored(previous);
        // A new spec does not repeat an old failure.
        queue.add(key, { afresh: before?.metadata.generation !== config.metadata.generation });
      }
    },
    onProblem(problem) {
      if (problem === undefined) {
        log.info('the API server is followed again');
      } else {
        log.warn({ problem }, 'the API server is not followed');
      }
    },
  });

  function configs(): StoredConfig[] {
    return informer.list().flatMap((object) => readStored(object) ?? []);
  }

  void informer.synced.then(() => {
    isSynced = true;
    const all = configs();
    worker.begin?.(all);
    log.info({ extensionConfigs: all.length }, 'all ExtensionConfigs were read');
    for (const { metadata, status } of all) {
      queue.add(metadata.name, { suspect: conditionOf(status, 'Discovered')?.status === 'False' });
    }
    options.onSynced();
    if (options.followsSecrets) {
      void pollSecrets({
        cluster,
        configs,
        onChange: (name) => queue.add(name),
        signal: work.signal,
        pollMs: pace.secretPollMs,
        gapMs: pace.secretGapMs,
      });
    }
  });

  return {
    get problem() {
      return informer.isSynced ? informer.problem : (informer.problem ?? 'the ExtensionConfigs have not been read yet');
    },
    configs,
    get heardAt() {
      return informer.heardAt;
    },
    get load() {
      return { waiting: queue.waiting, running: queue.running };
    },
    async end() {
      informer.stop();
      const idle = queue.stop();
      work.abort(new Error('the controller stops'));
      const late = setTimeout(() => connection.abort(new Error('the controller stops')), endMs);
      await idle;
      await worker.flush?.();
      clearTimeout(late);
      connection.abort(new Error('the controller stops'));
    },
    cut(reason) {
      informer.stop();
      void queue.stop();
      work.abort(reason);
      connection.abort(reason);
    },
  };
}
