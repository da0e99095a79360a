// The module that test/webhook/reviews/side-thread.test.ts runs in the thread for large bodies: the body tells it what to do.
import { parentPort, resourceLimits, threadId, workerData } from 'node:worker_threads';
import type { Reply, SideThreadTask } from '../../../src/webhook/index.ts';

/** How long a `loop` sleeps first, in ms. */
export const loopsAfterMs = 400;

const sleep = (milliseconds?: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);

function decide({ webhook, body }: SideThreadTask): Reply {
  const text = Buffer.from(body).toString('latin1').trimEnd();
  if (text === 'loop') {
    // What ends it in time has to end a computation, but not one that takes CPU time from other tests until then.
    sleep(loopsAfterMs);
    for (;;) {}
  }
  if (text === 'sleep') {
    sleep();
  }
  if (text === 'eat') {
    const eaten: number[][] = [];
    for (;;) {
      eaten.push(new Array<number>(100_000).fill(0.5));
    }
  }
  const { gate, ...data } = workerData as { gate?: Int32Array };
  if (text === 'wait' && gate !== undefined) {
    Atomics.store(gate, 1, 1);
    Atomics.wait(gate, 0, 0);
  }
  const known: Record<string, unknown> = { limits: resourceLimits, thread: threadId };
  const shown = JSON.stringify(known[text] ?? { webhook, text, data });
  return {
    code: 200,
    text: shown,
    note: { kind: 'review', uid: 'u', verdict: 'denied', deniedBy: ['r'], warnedBy: [] },
  };
}

parentPort?.on('message', (task: SideThreadTask) => parentPort?.postMessage(decide(task)));
