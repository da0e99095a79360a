import { expect, test } from 'vitest';
import { createEventRecorder } from '../../../src/controller/configs/events.ts';
import { type KubernetesClient, StatusError } from '../../../src/kubernetes/client/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';

/** A recorder whose requests are kept, with a clock that the test advances. */
function recorder(refuse: (method: string) => Error | undefined = () => undefined) {
  const requests: { method: string; body: JsonObject }[] = [];
  const problems: string[] = [];
  const clock = { at: Date.parse('2026-01-01T00:00:00Z') };
  const cluster: Pick<KubernetesClient, 'request'> = {
    async request(method, _path, body) {
      const error = refuse(method);
      if (error !== undefined) {
        throw error;
      }
      requests.push({ method, body: body as JsonObject });
      return {};
    },
  };
  const events = createEventRecorder({
    cluster: cluster as KubernetesClient,
    component: 'test',
    instance: 'one',
    now: () => new Date(clock.at),
    onProblem: (problem) => problems.push(problem),
  });
  const config = (name: string) =>
    ({ metadata: { name, uid: `uid of ${name}`, resourceVersion: '7', generation: 1 } }) as Parameters<
      typeof events.record
    >[0];
  const record = async (name: string, message: string) => {
    events.record(config(name), { type: 'Warning', reason: 'NotDiscovered', message });
    await events.flush();
  };
  return { events, requests, problems, clock, record };
}

test('an event has a reporter and an object; names sort by time', async () => {
  const { requests, record } = recorder();
  await record('a', 'one');
  await record('a', 'two');
  expect(requests[0]?.body).toMatchObject({
    involvedObject: {
      apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
      kind: 'ExtensionConfig',
      name: 'a',
      uid: 'uid of a',
    },
    metadata: { namespace: 'default', name: expect.stringMatching(/^a\.[0-9a-f]{16}$/) },
    type: 'Warning',
    reason: 'NotDiscovered',
    message: 'one',
    count: 1,
    firstTimestamp: '2026-01-01T00:00:00Z',
  });
  const [first, second] = requests.map(({ body }) => (body.metadata as { name: string }).name);
  expect(String(first) < String(second)).toBe(true);
});

test('a repeating event is counted, and written at most every five minutes', async () => {
  const { requests, record, clock } = recorder();
  for (let minute = 0; minute < 60; minute++) {
    await record('a', 'same');
    clock.at += 60_000;
  }
  expect(requests.map(({ method }) => method)).toEqual(['POST', ...Array(11).fill('PATCH')]);
  expect(requests.at(-1)?.body).toEqual({ count: 56, lastTimestamp: '2026-01-01T00:55:00Z' });
});

test('an event that recurs after another one is written at once', async () => {
  const { requests, record, clock } = recorder();
  for (let second = 0; second < 100; second++) {
    await record('a', second % 2 === 0 ? 'broken' : 'repaired');
    clock.at += 1_000;
  }
  expect(requests.map(({ method }) => method)).toEqual(['POST', 'POST', ...Array(98).fill('PATCH')]);
  expect(requests[2]?.body).toEqual({ count: 2, lastTimestamp: '2026-01-01T00:00:02Z' });
});

test('an event that the API server has deleted is created again', async () => {
  const { requests, record, clock } = recorder((method) =>
    method === 'PATCH' ? new StatusError(404, 'not found') : undefined,
  );
  await record('a', 'same');
  clock.at += 3_600_000;
  await record('a', 'same');
  expect(requests.map(({ method }) => method)).toEqual(['POST', 'POST']);
});

test('an event that exists already was created by a request whose answer was lost', async () => {
  let isLost = true;
  const { requests, problems, record } = recorder(() => (isLost ? new StatusError(409, 'already exists') : undefined));
  await record('a', 'one');
  isLost = false;
  await record('a', 'one');
  expect(problems).toEqual([]);
  // Known, and not due for another write.
  expect(requests).toEqual([]);
});

test('an API server that rejects events is reported, and stops nothing', async () => {
  const { record, problems, events } = recorder(() => new StatusError(403, 'events is forbidden'));
  await record('a', 'one');
  await record('a', 'two');
  expect(problems).toEqual(['events is forbidden', 'events is forbidden']);
  events.forget('uid of a');
});

test('setting the clock back does not suppress events forever', async () => {
  const { requests, record, clock } = recorder();
  await record('a', 'same');
  clock.at -= 86_400_000;
  await record('a', 'same');
  expect(requests.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
});
