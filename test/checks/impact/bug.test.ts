import { EventEmitter } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, onTestFinished, test } from 'vitest';
import { createImpactReviews } from '../../../src/checks/impact/index.ts';

/** A thread in which every plan fails. */
class FailingThread extends EventEmitter {
  postMessage({ number }: { number: number }) {
    setImmediate(() => this.emit('message', { is: 'bug', number, error: 'x is not a function', stack: ['at plan'] }));
  }
  terminate() {}
  unref() {}
}

test('a review whose plan fails is allowed, and the bug is said, logged and counted', async () => {
  const { Worker } = threads;
  onTestFinished(() => {
    threads.Worker = Worker;
    syncBuiltinESMExports();
  });
  threads.Worker = FailingThread as unknown as typeof Worker;
  syncBuiltinESMExports();
  const lines: object[] = [];
  const registry = new Registry();
  const reviews = createImpactReviews({
    kubeconfig: {},
    clusterApiVersion: undefined,
    denies: true,
    updatesInPlace: false,
    callsExtensions: false,
    log: pino({}, { write: (text) => lines.push(JSON.parse(text)) }),
  });
  reviews.addMetrics(registry, 'test_');
  const kind = { group: 'cluster.x-k8s.io', version: 'v1beta2', kind: 'Cluster' };
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
  expect(response).toEqual({
    uid: '1',
    allowed: true,
    warnings: [
      'what happens to Machines is not known: the plan failed, which is a bug of extensionconfig-webhook (its log has more)',
    ],
    auditAnnotations: { impact: 'bug' },
  });
  expect(lines).toMatchObject([{ level: 50, error: 'x is not a function', msg: 'a plan failed: this is a bug' }]);
  expect(await registry.metrics()).toContain('test_impact_reviews_total{result="bug"} 1');
  await reviews.stop();
});
