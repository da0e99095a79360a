import { describe, expect, test } from 'vitest';
import { type Issued, issueCa, issueServingCertificate } from '../../../src/base/x509/index.ts';
import { deriveFacts, type TargetReading } from '../../../src/webhook/certs/index.ts';
import { day } from '../../base/x509/keys.ts';
import { oddCa } from '../../base/x509/odd-ca.ts';

const now = new Date('2026-06-01T00:00:00Z');
const at = (ms: number) => new Date(now.getTime() + ms);
const newCa = (from: Date) => issueCa(from, 1000 * day);
const [one, two, sandbox] = [await newCa(at(-day)), await newCa(now), issueCa(now, day, { sandbox: true })];
const onP224 = oddCa(now, day);
const serving = issueServingCertificate(one, ['webhook'], at(-day), 90 * day);

const pem = (...list: Issued[]) => list.map(({ certificate }) => certificate.pem).join('');
const targetOf = (id: string, state: TargetReading['state'], ...bundles: string[]): TargetReading => ({
  id,
  state,
  bundles,
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
    ca && { data: ca, annotations, raw: undefined },
    tls && { data: tls, annotations: {}, raw: undefined },
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

describe('the CA that pods use', () => {
  const of = (world: World) => {
    const { signer, inUse } = factsOf(world);
    return [signer?.fingerprint, inUse?.fingerprint];
  };
  const [isOne, isTwo] = [one, two].map(({ certificate }) => certificate.fingerprint);
  const trusting = (...bundles: string[]) => bundles.map((bundle, index) => targetOf(`K/${index}`, 'present', bundle));
  const other = { 'ca.crt': pem(two), 'ca.key': two.key };

  test.each<[string, World, (string | undefined)[]]>([
    ['is the active one', { ca: steady, tls: served, targets: trusting(pem(one)) }, [isOne, undefined]],
    ['is a previous one', { ca: { ...other, 'previous.crt': pem(one) }, tls: served }, [isOne, undefined]],
    [
      'is in every target',
      { ca: other, tls: served, targets: trusting(pem(one), pem(two, one), '', 'x') },
      [undefined, isOne],
    ],
    [
      'is in one target only',
      { ca: other, tls: served, targets: trusting(pem(one), pem(two)) },
      [undefined, undefined],
    ],
    ['is in the serving Secret only', { ca: other, tls: { ...served, 'ca.crt': pem(one) } }, [undefined, undefined]],
    ['the Secret was lost', { tls: served, targets: trusting(pem(one)) }, [undefined, isOne]],
    ['the active one is damaged', { ca: { 'previous.crt': pem(one) }, tls: served }, [isOne, isOne]],
    ['both Secrets were lost', { targets: trusting(pem(sandbox, two), pem(two)) }, [undefined, isTwo]],
    ['both were lost, and not one of this program', { targets: trusting(pem(sandbox)) }, [undefined, undefined]],
    ['nothing is known', {}, [undefined, undefined]],
  ])('%s', (_, world, expected) => {
    expect(of(world)).toEqual(expected);
  });

  test('lacks no names if there is none', () => {
    expect([factsOf({ ca: steady }).servingLacks, factsOf({ tls: served }).servingLacks]).toEqual([[], []]);
  });
});
