import { expect, test } from 'vitest';
import { heldSpec, leasePath, releasedSpec, specOf } from '../../../src/controller/election/lease.ts';

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
