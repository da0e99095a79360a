import { createHash, createPublicKey, X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { signedCertificate } from '../../../src/base/x509/index.ts';
import { keysOn, rsaKeys } from './keys.ts';

const elliptic = keysOn('P-256');
const rsa = rsaKeys();

/** A certificate in DER, self-signed. */
function signed(keys = elliptic, notBefore = '2026-01-01T00:00:00Z', notAfter = '2027-01-01T00:00:00Z'): Buffer {
  const contents = {
    serial: '01',
    subject: [{ shortName: 'CN', value: 'x' }],
    issuer: undefined,
    publicKey: createPublicKey(keys.publicKey),
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    extensions: [],
  };
  return signedCertificate(contents, keys.privateKey);
}

test("a key identifier is the SHA-1 of the key's bits", () => {
  const point = createPublicKey(elliptic.publicKey).export({ type: 'spki', format: 'der' }).subarray(-65);
  const identifier = createHash('sha1').update(point).digest();
  const der = signed();
  // An extension: its identifier, and an octet string in an octet string.
  expect(der.toString('hex')).toContain(`0603551d0e04160414${identifier.toString('hex')}`);
});

test.each([
  ['RSA, with parameters that are NULL', rsa, '300d06092a864886f70d01010b0500'],
  ['an elliptic curve, without', elliptic, '300a06082a8648ce3d040302'],
])('the algorithm is that of %s, both in the signed part and after it', (_, keys, identifier) => {
  expect(signed(keys).toString('hex').split(identifier)).toHaveLength(3);
});

test.each([
  ['1949-12-31T23:59:59Z', '180f31393439313233313233353935395a'],
  ['1950-01-01T00:00:00Z', '170d3530303130313030303030305a'],
  ['2049-12-31T23:59:59Z', '170d3439313233313233353935395a'],
  ['2050-01-01T00:00:00Z', '180f32303530303130313030303030305a'],
])('%s is written with a two-digit year only where that is unambiguous', (time, written) => {
  const der = signed(elliptic, time, time);
  expect(der.toString('hex')).toContain(`${written}${written}`);
  expect(new X509Certificate(der).validFromDate).toEqual(new Date(time));
});
