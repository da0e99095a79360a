import { createHash } from 'node:crypto';
import {
  authorityProblem,
  bundleOf,
  type Certificate,
  isRsa,
  isSignedBy,
  missingNames,
  organization,
  type Part,
  readAuthority,
  readCertificates,
  readKey,
  usable,
} from '../x509/index.ts';
import type { StoredSecret } from './store.ts';
import type { TargetReading } from './target.ts';

/** Annotations on the authority's Secret: which bundle was seen in which targets, and since when (RFC 3339). */
export const injectedAnnotation = 'extensionconfig-webhook/bundle-in-targets';
export const injectedSinceAnnotation = 'extensionconfig-webhook/bundle-in-targets-since';

/** Where a rotation stands. */
export type Stage = 'missing' | 'steady' | 'staged' | 'promoted';

/** Everything that the decision needs, read at one time. */
export interface Facts {
  now: Date;
  stage: Stage;
  active: Part<Certificate>;
  activeKey: Part<string>;
  /** The next authority; usable only together with its key. */
  successor: Part<Certificate>;
  /** Authorities that still vouch for what some pod may serve. */
  previous: Certificate[];
  /** The serving certificate; usable when it has its key and is not expired. */
  leaf: Part<Certificate>;
  /** Names that the leaf should be for and is not. */
  leafLacks: string[];
  /** Who signed the leaf, of all authorities that are known from anywhere. */
  leafSigner: Certificate | undefined;
  /** Whether the trust bundle knows the leaf's signer. */
  leafSignerIsKept: boolean;
  /** Authorities found outside the authority's Secret that targets or the leaf depend on; only without a usable one. */
  anchors: Certificate[];
  /** What every target should trust: PEM, the active authority first. Empty without an authority. */
  bundle: string;
  /** Whether the serving Secret's ca.crt is the bundle. */
  servingBundleIsCurrent: boolean;
  targets: TargetReading[];
  /** Identifies the bundle's set of authorities and the set of targets. */
  injection: string;
  /** Since when the bundle is known to be in all targets. */
  injectedSince: Date | undefined;
}

function dateOf(text: string | undefined, now: Date): Date | undefined {
  const date = new Date(text ?? Number.NaN);
  // A moment in the future comes from a clock that was wrong, then or now: it counts from now again.
  return Number.isNaN(date.getTime()) || date > now ? undefined : date;
}

/** Derives the facts from what the stores and targets hold. Contents are untrusted: anything unfit is a broken part. */
export function deriveFacts(
  now: Date,
  authority: StoredSecret | undefined,
  serving: StoredSecret | undefined,
  targets: TargetReading[],
  names: readonly string[],
): Facts {
  const ca = authority?.data ?? {};
  const tls = serving?.data ?? {};
  const active = readAuthority(ca['ca.crt'], now);
  const activeKey = keyOf(ca['ca.key'], usable(active));
  let successor = readAuthority(ca['next.crt'], now);
  if (successor.state === 'usable') {
    const key = keyOf(ca['next.key'], successor.value);
    if (key.state !== 'usable') {
      successor = { state: 'broken', problem: key.state === 'absent' ? 'has no key' : `its key ${key.problem}` };
    }
  }
  const previous = (usable(readCertificates(ca['previous.crt'])) ?? []).filter(
    (certificate) => authorityProblem(certificate, now) === undefined,
  );

  let leaf: Part<Certificate> = { state: 'absent' };
  const chain = readCertificates(tls['tls.crt']);
  if (chain.state === 'usable') {
    const [certificate] = chain.value;
    const key = readKey(tls['tls.key'], certificate);
    if (key.state !== 'usable') {
      leaf = { state: 'broken', problem: key.state === 'absent' ? 'has no key' : `its key ${key.problem}` };
    } else if (certificate.x509.validToDate <= now) {
      leaf = { state: 'broken', problem: `expired at ${certificate.x509.validToDate.toISOString()}` };
    } else {
      leaf = { state: 'usable', value: certificate };
    }
  } else {
    leaf = chain;
  }

  const kept = [usable(active), usable(successor), ...previous].filter((found) => found !== undefined);
  const servingBundle = usable(readCertificates(tls['ca.crt'])) ?? [];
  // All targets hold the same bundle, as a rule: each text is parsed once, and each certificate looked at once.
  const bundles = new Set(targets.flatMap(({ entries }) => entries.map(({ bundle }) => bundle)));
  const inTargets = distinct([...bundles].flatMap((bundle) => usable(readCertificates(bundle)) ?? [])).filter(
    (found) => authorityProblem(found, now) === undefined,
  );
  const certificate = usable(leaf);
  const leafSigner = [...kept, ...servingBundle, ...inTargets].find(
    (found) =>
      certificate !== undefined && authorityProblem(found, now) === undefined && isSignedBy(certificate, found),
  );
  const isKept = (found: Certificate) => kept.some(({ fingerprint }) => fingerprint === found.fingerprint);

  const anchors =
    active.state === 'usable'
      ? []
      : distinct([...(leafSigner === undefined ? [] : [leafSigner]), ...inTargets.filter(isOurs), ...previous]);
  const bundle = active.state === 'usable' ? bundleOf(kept) : '';
  const injection = createHash('sha256')
    .update(
      JSON.stringify([
        kept.map(({ fingerprint }) => fingerprint).sort(),
        targets
          .filter(({ state }) => state !== 'missing')
          .map(({ id }) => id)
          .sort(),
      ]),
    )
    .digest('hex');
  const annotations = authority?.annotations ?? {};
  return {
    now,
    stage:
      active.state !== 'usable'
        ? 'missing'
        : successor.state !== 'absent'
          ? 'staged'
          : previous.length > 0 || (ca['previous.crt'] ?? '') !== ''
            ? 'promoted'
            : 'steady',
    active,
    activeKey,
    successor,
    previous,
    leaf,
    leafLacks: certificate === undefined ? [] : missingNames(certificate, names),
    leafSigner,
    leafSignerIsKept: leafSigner !== undefined && isKept(leafSigner),
    anchors,
    bundle,
    servingBundleIsCurrent: tls['ca.crt'] === bundle,
    targets,
    injection,
    injectedSince:
      annotations[injectedAnnotation] === injection ? dateOf(annotations[injectedSinceAnnotation], now) : undefined,
  };
}

function keyOf(text: string | undefined, certificate: Certificate | undefined): Part<string> {
  if (certificate === undefined) {
    return { state: 'absent' };
  }
  const key = readKey(text, certificate);
  return key.state === 'usable' && !isRsa(certificate)
    ? { state: 'broken', problem: 'is no RSA key, and only those can sign here' }
    : key;
}

/** Whether an authority was made by this program. */
function isOurs({ x509 }: Certificate): boolean {
  return x509.subject.split('\n').includes(`O=${organization}`);
}

function distinct(certificates: Certificate[]): Certificate[] {
  return [...new Map(certificates.map((found) => [found.fingerprint, found])).values()];
}
