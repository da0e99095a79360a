import type { Check } from '../check.ts';

export const check: Check = {
  id: 'tls-versions',
  group: 'TLS',
  level: 'must',
  asks: 'The server speaks TLS 1.2 or 1.3, and nothing older.',
  why: 'Cluster API offers only TLS 1.2 and newer; older versions are insecure, and security scanners report them.',
  remedy: 'set the minimum TLS version to 1.2',
  async run(trial, report) {
    const current = await trial.tls({ minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' });
    // OpenSSL offers the old versions only at security level 0.
    const old = await trial.tls({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' });
    if (old !== undefined) {
      report({ message: `the server accepts ${old.protocol}`, isWarning: current !== undefined });
    } else if (current === undefined) {
      return { because: 'no TLS handshake succeeded' };
    }
    return undefined;
  },
};
