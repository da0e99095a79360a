// Both Secrets are restored from a backup taken before a rotation: certificates that pods served in the meantime stay
// trusted.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ellipticEntropy, issueCa } from '../../../src/base/x509/index.ts';
import { retiredAnnotation } from '../../../src/webhook/certs/facts.ts';
import { runCertificates, type Step } from '../../../src/webhook/certs/index.ts';
import { day } from '../../base/x509/entropy.ts';
import {
  type ApiServer,
  bundlesOf,
  caPath,
  crdPath,
  mutatingPath,
  putTargets,
  servingPath,
  valueIn,
} from '../../kubernetes/client/api-server.ts';
import { brokenMoments, expectSteady, type FakeClock, runFor, serverWithTargets } from './machine.ts';

let server: ApiServer;
let clock: FakeClock;

beforeEach(async () => {
  ({ server, clock } = await serverWithTargets());
  await runCertificates(runFor(server, clock, { mode: 'repair' }));
  clock.time += day;
});
afterEach(() => server.stop());

const ca = () => valueIn(server.objects.get(caPath), 'ca.crt');
const bundles = () => [...new Set(bundlesOf(server.objects))];

/** The Secrets as they are now, to be restored later. */
function backup(): () => void {
  const [caSecret, servingSecret] = [server.objects.get(caPath)!, server.objects.get(servingPath)!];
  return () => {
    server.put(caPath, caSecret);
    server.put(servingPath, servingSecret);
  };
}

test('restored after every write of a rotation, no pod is left without trust', async () => {
  const start = new Map(server.objects);
  const restore = backup();
  const [old] = bundles() as [string];
  let writes = 1;
  let finished = false;
  let neverBroken = 0;
  for (; !finished && writes < 60; writes++) {
    server.objects.clear();
    for (const [path, object] of start) {
      server.put(path, object);
    }
    clock.time += day;
    server.writes = 0;
    server.before = ({ number }) => (number > writes ? 'refuse' : 'apply');
    const rotated = await runCertificates(runFor(server, clock, { forceCa: true })).catch(() => undefined);
    server.before = () => 'apply';
    finished = rotated !== undefined;
    const isTrusted = bundles().every((bundle) => bundle.includes(old));
    let from = server.history.length;
    restore();
    const repaired = await runCertificates(runFor(server, clock, {}, { blockOn: new Set() }));
    expect(repaired.facts.serving.state).toBe('usable');
    expect(bundles().every((bundle) => bundle.includes(old))).toBe(true);
    // If targets no longer trusted the restored CA, connections failed until the run, which API servers noticed.
    neverBroken += isTrusted ? 1 : 0;
    clock.time += 11_000;
    from = isTrusted ? from : server.history.length;
    server.put(mutatingPath, server.objects.get(mutatingPath)!);
    expect(brokenMoments(server, from)).toEqual([]);

    expect((await runCertificates(runFor(server, clock))).action.kind).toBe('done');
    expectSteady(server);
    expect(ca()).toBe(old);
    expect(brokenMoments(server, from)).toEqual([]);
  }
  expect(finished).toBe(true);
  expect(neverBroken).toBeGreaterThan(8);
  expect(writes).toBeGreaterThan(15);
});

