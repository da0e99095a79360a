import { describe, expect, test } from 'vitest';
import { ellipticEntropy, type Issued, issueCa, issueServingCertificate } from '../../../src/base/x509/index.ts';
import {
  type CertificateFacts,
  deriveFacts,
  injectedAnnotation,
  injectedSinceAnnotation,
  overwrittenAnnotation,
  overwrittenNow,
  removedAnnotation,
  retiredAnnotation,
  retiredSinceAnnotation,
  retiring,
} from '../../../src/webhook/certs/facts.ts';
import { type TargetReading, unread } from '../../../src/webhook/certs/target.ts';
import { day } from '../../base/x509/entropy.ts';
import { oddCa } from '../../base/x509/odd-ca.ts';

const now = new Date('2026-06-01T00:00:00Z');
const at = (ms: number) => new Date(now.getTime() + ms);
const newCa = (from: Date) => issueCa(from, 1000 * day, ellipticEntropy);
const [one, two, sandbox] = [
  await newCa(at(-day)),
  await newCa(now),
  await issueCa(now, day, ellipticEntropy, { sandbox: true }),
];
const onP224 = await oddCa(now, day);
const serving = await issueServingCertificate(one, ['webhook'], at(-day), 90 * day, ellipticEntropy);

const pem = (...list: Issued[]) => list.map(({ certificate }) => certificate.pem).join('');
const targetOf = (id: string, state: TargetReading['state'], ...bundles: string[]): TargetReading => ({
  id,
  state,
  entries: bundles.map((bundle) => ({ where: 'x', bundle })),
  skipped: [],
});
interface World {
  ca?: Record<string, string>;
  tls?: Record<string, string>;
  targets?: TargetReading[];
  annotations?: Record<string, string>;
}
const factsOf = ({ ca, tls, targets = [], annotations = {} }: World, time = now) =>
  deriveFacts(
    time,
    ca && { data: ca, annotations, version: '1' },
    tls && { data: tls, annotations: {}, version: '1' },
    targets,
    ['webhook'],
  );
const steady = { 'ca.crt': pem(one), 'ca.key': one.key };
const staged = { ...steady, 'next.crt': pem(two), 'next.key': two.key };
const served = { 'tls.crt': pem(serving), 'tls.key': serving.key };

test("the CA's Secret determines the stage of a rotation", () => {
  const stageOf = (ca?: Record<string, string>) => factsOf(ca === undefined ? {} : { ca }).stage;
  expect(stageOf()).toBe('missing');
  expect(stageOf({})).toBe('missing');
  expect(stageOf(steady)).toBe('steady');
  expect(stageOf(staged)).toBe('staged');
  expect(stageOf({ ...steady, 'next.crt': 'x' })).toBe('staged');
  expect(stageOf({ ...steady, 'previous.crt': pem(two) })).toBe('promoted');
  expect(stageOf({ ...steady, 'previous.crt': 'x' })).toBe('promoted');
  expect(stageOf({ ...steady, 'previous.crt': '' })).toBe('steady');
});

test('the bundle contains the active CA first, then the next one, then previous ones; it is empty without an active CA', () => {
  expect(factsOf({ ca: { ...staged, 'previous.crt': pem(sandbox) } }).bundle).toBe(pem(one, two, sandbox));
  expect(factsOf({ ca: { 'next.crt': pem(two), 'next.key': two.key } }).bundle).toBe('');
  expect(factsOf({ ca: steady, tls: { 'ca.crt': pem(one) } }).servingBundleIsCurrent).toBe(true);
  expect(factsOf({ ca: staged, tls: { 'ca.crt': pem(one) } }).servingBundleIsCurrent).toBe(false);
});

