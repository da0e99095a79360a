import { EventEmitter } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createImpactReviews } from '../../../src/checks/impact/index.ts';

interface Question {
  number: number;
}

/** Reviews with threads that do with a question what a test says, and what becomes of them. */
function startReviews(
  onQuestion: (thread: EventEmitter, question: Question) => void,
  settings: Partial<Parameters<typeof createImpactReviews>[0]> = {},
) {
  const started: EventEmitter[] = [];
  class FakeThread extends EventEmitter {
    constructor() {
      super();
      started.push(this);
    }
    postMessage(question: Question) {
      onQuestion(this, question);
    }
    terminate() {
      this.emit('exit', 1);
    }
    unref() {}
  }
  const { Worker } = threads;
  threads.Worker = FakeThread as unknown as typeof Worker;
  syncBuiltinESMExports();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const lines: object[] = [];
  const registry = new Registry();
  const reviews = createImpactReviews({
    kubeconfig: {},
    clusterApiVersion: undefined,
    config: { denies: true, deniesUnknown: true, controllers: {} },
    ...settings,
    updatesInPlace: false,
    callsExtensions: false,
    log: pino({}, { write: (text) => lines.push(JSON.parse(text)) }),
  });
  reviews.addMetrics(registry, 'test_');
  onTestFinished(async () => {
    await reviews.stop();
    vi.useRealTimers();
    threads.Worker = Worker;
    syncBuiltinESMExports();
  });
  const kind = { group: 'cluster.x-k8s.io', version: 'v1beta2', kind: 'Cluster' };
  const review = async () => {
    const { response } = await reviews.review({
      uid: '1',
      kind,
      requestKind: kind,
      subResource: '',
      name: 'one',
      namespace: 'default',
      operation: 'UPDATE',
      username: 'admin',
      object: {},
      oldObject: {},
      dryRun: false,
    });
    return response;
  };
  return { started, review, lines, registry };
}

const late = {
  uid: '1',
  allowed: true,
  warnings: [expect.stringMatching(/^what happens to Machines is not known: the webhook had no plan in time: /)],
  auditAnnotations: { impact: 'late' },
};

test('a review whose plan fails is allowed, and the bug is said, logged and counted', async () => {
  const { review, lines, registry } = startReviews((thread, { number }) => {
    thread.emit('message', { is: 'bug', number, error: 'x is not a function', stack: ['at plan'] });
  });
  expect(await review()).toEqual({
    uid: '1',
    allowed: true,
    warnings: [
      'what happens to Machines is not known: the plan failed, which is a bug of extensionconfig-webhook (its log has more)',
    ],
    auditAnnotations: { impact: 'bug' },
  });
  expect(lines).toMatchObject([{ level: 50, error: 'x is not a function', msg: 'a plan failed: this is a bug' }]);
  expect(await registry.metrics()).toContain('test_impact_not_known_total{reason="bug"} 1');
});

test('a thread that hangs is replaced', async () => {
  const { started, review, lines } = startReviews((thread, { number }) => {
    if (thread !== started[0]) {
      thread.emit('message', {
        is: 'answer',
        answer: { number, clusters: 0, lines: [], deniedIn: [], undecidedIn: [] },
      });
    }
  });
  const first = review();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await first).toEqual(late);
  await vi.advanceTimersByTimeAsync(9_500);
  // Waits when the thread is ended, and so is answered at its end.
  const second = review();
  await vi.advanceTimersByTimeAsync(500);
  expect(lines).toMatchObject([{ level: 50, msg: 'the thread that plans writes hangs: another one is started' }]);
  expect(await second).toEqual(late);
  await vi.advanceTimersByTimeAsync(5_000);
  expect([started.length, await review()]).toEqual([2, { uid: '1', allowed: true }]);
});

test('without a cluster, writes are allowed, the log says why, and another thread is started', async () => {
  const { started, review, lines } = startReviews((thread) => {
    thread.emit('error', new Error('the kubeconfig /missing does not exist'));
    thread.emit('exit', 1);
  });
  expect(await review()).toEqual(late);
  expect(lines).toMatchObject([
    { msg: 'the thread that plans writes failed', problem: 'the kubeconfig /missing does not exist' },
  ]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(started).toHaveLength(2);
});
