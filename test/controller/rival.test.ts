import type { Socket } from 'node:net';
import { aroundEach, test, vi } from 'vitest';
import { RivalError } from '../../src/controller/index.ts';
import type { ExtensionConfig } from '../../src/extensionconfig/index.ts';
import { type Answering, startExtension as startRawServer } from '../runtimehooks/client/extension-server.ts';
import { ending, endWith } from '../support/ends.ts';
import { caBundle, control, type Lab, startCalled, startLab, until } from './lab.ts';
import { type Passed, startProxy, writesIn } from './proxy.ts';

aroundEach(ending);

const rival = { namespace: 'default', name: 'capi' };
const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
const isRivalCheck = ({ path }: Passed) => path === `${leases}/capi`;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Cluster API's controller takes its Lease. */
const comeTo = (lab: Lab) =>
  lab.request('POST', leases, {
    metadata: { name: 'capi' },
    spec: { holderIdentity: 'capi-1', leaseDurationSeconds: 15, renewTime: new Date().toISOString() },
  });

test.concurrent('while another controller discovers, nothing is begun, and the error says why', async ({ expect }) => {
  const lab = await startLab();
  const proxy = await startProxy(lab);
  const { spec } = await startCalled();
  await lab.create('lab', spec);
  await comeTo(lab);
  const { controller, lines } = await control(proxy, { rival });
  expect(controller.problem).toBe('the controller starts');
  const error = await controller.ended.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(RivalError);
  expect(lines).toEqual([expect.objectContaining({ level: 50, msg: (error as RivalError).message })]);
  expect((error as RivalError).message).toMatch(/: capi-1 holds the Lease default\/capi\. The two would overwrite /);
  expect(proxy.passed.filter((one) => !isRivalCheck(one))).toEqual([]);
  await controller.stop();
});

test.concurrent('a rival that appears later ends the work before the end is reported, and the Lease is released', async ({
  expect,
}) => {
  const lab = await startLab();
  const { spec } = await startCalled();
  await lab.create('lab', spec);
  const leaderElection = { namespace: 'default', name: 'ours', identity: 'a', retryPeriodMs: 50 };
  const { controller } = await control(lab, { rival, leaderElection }, { rivalCheckMs: 20 });
  await lab.condition('lab', 'Discovered', 'True');
  await comeTo(lab);
  await expect(controller.ended).rejects.toBeInstanceOf(RivalError);
  expect(await lab.request('GET', `${leases}/ours`)).toMatchObject({ spec: { holderIdentity: '' } });
});

test.concurrent('an unreadable Lease delays the start, is reported once, and is read again soon', async ({
  expect,
}) => {
  const lab = await startLab();
  const proxy = await startProxy(lab);
  let checks = 0;
  proxy.refuse = (one) => (isRivalCheck(one) && ++checks > 0 ? { message: 'no Leases for you' } : undefined);
  const { controller, lines } = await control(proxy, { rival }, { rivalRetryMs: 10, rivalCheckMs: 60_000 });
  await until(() => expect(checks).toBeGreaterThan(4));
  const problem =
    "cannot tell whether Cluster API's own controller is running: forbidden: the permission to get" +
    ' leases.coordination.k8s.io default/capi is missing (no Leases for you)';
  expect(controller.problem).toBe(problem);
  expect(lines.map(({ msg }) => msg)).toEqual([problem]);
  proxy.refuse = () => undefined;
  await controller.synced;
  expect(controller.problem).toBeUndefined();
});

test.concurrent('once begun, the work continues and does not begin a second time, whether or not the Lease can be read', async ({
  expect,
}) => {
  const lab = await startLab();
  const proxy = await startProxy(lab);
  let checks = 0;
  proxy.refuse = (one) => (isRivalCheck(one) && ++checks > 3 ? { message: 'no Leases for you' } : undefined);
  const { controller, lines } = await control(proxy, { rival }, { rivalCheckMs: 10 });
  await controller.synced;
  await until(() => expect(checks).toBeGreaterThan(8));
  expect(controller.problem).toBeUndefined();
  expect(lines.map(({ msg }) => msg)).toEqual(['all ExtensionConfigs were read']);
});

test.concurrent('stopped during the first check, nothing begins and nothing is reported', async ({ expect }) => {
  const lab = await startLab();
  const proxy = await startProxy(lab);
  let isAsked = false;
  proxy.hold = () => {
    isAsked = true;
    return new Promise(() => {});
  };
  const { controller, lines } = await control(proxy, { rival });
  await until(() => expect(isAsked).toBe(true));
  await controller.stop();
  await controller.ended;
  await pause(30);
  expect([lines, proxy.passed]).toEqual([[], []]);
});

test.concurrent('a shutdown lets a write finish before it releases the Lease, and then closes the connections to extensions', async ({
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
  // A user of the client leaves a connection open; the controller's own discovery does not.
  await controller.client.discover((await lab.get('lab')) as object as ExtensionConfig);
  const stopped = controller.stop();
  await pause(150);
  const holder = async () => ((await lab.request('GET', `${leases}/ours`)) as { spec: object }).spec;
  expect(await holder()).toMatchObject({ holderIdentity: 'a' });
  expect(writesIn(proxy.passed)).toEqual([]);
  written.resolve();
  await stopped;
  await controller.ended;
  expect(writesIn(proxy.passed)).toHaveLength(1);
  expect(await holder()).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
  expect(sockets.size).toBe(2);
  await vi.waitFor(() => expect([...sockets].every(({ destroyed }) => destroyed)).toBe(true), { timeout: 5_000 });
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
