import { createPrivateKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Issued, issueCa, issueServingCertificate } from '../../../src/base/x509/index.ts';
import type { TargetReading } from '../../../src/webhook/certs/index.ts';
import {
  caDueAt,
  deriveFacts,
  injectedAtAnnotation,
  isStuck,
  next,
  type Settings,
  servingCertificateDueAt,
  stagedSinceAnnotation,
} from '../../../src/webhook/certs/index.ts';
import { day, keysOn } from '../../base/x509/keys.ts';
import { oddCa } from '../../base/x509/odd-ca.ts';

const start = new Date('2026-06-01T00:00:00Z');
const at = (ms: number) => new Date(start.getTime() + ms);
const minute = 60_000;
const names = ['webhook.ns.svc'];
const newCa = (from = start, life = 1000 * day) => issueCa(from, life);
const servingOf = (issuer: Issued, from = start, life = 90 * day) => issueServingCertificate(issuer, names, from, life);
const [one, two, dead] = [await newCa(), await newCa(), await newCa(at(-20 * day), 10 * day)];
const [servingOne, servingTwo, late] = [await servingOf(one), await servingOf(two), await servingOf(two, at(day))];
const [servingBefore, aheadCa] = [await servingOf(one, at(-day)), await newCa(at(day))];
const deadServing = await servingOf(dead, at(-20 * day));

const odd = oddCa(start, 1000 * day);
const usersCa = oddCa(start, 1000 * day, keysOn('P-256'));
const servingUsers = await servingOf(usersCa);
const otherCa = oddCa(start, 1000 * day, keysOn('P-256'), '02');
const servingOther = await servingOf(otherCa);
const locked = createPrivateKey(usersCa.key).export({
  type: 'pkcs8',
  format: 'pem',
  cipher: 'aes-256-cbc',
  passphrase: 'secret',
}) as string;

const pem = (...list: Issued[]) => list.map(({ certificate }) => certificate.pem).join('');
interface World {
  ca?: Record<string, string>;
  tls?: Record<string, string>;
  /** The bundle in the only target; undefined: it has none. */
  target?: string;
  failed?: string;
  now?: number;
  /** The names that the serving certificate must cover. */
  names?: string[];
  /** A target that does not exist. */
  missing?: string;
  /** Since when another CA is trusted, in ms. */
  stagedSince?: number;
  /** When targets were last written since then, in ms. */
  injectedAt?: number;
  settings?: Partial<Settings>;
}
const steady = { 'ca.crt': pem(one), 'ca.key': one.key };
const staged = { ...steady, 'next.crt': pem(two), 'next.key': two.key };
const promoted = { 'ca.crt': pem(two), 'ca.key': two.key, 'previous.crt': pem(one) };
const tls = (serving: Issued, bundle: string) => ({
  'tls.crt': pem(serving),
  'tls.key': serving.key,
  'ca.crt': bundle,
});
const both = pem(one, two);
const turned = pem(two, one);
const bothUsers = pem(usersCa, otherCa);
const usersCas = { 'ca.crt': bothUsers, 'ca.key': usersCa.key };

function factsIn(world: World) {
  const now = at(world.now ?? minute);
  const target: TargetReading = {
    id: 'Kind/name',
    state: world.failed === undefined ? 'present' : 'failed',
    ...(world.failed === undefined ? {} : { problem: world.failed }),
    bundles: world.failed === undefined ? [world.target ?? ''] : [],
    skipped: [],
  };
  const targets: TargetReading[] = world.target === undefined && world.failed === undefined ? [] : [target];
  if (world.missing !== undefined) {
    targets.push({ id: world.missing, state: 'missing', bundles: [], skipped: [] });
  }
  const stored = (data: Record<string, string> | undefined, annotations = {}) =>
    data === undefined ? undefined : { data, annotations, raw: undefined };
  const annotations = {
    ...(world.stagedSince !== undefined && { [stagedSinceAnnotation]: at(world.stagedSince).toISOString() }),
    ...(world.injectedAt !== undefined && { [injectedAtAnnotation]: at(world.injectedAt).toISOString() }),
  };
  return deriveFacts(now, stored(world.ca, annotations), stored(world.tls), targets, world.names ?? names);
}

