import { describe, expect, test } from 'vitest';
import { AllowListError, parseAllowList } from '../../../src/policy/probe/index.ts';

/** Entries, host, address it resolves to, whether it may be probed. */
const cases: [entries: string[], hostname: string, address: string, isAllowed: boolean][] = [
  [['svc'], 'a.b.svc', '10.0.0.1', true],
  [['.svc'], 'a.b.svc', '10.0.0.1', true],
  [['b.svc'], 'a.b.svc', '10.0.0.1', true],
  [['b.svc'], 'ab.svc', '10.0.0.1', false],
  [['example.com'], 'example.com', '192.0.2.1', true],
  [['example.com'], 'badexample.com', '192.0.2.1', false],
  [['Example.com'], 'a.example.com', '192.0.2.1', true],
  // A name does not cover an address that is written instead of it.
  [['1.example.com'], '10.0.0.1', '10.0.0.1', false],
  [['10.0.0.0/8'], 'any.example.com', '10.1.2.3', true],
  [['10.0.0.0/8'], '10.1.2.3', '10.1.2.3', true],
  [['10.0.0.0/8'], 'any.example.com', '11.0.0.1', false],
  [['192.0.2.7'], 'x', '192.0.2.7', true],
  [['192.0.2.7'], 'x', '192.0.2.8', false],
  [['2001:db8::/32'], 'x', '2001:db8::1', true],
  [['2001:db8::/32'], 'x', '2001:db9::1', false],
  // Mapped addresses count as what they map to.
  [['10.0.0.0/8'], 'x', '::ffff:10.1.2.3', true],
  [['svc', '0.0.0.0/0', '::/0'], 'a.svc', '::ffff:127.0.0.1', false],
  [['127.0.0.0/8'], 'x', '::ffff:127.0.0.1', true],
  // Only a range within the guarded range covers it.
  ...[
    '127.0.0.1',
    '169.254.169.254',
    '0.0.0.0',
    '100.100.100.200',
    '168.63.129.16',
    '224.0.0.1',
    '255.255.255.255',
  ].map((address): [string[], string, string, boolean] => [
    ['svc', '0.0.0.0/0', '100.0.0.0/8'],
    'a.svc',
    address,
    false,
  ]),
  ...[
    '::',
    '::1',
    '::127.0.0.1',
    '::a9fe:a9fe',
    '::ffff:7f00:1',
    '::ffff:0:127.0.0.1',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    'fd00:ec2::254',
    'fd00:ec2::23',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
  ].map((address): [string[], string, string, boolean] => [['svc', '0.0.0.0/0', '::/0'], 'a.svc', address, false]),
  [['127.0.0.0/8'], 'localhost', '127.0.0.1', true],
  [['127.0.0.1'], 'localhost', '127.0.0.2', false],
  [['126.0.0.0/7'], 'localhost', '127.0.0.1', false],
  [['::1'], 'localhost', '::1', true],
  [['fe80::/64'], 'x', 'fe80::1', true],
  [['169.254.169.254/32'], 'x', '169.254.169.254', true],
  // A name does not suffice for a guarded address.
  [['localhost'], 'localhost', '127.0.0.1', false],
];

test.each(cases)('%j and %s at %s: %s', (entries, hostname, address, isAllowed) => {
  expect(parseAllowList(entries).allows(hostname, address)).toBe(isAllowed);
});

describe('entries', () => {
  test.each([
    '',
    '/',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/8/8',
    '1.2.3',
    'a b',
    '*.example.com',
    'https://a',
    '-a',
    'fe80::1%eth0',
  ])('%j is invalid', (entry) => {
    expect(() => parseAllowList([entry])).toThrow(AllowListError);
  });
});

test.each([
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['255.255.255.255/31', '255.255.255.254/31'],
  ['192.0.2.7/0', '0.0.0.0/0'],
  ['fd00:1:2::7/32', 'fd00:1::/32'],
  ['::1/127', '::/127'],
  ['2001:db8::ffff:10.1.2.3/120', '2001:db8::ffff:a01:200/120'],
  ['fe80::1/64', 'fe80::/64'],
])('%s does not start at its address: %s does', (entry, meant) => {
  expect(() => parseAllowList([entry])).toThrow(`did you mean ${meant}, or ${entry.split('/')[0]} alone?`);
  expect(() => parseAllowList([meant])).not.toThrow();
});

test.each([
  '192.0.2.7',
  '192.0.2.7/32',
  '0.0.0.0/0',
  '1:2:3:4:5:6:7:8',
  '1:2:3:4:5:6:7:8/125',
  '::',
  '::/0',
  'FD00::/8',
])('%s starts at its address', (entry) => {
  expect(parseAllowList([entry]).mayReach('a.example.com')).toBe(true);
});

test('a name that is not allowed need not be resolved, unless addresses are', () => {
  const byName = parseAllowList(['svc']);
  expect([byName.mayReach('a.svc'), byName.mayReach('a.example.com')]).toEqual([true, false]);
  expect(parseAllowList(['10.0.0.0/8']).mayReach('a.example.com')).toBe(true);
});
