import { certificateDateFinding } from '../../../runtimehooks/client/index.ts';
import type { Check } from '../check.ts';

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
    const finding = certificateDateFinding(facts, now());
    if (finding !== undefined) {
      report({ message: finding.message, isWarning: finding.severity === 'warning' });
    }
    return undefined;
  },
};
