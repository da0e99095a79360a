import { expect, test } from 'vitest';
import { deriveFacts, injectedAnnotation, injectedSinceAnnotation } from '../../src/certs/facts.ts';
import { next, type Settings } from '../../src/certs/next.ts';
import type { TargetReading } from '../../src/certs/target.ts';
import { type Certificate, type Issued, issueCa, issueServingCertificate } from '../../src/x509/index.ts';
import { day, quickEntropy } from '../x509/entropy.ts';

const start = new Date('2026-06-01T00:00:00Z');
const at = (ms: number) => new Date(start.getTime() + ms);
const minute = 60_000;
const names = ['webhook.ns.svc'];
const authority = (from = start, life = 1000 * day) => issueCa(from, life, quickEntropy);
const leafOf = (issuer: Issued, from = start, life = 90 * day) =>
  issueServingCertificate(issuer, names, from, life, quickEntropy);
const [one, two, dead] = [await authority(), await authority(), await authority(at(-20 * day), 10 * day)];
const [leafOne, leafTwo, late] = [await leafOf(one), await leafOf(two), await leafOf(two, at(day))];
const deadLeaf = await leafOf(dead, at(-20 * day));

const pem = (...list: Issued[]) => list.map(({ certificate }) => certificate.pem).join('');
interface World {
  ca?: Record<string, string>;
  tls?: Record<string, string>;
  /** What the only target holds; undefined: there is none. */
  target?: string;
  failed?: string;
  /** Since when the bundle is recorded to be in the target, in ms. */
  since?: number;
  now?: number;
  settings?: Partial<Settings>;
}
const steady = { 'ca.crt': pem(one), 'ca.key': one.key };
const staged = { ...steady, 'next.crt': pem(two), 'next.key': two.key };
const promoted = { 'ca.crt': pem(two), 'ca.key': two.key, 'previous.crt': pem(one) };
const tls = (leaf: Issued, bundle: string) => ({ 'tls.crt': pem(leaf), 'tls.key': leaf.key, 'ca.crt': bundle });
const both = pem(one, two);
const turned = pem(two, one);

function decide(world: World) {
  const now = at(world.now ?? minute);
  const target: TargetReading = {
    id: 'Kind/name',
    state: world.failed === undefined ? 'present' : 'failed',
    ...(world.failed === undefined ? {} : { problem: world.failed }),
    entries: world.failed === undefined ? [{ where: 'x', bundle: world.target ?? '' }] : [],
    skipped: [],
  };
  const targets = world.target === undefined && world.failed === undefined ? [] : [target];
  const stored = (data: Record<string, string> | undefined, annotations = {}) =>
    data === undefined ? undefined : { data, annotations, version: '1' };
  const facts = () => deriveFacts(now, stored(world.ca), stored(world.tls), targets, names);
  const annotations =
    world.since === undefined
      ? {}
      : { [injectedAnnotation]: facts().injection, [injectedSinceAnnotation]: at(world.since).toISOString() };
  return next(deriveFacts(now, stored(world.ca, annotations), stored(world.tls), targets, names), {
    mode: 'rotate',
    force: false,
    forceCa: false,
    propagationDelayMs: 30_000,
    overlapMs: day,
    caRenewBeforeMs: 180 * day,
    refused: new Map(),
    ...world.settings,
  });
}

