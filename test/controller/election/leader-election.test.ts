import { afterAll, aroundEach, expect, test } from 'vitest';
import { createCandidate, type ElectionRun } from '../../../src/controller/election/leader-election.ts';
import { startExtension as startRawServer } from '../../runtimehooks/client/extension-server.ts';
import { collectingLog } from '../../server/running.ts';
import { endAll, ending, endWith } from '../../support/ends.ts';
import { caBundle, control, type Lab, startCalled, startLab, until } from '../lab.ts';
import { startProxy, writesIn } from '../proxy.ts';

aroundEach(ending);

/** Long enough that no busy machine loses such a Lease; where it has to expire, the test advances the clock. */
const times = { leaseDurationMs: 60_000, renewDeadlineMs: 30_000, retryPeriodMs: 100 };
const lease = { namespace: 'default', name: 'controller', ...times };
const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';

interface Lease {
  metadata: { labels?: object };
  spec: { holderIdentity: string; leaseTransitions: number; acquireTime: string; renewTime: string };
}
const leaseOf = async (lab: Lab, path = `${leases}/${lease.name}`) => ((await lab.request('GET', path)) as Lease).spec;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** For tests whose candidates do nothing but hold a Lease: of this lab, each uses one Lease. */
const shared = await startLab();
afterAll(endAll);
let count = 0;

/** A Lease that no other test uses, and candidates for it. */
function ownLease() {
  const leaseName = `lease-${count++}`;
  return {
    lab: shared,
    leaseName,
    path: `${leases}/${leaseName}`,
    candidate: (kubeConfig: ElectionRun['kubeConfig'], identity: string, options: Partial<ElectionRun> = {}) =>
      startCandidate(kubeConfig, { name: leaseName, identity, ...options }),
  };
}

/** One candidate, and what happens to it. */
function startCandidate(
  kubeConfig: ElectionRun['kubeConfig'],
  options: Partial<ElectionRun> & Pick<ElectionRun, 'name' | 'identity'>,
) {
  const { log, lines } = collectingLog();
  const events: string[] = [];
  const election = createCandidate({
    kubeConfig,
    ...lease,
    log,
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    onElected: () => events.push('elected'),
    onLost: (reason) => events.push(`lost: ${reason}`),
    ...options,
  });
  endWith(() => election.stop());
  return { election, events, lines };
}

test.concurrent('one of two replicas works; when it stops, the other takes over without waiting for the Lease to expire', async ({
  expect,
}) => {
  const lab = await startLab();
  const { spec } = await startCalled();
  await lab.create('first', spec);
  const [one, other] = [await startProxy(lab), await startProxy(lab)];
  const a = await control(one, { leaderElection: { ...lease, identity: 'a' } });
  await lab.condition('first', 'Discovered', 'True');
  const b = await control(other, { leaderElection: { ...lease, identity: 'b' } });
  await lab.create('second', spec);
  await lab.condition('second', 'Discovered', 'True');
  expect([writesIn(one.passed).length, writesIn(other.passed).length]).toEqual([2, 0]);
  expect([a.controller.problem, b.controller.problem]).toEqual([undefined, undefined]);
  expect(await leaseOf(lab)).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 60, leaseTransitions: 0 });
  await a.controller.stop();
  await lab.create('third', spec);
  await lab.condition('third', 'Discovered', 'True');
  expect([writesIn(one.passed).length, writesIn(other.passed).length]).toEqual([2, 1]);
  const { acquireTime, renewTime, ...taken } = await leaseOf(lab);
  expect(taken).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  expect([acquireTime, renewTime]).toEqual(Array(2).fill(expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}Z$/)));
});

test.concurrent('a leader that is cut off during a write stops before another begins, and that write never arrives', async ({
  expect,
}) => {
  const lab = await startLab();
  const { spec } = await startCalled();
  await lab.create('lab', spec);
  const proxy = await startProxy(lab);
  const held = Promise.withResolvers<void>();
  let isCut = false;
  proxy.hold = ({ path: asked }) => {
    isCut ||= asked.endsWith('/status');
    return isCut ? held.promise : undefined;
  };
  const short = { ...lease, leaseDurationMs: 2_000, renewDeadlineMs: 1_000 };
  const a = await control(proxy, { leaderElection: { ...short, identity: 'a' } });
  await until(() => expect(isCut).toBe(true));
  const b = await control(lab, { leaderElection: { ...lease, identity: 'b' } });
  await lab.condition('lab', 'Discovered', 'True');
  const lost = a.lines.find(({ msg }) => msg === 'leadership lost');
  expect(lost?.reason).toMatch(/^the Lease was not renewed for 1 s/);
  const { metadata } = await lab.get('lab');
  held.resolve();
  await until(() => expect(proxy.aborted.filter(({ path: asked }) => asked.endsWith('/status'))).toHaveLength(1));
  await pause(300);
  expect(writesIn(proxy.passed)).toEqual([]);
  expect((await lab.get('lab')).metadata.resourceVersion).toBe(metadata.resourceVersion);
  expect(b.lines.filter(({ msg }) => msg === 'leadership won')).toHaveLength(1);
  // It is a candidate again, and becomes leader when its time comes.
  await b.controller.stop();
  await lab.create('later', spec);
  await lab.condition('later', 'Discovered', 'True');
  // More often if the machine delayed it for longer than its Lease.
  expect(a.lines.filter(({ msg }) => msg === 'leadership won').length).toBeGreaterThan(1);
});

