import type { Socket } from 'node:net';
import { aroundEach, test, vi } from 'vitest';
import { type Answering, startExtension as startRawServer } from '../runtimehooks/client/extension-server.ts';
import { ending, endWith } from '../support/ends.ts';
import { caBundle, control, startCalled, startLab, until } from './lab.ts';
import { startProxy, writesIn } from './proxy.ts';

aroundEach(ending);

const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test.concurrent('a shutdown lets a write finish before it releases the Lease, and leaves no connection to extensions open', async ({
  expect,
}) => {
  const lab = await startLab();
  const proxy = await startProxy(lab);
  const sockets = new Set<Socket>();
  const answer: Answering = (_received, _response, { socket }) => {
    sockets.add(socket);
    return { status: 'Success', handlers: [] };
  };
  const server = await startRawServer(answer, { keepAliveTimeout: 0 });
  endWith(() => server.close());
  await lab.create('lab', { clientConfig: { url: server.url, caBundle } });
  const written = Promise.withResolvers<void>();
  let isHeld = false;
  proxy.hold = ({ path }) => {
    isHeld ||= path.endsWith('/status');
    return path.endsWith('/status') ? written.promise : undefined;
  };
  const leaderElection = { namespace: 'default', name: 'ours', identity: 'a', retryPeriodMs: 50 };
  const { controller } = await control(proxy, { leaderElection });
  await until(() => expect(isHeld).toBe(true));
  const stopped = controller.stop();
  await pause(150);
  const holder = async () => ((await lab.request('GET', `${leases}/ours`)) as { spec: object }).spec;
  expect(await holder()).toMatchObject({ holderIdentity: 'a' });
  expect(writesIn(proxy.passed)).toEqual([]);
  written.resolve();
  await stopped;
  expect(writesIn(proxy.passed)).toHaveLength(1);
  expect(await holder()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
  expect(sockets.size).toBe(1);
  await vi.waitFor(() => expect([...sockets].every(({ destroyed }) => destroyed)).toBe(true), { timeout: 30_000 });
});

test.concurrent("events that cannot be written are reported once; their reporter's name is as long as the API allows", async ({
  expect,
}) => {
  const lab = await startLab();
  const proxy = await startProxy(lab);
  const { spec } = await startCalled();
  const reporters: string[] = [];
  proxy.refuse = ({ path }, body) => {
    if (!path.endsWith('/events')) {
      return undefined;
    }
    reporters.push((JSON.parse(body) as { reportingInstance: string }).reportingInstance);
    return { message: 'no events for you' };
  };
  for (const name of ['one', 'two', 'three']) {
    await lab.create(name, spec);
  }
  const identity = 'pod'.repeat(60);
  const leaderElection = { namespace: 'default', name: 'ours', identity };
  const { lines } = await control(proxy, { leaderElection });
  await until(() => expect(reporters).toHaveLength(3));
  await lab.condition('three', 'Discovered', 'True');
  await pause(30);
  expect(lines.filter(({ msg }) => msg === 'an event could not be written')).toEqual([
    expect.objectContaining({ problem: 'no events for you' }),
  ]);
  expect(new Set(reporters)).toEqual(new Set([identity.slice(0, 128)]));
});
