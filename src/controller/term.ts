import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import {
  connect,
  type Informer,
  type InformerChange,
  type KubernetesClient,
  objectKey,
  shortRetries,
  startInformer,
} from '../kubernetes/client/index.ts';
import type { JsonObject } from '../kubernetes/index.ts';
import { ConfigConflict, ConfigGone, collectionPath, readStored, type StoredConfig } from './configs/stored.ts';
import type { ControllerPace } from './queue/pace.ts';
import { Queue, type RunResult } from './queue/queue.ts';
import type { Worker } from './workers/worker.ts';
import type { CreateWorker } from './workers/workers.ts';

interface TermOptions {
  kubeConfig: KubeConfig;
  /** Creates the worker, with a connection that ends with the term. */
  worker: CreateWorker;
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
 * A term of work on ExtensionConfigs: from the start, or from winning an election, to the end. It connects the copy of the
 * ExtensionConfigs, the queue and the worker.
 */
export class Term {
  readonly #options: TermOptions;
  /** Aborts discoveries, but not writes. */
  readonly #work = new AbortController();
  readonly #connection = new AbortController();
  readonly #cluster: KubernetesClient;
  readonly #worker: Worker;
  /** By name, what the last run of each ExtensionConfig depended on. */
  readonly #handled = new Map<string, string>();
  readonly #queue: Queue;
  readonly #informer: Informer;
  #isSynced = false;

  constructor(options: TermOptions) {
    const { kubeConfig, log, pace } = options;
    this.#options = options;
    this.#cluster = connect(kubeConfig, this.#connection.signal, retryOptions);
    this.#worker = options.worker(this.#cluster);
    this.#queue = new Queue({
      run: (name) => this.#run(name),
      concurrency: pace.concurrency,
      pace: pace.queue,
    });
    this.#informer = startInformer(kubeConfig, {
      path: collectionPath,
      resource: 'extensionconfigs.runtime.cluster.x-k8s.io',
      pace: pace.informer,
      onChange: (change) => this.#take(change),
      onProblem(problem) {
        if (problem === undefined) {
          log.info('the watch on the API server works again');
        } else {
          log.warn({ problem }, 'the watch on the API server fails');
        }
      },
    });
    void this.#informer.synced.then(() => this.#begin());
  }

  get problem(): string | undefined {
    const { isSynced, problem } = this.#informer;
    return isSynced ? problem : (problem ?? 'the ExtensionConfigs have not been read yet');
  }

  /** When the API server last responded, on the clock of `performance.now()`. */
  get confirmedAt(): number | undefined {
    return this.#informer.confirmedAt;
  }

  /** Number of keys that wait for a run, and of those that are running. */
  get load(): { waiting: number; running: number } {
    return { waiting: this.#queue.waiting, running: this.#queue.running };
  }

  configs(): StoredConfig[] {
    return this.#informer.list().flatMap((object) => readStored(object) ?? []);
  }

  /** Aborts calls of extensions, lets writes finish, and stops. */
  async end(): Promise<void> {
    const reason = new Error('the controller stops');
    this.#informer.stop();
    const idle = this.#queue.stop();
    this.#work.abort(reason);
    const late = setTimeout(() => this.#connection.abort(reason), endMs);
    await idle;
    await this.#worker.flush?.();
    clearTimeout(late);
    this.#connection.abort(reason);
  }

  /** Aborts everything at once, even writes in flight, because another replica leads now. */
  cut(reason: Error): void {
    this.#informer.stop();
    void this.#queue.stop();
    this.#work.abort(reason);
    this.#connection.abort(reason);
  }

  /** All ExtensionConfigs have been listed for the first time. */
  #begin(): void {
    const { log, onSynced } = this.#options;
    this.#isSynced = true;
    const all = this.configs();
    this.#worker.begin?.(all);
    log.info({ extensionConfigs: all.length }, 'all ExtensionConfigs were read');
    for (const { metadata } of all) {
      this.#queue.add(metadata.name);
    }
    onSynced();
  }

  /** Decides what to do about a change. */
  #take({ type, key, object, previous }: InformerChange): void {
    const config = this.#stored(object);
    if (config === undefined) {
      return;
    }
    if (type === 'deleted') {
      this.#queue.forget(key);
      this.#forget(config);
      this.#options.log.info({ extensionConfig: key }, 'ExtensionConfig deleted');
      return;
    }
    // During a run it may be caused by the run's own write: the event can arrive before the response to the write. So it is
    // checked after the run.
    if (this.#isSynced && !this.#queue.isRunning(key) && !this.#isHandled(config)) {
      const before = previous && readStored(previous);
      // A new spec resets the backoff.
      this.#queue.add(key, before?.metadata.generation !== config.metadata.generation);
    }
  }

  async #run(name: string): Promise<RunResult> {
    const { signal } = this.#work;
    const { log, onRun } = this.#options;
    const config = this.#stored(this.#informer.get(name));
    if (config === undefined || signal.aborted) {
      return { result: 'done' };
    }
    this.#handled.set(name, this.#fingerprintOf(config));
    const began = performance.now();
    const report = (result: 'success' | 'failure') => onRun(result, (performance.now() - began) / 1000);
    try {
      const { after = config, ...outcome } = await this.#worker.run(config, signal);
      this.#handled.set(name, this.#fingerprintOf(after));
      report(outcome.result === 'done' ? 'success' : 'failure');
      return outcome;
    } catch (error) {
      if (signal.aborted || error instanceof ConfigGone) {
        return { result: 'done' };
      }
      const { message } = error as Error;
      if (error instanceof ConfigConflict) {
        log.debug({ extensionConfig: name }, message);
        return { result: 'done', againMs: 0 };
      }
      // A bug: the stack is needed.
      if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) {
        log.error({ extensionConfig: name, err: error }, 'ExtensionConfig will be retried');
      } else {
        log.warn({ extensionConfig: name, error: message }, 'ExtensionConfig will be retried');
      }
      report('failure');
      return { result: 'failed' };
    } finally {
      this.#finish(name, config);
    }
  }

  /** After a run: handles what has happened to its object in the meantime. */
  #finish(name: string, config: StoredConfig): void {
    const now = this.#stored(this.#informer.get(name));
    if (now?.metadata.uid !== config.metadata.uid) {
      // It was deleted during the run: what the run registered must be removed, too.
      this.#forget(config);
    }
    if (now !== undefined && !this.#isHandled(now)) {
      this.#queue.add(name, now.metadata.generation !== config.metadata.generation);
    }
  }

  #fingerprintOf(config: StoredConfig): string {
    return `${config.metadata.uid} ${this.#worker.fingerprintOf(config)}`;
  }

  #isHandled(config: StoredConfig): boolean {
    return this.#handled.get(config.metadata.name) === this.#fingerprintOf(config);
  }

  #forget(config: StoredConfig): void {
    this.#handled.delete(config.metadata.name);
    this.#worker.forget(config);
  }

  #stored(object: JsonObject | undefined): StoredConfig | undefined {
    const config = object && readStored(object);
    if (object !== undefined && config === undefined) {
      const extensionConfig = objectKey(object);
      this.#options.log.error({ extensionConfig }, 'the API server has an ExtensionConfig that cannot be read');
    }
    return config;
  }
}
