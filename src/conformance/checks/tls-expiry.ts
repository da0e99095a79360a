import type { Check } from '../check.ts';

/**
 * How long before its expiry a certificate is warned about, in ms: renewal in the last third of 90 days would have
 * replaced it.
 */
const noticeMs = 14 * 24 * 3600 * 1000;
const day = (date: Date) => (Number.isNaN(date.getTime()) ? 'an unreadable date' : date.toISOString().slice(0, 10));

export const check: Check = {
  id: 'tls-expiry',
  group: 'TLS',
  level: 'must',
  asks: 'The certificate is valid now, and for two more weeks.',
  why: 'From its last day on every call fails, and a manager that restarts does not start again.',
  remedy: 'renew the certificate by itself (cert-manager), and have the server read it again without a restart',
  async run({ tls, now }, report) {
    const facts = await tls();
    if (facts === undefined) {
      return { because: 'there is no TLS handshake' };
    }
    const { notBefore, notAfter } = facts;
    const time = now().getTime();
    if (!(time >= notBefore.getTime() && time <= notAfter.getTime())) {
      report({ message: `the certificate is valid from ${day(notBefore)} to ${day(notAfter)}, not now` });
    } else if (notAfter.getTime() - time < noticeMs) {
      report({ message: `the certificate ends on ${day(notAfter)}`, isWarning: true });
    }
    return undefined;
  },
};