test.concurrent('a leader whose Lease was taken over stops at the next renewal', async ({ expect }) => {
  const { lab, path, candidate } = ownLease();
  const proxy = await startProxy(lab);
  let passed = 0;
  const { events, election } = candidate(proxy.kubeConfig, 'a', { monotonicMs: () => performance.now() + passed });
  await until(() => expect(events).toEqual(['elected']));
  const stored = (await lab.request('GET', path)) as Lease;
  const spec = { ...stored.spec, holderIdentity: 'thief', renewTime: '2026-01-01T00:00:00.000000Z' };
  await lab.request('PATCH', path, { spec }, { 'content-type': 'application/merge-patch+json' });
  await until(() => expect(events).toEqual(['elected', 'lost: thief holds the Lease']));
  expect(election.isLeading).toBe(false);
  // It has seen the thief's Lease since the loss: one request may have been under way.
  const seen = proxy.passed.length + 2;
  await until(() => expect(proxy.passed.length).toBeGreaterThanOrEqual(seen));
  expect(events).toHaveLength(2);
  // The thief stops renewing: its Lease expires.
  passed = times.leaseDurationMs;
  await until(() => expect(events).toHaveLength(3));
  expect((await leaseOf(lab, path)).leaseTransitions).toBe(1);
});

test.concurrent('changing a label of the Lease, or deleting it, does not result in two leaders', async ({ expect }) => {
  const { lab, path, candidate } = ownLease();
  const a = candidate(lab.kubeConfig, 'a');
  await until(() => expect(a.events).toEqual(['elected']));
  const patch = { metadata: { labels: { x: 'y' } } };
  await lab.request('PATCH', path, patch, { 'content-type': 'application/merge-patch+json' });
  const { renewTime } = await leaseOf(lab, path);
  await until(async () => expect((await leaseOf(lab, path)).renewTime).not.toBe(renewTime));
  expect(a.events).toEqual(['elected']);
  expect(((await lab.request('GET', path)) as Lease).metadata.labels).toEqual({ x: 'y' });
  await lab.request('DELETE', path);
  await until(() => expect(a.events).toEqual(['elected', 'lost: the Lease was deleted', 'elected']));
});

test.concurrent('a leader whose Lease was released by another client says so', async ({ expect }) => {
  const { lab, path, candidate } = ownLease();
  const { events } = candidate(lab.kubeConfig, 'a');
  await until(() => expect(events).toEqual(['elected']));
  const { spec } = (await lab.request('GET', path)) as Lease;
  const patch = { spec: { ...spec, holderIdentity: '' } };
  await lab.request('PATCH', path, patch, { 'content-type': 'application/merge-patch+json' });
  await until(() => expect(events).toEqual(['elected', 'lost: the Lease was released by another client', 'elected']));
});

test.concurrent('a Lease without a spec is acquired', async ({ expect }) => {
  const { lab, leaseName, path, candidate } = ownLease();
  await lab.request('POST', leases, { metadata: { name: leaseName } });
  const { events, election } = candidate(lab.kubeConfig, 'a');
  await until(() => expect(events).toEqual(['elected']));
  expect(election.problem).toBeUndefined();
  expect(await leaseOf(lab, path)).toMatchObject({ holderIdentity: 'a', leaseTransitions: 1 });
});

