import { readCertificates, usable } from '../../base/x509/index.ts';

/** The stages of a CA rotation. */
export const stages = ['missing', 'steady', 'staged', 'promoted'] as const;

/** The earliest expiry in a trust bundle (PEM), and the stage of the rotation that it reveals; `missing` if it is invalid. */
export function readTrustBundle(pem: string): { caNotAfter: Date | undefined; stage: (typeof stages)[number] } {
  const certificates = usable(readCertificates(pem));
  if (certificates === undefined) {
    return { caNotAfter: undefined, stage: 'missing' };
  }
  const [active, ...others] = certificates;
  const ends = certificates.map(({ x509 }) => x509.validToDate.getTime());
  // The active CA comes first: a younger one behind it is the next, an older one the previous.
  const isStaged = others.some(({ x509 }) => x509.validFromDate > active.x509.validFromDate);
  return {
    caNotAfter: new Date(Math.min(...ends)),
    stage: others.length === 0 ? 'steady' : isStaged ? 'staged' : 'promoted',
  };
}
