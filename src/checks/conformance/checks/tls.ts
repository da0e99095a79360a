import { certificateDateFinding, certificateNameFinding, isCallError } from '../../../runtimehooks/client/index.ts';
import type { Check } from '../check.ts';

const noHandshake = 'no TLS handshake succeeded';

/** The checks of certificates and TLS versions. */
export const tlsChecks: readonly Check[] = [
  {
    id: 'tls-trusted',
    level: 'must',
    requirement:
      'The server serves a certificate that the caBundle of the ExtensionConfig (or, without one, the system) trusts.',
    reason: 'Cluster API trusts nothing else: without it, every call fails in the handshake.',
    remedy: 'serve a certificate signed by the CA in spec.clientConfig.caBundle, with its intermediate certificates',
    async run({ discovered: { outcome }, target }, report) {
      if (isCallError(target)) {
        return target.message;
      }
      const { step, message = '' } = outcome.error ?? {};
      if (step === 'tls' || step === 'tls-config') {
        report(message);
      }
      return step === 'connect' ? 'there is no connection' : undefined;
    },
  },
  {
    id: 'tls-names',
    level: 'must',
    requirement: "The name by which the server is called is among the certificate's subject alternative names.",
    reason: 'Go does not check the common name: without a matching name, every call fails in the handshake.',
    remedy: 'issue the certificate for NAME.NAMESPACE.svc (for a service) or for the host (for a url)',
    async run({ tls }, report) {
      const facts = await tls();
      const finding = facts && certificateNameFinding(facts);
      if (finding !== undefined) {
        report(finding.message, undefined, finding.severity === 'warning');
      }
      return facts === undefined ? noHandshake : undefined;
    },
  },
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
      return facts === undefined ? noHandshake : undefined;
    },
  },
  {
    id: 'tls-versions',
    level: 'should',
    requirement: 'The server speaks TLS 1.2 or newer, and nothing older.',
    reason: 'Cluster API offers only these; older versions are insecure, and security scanners report them.',
    remedy: 'set the minimum TLS version to 1.2',
    async run({ tls }, report) {
      // OpenSSL offers the old versions only at security level 0.
      const old = await tls({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' });
      if (old !== undefined) {
        report(`the server accepts ${old.protocol}`);
      }
      return old === undefined && (await tls()) === undefined ? noHandshake : undefined;
    },
  },
];