test.concurrent('jumping clocks do not matter: the leader stays, and a candidate does not take over', async ({
  expect,
}) => {
  const { lab, path, candidate } = ownLease();
  let offset = 0;
  const now = () => new Date(Date.now() + offset);
  const a = candidate(lab.kubeConfig, 'a', { now });
  await until(() => expect(a.events).toEqual(['elected']));
  const proxy = await startProxy(lab);
  let passed = 0;
  const b = candidate(proxy.kubeConfig, 'b', {
    now: () => new Date(Date.now() + 86_400_000),
    monotonicMs: () => performance.now() + passed,
  });
  for (const step of [3_600_000, -3_600_000, 86_400_000 * 365]) {
    offset = step;
    const { renewTime } = await leaseOf(lab, path);
    await until(async () => expect((await leaseOf(lab, path)).renewTime).not.toBe(renewTime));
    // The first of them may have been answered before.
    const seen = proxy.passed.length + 2;
    await until(() => expect(proxy.passed.length).toBeGreaterThanOrEqual(seen));
    // In total longer than the Lease, which the other renews all the time.
    passed += times.leaseDurationMs * (2 / 3);
    expect(a.election.isLeading).toBe(true);
  }
  const seen = proxy.passed.length + 2;
  await until(() => expect(proxy.passed.length).toBeGreaterThanOrEqual(seen));
  expect([a.events, b.events]).toEqual([['elected'], []]);
});

test.concurrent('a process that was suspended for longer than its Lease notices before it writes, whatever its timers missed', async ({
  expect,
}) => {
  const { lab, candidate } = ownLease();
  const proxy = await startProxy(lab);
  let halted = 0;
  const { events, election } = candidate(proxy.kubeConfig, 'a', { monotonicMs: () => performance.now() + halted });
  await until(() => expect(events).toEqual(['elected']));
  proxy.hold = () => new Promise(() => {});
  await pause(150);
  expect(election.isLeading).toBe(true);
  halted = times.renewDeadlineMs;
  expect(election.isLeading).toBe(false);
  await proxy.cut();
});

test.concurrent("another holder's Lease expires when its spec has not changed for its duration; a label does not renew it", async ({
  expect,
}) => {
  const { lab, path, leaseName, candidate } = ownLease();
  const spec = { holderIdentity: 'them', leaseDurationSeconds: 2_000, leaseTransitions: 3 };
  await lab.request('POST', leases, { metadata: { name: leaseName }, spec });
  const patch = (body: object) => lab.request('PATCH', path, body, { 'content-type': 'application/merge-patch+json' });
  const proxy = await startProxy(lab);
  let passed = 0;
  const { events } = candidate(proxy.kubeConfig, 'us', { monotonicMs: () => performance.now() + passed });
  const seenAgain = async () => {
    // One request may be under way.
    const seen = proxy.passed.length + 2;
    await until(() => expect(proxy.passed.length).toBeGreaterThanOrEqual(seen));
  };
  await seenAgain();
  passed = 1_500_000;
  await patch({ spec: { renewTime: '2026-01-01T00:00:00.000000Z' } });
  await seenAgain();
  passed += 1_900_000;
  await patch({ metadata: { labels: { x: 'y' } } });
  await seenAgain();
  expect(events).toEqual([]);
  passed += 100_000;
  await until(() => expect(events).toEqual(['elected']));
  expect(await lab.request('GET', path)).toMatchObject({
    metadata: { labels: { x: 'y' } },
    spec: { holderIdentity: 'us', leaseTransitions: 4 },
  });
});

test.concurrent('a leadership counts from when the request for the Lease was sent', async ({ expect }) => {
  const { lab, candidate } = ownLease();
  const proxy = await startProxy(lab);
  const answered = Promise.withResolvers<void>();
  let isTaken = false;
  proxy.holdAnswer = ({ method }) => {
    isTaken ||= method === 'POST';
    return method === 'POST' ? answered.promise : undefined;
  };
  let passed = 0;
  const { election, events } = candidate(proxy.kubeConfig, 'a', { monotonicMs: () => performance.now() + passed });
  await until(() => expect(isTaken).toBe(true));
  proxy.hold = ({ method }) => (method === 'PUT' ? new Promise(() => {}) : undefined);
  passed = times.renewDeadlineMs;
  answered.resolve();
  await until(() => expect(events[0]).toBe('elected'));
  expect(election.isLeading).toBe(false);
  await until(() => expect(events).toEqual(['elected', 'lost: the Lease was not renewed for 30 s']));
  await proxy.cut();
});

test.concurrent('suspended during a discovery, it does not write the result', async ({ expect }) => {
  const lab = await startLab();
  const proxy = await startProxy(lab);
  let halted = 0;
  const server = await startRawServer(() => {
    // From here on nothing renews the Lease, and no timer has fired yet.
    proxy.hold = ({ path: asked }) => (asked.includes('/leases/') ? new Promise(() => {}) : undefined);
    halted = times.renewDeadlineMs;
    return { status: 'Success', handlers: [] };
  });
  endWith(() => server.close());
  await lab.create('lab', { clientConfig: { url: server.url, caBundle } });
  const { lines } = await control(proxy, {
    leaderElection: { ...lease, identity: 'a' },
    monotonicMs: () => performance.now() + halted,
  });
  const error = 'another replica leads now; nothing is written';
  await until(() => expect(lines).toContainEqual(expect.objectContaining({ error })));
  expect(writesIn(proxy.passed)).toEqual([]);
  await proxy.cut();
});

