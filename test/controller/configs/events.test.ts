import { expect, test } from 'vitest';
import { createEventRecorder } from '../../../src/controller/configs/events.ts';
import { type KubernetesClient, StatusError } from '../../../src/kubernetes/client/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { collectingLog } from '../../server/running.ts';

/** A recorder whose requests are kept. */
function recorder(refuse: () => Error | undefined = () => undefined) {
  const requests: { body: JsonObject }[] = [];
  const { log, lines } = collectingLog();
  let at = Date.parse('2026-01-01T00:00:00Z');
  const cluster: Pick<KubernetesClient, 'request'> = {
    async request(_method, _path, body) {
      const error = refuse();
      if (error !== undefined) {
        throw error;
      }
      requests.push({ body: body as JsonObject });
      return {};
    },
  };
  const events = createEventRecorder(cluster as KubernetesClient, {
    identity: 'one',
    log,
    now: () => new Date(at++),
  });
  const problems = () => lines.flatMap(({ problem }) => problem ?? []);
  const config = (name: string) =>
    ({ metadata: { name, uid: `uid of ${name}`, resourceVersion: '7', generation: 1 } }) as Parameters<
      typeof events.record
    >[0];
  const record = async (name: string, message: string) => {
    events.record(config(name), { type: 'Warning', reason: 'NotDiscovered', message });
    await events.flush();
  };
  return { requests, lines, problems, record };
}

test('an event has a reporter and an object, and is logged; names sort by time', async () => {
  const { requests, lines, record } = recorder();
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
  expect(lines[0]).toMatchObject({ level: 40, extensionConfig: 'a', reason: 'NotDiscovered', msg: 'one' });
  const [first, second] = requests.map(({ body }) => (body.metadata as { name: string }).name);
  expect(String(first) < String(second)).toBe(true);
});

test('an event that exists already was created by a request whose answer was lost', async () => {
  const { problems, record } = recorder(() => new StatusError(409, 'already exists'));
  await record('a', 'one');
  expect(problems()).toEqual([]);
});

test('an API server that rejects events is reported once, and stops nothing', async () => {
  const { record, problems } = recorder(() => new StatusError(403, 'events is forbidden'));
  await record('a', 'one');
  await record('a', 'two');
  expect(problems()).toEqual(['events is forbidden']);
});
