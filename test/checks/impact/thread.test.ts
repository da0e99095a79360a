import { EventEmitter } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import threads from 'node:worker_threads';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createImpactReviews } from '../../../src/checks/impact/index.ts';
import type { AdmissionRequest, JsonObject } from '../../../src/kubernetes/index.ts';
import type { Facts } from '../../../src/policy/index.ts';

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
  const review = async (more: Partial<AdmissionRequest> = {}) => {
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
      ...more,
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
    thread.emit('message', { is: 'bug', error: 'x is not a function', stack: ['at plan'] });
    const lines = ['what happens to Machines is not known: the plan failed'];
    const answer = { number, clusters: 0, lines, unknown: 'bug', deniedIn: [], undecidedIn: [] };
    thread.emit('message', { is: 'answer', answer });
  });
  expect(await review()).toEqual({
    uid: '1',
    allowed: true,
    warnings: ['what happens to Machines is not known: the plan failed'],
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

/** Facts of a cluster with a namespace `metal` that asks for permissions, and a Cluster in it of class `shared/small`. */
const facts = (): Facts => ({
  namespaces: new Map([['metal', { 'impact.extensionconfig-webhook/replacement': 'deny' }]]),
  clusters: new Map([['metal/m1', { key: 'metal/m1', namespace: 'metal', clusterClass: 'shared/small', pending: [] }]]),
  clusterClasses: new Map([['shared/small', [{ clusterClass: 'shared/small', field: 'spec', handler: 'a.patcher' }]]]),
});

const kindOf = (name: string, group = 'cluster.x-k8s.io') => ({ group, version: 'v1beta2', kind: name });
const changed = { object: { spec: { a: 1 } }, oldObject: { spec: { a: 2 } } };
const scaled = (replicas: number) => ({
  kind: 'Cluster',
  spec: { topology: { workers: { machineDeployments: [{ name: 'md-0', replicas }] } } },
});
const permitted = { metadata: { annotations: { 'impact.extensionconfig-webhook/allow-replacement': 'true' } } };

test.each<[string, Partial<AdmissionRequest>, boolean]>([
  ['a Cluster there', { namespace: 'metal', ...changed }, false],
  ['a Cluster elsewhere', { namespace: 'other', ...changed }, true],
  ['scaling', { namespace: 'metal', object: scaled(1), oldObject: scaled(3) }, true],
  ['with a new "true"', { namespace: 'metal', ...changed, object: { ...changed.object, ...permitted } }, true],
  [
    'its class in another namespace',
    { kind: kindOf('ClusterClass'), namespace: 'shared', name: 'small', ...changed },
    false,
  ],
  ['another class', { kind: kindOf('ClusterClass'), namespace: 'shared', name: 'large', ...changed }, true],
  [
    'an extension of its class',
    { kind: kindOf('ExtensionConfig', 'runtime.cluster.x-k8s.io'), name: 'patcher', namespace: '', ...changed },
    false,
  ],
  [
    'an extension of no class',
    { kind: kindOf('ExtensionConfig', 'runtime.cluster.x-k8s.io'), name: 'other', namespace: '', ...changed },
    true,
  ],
  [
    'a template beside its class',
    { kind: kindOf('DevMachineTemplate', 'infrastructure.cluster.x-k8s.io'), namespace: 'shared', ...changed },
    false,
  ],
  [
    'a template elsewhere',
    { kind: kindOf('DevMachineTemplate', 'infrastructure.cluster.x-k8s.io'), namespace: 'other', ...changed },
    true,
  ],
  ['the Cluster is deleted', { namespace: 'metal', operation: 'DELETE', object: undefined, oldObject: {} }, false],
  [
    'the namespace is deleted',
    {
      kind: kindOf('Namespace', ''),
      name: 'metal',
      namespace: '',
      operation: 'DELETE',
      object: undefined,
      oldObject: {},
    },
    false,
  ],
])('no plan in time where replacements need a permission: %s', async (_, request, isAllowed) => {
  const { review } = startReviews(() => undefined, { facts });
  const answer = review(request);
  await vi.advanceTimersByTimeAsync(5_000);
  const { allowed, status } = await answer;
  expect(allowed).toBe(isAllowed);
  expect(status?.message ?? '').toMatch(isAllowed ? /^$/ : /What is not known is permitted in namespace metal only/);
});

test('what is not known is allowed with unknown: warn, and counted', async () => {
  const config = { denies: true, deniesUnknown: false, controllers: {} };
  const { review, registry } = startReviews(() => undefined, { facts, config });
  const answer = review({ namespace: 'metal', ...changed });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await answer).toEqual(late);
  expect(await registry.metrics()).toContain('test_impact_reviews_total{result="undecided"} 1');
});

test('as long as nobody knows which namespaces ask for permissions, all do', async () => {
  const { review } = startReviews(() => undefined, { facts: () => ({}) });
  const answer = review({ namespace: 'other', ...changed });
  await vi.advanceTimersByTimeAsync(5_000);
  expect((await answer).allowed).toBe(false);
});

test('reviews of the same write share a plan, those of others do not', async () => {
  const asked: number[] = [];
  const { review } = startReviews(
    (thread, { number }) => {
      asked.push(number);
      const answer = { number, clusters: 0, lines: [], deniedIn: [], undecidedIn: [] };
      setImmediate(() => thread.emit('message', { is: 'answer', answer }));
    },
    { facts },
  );
  const same = Array.from({ length: 100 }, (_, index) => review({ uid: `${index}`, namespace: 'metal', ...changed }));
  const other = review({ namespace: 'metal', ...changed, object: { spec: { a: 3 } } });
  expect((await Promise.all([...same, other])).every(({ allowed }) => allowed)).toBe(true);
  expect(asked).toHaveLength(2);
});

test.each<[string, string, object, boolean]>([
  ["Cluster API's core", 'capi-system:capi-manager', {}, true],
  ['another account of its namespace', 'capi-system:default', {}, false],
  ['a namespace that only looks like one', 'capsule-system:capsule', {}, false],
  ['the same name elsewhere', 'captain-hook-system:capi-manager', {}, false],
  [
    'an owner of the Cluster',
    'fleets:fleet',
    { ownerReferences: [{ apiVersion: 'fleet.example.com/v1', controller: true }] },
    true,
  ],
  [
    'somebody else than the owner',
    'fleets:fleet',
    { ownerReferences: [{ apiVersion: 'other.example.com/v1', controller: true }] },
    false,
  ],
  [
    'an owner that is not the controller',
    'fleets:fleet',
    { ownerReferences: [{ apiVersion: 'fleet.example.com/v1' }] },
    false,
  ],
])('not judged is what its controllers write: %s', async (_, account, metadata, isExempt) => {
  const controllers = { 'capi-system:capi-manager': 'cluster.x-k8s.io', 'fleets:fleet': 'fleet.example.com' };
  const config = { denies: true, deniesUnknown: true, controllers };
  const { review } = startReviews(() => undefined, { facts, config });
  const answer = review({
    username: `system:serviceaccount:${account}`,
    namespace: 'metal',
    object: { metadata, spec: { a: 1 } } as JsonObject,
    oldObject: { metadata, spec: { a: 2 } } as JsonObject,
  });
  await vi.advanceTimersByTimeAsync(5_000);
  expect((await answer).allowed).toBe(isExempt);
});

const owned = { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'b' }] };

test.each<[string, string, JsonObject, boolean]>([
  ['with its namespace', 'system:serviceaccount:kube-system:namespace-controller', owned, true],
  ['with its namespace, by the one account of all controllers', 'system:kube-controller-manager', {}, true],
  ['with its owner', 'system:serviceaccount:kube-system:generic-garbage-collector', owned, false],
  ['with its owner, by the one account of all controllers', 'system:kube-controller-manager', owned, false],
  ['by an account with a prefix', 'x:system:serviceaccount:kube-system:namespace-controller', {}, false],
  ['by an account in other letters', 'System:ServiceAccount:kube-system:namespace-controller', {}, false],
])('a Cluster is deleted %s', async (_, username, metadata, isExempt) => {
  const { review } = startReviews(() => undefined, { facts });
  const answer = review({ operation: 'DELETE', username, namespace: 'metal', oldObject: { metadata, spec: { a: 1 } } });
  await vi.advanceTimersByTimeAsync(5_000);
  expect((await answer).allowed).toBe(isExempt);
});
