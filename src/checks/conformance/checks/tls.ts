import { certificateDateFinding } from '../../../runtimehooks/client/index.ts';
import type { Check } from '../check.ts';

/** The check of the serving certificate: that it is trusted and has the right name shows in each call. */
export const tlsChecks: readonly Check[] = [
  {
    id: 'tls-expiry',
    level: 'must',
    requirement: 'The certificate is valid now and for at least two more weeks.',
    reason: 'Once it has expired, every call fails, and a restarted manager does not come up again.',
    remedy: 'renew the certificate automatically (cert-manager), and have the server reload it without a restart',
    async run({ tls, now }, report) {
      const facts = await tls();
      const finding = facts && certificateDateFinding(facts, now());
      if (finding !== undefined) {
        report(finding.message, undefined, finding.severity === 'warning');
      }
      return facts === undefined ? 'no TLS handshake succeeded' : undefined;
    },
  },
];