describe('readings', () => {
  test.each<[string, Record<string, string>, object]>([
    ['nothing', {}, { active: { state: 'absent' }, activeKey: { state: 'absent' }, successor: { state: 'absent' } }],
    ['a key without its CA', { 'ca.key': one.key }, { active: { state: 'absent' }, activeKey: { state: 'absent' } }],
    ['a CA', steady, { active: { state: 'usable' }, activeKey: { state: 'usable', value: one.key } }],
    ['a CA without its key', { 'ca.crt': pem(one) }, { active: { state: 'usable' }, activeKey: { state: 'absent' } }],
    [
      'a next CA without key',
      { ...steady, 'next.crt': pem(two) },
      { successor: { state: 'broken', problem: 'has no key' } },
    ],
    [
      'a next CA with the key of another CA',
      { ...staged, 'next.key': one.key },
      { successor: { state: 'broken', problem: 'has a key that does not belong to the certificate' } },
    ],
  ])('of the CA: %s', (_, ca, expected) => {
    expect(factsOf({ ca })).toMatchObject(expected);
  });

  test.each<[string, Record<string, string> | undefined, object]>([
    ['nothing', undefined, { state: 'absent' }],
    ['a certificate', served, { state: 'usable' }],
    ['no key', { 'tls.crt': pem(serving) }, { state: 'broken', problem: 'has no key' }],
    [
      'the key of another certificate',
      { ...served, 'tls.key': two.key },
      { state: 'broken', problem: 'has a key that does not belong to the certificate' },
    ],
    ['garbage', { ...served, 'tls.crt': 'x' }, { state: 'broken', problem: 'is not PEM' }],
    [
      'a key with which no client connects',
      { 'tls.crt': onP224.certificate.pem, 'tls.key': onP224.key },
      {
        state: 'broken',
        problem: expect.stringContaining('of type ec on secp224r1, which API servers and Cluster API do not support'),
      },
    ],
  ])('of the serving certificate: %s', (_, tls, expected) => {
    expect(factsOf(tls === undefined ? {} : { tls }).serving).toMatchObject(expected);
  });

  test('a certificate has expired at the end of its validity, not before', () => {
    const end = serving.certificate.x509.validToDate;
    expect(factsOf({ tls: served }, end).serving).toEqual({
      state: 'broken',
      problem: `expired at ${end.toISOString()}`,
    });
    expect(factsOf({ tls: served }, new Date(end.getTime() - 1)).serving.state).toBe('usable');
  });
});

describe('the CA that signed the serving certificate', () => {
  const fingerprintOf = (world: World) => factsOf(world).signer?.fingerprint;
  const { fingerprint } = one.certificate;

  test.each<[string, World, string | undefined, boolean]>([
    ['is the active one', { ca: steady, tls: served }, fingerprint, true],
    ['is a previous one', { ca: { 'ca.crt': pem(two), 'previous.crt': pem(one) }, tls: served }, fingerprint, true],
    [
      'is known from the serving Secret only',
      { ca: { 'ca.crt': pem(two) }, tls: { ...served, 'ca.crt': pem(one) } },
      fingerprint,
      false,
    ],
    [
      'is known from a target only',
      { tls: served, targets: [targetOf('K/a', 'present', pem(one))] },
      fingerprint,
      false,
    ],
    ['is not known', { ca: { 'ca.crt': pem(two) }, tls: served }, undefined, false],
    ['is unknown without a certificate', { ca: steady }, undefined, false],
  ])('%s', (_, world, expected, isKept) => {
    expect(fingerprintOf(world)).toBe(expected);
    expect(factsOf(world).isSignerInBundle).toBe(isKept);
  });

  test('lacks no names if there is none', () => {
    expect([factsOf({ ca: steady }).servingLacks, factsOf({ tls: served }).servingLacks]).toEqual([[], []]);
  });
});

