import { readCertificates, usable } from '../../base/x509/index.ts';

/** A pod's view of its certificates, based on the serving Secret alone. */
export interface ServingStatus {
  /** Expiry of the serving certificate. */
  servingNotAfter: Date | undefined;
  /** Earliest expiry in the trust bundle. */
  caNotAfter: Date | undefined;
  /** The stage of a rotation, as far as the bundle reveals it. */
  stage: 'missing' | 'steady' | 'staged' | 'promoted';
}

/** Derives the status from the PEM texts of a serving Secret (or mounted folder). Invalid texts count as missing. */
export function servingStatus(secret: { cert: string; ca: string }): ServingStatus {
  const serving = usable(readCertificates(secret.cert))?.[0];
  const bundle = usable(readCertificates(secret.ca)) ?? [];
  const [active, ...others] = bundle.map(({ x509 }) => x509);
  const ends = bundle.map(({ x509 }) => x509.validToDate.getTime());
  return {
    servingNotAfter: serving?.x509.validToDate,
    caNotAfter: ends.length === 0 ? undefined : new Date(Math.min(...ends)),
    stage:
      serving === undefined || active === undefined
        ? 'missing'
        : others.length === 0
          ? 'steady'
          : // The active CA comes first: a younger one behind it is the next, an older one the previous.
            others.some((other) => other.validFromDate > active.validFromDate)
            ? 'staged'
            : 'promoted',
  };
}
