import { expect, test } from 'vitest';
import { servingStatus } from '../../src/certs/index.ts';
import { issueCa, issueServingCertificate } from '../../src/x509/index.ts';
import { day, quickEntropy } from '../x509/entropy.ts';

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
