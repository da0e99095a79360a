import { expect, test } from 'vitest';
import { ellipticEntropy, issueCa } from '../../../src/base/x509/index.ts';
import { readTrustBundle } from '../../../src/server/certificates/trust-bundle.ts';
import { day } from '../../base/x509/entropy.ts';

const now = new Date();
const { certificate: older } = await issueCa(now, 100 * day, ellipticEntropy);
const { certificate: younger } = await issueCa(new Date(now.getTime() + 1000), day, ellipticEntropy);
const [a, b] = [older.pem, younger.pem];

test.each([
  ['one CA', a, 'steady', older],
  ['an older CA before a younger one', a + b, 'staged', younger],
  ['a younger CA before an older one', b + a, 'promoted', younger],
  // One newer CA is enough: the rotation is not over.
  ['an older, a younger and an older CA', a + b + a, 'staged', younger],
  ['the same CA twice', a + a, 'promoted', older],
])('a trust bundle of %s', (_name, pem, stage, first) => {
  expect(readTrustBundle(pem)).toEqual({ stage, caNotAfter: first.x509.validToDate });
});

test.each(['', 'x', older.pem.slice(0, -40)])('an invalid trust bundle counts as missing', (pem) => {
  expect(readTrustBundle(pem)).toEqual({ stage: 'missing', caNotAfter: undefined });
});
