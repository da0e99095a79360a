import { isCallError } from '../../../runtimehooks/client/index.ts';
import type { Check } from '../check.ts';

export const check: Check = {
  id: 'tls-names',
  group: 'TLS',
  level: 'must',
  asks: "The name by which the server is called is among the certificate's subject alternative names.",
  why: 'Go does not check the common name: without a matching name, every call fails in the handshake.',
  remedy: 'issue the certificate for NAME.NAMESPACE.svc (for a service) or for the host (for a url)',
  async run({ target, tls }, report) {
    const facts = await tls();
    if (facts === undefined || isCallError(target)) {
      return { because: 'no TLS handshake succeeded' };
    }
    if (!facts.isForName) {
      const names = facts.names.slice(0, 10).join(', ');
      report({ message: `the certificate is not for ${target.serverName}; it is for ${names || 'no name'}` });
    }
    return undefined;
  },
};
