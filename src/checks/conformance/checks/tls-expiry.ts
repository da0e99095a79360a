import type { Check } from '../check.ts';

/**
 * How long before its expiry a certificate is warned about, in ms: if it had 90 days and were renewed in the last
 * third, it would have been replaced by then.
 */
const noticeMs = 14 * 24 * 3600 * 1000;
const day = (date: Date) => (Number.isNaN(date.getTime()) ? 'an unreadable date' : date.toISOString().slice(0, 10));

export const check: Check = {
  id: 'tls-expiry',
  group: 'TLS',
  level: 'must',
  asks: 'The certificate is valid now and for at least two more weeks.',
  why: 'Once it has expired, every call fails, and a restarted manager does not come up again.',
  remedy: 'renew the certificate automatically (cert-manager), and have the server reload it without a restart',
  async run({ tls, now }, report) {
    const facts = await tls();
    if (facts === undefined) {
      return { because: 'no TLS handshake succeeded' };
    }
    const { notBefore, notAfter } = facts;
    const time = now().getTime();
    if (!(time >= notBefore.getTime() && time <= notAfter.getTime())) {
      report({ message: `the certificate is valid from ${day(notBefore)} to ${day(notAfter)}, not now` });
    } else if (notAfter.getTime() - time < noticeMs) {
      report({ message: `the certificate expires on ${day(notAfter)}`, isWarning: true });
    }
    return undefined;
  },
};
