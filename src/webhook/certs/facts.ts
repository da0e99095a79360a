import {
  asCaKey,
  bundleOf,
  type Certificate,
  caProblem,
  framingProblem,
  isSignedBy,
  missingNames,
  organization,
  type Parsed,
  problemOf,
  readCertificates,
  readKey,
  readPem,
  servingProblem,
  usable,
} from '../../base/x509/index.ts';
import type { StoredSecret, TargetReading } from './store.ts';

/** Annotation on the CA's Secret: since when another CA is trusted next to the one in use (RFC 3339). */
export const stagedSinceAnnotation = 'extensionconfig-webhook/staged-since';
/** Annotation on the CA's Secret: when targets were last written meanwhile, since when they trust it at the earliest (RFC 3339). */
export const injectedAtAnnotation = 'extensionconfig-webhook/injected-at';

type Stage = 'missing' | 'steady' | 'staged' | 'promoted';

export interface CertificateFacts {
  now: Date;
  stage: Stage;
  active: Parsed<Certificate>;
  /** A user's CAs next to the active one, such as the root of an intermediate CA: trusted as long as it. */
  companions: Certificate[];
  activeKey: Parsed<string>;
  /** Why a CA of the user's own cannot be used, as the end of a sentence; undefined without one, and if it can. */
  ownCaProblem: string | undefined;
  /** The next CA; usable only together with its key. */
  successor: Parsed<Certificate>;
  stagedSince: Date | undefined;
  injectedAt: Date | undefined;
  /** CAs whose certificates some pods may still serve. */
  previous: Certificate[];
  /** The serving certificate; usable if its key is present and it has not expired. */
  serving: Parsed<Certificate>;
  servingLacks: string[];
  /** The CA that has signed the serving certificate, out of those in the CA's Secret. */
  signer: Certificate | undefined;
  /**
   * A CA that pods use, and that is not in the CA's Secret (lost, restored or replaced): every target trusts it, and it has
   * signed the serving certificate or, without a usable CA, is ours. Who can write the serving Secret must not decide this.
   */
  inUse: Certificate | undefined;
  /** The bundle that every target should trust: PEM, the active CA first. Empty without a CA. */
  bundle: string;
  servingBundleIsCurrent: boolean;
  targets: TargetReading[];
}

/** A time in the future means that a clock is or was wrong. */
function pastDateOf(text: string | undefined, now: Date): Date | undefined {
  const date = new Date(text ?? Number.NaN);
  return date <= now ? date : undefined;
}

/** A CA with its key. A user's own may come with the one that signed it, in any order: the CA is the one that has the key. */
function caIn(text: string | undefined, keyText: string | undefined, now: Date) {
  const read = readCertificates(text);
  const certificates = usable(read) ?? [];
  const keys = certificates.map((one) => readKey(keyText, one));
  const at = Math.max(
    keys.findIndex(({ state }) => state === 'usable'),
    0,
  );
  const certificate = certificates[at];
  const problem = certificate && caProblem(certificate, now);
  const companions = certificates.filter((one, index) => index !== at && caProblem(one, now) === undefined);
  if (certificate === undefined || problem !== undefined) {
    const ca: Parsed<Certificate> = problem === undefined ? (read as Parsed<never>) : { state: 'broken', problem };
    return { ca, key: { state: 'absent' } as Parsed<string>, companions, certificates };
  }
  const ca: Parsed<Certificate> = { state: 'usable', value: certificate };
  return { ca, key: asCaKey(keys[at] as Parsed<string>, certificate), companions, certificates };
}

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
 * Why a CA that this program did not create cannot be used; an expired one is replaced. `certificates`: those in ca.crt.
 * @param known PEM texts outside the CA's Secret: the key of a CA in these belongs to a Secret of ours that is damaged.
 */
function ownCaProblemOf(
  ca: Readonly<Record<string, string>>,
  certificates: readonly Certificate[],
  { active, activeKey, successor, now }: Pick<CertificateFacts, 'active' | 'activeKey' | 'successor' | 'now'>,
  known: readonly (string | undefined)[],
): string | undefined {
  const [first] = certificates;
  if (first === undefined) {
    const key = ca['ca.key'] ?? '';
    const cas = known.flatMap((text) => usable(readCertificates(text)) ?? []);
    const isOfOurs = key.trim() === '' || cas.some((one) => readKey(key, one).state === 'usable');
    return isOfOurs ? undefined : `ca.crt ${problemOf(active)}`;
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

function casInAll(texts: ReadonlySet<string>, now: Date): Certificate[] {
  const bundles = [...texts].flatMap((text) => [usable(readCertificates(text)) ?? []]).filter((all) => all.length > 0);
  const fingerprints = bundles.map((all) => new Set(all.map(({ fingerprint }) => fingerprint)));
  return (bundles[0] ?? []).filter(
    (one) => fingerprints.every((all) => all.has(one.fingerprint)) && caProblem(one, now) === undefined,
  );
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
  const { ca: active, key: activeKey, companions, certificates } = caIn(ca['ca.crt'], ca['ca.key'], now);
  const next = caIn(ca['next.crt'], ca['next.key'], now);
  const successor = withKey(next.ca, next.key);
  const previous = (usable(readCertificates(ca['previous.crt'])) ?? []).filter(
    (one) => caProblem(one, now) === undefined,
  );
  const serving = servingOf(tls, now);
  const trusted = [usable(active), ...companions, usable(successor), ...previous].filter((one) => one !== undefined);
  const certificate = usable(serving);
  const hasSigned = (one: Certificate) => certificate !== undefined && isSignedBy(certificate, one);
  const signer = trusted.find(hasSigned);
  const bundles = new Set(targets.flatMap((target) => target.bundles));
  const inAll = active.state === 'usable' && signer !== undefined ? [] : casInAll(bundles, now);
  const issuer = signer ?? inAll.find(hasSigned);
  const bundle = active.state === 'usable' ? bundleOf(trusted) : '';
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
    ownCaProblem: ownCaProblemOf(ca, certificates, { active, activeKey, successor, now }, [tls['ca.crt'], ...bundles]),
    successor,
    stagedSince: pastDateOf(caSecret?.annotations[stagedSinceAnnotation], now),
    injectedAt: pastDateOf(caSecret?.annotations[injectedAtAnnotation], now),
    previous,
    serving,
    servingLacks: certificate === undefined ? [] : missingNames(certificate, names),
    signer,
    inUse: active.state !== 'usable' ? (issuer ?? inAll.find(isOurs)) : signer === undefined ? issuer : undefined,
    bundle,
    servingBundleIsCurrent: tls['ca.crt'] === bundle,
    targets,
  };
}

function isOurs({ x509 }: Certificate): boolean {
  return x509.subject.split('\n').includes(`O=${organization}`);
}