test('without an active CA, those still depended on are the anchors: the signer first, then our own in targets, then previous ones', () => {
  const anchorsOf = (world: World) => factsOf(world).anchors.map(({ fingerprint }) => fingerprint);
  const [a, b] = [one, two].map(({ certificate }) => certificate.fingerprint);
  const inTargets = [targetOf('K/a', 'present', pem(sandbox), pem(two)), targetOf('K/b', 'present', pem(two), 'x')];
  expect(anchorsOf({ ca: steady, tls: served, targets: inTargets })).toEqual([]);
  // A CA that this program did not make is not taken over from a target.
  expect(anchorsOf({ targets: inTargets })).toEqual([b]);
  expect(anchorsOf({ tls: { ...served, 'ca.crt': pem(one) }, targets: inTargets })).toEqual([a, b]);
  expect(anchorsOf({ ca: { 'previous.crt': pem(one, two) }, targets: inTargets })).toEqual([b, a]);
  expect(anchorsOf({})).toEqual([]);
});

describe('the record of targets', () => {
  const targets = [targetOf('K/a', 'present', ''), targetOf('K/b', 'failed')];
  const idOf = (world: World) => factsOf(world).injection;

  test('is valid for this set of CAs and targets, in any order', () => {
    const id = idOf({ ca: staged, targets });
    expect(id).toMatch(/^[0-9a-f]{64}$/);
    expect(idOf({ ca: staged, targets: [...targets].reverse() })).toBe(id);
    expect(idOf({ ca: { 'ca.crt': pem(two), 'previous.crt': pem(one) }, targets })).toBe(id);
    expect(idOf({ ca: staged, targets: [...targets, targetOf('K/c', 'missing')] })).toBe(id);
    expect(idOf({ ca: staged, targets: [...targets, targetOf('K/c', 'present')] })).not.toBe(id);
    expect(idOf({ ca: staged, targets: targets.slice(1) })).not.toBe(id);
    expect(idOf({ ca: steady, targets })).not.toBe(id);
    expect(idOf({ ca: { ...steady, 'previous.crt': pem(sandbox) }, targets })).not.toBe(id);
    expect(idOf({ ca: staged, targets: [targetOf('K/a', 'present', ''), targetOf('K/c', 'failed')] })).not.toBe(id);
  });

  test.each<[string, string | undefined, boolean, Date | undefined]>([
    ['a time', at(-1000).toISOString(), true, at(-1000)],
    ['this moment', now.toISOString(), true, now],
    ['a time in the future', at(1).toISOString(), true, undefined],
    ['no time', 'x', true, undefined],
    ['nothing', undefined, true, undefined],
    ['a time of another set', at(-1000).toISOString(), false, undefined],
  ])('starts %s', (_, since, isThis, expected) => {
    const injection = isThis ? idOf({ ca: staged, targets }) : 'other';
    const annotations = {
      [injectedAnnotation]: injection,
      ...(since !== undefined && { [injectedSinceAnnotation]: since }),
    };
    expect(factsOf({ ca: staged, targets, annotations }).injectedSince).toEqual(expected);
  });
});

const ago = (ms: number) => ({ [retiredSinceAnnotation]: at(-ms).toISOString() });
const isTwo = two.certificate.fingerprint;
test.each<[string, Record<string, string>, string[], boolean]>([
  ['unknown', {}, [pem(two)], true],
  ['unknown, beside a target that was emptied', {}, [pem(two), ''], true],
  ['that was removed', { [removedAnnotation]: isTwo }, [pem(two)], true],
  ['that was removed, beside a target that was emptied', { [removedAnnotation]: isTwo }, [pem(two), ''], false],
  ['just retired', { [retiredAnnotation]: isTwo, ...ago(599_000) }, [pem(one, two)], false],
  ['retired for ten minutes', { [retiredAnnotation]: isTwo, ...ago(600_000) }, [pem(one, two)], true],
  ['retired by a clock that was ahead', { [retiredAnnotation]: isTwo, ...ago(-1000) }, [pem(one, two)], true],
  ['retired, nobody knows when', { [retiredAnnotation]: isTwo }, [pem(one, two)], true],
  ['retired, beside a target that was emptied', { [retiredAnnotation]: isTwo }, [pem(one, two), ''], false],
  ['retired, that one target no longer has', { [retiredAnnotation]: isTwo }, [pem(one, two), pem(one)], false],
])('a CA in targets %s: forgotten or not', (_, annotations, bundles, isForgotten) => {
  const targets = bundles.map((bundle, index) => targetOf(`T/${index}`, 'present', bundle));
  const { forgotten } = factsOf({ ca: steady, targets, annotations });
  expect(forgotten.map(({ fingerprint }) => fingerprint)).toEqual(isForgotten ? [isTwo] : []);
});

