import { afterEach, expect, test, vi } from 'vitest';
import { Leadership } from '../../../src/controller/election/leadership.ts';
import { heldSpec, leasePath, releasedSpec, specOf } from '../../../src/controller/election/lease.ts';
import { SeenLease } from '../../../src/controller/election/seen-lease.ts';

afterEach(() => void vi.useRealTimers());

const now = new Date('2026-05-01T10:00:00.123Z');
const time = '2026-05-01T10:00:00.123000Z';
const us = { identity: 'us', leaseDurationMs: 15_400 };
const taken = { holderIdentity: 'us', leaseDurationSeconds: 15, acquireTime: time, renewTime: time };
const spec = (changes = {}) => specOf({ spec: { leaseTransitions: 7, acquireTime: 'then', ...changes } });

test.each([
  ['that is new', undefined, { ...taken, leaseTransitions: 0 }],
  ['without a holder', spec(), { ...taken, leaseTransitions: 8 }],
  ['of another holder', spec({ holderIdentity: 'them' }), { ...taken, leaseTransitions: 8 }],
  ['of its own', spec({ holderIdentity: 'us' }), { ...taken, acquireTime: 'then', leaseTransitions: 7 }],
  [
    'of its own, without a time',
    spec({ holderIdentity: 'us', acquireTime: 1 }),
    { ...taken, acquireTime: time, leaseTransitions: 7 },
  ],
])('a candidate holds a Lease %s', (_what, before, expected) => {
  expect(heldSpec(before, us, now)).toEqual(expected);
});

test('a released Lease has no holder and expires at once; a Lease is held for at least a second', () => {
  expect(releasedSpec(spec({ holderIdentity: 'us' }), us, now)).toEqual({
    ...taken,
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: 'then',
    leaseTransitions: 7,
  });
  expect(heldSpec(undefined, { ...us, leaseDurationMs: 400 }, now).leaseDurationSeconds).toBe(1);
});

test.each([
  {},
  { spec: null },
  { spec: { holderIdentity: 1, leaseDurationSeconds: '2', leaseTransitions: null } },
])('a Lease of any form has a spec: %j', (lease) => {
  expect(specOf(lease)).toEqual({
    holderIdentity: '',
    leaseDurationSeconds: 0,
    leaseTransitions: 0,
    acquireTime: undefined,
    renewTime: '',
  });
});

test('names are escaped in paths', () => {
  expect(leasePath('a/b', 'c?')).toBe('/apis/coordination.k8s.io/v1/namespaces/a%2Fb/leases/c%3F');
});

test("another holder counts for the Lease's duration after each change that was seen, by the local clock", () => {
  let at = 1_000;
  const seen = new SeenLease(() => at);
  const lease = (renewTime: string, holderIdentity = 'them', labels = {}) => ({
    metadata: { labels },
    spec: { holderIdentity, leaseDurationSeconds: 2, renewTime },
  });
  expect([seen.lease, seen.isHeldByOther('us')]).toEqual([undefined, false]);
  const heldAt = (ms: number, one = lease('1')) => {
    at = ms;
    expect(seen.see(one)).toEqual(specOf(one));
    return seen.isHeldByOther('us');
  };
  expect([1_000, 2_999, 3_000].map((ms) => heldAt(ms))).toEqual([true, true, false]);
  // A label does not renew the Lease, but the next write must use the labelled version.
  expect(heldAt(3_100, lease('1', 'them', { a: 'b' }))).toBe(false);
  expect(seen.lease).toEqual(lease('1', 'them', { a: 'b' }));
  expect(heldAt(4_000, lease('2'))).toBe(true);
  expect([5_999, 6_000].map((ms) => heldAt(ms, lease('2')))).toEqual([true, false]);
  expect([heldAt(6_000, lease('3', 'us')), heldAt(6_000, lease('3', ''))]).toEqual([false, false]);
});

test('a leadership lasts from when the renewal was sent, and has ended by the clock before its timer fires', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  let halted = 0;
  const onLate = vi.fn();
  const monotonicMs = () => performance.now() + halted;
  const leadership = new Leadership({ renewDeadlineMs: 1_000, monotonicMs, onLate });
  const state = () => [leadership.isHeld, leadership.isInTime];
  expect([state(), leadership.end()]).toEqual([[false, false], false]);
  // The response took 300 ms.
  leadership.hold(monotonicMs() - 300);
  vi.advanceTimersByTime(600);
  expect(state()).toEqual([true, true]);
  leadership.hold(monotonicMs());
  vi.advanceTimersByTime(999);
  expect([state(), onLate.mock.calls]).toEqual([[true, true], []]);
  halted = 1;
  expect(state()).toEqual([true, false]);
  vi.advanceTimersByTime(1);
  expect(onLate).toHaveBeenCalledTimes(1);
  expect([leadership.end(), state(), leadership.end()]).toEqual([true, [false, false], false]);
  leadership.hold(monotonicMs());
  leadership.end();
  vi.advanceTimersByTime(5_000);
  expect(onLate).toHaveBeenCalledTimes(1);
});