function decide(world: World, targets?: TargetReading[]) {
  const facts = factsIn(world);
  return next(targets === undefined ? facts : { ...facts, targets }, {
    mode: 'rotate',
    force: false,
    forceCa: false,
    propagationDelayMs: 30_000,
    overlapMs: day,
    refused: new Map(),
    startedAt: facts.now,
    ...world.settings,
  });
}

const rows: [string, World, string, RegExp][] = [
  ['nothing there', {}, 'create-ca', /is missing/],
  ['CA unparsable', { ca: { 'ca.crt': 'x' } }, 'create-ca', /is not PEM/],
  [
    "a user's CA is a serving certificate",
    { ca: { 'ca.crt': pem(servingOne) } },
    'blocked',
    /^the CA was not created here and cannot be used: ca\.crt is not a CA certificate .* or delete the Secret of the CA/,
  ],
  [
    "a user's CA without its key",
    { ca: { 'ca.crt': pem(usersCa) } },
    'blocked',
    /^the CA was not created here and cannot be used: ca\.key is missing\. It is not replaced: store a CA certificate/,
  ],
  [
    "a user's CA with the key of another",
    { ca: { 'ca.crt': pem(usersCa), 'ca.key': two.key }, settings: { forceCa: true } },
    'blocked',
    /: ca\.key does not belong to the certificate\. It is not replaced/,
  ],
  [
    "a user's CA with a password",
    { ca: { 'ca.crt': pem(usersCa), 'ca.key': locked }, tls: tls(servingOne, pem(one)), target: pem(one) },
    'blocked',
    /: ca\.key is not an unencrypted private key in PEM\. It is not replaced.* its key, without a password/,
  ],
  [
    "a user's CA in DER",
    { ca: { 'ca.crt': '0', 'ca.key': usersCa.key } },
    'blocked',
    /: ca\.crt is not PEM\. It is not/,
  ],
  ["a user's key alone", { ca: { 'ca.key': usersCa.key } }, 'blocked', /: ca\.crt is missing\. It is not replaced/],
  [
    "a user's CA that has expired",
    { ca: { 'ca.crt': pem(usersCa), 'ca.key': usersCa.key }, now: 1000 * day },
    'create-ca',
    /expired/,
  ],
  [
    "the key of a user's CA is lost during its rotation",
    { ca: { ...staged, 'ca.crt': pem(usersCa), 'ca.key': '' }, tls: tls(servingUsers, pem(usersCa, two)) },
    'wait',
    /every target/,
  ],
  [
    'our certificate is damaged, and its key is not',
    { ca: { ...steady, 'ca.crt': 'x' }, tls: tls(servingOne, pem(one)), target: pem(one) },
    'create-ca',
    /is not PEM; targets or pods still use a CA of before \([0-9A-F:]{23}…\), which stays trusted/,
  ],
  [
    'all expired',
    { ca: { 'ca.crt': pem(dead), 'ca.key': dead.key }, tls: tls(deadServing, pem(dead)) },
    'create-ca',
    /expired/,
  ],
  [
    'CA lost, serving certificate works',
    { tls: tls(servingOne, pem(one)), target: pem(one) },
    'create-ca',
    /is missing; targets or pods still use a CA of before/,
  ],
  [
    'CA lost, and no target trusts that of the serving Secret',
    { tls: tls(servingOne, pem(one)), target: '' },
    'create-ca',
    /is missing$/,
  ],
  ['both lost, a target trusts ours', { target: pem(one) }, 'create-ca', /still use a CA of before/],
  ['both lost, a target trusts an expired one', { target: pem(dead) }, 'create-ca', /is missing/],
  ['key lost', { ca: { 'ca.crt': pem(one) }, tls: tls(servingOne, pem(one)) }, 'stage-ca', /key of the CA is missing/],
  ['key of another', { ca: { ...steady, 'ca.key': two.key } }, 'stage-ca', /does not belong/],
  ['no serving certificate', { ca: steady, target: '' }, 'issue-serving-certificate', /is missing/],
  [
    'serving certificate expired',
    { ca: steady, tls: tls(deadServing, pem(one)) },
    'issue-serving-certificate',
    /expired/,
  ],
  [
    'serving certificate key of another',
    { ca: steady, tls: { ...tls(servingOne, pem(one)), 'tls.key': two.key } },
    'issue-serving-certificate',
    /does not belong/,
  ],
  [
    'serving certificate in one line with what another tool put behind it',
    { ca: steady, tls: { ...tls(servingOne, pem(one)), 'tls.crt': pem(servingOne).trimEnd() + pem(one) } },
    'issue-serving-certificate',
    /^the serving certificate has a certificate that cannot be read \(number 1\)/,
  ],
  ['bundle too wide', { ca: steady, tls: tls(servingOne, both) }, 'write-bundle', /steady/],
  ['target wiped', { ca: steady, tls: tls(servingOne, pem(one)), target: '' }, 'inject', /does not have/],
  [
    'target wiped after it was recorded',
    { ca: steady, tls: tls(servingOne, pem(one)), target: '', stagedSince: 0 },
    'inject',
    /does not have/,
  ],
  ['steady', { ca: steady, tls: tls(servingOne, pem(one)), target: pem(one) }, 'done', /in order/],
  [
    'steady, target unreadable',
    { ca: steady, tls: tls(servingOne, pem(one)), failed: 'no' },
    'blocked',
    /Kind\/name: no/,
  ],
  [
    'CA of a clock that is ahead',
    { ca: steady, tls: tls(servingOne, pem(one)), target: pem(one), missing: 'Kind/gone', now: -6 * minute },
    // The serving certificate is reissued first.
    'issue-serving-certificate',
    /^the serving certificate is not valid before 2026-05-31T23:55:00\.000Z$/,
  ],
  [
    'CA of a clock that is ahead, with a serving certificate of the right time',
    {
      ca: steady,
      tls: tls(servingBefore, pem(one)),
      target: pem(one),
      missing: 'Kind/gone',
      now: -6 * minute,
    },
    'blocked',
    /^the CA is not valid before 2026-05-31T23:55:00\.000Z: check the clocks, or replace it with rotate --force ca; Kind\/gone/,
  ],
  [
    'CA and serving certificate from now on',
    { ca: steady, tls: tls(servingOne, pem(one)), target: pem(one), now: -5 * minute },
    'done',
    /in order/,
  ],
  [
    'next CA of a clock that is ahead',
    {
      ca: { ...staged, 'next.crt': pem(aheadCa), 'next.key': aheadCa.key },
      tls: tls(servingOne, both),
      target: both,
      stagedSince: 0,
    },
    'stage-ca',
    /^the next CA is not valid before 2026-06-01T23:55:00\.000Z$/,
  ],
  [
    'serving certificate before its window',
    { ca: steady, tls: tls(servingOne, pem(one)), now: 59 * day },
    'done',
    /in order/,
  ],
  [
    'serving certificate in its window',
    { ca: steady, tls: tls(servingOne, pem(one)), now: 61 * day },
    'issue-serving-certificate',
    /last third/,
  ],
  [
    'serving certificate in its window, repair only',
    { ca: steady, tls: tls(servingOne, pem(one)), now: 61 * day, settings: { mode: 'repair' } },
    'done',
    /in order/,
  ],
  [
    'forced serving certificate',
    { ca: steady, tls: tls(servingOne, pem(one)), settings: { force: true } },
    'issue-serving-certificate',
    /--force serving/,
  ],
  ['forced CA', { ca: steady, tls: tls(servingOne, pem(one)), settings: { forceCa: true } }, 'stage-ca', /--force ca/],
  ['CA in its window', { ca: steady, tls: tls(servingOne, pem(one)), now: 830 * day }, 'stage-ca', /renewal window/],
  [
    'serving certificate of a CA that is unknown here',
    { ca: promotedAlone(), tls: tls(servingOne, pem(one)) },
    'issue-serving-certificate',
    /not signed by any known CA/,
  ],
  [
    'serving certificate of a CA that is unknown here, and that every target trusts',
    { ca: promotedAlone(), tls: tls(servingOne, pem(one)), target: pem(one) },
    'trust-ca',
    /^targets or pods still use a CA that is not in the Secret of the CA \([0-9A-F:]{23}…\), which stays trusted$/,
  ],
  [
    'serving certificate for other names',
    { ca: steady, tls: tls(servingOne, pem(one)), names: [...names, 'b.example', '127.0.0.1'] },
    'issue-serving-certificate',
    /^the serving certificate is not for b\.example, 127\.0\.0\.1$/,
  ],
  [
    'serving certificate of a CA that nobody knows',
    { ca: promotedAlone(), tls: tls(servingOne, pem(two)) },
    'issue-serving-certificate',
    /^the serving certificate is not signed by any known CA$/,
  ],
  [
    'serving certificate without its key',
    { ca: steady, tls: { ...tls(servingOne, pem(one)), 'tls.key': '' } },
    'issue-serving-certificate',
    /^the serving certificate has no key$/,
  ],
  [
    'steady, a target missing',
    { ca: steady, tls: tls(servingOne, pem(one)), target: pem(one), missing: 'Kind/gone' },
    'blocked',
    /^Kind\/gone: missing: does not exist$/,
  ],
  [
    'steady, one target unreadable, one missing',
    { ca: steady, tls: tls(servingOne, pem(one)), failed: 'no', missing: 'Kind/gone' },
    'blocked',
    /^Kind\/name: no; Kind\/gone: missing: does not exist$/,
  ],
  [
    'steady, the target refused the write',
    {
      ca: steady,
      tls: tls(servingOne, pem(one)),
      target: '',
      settings: { refused: new Map([['Kind/name', 'forbidden']]) },
    },
    'blocked',
    /^Kind\/name: forbidden$/,
  ],
  [
    'steady, no targets',
    { ca: steady, tls: tls(servingOne, pem(one)) },
    'done',
    /^the CA and the serving certificate are in order; no targets were named$/,
  ],
  [
    'staged, a target missing',
    { ca: staged, tls: tls(servingOne, both), target: both, stagedSince: 0, missing: 'Kind/gone' },
    'promote',
    /trusts the next CA/,
  ],
  [
    'the key of the CA is lost, and there is no serving certificate: its Secret takes no bundle alone',
    { ca: { ...staged, 'ca.key': '' }, target: both },
    'wait',
    /has the trust bundle/,
  ],
  [
    'staged, a target missing, not recorded',
    { ca: staged, tls: tls(servingOne, both), target: both, missing: 'Kind/gone' },
    'wait',
    /^every target that exists has the trust bundle \(Kind\/gone: missing: does not exist\); API servers/,
  ],
  [
    'staged, all targets missing',
    { ca: staged, tls: tls(servingOne, both), missing: 'Kind/gone', stagedSince: 50_000 },
    'wait',
    /^no target exists \(Kind\/gone: missing: does not exist\); API servers need/,
  ],
  [
    'staged, all targets missing, long ago',
    { ca: staged, tls: tls(servingOne, both), missing: 'Kind/gone', stagedSince: 0 },
    'promote',
    /^no target exists \(Kind\/gone: missing: does not exist\)$/,
  ],
  [
    'CA in its window, repair only',
    { ca: steady, tls: tls(servingTwo, pem(one)), now: 830 * day, settings: { mode: 'repair' } },
    'issue-serving-certificate',
    /expired/,
  ],
  [
    'staged, key of the next is of another',
    { ca: { ...staged, 'next.key': one.key }, tls: tls(servingOne, both) },
    'stage-ca',
    /^the next CA has a key that does not belong to the certificate$/,
  ],
  [
    'CA with a key that cannot sign here',
    { ca: { 'ca.crt': pem(odd), 'ca.key': odd.key } },
    'blocked',
    /: ca\.key is of type ec on secp224r1, which is not supported for signing: use an RSA key, or an EC key on P-256, P-384 or P-521\. It/,
  ],
  ['staged, bundle old', { ca: staged, tls: tls(servingOne, pem(one)) }, 'write-bundle', /staged/],
  ['staged, target old', { ca: staged, tls: tls(servingOne, both), target: pem(one) }, 'inject', /staged/],
  [
    'staged, target unreadable',
    { ca: staged, tls: tls(servingOne, both), failed: 'no' },
    'blocked',
    /stops in stage staged/,
  ],
  ['staged, injected, not recorded', { ca: staged, tls: tls(servingOne, both), target: both }, 'wait', /every target/],
  [
    'staged, recorded just now',
    { ca: staged, tls: tls(servingOne, both), target: both, stagedSince: 50_000 },
    'wait',
    /propagation/,
  ],
  [
    'staged, recorded in the future',
    { ca: staged, tls: tls(servingOne, both), target: both, stagedSince: day },
    'wait',
    /every/,
  ],
  [
    'staged, recorded long ago',
    { ca: staged, tls: tls(servingOne, both), target: both, stagedSince: 0 },
    'promote',
    /trusts the next CA/,
  ],
  [
    'staged long ago, injected just now',
    { ca: staged, tls: tls(servingOne, both), target: both, stagedSince: 0, injectedAt: day, now: day + 29_999 },
    'wait',
    /propagation/,
  ],
  [
    'staged, next has no key',
    { ca: { ...staged, 'next.key': '' }, tls: tls(servingOne, both) },
    'stage-ca',
    /has no key/,
  ],
  ['staged, serving certificate lost', { ca: staged, target: both }, 'issue-serving-certificate', /is missing/],
  [
    'promoted, serving certificate still of the previous, bundle old',
    { ca: promoted, tls: tls(servingOne, both), target: both, stagedSince: 0 },
    'write-bundle',
    /promoted/,
  ],
  [
    'promoted, serving certificate still of the previous',
    { ca: promoted, tls: tls(servingOne, turned), target: turned, stagedSince: 0 },
    'issue-serving-certificate',
    /not signed by the active/,
  ],
  [
    'promoted, serving certificate still of the previous, target in the order of before',
    { ca: promoted, tls: tls(servingOne, turned), target: both, stagedSince: 0 },
    'issue-serving-certificate',
    /not signed by the active/,
  ],
  [
    'promoted, target lost the trust',
    { ca: promoted, tls: tls(servingOne, turned), target: pem(one) },
    'inject',
    /promoted/,
  ],
  ['promoted, inside the overlap', { ca: promoted, tls: tls(servingTwo, turned), target: turned }, 'wait', /overlap/],
  [
    'promoted, forced CA waits its turn',
    { ca: promoted, tls: tls(servingTwo, turned), target: turned, settings: { forceCa: true } },
    'wait',
    /overlap/,
  ],
  [
    'promoted, overlap over',
    { ca: promoted, tls: tls(servingTwo, turned), target: turned, now: day + minute },
    'retire',
    /overlap is over/,
  ],
  [
    'promoted, no overlap: also in the second of the issue',
    { ca: promoted, tls: tls(servingTwo, turned), target: turned, now: -500, settings: { overlapMs: 0 } },
    'retire',
    /overlap is over/,
  ],
  [
    'promoted, the overlap counts from the serving certificate',
    { ca: promoted, tls: tls(late, turned), target: turned, now: day + minute },
    'wait',
    /overlap/,
  ],
  [
    'promoted, previous expired',
    { ca: { ...promoted, 'previous.crt': pem(dead) }, tls: tls(servingTwo, pem(two)), target: pem(two) },
    'retire',
    /expired/,
  ],
  [
    'promoted, previous unparsable',
    { ca: { ...promoted, 'previous.crt': 'x' }, tls: tls(servingTwo, pem(two)), target: pem(two) },
    'retire',
    /expired/,
  ],
  [
    "a user's CAs, serving certificate of the other one, trusted just now",
    { ca: usersCas, tls: tls(servingOther, bothUsers), target: bothUsers, stagedSince: 50_000 },
    'wait',
    /propagation/,
  ],
  [
    "a user's CAs, serving certificate of the other one, trusted long ago",
    { ca: usersCas, tls: tls(servingOther, bothUsers), target: bothUsers, stagedSince: 0 },
    'issue-serving-certificate',
    /not signed by the active/,
  ],
  [
    "a user's CAs, serving certificate of the active one",
    { ca: usersCas, tls: tls(servingUsers, bothUsers), target: bothUsers },
    'done',
    /all targets are in order$/,
  ],
];

