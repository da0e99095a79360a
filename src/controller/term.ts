import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import {
  connect,
  Informer,
  type InformerChange,
  type KubernetesClient,
  objectKey,
  shortRetries,
} from '../kubernetes/client/index.ts';
import type { JsonObject } from '../kubernetes/index.ts';
import { ConfigConflict, ConfigGone, collectionPath, readStored, type StoredConfig } from './configs/stored.ts';
import { type ControllerPace, type Discovery, fingerprintOf } from './discovery.ts';
import { Queue, type RunResult } from './queue.ts';

interface TermOptions {
  kubeConfig: KubeConfig;
  /** Creates the discovery, with a connection that ends with the term. */
  discovery(cluster: KubernetesClient): Discovery;
  log: Logger;
  pace: ControllerPace;
  onSynced(): void;
  /** Called when a run has ended, with its duration in seconds. */
  onRun(result: 'success' | 'failure', seconds: number): void;
}

/** How long writes in flight may take at the end, in ms. */
const endMs = 5_000;

/** Fewer retries than usual, since the queue retries as well. */
const retryOptions = { ...shortRetries, deadlineMs: 20_000 };

/**
 * Starts a term of work on ExtensionConfigs: from the start, or from winning an election, to the end. Changes of the watched
 * copy put names into the queue, and extensions are discovered as the copy then has them.
 */
export function startTerm({ kubeConfig, discovery: createDiscovery, log, pace, onSynced, onRun }: TermOptions) {
  /** Aborts discoveries, but not writes. */
  const work = new AbortController();
  const connection = new AbortController();
  const discovery = createDiscovery(connect(kubeConfig, connection.signal, retryOptions));
  const queue = new Queue({ run, concurrency: pace.concurrency, pace: pace.queue });
  const informer = new Informer(kubeConfig, {
    path: collectionPath,
    resource: 'extensionconfigs.runtime.cluster.x-k8s.io',
    pace: pace.informer,
    onChange: take,
    onProblem(problem) {
      if (problem === undefined) {
        log.info('the watch on the API server works again');
      } else {
        log.warn({ problem }, 'the watch on the API server fails');
      }
    },
  });
  let isSynced = false;
  void informer.synced.then(() => {
    isSynced = true;
    const all = configs();
    log.info({ extensionConfigs: all.length }, 'all ExtensionConfigs were read');
    for (const { metadata } of all) {
      queue.add(metadata.name);
    }
    onSynced();
  });

  function stored(object: JsonObject | undefined): StoredConfig | undefined {
    const config = object && readStored(object);
    if (object !== undefined && config === undefined) {
      const extensionConfig = objectKey(object);
      log.error({ extensionConfig }, 'the API server has an ExtensionConfig that cannot be read');
    }
    return config;
  }

  const configs = () => informer.list().flatMap((object) => readStored(object) ?? []);

  function take({ type, key, object, previous }: InformerChange): void {
    const config = stored(object);
    if (config === undefined || !isSynced) {
      return;
    }
    const before = previous && readStored(previous);
    if (type === 'deleted' || (before !== undefined && before.metadata.uid !== config.metadata.uid)) {
      log.info({ extensionConfig: key }, 'ExtensionConfig deleted');
      queue.add(key, true);
      return;
    }
    const isSpecNew = before?.metadata.generation !== config.metadata.generation;
    // Not for a status that the controller itself has written.
    if (before === undefined || isSpecNew || fingerprintOf(before) !== fingerprintOf(config)) {
      // A new spec resets the backoff.
      queue.add(key, isSpecNew);
    }
  }

  async function run(name: string): Promise<RunResult> {
    const config = stored(informer.get(name));
    if (config === undefined || config.metadata.deletionTimestamp !== undefined) {
      discovery.forget(name);
      return undefined;
    }
    const began = performance.now();
    const report = (result: 'success' | 'failure') => onRun(result, (performance.now() - began) / 1000);
    try {
      const outcome = await discovery.run(config, work.signal);
      report(outcome?.result === 'failed' ? 'failure' : 'success');
      return outcome;
    } catch (error) {
      if (work.signal.aborted || error instanceof ConfigGone) {
        return { result: 'done' };
      }
      const { message } = error as Error;
      if (error instanceof ConfigConflict) {
        log.debug({ extensionConfig: name }, message);
        return { result: 'failed' };
      }
      // A bug: the stack is needed.
      if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) {
        log.error({ extensionConfig: name, err: error }, 'ExtensionConfig will be retried');
      } else {
        log.warn({ extensionConfig: name, error: message }, 'ExtensionConfig will be retried');
      }
      report('failure');
      return { result: 'failed' };
    }
  }

  return {
    get problem(): string | undefined {
      return informer.problem ?? (informer.isSynced ? undefined : 'the ExtensionConfigs have not been read yet');
    },
    /** When the API server last responded, on the clock of `performance.now()`. */
    get confirmedAt(): number | undefined {
      return informer.confirmedAt;
    },
    /** Number of keys that wait for a run, and of those that are running. */
    get load(): { waiting: number; running: number } {
      return { waiting: queue.waiting, running: queue.running };
    },
    configs,
    /**
     * Aborts calls of extensions, lets writes finish, and stops. With `isLost`, because another replica leads now, writes
     * in flight are aborted at once.
     */
    async end(reason: Error, isLost = false): Promise<void> {
      informer.stop();
      const idle = queue.stop();
      work.abort(reason);
      if (isLost) {
        connection.abort(reason);
      }
      const late = setTimeout(() => connection.abort(reason), endMs);
      await idle;
      await discovery.flush();
      clearTimeout(late);
      connection.abort(reason);
    },
  };
}

export type Term = ReturnType<typeof startTerm>;
