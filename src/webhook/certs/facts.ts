import { createHash } from 'node:crypto';
import {
  bundleOf,
  type Certificate,
  caProblem,
  framingProblem,
  isSignedBy,
  maxCertificates,
  missingNames,
  organization,
  type Parsed,
  problemOf,
  readCa,
  readCaKey,
  readCertificates,
  readKey,
  readPem,
  servingProblem,
  usable,
} from '../../base/x509/index.ts';
import type { StoredSecret } from './store.ts';
import { isInSync, isUnlisted, type TargetReading } from './target.ts';

/** Annotations on the CA's Secret: which bundle has been seen in which targets, and since when (RFC 3339). */
export const injectedAnnotation = 'extensionconfig-webhook/bundle-in-targets';
export const injectedSinceAnnotation = 'extensionconfig-webhook/bundle-in-targets-since';
/** Annotation on the CA's Secret: since when a CA that was found outside it is trusted as a previous one (RFC 3339). */
export const adoptedSinceAnnotation = 'extensionconfig-webhook/adopted-since';
/** Annotation on the CA's Secret: the fingerprints of CAs that no pod serves any more, the last one first. */
export const retiredAnnotation = 'extensionconfig-webhook/retired';
/** Annotation on the CA's Secret: since when the last of these is retired (RFC 3339). */
export const retiredSinceAnnotation = 'extensionconfig-webhook/retired-since';
/** Annotation on the CA's Secret: the fingerprints of retired CAs that no target trusted any longer at some time. */
export const removedAnnotation = 'extensionconfig-webhook/removed';
/**
 * Annotation on the CA's Secret: how often a bundle that had been in all targets was found replaced during this rotation,
 * since when (RFC 3339), and in which targets, separated by blanks.
 */
export const overwrittenAnnotation = 'extensionconfig-webhook/overwritten';
/** Maximum number of CAs in each of these annotations: no more are in a bundle. */
const maxRemembered = 16;
/**
 * How long after a CA was retired targets are expected to trust it still, in ms. The run that retires it removes it from
 * them at once, and a failed Job is started again within a minute.
 */
const removalMs = 10 * 60_000;

type Stage = 'missing' | 'steady' | 'staged' | 'promoted';

/** What another client has done to targets during a rotation. */
interface Overwritten {
  /** How often the bundle was found replaced, after it had been in all targets. */
  times: number;
  since: Date;
  /** The targets where it was found so, at most 16. */
  targets: string[];
}

/** Everything that the decision depends on, read at one time. */
export interface CertificateFacts {
  now: Date;
  stage: Stage;
  active: Parsed<Certificate>;
  /** The other CAs next to the active one, such as the root of an intermediate CA: a user's, trusted as long as it. */
  companions: Certificate[];
  activeKey: Parsed<string>;
  /** Why a CA of the user's own cannot be used, as the end of a sentence; undefined without one, and if it can. */
  ownCaProblem: string | undefined;
  /** The next CA; usable only together with its key. */
  successor: Parsed<Certificate>;
  /** CAs whose certificates some pods may still serve. */
  previous: Certificate[];
  /** Since when a CA that was adopted is a previous one. */
  adoptedSince: Date | undefined;
  /**
   * CAs of this program that every target trusts, and that the CA's Secret neither knows nor has just retired: the
   * Secrets were restored from a backup, and pods may still serve certificates of these.
   */
  forgotten: Certificate[];
  /** Fingerprints of CAs that no pod serves any more, but that targets may still trust, the last one first. */
  retired: string[];
  /** Fingerprints of retired CAs that no target trusted any longer at some time, the last one first. */
  removed: string[];
  /** The serving certificate; usable if its key is present and it has not expired. */
  serving: Parsed<Certificate>;
  servingLacks: string[];
  /** The CA that has signed the serving certificate, out of all known CAs. */
  signer: Certificate | undefined;
  isSignerInBundle: boolean;
  /** CAs outside the CA's Secret that targets or the serving certificate need; empty if that Secret has a usable CA. */
  anchors: Certificate[];
  /** The bundle that every target should trust: PEM, the active CA first. Empty without a CA. */
  bundle: string;
  /** Whether the serving Secret's ca.crt is the bundle. */
  servingBundleIsCurrent: boolean;
  targets: TargetReading[];
  /** Identifies the set of CAs in the bundle and the set of targets. */
  injection: string;
  /**
   * Since when the bundle is known to be in all targets. While some are unknown, since a kind cannot be listed, it is as it
   * was: if one of the others is overwritten then, the wait has to start over.
   */
  injectedSince: Date | undefined;
  /** What another client has done to targets since the rotation began; undefined if nothing. */
  overwritten: Overwritten | undefined;
}