function promotedAlone(): Record<string, string> {
  return { 'ca.crt': pem(two), 'ca.key': two.key };
}

test.each(rows)('%s', (_name, world, kind, reason) => {
  const action = decide(world);
  expect(action.kind).toBe(kind);
  expect(action.reason).toMatch(reason);
});

test('a reason names every target that is missing or failed', () => {
  const world: World = { ca: staged, tls: tls(servingOne, both) };
  const reasonFor = (state: TargetReading['state'], problem: string) => {
    const targets = ['Kind/one', 'Kind/two'].map((id) => ({ id, state, problem, bundles: [], skipped: [] }));
    return decide(world, targets).reason;
  };
  expect(reasonFor('missing', 'gone')).toMatch(
    /^no target exists \(Kind\/one: missing: gone; Kind\/two: missing: gone\);/,
  );
  expect(reasonFor('failed', 'no')).toBe('the rotation stops in stage staged: Kind/one: no; Kind/two: no');
});

test('a wait ends at the time that it names', () => {
  const world = { ca: staged, tls: tls(servingOne, both), target: both, stagedSince: 0 };
  expect(decide({ ...world, now: 29_999 })).toMatchObject({ kind: 'wait', until: at(30_000) });
  expect(decide({ ...world, now: 30_000 }).kind).toBe('promote');
});