test('the time of the last retirement is that of the last CA retired, and at most 16 are remembered', () => {
  const now = at(0);
  const [key, since] = [retiredAnnotation, retiredSinceAnnotation];
  expect([retiring(['B'], { retired: ['A'], now }), retiring([], { retired: ['A'], now })]).toEqual([
    { [key]: 'B,A', [since]: now.toISOString() },
    {},
  ]);
  const names = [...'ABCDEFGHIJKLMNOPQ'];
  expect(retiring(names, { retired: names, now })[key]).toBe('A,B,C,D,E,F,G,H,I,J,K,L,M,N,O,P');
});

test('a wait that has begun is known while some targets cannot be listed', () => {
  const [a, b] = [targetOf('A/a', 'present', pem(one)), targetOf('B/b', 'present', pem(one))];
  const { injection } = factsOf({ ca: steady, targets: [a, b] });
  const annotations = { [injectedAnnotation]: injection, [injectedSinceAnnotation]: at(-1000).toISOString() };
  const since = (targets: TargetReading[]) => factsOf({ ca: steady, targets, annotations }).injectedSince;
  expect([since([a, b]), since([a]), since([a, unread('APIService/*', 'failed', 'no')])]).toEqual([
    at(-1000),
    undefined,
    at(-1000),
  ]);
});

const since = at(-day).toISOString();
test.each<[string, CertificateFacts['overwritten']]>([
  [`1 ${since} Kind/a`, { times: 1, since: at(-day), targets: ['Kind/a'] }],
  [`999999 ${since} Kind/a,Kind/b.c-1`, { times: 999_999, since: at(-day), targets: ['Kind/a', 'Kind/b.c-1'] }],
  [
    `2 ${since} Kind/a,7/b,Kind/C,Kind/d e,Kind/,Kind/f/g`,
    { times: 2, since: at(-day), targets: ['Kind/a', 'Kind/d'] },
  ],
  [`2 ${since} -Kind/a`, undefined],
  [`2 ${since} Kind/a!`, undefined],
  [`2 ${since} `, undefined],
  [`2 ${since}`, undefined],
  [`2 x Kind/a`, undefined],
  [`0 ${since} Kind/a`, undefined],
  [`1000000 ${since} Kind/a`, undefined],
  [`2x ${since} Kind/a`, undefined],
  [`x2 ${since} Kind/a`, undefined],
  [`1.5 ${since} Kind/a`, undefined],
  ['', undefined],
])('who has overwritten targets, and since when, is read from %j', (text, expected) => {
  expect(factsOf({ ca: steady, annotations: { [overwrittenAnnotation]: text } }).overwritten).toEqual(expected);
});

test('only targets that have another bundle are overwritten; they are remembered with those of before, once each', () => {
  const targets = [
    targetOf('Kind/same', 'present', pem(one)),
    targetOf('Kind/b', 'present', pem(two)),
    targetOf('Kind/c', 'present', ''),
    targetOf('Kind/missing', 'missing'),
    targetOf('Kind/failed', 'failed'),
  ];
  const annotations = { [overwrittenAnnotation]: `3 ${since} Kind/a,Kind/b` };
  expect(overwrittenNow(factsOf({ ca: steady, targets, annotations }))).toBe(`4 ${since} Kind/a,Kind/b,Kind/c`);
  expect(overwrittenNow(factsOf({ ca: steady, targets }))).toBe(`1 ${now.toISOString()} Kind/b,Kind/c`);
  const many = Array.from({ length: 17 }, (_, index) => targetOf(`Kind/${index}`, 'present', ''));
  expect(overwrittenNow(factsOf({ ca: steady, targets: many }))).toMatch(/ Kind\/0,.*,Kind\/15$/);
});
