import { isCallError } from '../../runtime/index.ts';
import type { Check } from '../check.ts';

export const check: Check = {
  id: 'tls-names',
  group: 'TLS',
  level: 'must',
  asks: 'The certificate has the name that the server is called by among its subject alternative names.',
  why: 'Go looks at nothing else, not at the common name: every call fails in the handshake.',
  remedy: 'for a Service issue the certificate for NAME.NAMESPACE.svc, for a URL for its host',
  async run({ target, tls }, report) {
    const facts = await tls();
    if (facts === undefined || isCallError(target)) {
      return { because: 'there is no TLS handshake' };
    }
    if (!facts.isForName) {
      const names = facts.names.slice(0, 10).join(', ');
      report({ message: `the certificate is not for ${target.serverName}; it is for ${names || 'no name'}` });
    }
    return undefined;
  },
};