test('the CA of certificates that pods may still serve is adopted for the overlap, counted from then', async () => {
  const restore = backup();
  const [old] = bundles() as [string];
  await runCertificates(runFor(server, clock, { forceCa: true }));
  const [newer] = bundles() as [string];
  restore();
  clock.slept.length = 0;
  const run = runFor(server, clock);
  expect((await runCertificates(run)).action.kind).toBe('done');
  expect(run.progress[0]).toEqual({
    action: 'adopt-ca',
    reason: expect.stringMatching(/^every target trusts a CA that is not in the Secret of the CA \(restored from a/),
  });
  // As long as the overlap, 180 s: the restored serving certificate is a day old.
  expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBe(180_000);
  expect(bundles()).toEqual([old]);
  // It is retired now: a manifest that still holds it affects only its own target.
  putTargets(server);
  const again = runFor(server, clock);
  const object = structuredClone(server.objects.get(crdPath)!);
  object.spec.conversion.webhook.clientConfig.caBundle = Buffer.from(newer).toString('base64');
  server.put(crdPath, object);
  await runCertificates(again);
  expect(new Set(again.progress.map(({ action }) => action))).toEqual(new Set(['inject']));
  expectSteady(server);
});

test('adopted by a clock that was far ahead, it stays trusted for one overlap from the next run', async () => {
  const restore = backup();
  const [old] = bundles() as [string];
  await runCertificates(runFor(server, clock, { forceCa: true }));
  restore();
  clock.time += 365 * day;
  await runCertificates(runFor(server, clock, { mode: 'repair' }, { blockOn: new Set() }));
  clock.time -= 364 * day;
  const run = runFor(server, clock);
  const from = clock.time;
  run.clock.sleep = async (ms) => {
    clock.time += ms;
    expect(clock.time - from).toBeLessThanOrEqual(180_000);
  };
  expect((await runCertificates(run)).action.kind).toBe('done');
  expect(clock.time - from).toBe(180_000);
  expect(run.progress).toContainEqual({
    action: 'adopt-ca',
    reason: expect.stringMatching(/^a previous CA was adopted at 2027-.*, which is in the future: the overlap starts/),
  });
  expect(bundles()).toEqual([old]);
  expectSteady(server);
});

test('after two rotations, too', async () => {
  const restore = backup();
  for (let rotation = 0; rotation < 2; rotation++) {
    await runCertificates(runFor(server, clock, { forceCa: true }));
    clock.time += day;
  }
  const [newest] = bundles() as [string];
  restore();
  await runCertificates(runFor(server, clock, {}, { blockOn: new Set() }));
  expect(bundles()).toEqual([ca() + newest]);
});

test.each([
  ['while the CA of the newer one is a previous one', new Set<'propagation'>(), 'done'],
  ['after the CA of the newer one was retired', undefined, 'done'],
  ['of the moment when its CA was retired, while it is a previous one', new Set<'propagation'>(), 'retire'],
  ['of the moment when its CA was retired, after it was retired again', undefined, 'retire'],
])('an older backup, and then a newer one, %s', async (_when, blockOn, moment) => {
  const isRetired = blockOn === undefined;
  const restoreOlder = backup();
  const [older] = bundles() as [string];
  let restoreNewer = backup();
  const report = ({ action }: Step) => {
    restoreNewer = action === moment ? backup() : restoreNewer;
  };
  await runCertificates(runFor(server, clock, { forceCa: true }, { report }));
  restoreNewer = moment === 'done' ? backup() : restoreNewer;
  const [newer] = bundles() as [string];
  clock.time += day;
  restoreOlder();
  await runCertificates(runFor(server, clock, {}, blockOn && { blockOn }));
  expect(bundles()).toEqual([isRetired ? older : older + newer]);
  clock.time += day;
  restoreNewer();
  const run = runFor(server, clock, {}, { blockOn: new Set() });
  await runCertificates(run);
  expect(run.progress[0]?.action).toBe('adopt-ca');
  expect(run.progress.map(({ action }) => action)).not.toContain('record-removal');
  expect(bundles().every((bundle) => bundle.includes(newer) && bundle.includes(older))).toBe(true);
  // Once API servers have noticed, no connection fails, until the older CA is retired for good.
  clock.time += 11_000;
  const from = server.history.length;
  server.put(mutatingPath, server.objects.get(mutatingPath)!);
  expect((await runCertificates(runFor(server, clock))).action.kind).toBe('done');
  expect(bundles()).toEqual([newer]);
  expectSteady(server);
  expect(brokenMoments(server, from)).toEqual([]);
  const again = runFor(server, clock);
  expect((await runCertificates(again)).action.kind).toBe('done');
  expect(again.progress).toEqual([]);
});

test('targets that all hold a removed CA delay its removal, but never the renewal of certificates', async () => {
  const [old] = bundles() as [string];
  await runCertificates(runFor(server, clock, { forceCa: true }));
  const rotated = ca();
  const served = () => valueIn(server.objects.get(servingPath), 'tls.crt');
  // Another client keeps applying manifests with the old caBundle, just before each run.
  const apply = async () => {
    clock.time += day;
    for (const target of await runFor(server, clock).targets.read()) {
      await runFor(server, clock).targets.inject(target, old);
    }
  };
  await apply();
  await runCertificates(runFor(server, clock, {}, { blockOn: new Set() }));
  expect(bundles()).toEqual([rotated + old]);
  const before = served();
  await apply();
  await runCertificates(runFor(server, clock, { force: true }, { blockOn: new Set() }));
  expect(served()).not.toBe(before);
  await apply();
  const run = runFor(server, clock, { caRenewBeforeMs: 1824 * day });
  expect((await runCertificates(run)).action.kind).toBe('done');
  expect(run.progress.map(({ action }) => action)).toContain('promote');
  expect(ca()).not.toBe(rotated);
  expectSteady(server);
});

test.each([
  ['that only one target holds', 'one', 'extensionconfig-webhook', false],
  ['that every target holds, but this program did not make', 'all', 'sandbox', false],
  ['that every target holds', 'all', 'extensionconfig-webhook', true],
] as const)('a CA %s: adopted or not', async (_what, where, whose, isAdopted) => {
  const made = await issueCa(new Date(clock.time), day, ellipticEntropy, { sandbox: whose === 'sandbox' });
  const { pem } = made.certificate;
  const run = runFor(server, clock, { force: true }, { blockOn: new Set() });
  for (const target of (await run.targets.read()).slice(0, where === 'one' ? 1 : undefined)) {
    await run.targets.inject(target, ca() + pem);
  }
  await runCertificates(run);
  const actions = run.progress.map(({ action }) => action);
  expect(actions.filter((action) => action === 'adopt-ca')).toHaveLength(isAdopted ? 1 : 0);
  // --force still holds after the adoption.
  expect(actions.filter((action) => action === 'issue-serving-certificate')).toHaveLength(1);
  expect(bundles()).toEqual([isAdopted ? ca() + pem : ca()]);
});

test('a CA that is adopted is no longer a retired one; others stay retired', async () => {
  const { certificate } = await issueCa(new Date(clock.time), day, ellipticEntropy);
  const secret = structuredClone(server.objects.get(caPath)!);
  secret.metadata.annotations = { [retiredAnnotation]: `AA,${certificate.fingerprint},BB` };
  server.put(caPath, secret);
  const retired: unknown[] = [];
  const report = ({ action }: Step) =>
    void retired.push(action, server.objects.get(caPath)!.metadata.annotations?.[retiredAnnotation]);
  const run = runFor(server, clock, {}, { blockOn: new Set(), report });
  for (const target of await run.targets.read()) {
    await run.targets.inject(target, ca() + certificate.pem);
  }
  await runCertificates(run);
  expect(retired.slice(0, 2)).toEqual(['adopt-ca', 'AA,BB']);
});

test('no more CAs are adopted than a bundle may hold', async () => {
  const made = await Promise.all(
    Array.from({ length: 16 }, () =>
      issueCa(new Date(clock.time), day, ellipticEntropy).then((one) => one.certificate.pem),
    ),
  );
  const adopted: number[] = [];
  const report = ({ action }: Step) => {
    if (action === 'adopt-ca') {
      adopted.push(valueIn(server.objects.get(caPath), 'previous.crt').split('-----BEGIN').length - 1);
    }
  };
  const run = runFor(server, clock, {}, { report });
  for (const target of await run.targets.read()) {
    await run.targets.inject(target, made.join(''));
  }
  expect((await runCertificates(run)).action.kind).toBe('done');
  expect(adopted).toEqual([15]);
  expectSteady(server);
});
