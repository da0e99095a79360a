import type { Piscina } from 'piscina';
import { type Reply, refuse, type SideThread, type SideThreadTask } from './decide.ts';

/** Which bodies are decided off the event loop, and how. */
export interface SideThreadOptions {
  /** A module whose default export turns a `SideThreadTask` into a `Reply`. */
  module: URL;
  /** The module's `workerData` (piscina); it is cloned. */
  data: unknown;
  /** Larger bodies, in bytes, go to the thread. */
  overBytes?: number | undefined;
  /** Timeout of a decision, including the wait for other bodies, in milliseconds; then the response is a 503. */
  timeoutMs?: number | undefined;
  /** Maximum memory for the objects of one body, in MiB. */
  maxHeapMib?: number | undefined;
}

/** Results for metrics: rejected because too many bodies were waiting, failed for lack of memory, … */
export const sideThreadResults = ['answered', 'refused', 'timeout', 'failed', 'abandoned'] as const;
/** The result for one body. */
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

/** The responses when there is no decision. */
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
  let pool: Promise<Piscina<SideThreadTask, Reply>> | undefined;
  let underWay = 0;

  async function start(): Promise<Piscina<SideThreadTask, Reply>> {
    const { Piscina } = await import('piscina');
    return new Piscina({
      filename: module.href,
      workerData: data,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: idleTimeoutMs,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMib, maxYoungGenerationSizeMb: 32 },
      // A thread that waits in Atomics.wait cannot be stopped.
      atomics: 'disabled',
      recordTiming: false,
    });
  }

  async function attempt(
    task: SideThreadTask,
    gone: AbortSignal,
  ): Promise<Reply | Exclude<SideThreadResult, 'answered'>> {
    if (underWay > maxWaiting) {
      return 'refused';
    }
    underWay++;
    const timeUp = AbortSignal.timeout(timeoutMs);
    try {
      pool ??= start();
      return await (await pool).run(task, { signal: AbortSignal.any([timeUp, gone]) });
    } catch {
      return gone.aborted ? 'abandoned' : timeUp.aborted ? 'timeout' : 'failed';
    } finally {
      underWay--;
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
    async close() {
      await (await pool)?.destroy();
    },
  };
}