test('a rotation is stuck that is still staged three hours after its propagation delay', () => {
  const hour = 60 * minute;
  const late = (now: number): World => ({
    ...{ ca: staged, tls: tls(servingOne, both), target: both, stagedSince: 0, now },
    injectedAt: now,
  });
  const stuck = (of: World) => isStuck(decide(of), factsIn(of), 30_000);
  expect([stuck(late(3 * hour)), stuck(late(3 * hour + 30_001))]).toEqual([false, true]);
  expect(decide(late(4 * hour)).reason).toMatch(
    /; the rotation is staged since 2026-06-01T00:00:00\.000Z, .* let it ignore that field, .* before the CA expires at 2029-02-2/,
  );
  // An overlap is a wait for nobody.
  expect(stuck({ ca: promoted, tls: tls(servingTwo, turned), target: turned, stagedSince: 0, now: 5 * hour })).toBe(
    false,
  );
});

test('certificates are due from a moment on', () => {
  const { validFromDate, validToDate } = servingOne.certificate.x509;
  const third = (validToDate.getTime() - validFromDate.getTime()) / 3;
  expect(servingCertificateDueAt(servingOne.certificate)).toEqual(new Date(validToDate.getTime() - third));
  const end = one.certificate.x509.validToDate.getTime();
  expect(caDueAt(one.certificate)).toEqual(new Date(end - 180 * day));
});
