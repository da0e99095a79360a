import { isIP } from 'node:net';
import { expect, test } from 'vitest';
import { isAddress } from '../../../src/base/x509/index.ts';

test.each([
  ['localhost', false],
  ['webhook.default.svc', false],
  ['*.example.com', false],
  ['1.2.3', false],
  ['1.2.3.256', false],
  ['127.0.0.1', true],
  ['::1', true],
  ['2001:db8::10.0.0.1', true],
  ['FE80::ABCD', true],
  ['::1::', false],
  ['12345::', false],
  ['localhost:443', false],
  ['[::1]', false],
  [':', false],
  ['', false],
])('%j is an IP address: %s, as for Node.js', (name, expected) => {
  expect(isAddress(name)).toBe(expected);
  expect(isIP(name) !== 0).toBe(expected);
});

test.each([
  'fe80::1%eth0',
  'fe80::1%',
  '::1\0',
  '::1\0.example',
  '::1%a b',
])('%j is not an address in a certificate: SocketAddress reads only its beginning', (name) => {
  expect(isAddress(name)).toBe(false);
});
