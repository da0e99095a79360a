import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { orAborted } from '../../base/index.ts';
import { type Reply, refuse, type SideThread, type SideThreadTask } from './decide.ts';

export interface SideThreadOptions {
  /** A module that answers each message, a `SideThreadTask`, with one, a `Reply`. */
  module: URL;
  data: unknown;
  overBytes?: number | undefined;
  /** Timeout of a decision, including the wait for other bodies, in milliseconds; then the response is a 503. */
  timeoutMs?: number | undefined;
  maxHeapMib?: number | undefined;
}

/** Results for metrics: rejected because too many bodies were waiting, failed for lack of memory, … */
export const sideThreadResults = ['answered', 'refused', 'timeout', 'failed', 'abandoned'] as const;
export type SideThreadResult = (typeof sideThreadResults)[number];

/** Thirty times an ordinary review. The worst known body of this size takes some 30 ms, which others can wait for. */
const defaultOverBytes = 128 * 1024;
/** API servers wait 10 s for admission webhooks by default. */
const defaultTimeoutMs = 10_000;
/**
 * Maximum memory for the objects of one body, in MiB: the worst known body, 7 MiB of `{},` for a status, takes 300 when
 * parsed. A thread that needs more is terminated; the process keeps running.
 */
const defaultMaxHeapMib = 512;
/** How long the thread waits for another body before it ends and frees its memory, in milliseconds. */
const idleTimeoutMs = 60_000;

/** Maximum number of bodies that wait while another one is decided, since they occupy connections and memory. */
const maxWaiting = 32;

const problems: Record<Exclude<SideThreadResult, 'answered'>, string> = {
  refused: 'too many large requests at once: try again in a second',
  timeout: 'the decision took too long: send a smaller object',
  failed: 'the decision took too much memory: send a smaller object',
  abandoned: 'the client is gone',
};

/**
 * Creates the thread for large bodies. A body of 7 MiB takes a second to parse and decide, although the time is linear,
 * and on the event loop every other client would wait for it. So large bodies (an ordinary review has 4 KiB) are
 * decided in a separate thread, with limits on time and memory.
 */
export function createSideThread(
  {
    module,
    data,
    overBytes = defaultOverBytes,
    timeoutMs = defaultTimeoutMs,
    maxHeapMib = defaultMaxHeapMib,
  }: SideThreadOptions,
  onResult: (result: SideThreadResult) => void,
): SideThread {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let underWay = 0;
  /** The decision that was asked for last: bodies are decided one after the other. */
  let last: Promise<unknown> = Promise.resolve();

  async function stop(): Promise<void> {
    const ended = worker;
    worker = undefined;
    await ended?.terminate();
  }

  function start(): Worker {
    const started = new Worker(module, {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMib, maxYoungGenerationSizeMb: 32 },
    });
    // Memory that runs out is an error of the thread, which ends it; whoever waits for it sees the end.
    started.on('error', () => {});
    started.once('exit', () => {
      worker = worker === started ? undefined : worker;
    });
    // A server that has stopped does not wait for it.
    started.unref();
    return started;
  }

  /** Sends a body to the thread. A decision that is no longer wanted ends the thread; the next body gets a new one. */
  async function ask(task: SideThreadTask, over: AbortSignal): Promise<Reply> {
    over.throwIfAborted();
    worker ??= start();
    const current = worker;
    const ended = new AbortController();
    const onExit = () => ended.abort();
    current.once('exit', onExit);
    current.postMessage(task);
    try {
      const [reply] = await once(current, 'message', { signal: AbortSignal.any([over, ended.signal]) });
      return reply as Reply;
    } catch (error) {
      await current.terminate();
      throw error;
    } finally {
      current.off('exit', onExit);
    }
  }

  async function attempt(
    task: SideThreadTask,
    gone: AbortSignal,
  ): Promise<Reply | Exclude<SideThreadResult, 'answered'>> {
    if (underWay > maxWaiting) {
      return 'refused';
    }
    underWay++;
    clearTimeout(idle);
    const over = AbortSignal.any([AbortSignal.timeout(timeoutMs), gone]);
    const decision = last.then(() => ask(task, over));
    last = decision.catch(() => {});
    try {
      // Those that still wait for others end in time, too.
      return await orAborted(decision, over);
    } catch {
      return gone.aborted ? 'abandoned' : over.aborted ? 'timeout' : 'failed';
    } finally {
      underWay--;
      if (underWay === 0) {
        idle = setTimeout(stop, idleTimeoutMs).unref();
      }
    }
  }

  return {
    overBytes,
    async decide(task, gone) {
      const reply = await attempt(task, gone);
      if (typeof reply === 'string') {
        onResult(reply);
        return refuse(503, problems[reply]);
      }
      onResult('answered');
      return reply;
    },
    close: stop,
  };
}
