import { isCallError } from '../../../runtimehooks/client/index.ts';
import type { Check } from '../check.ts';

export const check: Check = {
  id: 'tls-trusted',
  group: 'TLS',
  level: 'must',
  asks: 'The server serves a certificate that the caBundle of the ExtensionConfig (or, without one, the system) trusts.',
  why: 'Cluster API trusts nothing else: without it, every call fails in the handshake.',
  remedy: 'serve a certificate signed by the CA in spec.clientConfig.caBundle, with its intermediate certificates',
  async run({ discovery: { heard }, target }, report) {
    if (isCallError(target)) {
      return { because: target.message };
    }
    if (heard.kind === 'failed' && (heard.error.step === 'tls' || heard.error.step === 'tls-config')) {
      report({ message: heard.error.message });
    }
    if (heard.kind === 'failed' && heard.error.step === 'connect') {
      return { because: 'there is no connection' };
    }
    return undefined;
  },
};