const rows: [string, World, string, RegExp][] = [
  ['nothing there', {}, 'create-authority', /is missing/],
  ['authority unparsable', { ca: { 'ca.crt': 'x' } }, 'create-authority', /is not PEM/],
  ['authority is a leaf', { ca: { 'ca.crt': pem(leafOne) } }, 'create-authority', /is no CA/],
  [
    'all expired',
    { ca: { 'ca.crt': pem(dead), 'ca.key': dead.key }, tls: tls(deadLeaf, pem(dead)) },
    'create-authority',
    /expired/,
  ],
  ['authority lost, leaf works', { tls: tls(leafOne, pem(one)) }, 'stage-authority', /still use/],
  ['both lost, a target trusts ours', { target: pem(one) }, 'stage-authority', /still use/],
  ['both lost, a target trusts an expired one', { target: pem(dead) }, 'create-authority', /is missing/],
  ['key lost', { ca: { 'ca.crt': pem(one) }, tls: tls(leafOne, pem(one)) }, 'stage-authority', /key is missing/],
  ['key of another', { ca: { ...steady, 'ca.key': two.key } }, 'stage-authority', /does not belong/],
  ['no leaf', { ca: steady, target: '' }, 'issue-leaf', /is missing/],
  ['leaf expired', { ca: steady, tls: tls(deadLeaf, pem(one)) }, 'issue-leaf', /expired/],
  [
    'leaf key of another',
    { ca: steady, tls: { ...tls(leafOne, pem(one)), 'tls.key': two.key } },
    'issue-leaf',
    /does not belong/,
  ],
  ['bundle too wide', { ca: steady, tls: tls(leafOne, both) }, 'write-bundle', /steady/],
  ['target wiped', { ca: steady, tls: tls(leafOne, pem(one)), target: '' }, 'inject', /does not hold/],
  [
    'target wiped after it was recorded',
    { ca: steady, tls: tls(leafOne, pem(one)), target: '', since: 0 },
    'forget-injection',
    /though it did/,
  ],
  ['steady', { ca: steady, tls: tls(leafOne, pem(one)), target: pem(one) }, 'done', /in order/],
  ['steady, target unreadable', { ca: steady, tls: tls(leafOne, pem(one)), failed: 'no' }, 'blocked', /Kind\/name: no/],
  ['leaf before its window', { ca: steady, tls: tls(leafOne, pem(one)), now: 59 * day }, 'done', /in order/],
  ['leaf in its window', { ca: steady, tls: tls(leafOne, pem(one)), now: 61 * day }, 'issue-leaf', /last third/],
  [
    'leaf in its window, repair only',
    { ca: steady, tls: tls(leafOne, pem(one)), now: 61 * day, settings: { mode: 'repair' } },
    'done',
    /in order/,
  ],
  ['forced leaf', { ca: steady, tls: tls(leafOne, pem(one)), settings: { force: true } }, 'issue-leaf', /--force/],
  [
    'forced authority',
    { ca: steady, tls: tls(leafOne, pem(one)), settings: { forceCa: true } },
    'stage-authority',
    /--force-ca/,
  ],
  [
    'authority in its window',
    { ca: steady, tls: tls(leafOne, pem(one)), now: 830 * day },
    'stage-authority',
    /renewal window/,
  ],
  [
    'leaf of an authority that is unknown here',
    { ca: promotedAlone(), tls: tls(leafOne, pem(one)) },
    'adopt-authority',
    /stays trusted/,
  ],
  ['staged, bundle old', { ca: staged, tls: tls(leafOne, pem(one)) }, 'write-bundle', /staged/],
  ['staged, target old', { ca: staged, tls: tls(leafOne, both), target: pem(one) }, 'inject', /staged/],
  [
    'staged, target unreadable',
    { ca: staged, tls: tls(leafOne, both), failed: 'no' },
    'blocked',
    /stops in stage staged/,
  ],
  [
    'staged, injected, not recorded',
    { ca: staged, tls: tls(leafOne, both), target: both },
    'record-injection',
    /every target/,
  ],
  [
    'staged, recorded just now',
    { ca: staged, tls: tls(leafOne, both), target: both, since: 50_000 },
    'wait',
    /propagation/,
  ],
  [
    'staged, recorded in the future',
    { ca: staged, tls: tls(leafOne, both), target: both, since: day },
    'record-injection',
    /every/,
  ],
  [
    'staged, recorded long ago',
    { ca: staged, tls: tls(leafOne, both), target: both, since: 0 },
    'promote',
    /trusts the next/,
  ],
  [
    'staged, next has no key',
    { ca: { ...staged, 'next.key': '' }, tls: tls(leafOne, both) },
    'stage-authority',
    /has no key/,
  ],
  ['staged, leaf lost', { ca: staged, target: both }, 'issue-leaf', /is missing/],
  [
    'promoted, leaf still of the previous, bundle old',
    { ca: promoted, tls: tls(leafOne, both), target: both, since: 0 },
    'write-bundle',
    /promoted/,
  ],
  [
    'promoted, leaf still of the previous',
    { ca: promoted, tls: tls(leafOne, turned), target: turned, since: 0 },
    'issue-leaf',
    /not signed by the active/,
  ],
  [
    'promoted, target lost the trust',
    { ca: promoted, tls: tls(leafOne, turned), target: pem(one) },
    'inject',
    /promoted/,
  ],
  ['promoted, inside the overlap', { ca: promoted, tls: tls(leafTwo, turned), target: turned }, 'wait', /overlap/],
  [
    'promoted, forced authority waits its turn',
    { ca: promoted, tls: tls(leafTwo, turned), target: turned, settings: { forceCa: true } },
    'wait',
    /overlap/,
  ],
  [
    'promoted, overlap over',
    { ca: promoted, tls: tls(leafTwo, turned), target: turned, now: day + minute },
    'retire',
    /overlap is over/,
  ],
  [
    'promoted, the overlap counts from the leaf',
    { ca: promoted, tls: tls(late, turned), target: turned, now: day + minute },
    'wait',
    /overlap/,
  ],
  [
    'promoted, previous expired',
    { ca: { ...promoted, 'previous.crt': pem(dead) }, tls: tls(leafTwo, pem(two)), target: pem(two) },
    'retire',
    /expired/,
  ],
  [
    'promoted, previous unparsable',
    { ca: { ...promoted, 'previous.crt': 'x' }, tls: tls(leafTwo, pem(two)), target: pem(two) },
    'retire',
    /expired/,
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

test('a wait ends at the moment it names', () => {
  const world = { ca: staged, tls: tls(leafOne, both), target: both, since: 0 };
  expect(decide({ ...world, now: 29_999 })).toMatchObject({ kind: 'wait', until: at(30_000) });
  expect(decide({ ...world, now: 30_000 }).kind).toBe('promote');
});

test('a staged recovery keeps the certificate that works as the active one', () => {
  const action = decide({ tls: tls(leafOne, pem(one)), target: pem(one) });
  const staged = action as { active: Certificate; previous: Certificate[] };
  expect(staged.active.fingerprint).toBe(one.certificate.fingerprint);
  expect(staged.previous).toEqual([]);
});