function dateOf(text: string | undefined): Date | undefined {
  const date = new Date(text ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** A time in the future means that a clock is or was wrong: the delay starts over. */
function pastDateOf(text: string | undefined, now: Date): Date | undefined {
  const date = new Date(text ?? Number.NaN);
  return date <= now ? date : undefined;
}

function parseKey(text: string | undefined, certificate: Certificate | undefined): Parsed<string> {
  return certificate === undefined ? { state: 'absent' } : readCaKey(text, certificate);
}

function ownerOf(text: string | undefined, certificates: readonly Certificate[]): Certificate | undefined {
  return certificates.find((certificate) => readKey(text, certificate).state === 'usable');
}

/** A certificate that counts only together with its key. */
function withKey(read: Parsed<Certificate>, key: Parsed<string>): Parsed<Certificate> {
  if (read.state !== 'usable' || key.state === 'usable') {
    return read;
  }
  return { state: 'broken', problem: key.state === 'absent' ? 'has no key' : `has a key that ${key.problem}` };
}

function servingOf(tls: Readonly<Record<string, string>>, now: Date): Parsed<Certificate> {
  const text = tls['tls.crt'] ?? '';
  const chain = readCertificates(text);
  if (chain.state !== 'usable') {
    return chain;
  }
  const [certificate] = chain.value;
  // Pods serve the text unchanged, and this program may not have written it.
  const problem = framingProblem(readPem(text)) ?? servingProblem(certificate.x509);
  if (problem !== undefined) {
    return { state: 'broken', problem };
  }
  if (certificate.x509.validToDate <= now) {
    return { state: 'broken', problem: `expired at ${certificate.x509.validToDate.toISOString()}` };
  }
  return withKey({ state: 'usable', value: certificate }, readKey(tls['tls.key'], certificate));
}

/**
 * Why a CA that this program did not create cannot be used. One that has expired is replaced, as it would have been in
 * its renewal window.
 *
 * @param certificates those in ca.crt.
 * @param known CAs outside the CA's Secret: a key of one of these belongs to a Secret of ours that is damaged.
 */
function ownCaProblemOf(
  ca: Readonly<Record<string, string>>,
  certificates: readonly Certificate[],
  { active, activeKey, successor, now }: Pick<CertificateFacts, 'active' | 'activeKey' | 'successor' | 'now'>,
  known: readonly Certificate[],
): string | undefined {
  const [first] = certificates;
  if (first === undefined) {
    const key = ca['ca.key'] ?? '';
    return key.trim() === '' || ownerOf(key, known) !== undefined ? undefined : `ca.crt ${problemOf(active)}`;
  }
  if (certificates.some(isOurs) || first.x509.validToDate <= now) {
    return undefined;
  }
  if (active.state !== 'usable') {
    return `ca.crt ${problemOf(active)}`;
  }
  // The key signs nothing any more once the next CA is there.
  return activeKey.state === 'usable' || successor.state !== 'absent' ? undefined : `ca.key ${problemOf(activeKey)}`;
}

/** The CAs in targets that are valid now. */
interface CasInTargets {
  inSome: Certificate[];
  /** Those that every bundle with certificates has. */
  inAll: Certificate[];
  /** Whether there is no empty or invalid bundle. */
  areAllFilled: boolean;
}

function casIn(targets: readonly TargetReading[], now: Date): CasInTargets {
  // Usually all targets have the same bundle, so each text is parsed once, and each certificate checked once.
  const texts = new Set(targets.flatMap(({ entries }) => entries.map(({ bundle }) => bundle)));
  const bundles = [...texts].flatMap((text) => {
    const read = usable(readCertificates(text));
    return read === undefined ? [] : [distinct(read)];
  });
  const inSome = distinct(bundles.flat()).filter((ca) => caProblem(ca, now) === undefined);
  const counts = new Map<string, number>();
  for (const { fingerprint } of bundles.flat()) {
    counts.set(fingerprint, (counts.get(fingerprint) ?? 0) + 1);
  }
  return {
    inSome,
    inAll: inSome.filter(({ fingerprint }) => counts.get(fingerprint) === bundles.length),
    areAllFilled: bundles.length === texts.size,
  };
}

function remembered(annotation: string | undefined): string[] {
  return (annotation ?? '').split(',', maxRemembered).filter((entry) => entry !== '');
}

/** The value of an annotation that remembers CAs, the last one first; empty without any. */
export function remember(fingerprints: readonly string[]): string {
  return [...new Set(fingerprints)].slice(0, maxRemembered).join(',');
}

/** The annotations that remember retired CAs, the last one first, once more are retired. */
export function retiring(
  fingerprints: readonly string[],
  { retired, now }: Pick<CertificateFacts, 'retired' | 'now'>,
): Record<string, string> {
  return fingerprints.length === 0
    ? {}
    : { [retiredAnnotation]: remember([...fingerprints, ...retired]), [retiredSinceAnnotation]: now.toISOString() };
}

function overwrittenOf(annotation: string | undefined): Overwritten | undefined {
  const [times, since, ids = ''] = (annotation ?? '').split(' ', 3) as [string, string?, string?];
  const date = dateOf(since);
  const targets = ids.split(',', maxRemembered).filter((id) => /^[A-Za-z]+\/[a-z0-9.-]+$/.test(id));
  return /^[1-9]\d{0,5}$/.test(times) && date !== undefined && targets.length > 0
    ? { times: Number(times), since: date, targets }
    : undefined;
}

/** The value of the annotation when targets are found overwritten once more. */
export function overwrittenNow({ overwritten, now, targets, bundle }: CertificateFacts): string {
  const outdated = targets.filter((target) => target.state === 'present' && !isInSync(target, bundle));
  const ids = [...new Set([...(overwritten?.targets ?? []), ...outdated.map(({ id }) => id)])].slice(0, maxRemembered);
  const times = Math.min((overwritten?.times ?? 0) + 1, 999_999);
  return `${times} ${(overwritten?.since ?? now).toISOString()} ${ids.join(',')}`;
}

function injectionOf(bundle: readonly Certificate[], targets: readonly TargetReading[]): string {
  const there = targets.filter(({ state }) => state !== 'missing');
  const sets = [bundle.map(({ fingerprint }) => fingerprint).sort(), there.map(({ id }) => id).sort()];
  return createHash('sha256').update(JSON.stringify(sets)).digest('hex');
}

/** Derives the facts from stores and targets, whose contents are untrusted: anything invalid counts as broken. */
export function deriveFacts(
  now: Date,
  caSecret: StoredSecret | undefined,
  servingSecret: StoredSecret | undefined,
  targets: TargetReading[],
  names: readonly string[],
): CertificateFacts {
  const ca = caSecret?.data ?? {};
  const tls = servingSecret?.data ?? {};
  const isCa = (one: Certificate) => caProblem(one, now) === undefined;
  const certificates = usable(readCertificates(ca['ca.crt'])) ?? [];
  // A user's own CA may come with the one that signed it, in any order: the active one has the key.
  const owner = ownerOf(ca['ca.key'], certificates);
  const active = readCa(owner?.pem ?? ca['ca.crt'], now);
  const next = readCa(ca['next.crt'], now);
  const successor = withKey(next, parseKey(ca['next.key'], usable(next)));
  const previous = (usable(readCertificates(ca['previous.crt'])) ?? []).filter(isCa);
  const serving = servingOf(tls, now);

  const companions = certificates.filter((one) => one.fingerprint !== usable(active)?.fingerprint && isCa(one));
  const trusted = [usable(active), ...companions, usable(successor), ...previous].filter((one) => one !== undefined);
  const servingBundle = usable(readCertificates(tls['ca.crt'])) ?? [];
  const inTargets = casIn(targets, now);
  const certificate = usable(serving);
  const signer = [...trusted, ...servingBundle, ...inTargets.inSome].find(
    (one) => certificate !== undefined && isCa(one) && isSignedBy(certificate, one),
  );
  const isTrusted = (one: Certificate) => trusted.some(({ fingerprint }) => fingerprint === one.fingerprint);

  const activeKey = parseKey(ca['ca.key'], usable(active));
  const anchors =
    active.state === 'usable'
      ? []
      : distinct([...(signer === undefined ? [] : [signer]), ...inTargets.inSome.filter(isOurs), ...previous]);
  const bundle = active.state === 'usable' ? bundleOf(trusted) : '';
  const injection = injectionOf(trusted, targets);
  const annotations = caSecret?.annotations ?? {};
  const retired = remembered(annotations[retiredAnnotation]);
  const retiredSince = pastDateOf(annotations[retiredSinceAnnotation], now);
  const isJustRetired = retiredSince !== undefined && now.getTime() - retiredSince.getTime() < removalMs;
  const removed = remembered(annotations[removedAnnotation]);
  // Before a CA signs anything, it is in every target. What is only in some has signed nothing, and is not spread. A CA
  // that was removed is trusted again only if each target has it: a backup of the time when it was active was in use.
  // An old manifest beside targets that were emptied does not bring it back; its key may be known to others. The same
  // holds for one that was retired, unless that has just happened: either that run was killed, or the backup is of the
  // seconds between two of its steps.
  const forgotten = inTargets.inAll.filter((one) => {
    const isRetired = retired.includes(one.fingerprint);
    const isDismissed = isRetired || removed.includes(one.fingerprint);
    return isOurs(one) && !isTrusted(one) && !(isRetired && isJustRetired) && (inTargets.areAllFilled || !isDismissed);
  });
  return {
    now,
    stage:
      active.state !== 'usable'
        ? 'missing'
        : successor.state !== 'absent'
          ? 'staged'
          : ca['previous.crt']
            ? 'promoted'
            : 'steady',
    active,
    companions,
    activeKey,
    ownCaProblem: ownCaProblemOf(ca, certificates, { active, activeKey, successor, now }, [
      ...servingBundle,
      ...inTargets.inSome,
    ]),
    successor,
    previous,
    adoptedSince: dateOf(annotations[adoptedSinceAnnotation]),
    forgotten: forgotten.slice(0, Math.max(0, maxCertificates - trusted.length)),
    retired,
    removed,
    serving,
    servingLacks: certificate === undefined ? [] : missingNames(certificate, names),
    signer,
    isSignerInBundle: signer !== undefined && isTrusted(signer),
    anchors,
    bundle,
    servingBundleIsCurrent: tls['ca.crt'] === bundle,
    targets,
    injection,
    injectedSince:
      annotations[injectedAnnotation] === injection || targets.some(isUnlisted)
        ? pastDateOf(annotations[injectedSinceAnnotation], now)
        : undefined,
    overwritten: overwrittenOf(annotations[overwrittenAnnotation]),
  };
}

function isOurs({ x509 }: Certificate): boolean {
  return x509.subject.split('\n').includes(`O=${organization}`);
}

function distinct(certificates: Certificate[]): Certificate[] {
  return [...new Map(certificates.map((certificate) => [certificate.fingerprint, certificate])).values()];
}
