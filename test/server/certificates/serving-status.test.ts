import { expect, test } from 'vitest';
import { issueCa, issueServingCertificate } from '../../../src/base/x509/index.ts';
import { servingStatus } from '../../../src/server/certificates/serving-status.ts';
import { day, quickEntropy } from '../../base/x509/entropy.ts';

const now = new Date();
const ca = await issueCa(now, 100 * day, quickEntropy);
const serving = await issueServingCertificate(ca, ['webhook.ns.svc'], now, 1000 * day, quickEntropy);

test('metrics derive the stage from the order of the bundle', async () => {
  const younger = await issueCa(new Date(now.getTime() + 1000), day, quickEntropy);
  const cert = serving.certificate.pem;
  const [a, b] = [ca.certificate.pem, younger.certificate.pem];
  expect(servingStatus({ cert, ca: a })).toMatchObject({
    stage: 'steady',
    servingNotAfter: serving.certificate.x509.validToDate,
  });
  expect(servingStatus({ cert, ca: a + b })).toMatchObject({
    stage: 'staged',
    caNotAfter: younger.certificate.x509.validToDate,
  });
  expect(servingStatus({ cert, ca: b + a }).stage).toBe('promoted');
  expect(servingStatus({ cert: '', ca: '' }).stage).toBe('missing');
});

test('the status needs a serving certificate and a bundle', async () => {
  const cert = serving.certificate.pem;
  const one = ca.certificate.pem;
  const two = (await issueCa(new Date(now.getTime() + 1000), day, quickEntropy)).certificate.pem;
  expect(servingStatus({ cert, ca: '' })).toEqual({
    servingNotAfter: serving.certificate.x509.validToDate,
    caNotAfter: undefined,
    stage: 'missing',
  });
  expect(servingStatus({ cert: '', ca: one })).toEqual({
    servingNotAfter: undefined,
    caNotAfter: ca.certificate.x509.validToDate,
    stage: 'missing',
  });
  // One newer CA is enough: the rotation is not over.
  expect(servingStatus({ cert, ca: one + two + one }).stage).toBe('staged');
  expect(servingStatus({ cert, ca: one + one }).stage).toBe('promoted');
});
