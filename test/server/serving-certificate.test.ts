import type { Logger } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createServingCertificate } from '../../src/server/serving-certificate.ts';
import { localhost } from '../base/x509/certificates.ts';
import { takeTime } from './clock.ts';
import { pairOf } from './running.ts';

const good = pairOf(localhost);

test('a certificate that is not valid yet is used once it is, without another change', async () => {
  const time = takeTime();
  onTestFinished(time.restore);
  // The clock beside the timers.
  let clock = Date.parse('2029-12-31T23:58:30Z') - performance.now();
  const used: Date[] = [];
  const failures: unknown[] = [];
  const log = { info() {}, error: (fields: unknown) => void failures.push(fields) };
  const metrics = { certificateLoaded() {}, certificateFailed() {}, certificateSource() {} };
  const serving = createServingCertificate(
    ({ notBefore }) => void used.push(notBefore),
    () => new Date(clock + performance.now()),
    { log: log as unknown as Logger, metrics },
  );
  const next = { ...good, notBefore: new Date('2030-01-01T00:00:00Z') };
  serving.take({ kind: 'pair', pair: good });
  serving.take({ kind: 'pair', pair: next });
  // News about the source do not end the wait.
  serving.take({ kind: 'source', problem: undefined });
  await time.advance(89_000);
  expect([used, failures.length]).toEqual([[good.notBefore], 1]);
  expect(serving.state()).toMatchObject({
    pair: good,
    certificateProblem: expect.stringContaining('not valid before'),
  });
  await time.advance(1_000);
  expect(used).toEqual([good.notBefore, next.notBefore]);
  expect(serving.state()).toMatchObject({ pair: next, certificateProblem: undefined });
  // The clock may be set while it waits.
  const later = { ...good, notBefore: new Date('2030-01-02T00:00:00Z') };
  serving.take({ kind: 'pair', pair: later });
  clock += 86_400_000;
  await time.advance(60_000);
  expect(used.at(-1)).toEqual(later.notBefore);
  // A later certificate ends the wait for an earlier one.
  serving.take({ kind: 'pair', pair: { ...good, notBefore: new Date('2030-01-03T00:00:00Z') } });
  serving.take({ kind: 'pair', pair: good });
  await time.advance(3 * 86_400_000);
  expect(used.at(-1)).toEqual(good.notBefore);
  // Nothing is used after the end, and no timer is left.
  serving.take({ kind: 'pair', pair: { ...good, notBefore: new Date('2031-01-01T00:00:00Z') } });
  serving.stop();
  expect(time.pending()).toBe(0);
});
