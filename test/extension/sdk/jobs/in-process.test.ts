import { setImmediate as settled } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createJobs, HandlerFailure, handler } from '../../../../src/extension/index.ts';
import { call } from '../../../../src/extension/sdk/calls/call.ts';
import { createLifetime } from '../../../../src/extension/sdk/calls/lifetime.ts';
import { callHandler, requestFor } from '../../../../src/extension/sdk/testing/index.ts';
import type { Json } from '../../../../src/kubernetes/index.ts';
import { collectingLog } from '../../../server/running.ts';

/** A handler whose work each test ends. */
function waiting(retryAfterSeconds?: number) {
  const started: { end: () => void; fail: (error: unknown) => void; signal: AbortSignal }[] = [];
  const jobs = createJobs({
    retryAfterSeconds,
    run: (_, signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      started.push({ end: resolve, fail: reject, signal });
      return promise;
    },
  });
  const wait = handler('BeforeClusterUpgrade', {
    name: 'wait',
    handle: ({ toKubernetesVersion }, context) =>
      jobs.answer(context, { key: toKubernetesVersion, message: 'backups run' }),
  });
  const ask = async (fields: Partial<ReturnType<typeof requestFor<'BeforeClusterUpgrade'>>> = {}) => {
    const { response, lines } = await callHandler(wait, requestFor('BeforeClusterUpgrade', fields));
    return { response, lines };
  };
  return { wait, ask, started };
}

const { namespace, name, uid } = requestFor('BeforeClusterUpgrade').cluster.metadata;
const job = `BeforeClusterUpgrade wait ${namespace}/${name} ${uid} ${requestFor('BeforeClusterUpgrade').toKubernetesVersion}`;
const blocking = { status: 'Success', retryAfterSeconds: 10, message: 'backups run' };
const done = { status: 'Success', retryAfterSeconds: 0 };

test('a caller is told to retry until the work is done, which happens once', async () => {
  const { ask, started } = waiting();
  const first = await ask();
  expect([first.response, (await ask()).response, started.length]).toEqual([blocking, blocking, 1]);
  started[0]?.end();
  await settled();
  expect([(await ask()).response, (await ask()).response, started.length]).toEqual([done, done, 1]);
  expect(first.lines).toMatchObject([{ level: 30, job, msg: 'job done' }]);
});

test.each<[string, unknown, string, object]>([
  [
    'an error',
    new Error('hunter2'),
    'the work failed: see the log of the extension',
    { error: 'Error', message: 'hunter2', stack: expect.any(String) },
  ],
  [
    'a failure for users',
    new HandlerFailure('full'),
    'full',
    { error: 'Error', message: 'full', stack: expect.any(String) },
  ],
])('a job that fails with %s fails once, and is run again', async (_, error, message, logged) => {
  const { ask, started } = waiting(3);
  const { lines } = await ask();
  started[0]?.fail(error);
  await settled();
  expect((await ask()).response).toMatchObject({ status: 'Failure', message });
  expect(lines).toMatchObject([{ level: 50, job, msg: 'job failed', ...logged }]);
  expect([(await ask()).response, started.length]).toEqual([{ ...blocking, retryAfterSeconds: 3 }, 2]);
});

test('another version, and another Cluster, is other work', async () => {
  const { ask, started } = waiting();
  const { cluster } = requestFor('BeforeClusterUpgrade');
  await ask();
  await ask({ toKubernetesVersion: 'v1.99.0' });
  await ask({ cluster: { ...cluster, metadata: { ...cluster.metadata, name: 'other', uid: 'other' } } });
  expect(started).toHaveLength(3);
});

test('when the server stops, running jobs are aborted, it waits for them, and none of that is a failure', async () => {
  const { wait, started } = waiting();
  const lifetime = createLifetime();
  const { log, lines } = collectingLog();
  const request = requestFor('BeforeClusterUpgrade') as unknown as Json;
  await call(wait, request, { ending: new AbortController(), log, lifetime });
  const stopped = lifetime.end(10_000);
  expect(started[0]?.signal.reason).toMatchObject({ name: 'AbortError', message: 'the extension stops' });
  setTimeout(() => started[0]?.fail(new Error('aborted')), 10);
  expect(await stopped).toEqual([]);
  expect(lines).toEqual([expect.objectContaining({ level: 40, job, msg: 'job interrupted: the extension stops' })]);
});

test.each([
  [0, 'retryAfterSeconds: 0 is not a whole number of at least 1'],
  [1.5, 'retryAfterSeconds: 1.5 is not a whole number of at least 1'],
])('an interval of %d s is refused', (retryAfterSeconds, message) => {
  expect(() => createJobs({ retryAfterSeconds, run: async () => {} })).toThrow(new RangeError(message));
});

test.each([undefined, '', 7])('the key %j is a fault: each call would begin the work again', async (key) => {
  const jobs = createJobs({ run: async () => {} });
  const wait = handler('BeforeClusterUpgrade', {
    name: 'wait',
    handle: (_, context) => jobs.answer(context, { key: key as never, message: 'backups run' }),
  });
  const { result, lines } = await callHandler(wait);
  expect([result, lines.at(-1)?.message]).toEqual([
    'error',
    expect.stringMatching(/^key: .* is not a text that identifies the work$/),
  ]);
});
