import { afterEach, expect, test } from 'vitest';
import { issueCa } from '../../../src/base/x509/index.ts';
import { localhost } from '../../base/x509/certificates.ts';
import { day } from '../../base/x509/keys.ts';
import { metricAt } from '../../support/metrics.ts';
import { pairOf, start, stopAll } from '../running.ts';

afterEach(stopAll);

const now = new Date();
const { certificate: older } = issueCa(now, 100 * day);
const { certificate: younger } = issueCa(new Date(now.getTime() + 1000), day);
const [a, b] = [older.pem, younger.pem];

/** The stages that the metrics have, by their values, and when the first CA expires, for a pair that comes with a bundle. */
async function reported(bundle: string | undefined) {
  const { health } = await start({
    async certificates(onEvent) {
      onEvent({ kind: 'pair', pair: pairOf(localhost), ...(bundle !== undefined && { bundle }) });
      return () => {};
    },
  });
  const text = await (await fetch(`${health}/metrics`)).text();
  return {
    stages: Object.fromEntries(
      [...text.matchAll(/^extensionconfig_webhook_certificate_stage\{stage="(\w+)"\} (\d)$/gm)].map((match) => [
        match[1],
        match[2],
      ]),
    ),
    expiry: await metricAt(health, 'extensionconfig_webhook_authority_not_after_timestamp_seconds'),
  };
}

const none = { missing: '0', steady: '0', staged: '0', promoted: '0' };

test.each([
  ['one CA', a, 'steady', older],
  ['an older CA before a younger one', a + b, 'staged', younger],
  ['a younger CA before an older one', b + a, 'promoted', younger],
  // One newer CA is enough: the rotation is not over.
  ['an older, a younger and an older CA', a + b + a, 'staged', younger],
  ['the same CA twice', a + a, 'promoted', older],
  ['nothing', '', 'missing', undefined],
  ['text', 'x', 'missing', undefined],
  ['half a CA', older.pem.slice(0, -40), 'missing', undefined],
])('the metrics show the stage and the expiry of a trust bundle of %s', async (_name, pem, stage, first) => {
  expect(await reported(pem)).toEqual({
    stages: { ...none, [stage]: '1' },
    expiry: first === undefined ? Number.NaN : first.x509.validToDate.getTime() / 1000,
  });
});

test('without a trust bundle, the metrics have neither', async () => {
  expect(await reported(undefined)).toEqual({ stages: {}, expiry: Number.NaN });
});