test.concurrent('a Lease that cannot be created is reported, in the log and to the probe', async ({ expect }) => {
  const lab = await startLab();
  const { lines, controller } = await control(lab, {
    leaderElection: { ...lease, namespace: 'nowhere', identity: 'a' },
  });
  await until(() => expect(controller.problem).toMatch(/namespaces "nowhere" not found/));
  expect(lines.find(({ msg }) => msg === 'the Lease cannot be read or written')).toBeDefined();
  await controller.stop();
});

test.concurrent('a renewal preserves the acquire time and the number of transitions, and is one request', async ({
  expect,
}) => {
  const { lab, path, candidate } = ownLease();
  const proxy = await startProxy(lab);
  const a = candidate(proxy.kubeConfig, 'a');
  await until(() => expect(a.events).toEqual(['elected']));
  const first = await leaseOf(lab, path);
  await until(async () => expect((await leaseOf(lab, path)).renewTime).not.toBe(first.renewTime));
  expect(await leaseOf(lab, path)).toMatchObject({ acquireTime: first.acquireTime, leaseTransitions: 0 });
  expect(proxy.passed.filter(({ method }) => method === 'GET')).toHaveLength(1);
});

test.concurrent('a candidate that is stopped while it acquires the Lease does not become the leader, and releases it', async ({
  expect,
}) => {
  const { lab, path, candidate } = ownLease();
  const proxy = await startProxy(lab);
  const answered = Promise.withResolvers<void>();
  let isTaken = false;
  proxy.holdAnswer = ({ method }) => {
    isTaken ||= method === 'POST';
    return method === 'POST' ? answered.promise : undefined;
  };
  const { election, events, lines } = candidate(proxy.kubeConfig, 'a');
  await until(() => expect(isTaken).toBe(true));
  const stopped = election.stop();
  answered.resolve();
  await stopped;
  expect([events, lines, election.isLeading]).toEqual([[], [], false]);
  // The next leader need not wait.
  expect(await leaseOf(lab, path)).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
});

test.concurrent.each([
  [
    'forbidden',
    403,
    (key: string) => `forbidden: the permission to update leases.coordination.k8s.io ${key} is missing (not now)`,
  ],
  ['changed meanwhile', 409, () => 'another client has changed it'],
] as const)('a Lease that cannot be released is reported, and the shutdown completes: %s', async (_, code, problem) => {
  const { lab, leaseName, candidate } = ownLease();
  const proxy = await startProxy(lab);
  const { election, events, lines } = candidate(proxy.kubeConfig, 'a');
  await until(() => expect(events).toEqual(['elected']));
  proxy.refuse = ({ method }) => (method === 'PUT' ? { message: 'not now', code } : undefined);
  await election.stop();
  expect(election.isLeading).toBe(false);
  expect(lines.at(-1)).toMatchObject({
    problem: problem(`default/${leaseName}`),
    msg: 'the Lease could not be released; other replicas wait until it expires',
  });
  expect(events).toEqual(['elected']);
});

test.concurrent('a response that takes half the time counts as missing: the leader tries again before its time is over', async ({
  expect,
}) => {
  const { lab, candidate } = ownLease();
  const proxy = await startProxy(lab);
  const { events } = candidate(proxy.kubeConfig, 'a', { leaseDurationMs: 3_000, renewDeadlineMs: 1_600 });
  await until(() => expect(events).toEqual(['elected']));
  let held = 0;
  proxy.hold = ({ method }) => (method === 'PUT' && ++held === 1 ? new Promise(() => {}) : undefined);
  await until(() => expect(held).toBeGreaterThan(1));
  expect(events).toEqual(['elected']);
});

test.concurrent('a controller that is stopped at the moment when it wins begins no work', async ({ expect }) => {
  const lab = await startLab();
  const proxy = await startProxy(lab);
  const stopped = Promise.withResolvers<void>();
  const { log } = collectingLog();
  const listening = Object.assign(Object.create(log) as typeof log, {
    info(_fields: object, message: string) {
      if (message === 'leadership won') {
        stopped.resolve(controller.stop());
      }
    },
  });
  const { controller } = await control(proxy, { leaderElection: { ...lease, identity: 'a' }, log: listening });
  await stopped.promise;
  await pause(100);
  expect(proxy.passed.filter(({ path: asked }) => !asked.includes('/leases'))).toEqual([]);
  expect((await leaseOf(lab)).holderIdentity).toBe('');
});
