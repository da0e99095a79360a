import type { Check } from '../check.ts';

export const check: Check = {
  id: 'tls-versions',
  group: 'TLS',
  level: 'must',
  asks: 'The server speaks TLS 1.2 or 1.3, and nothing older.',
  why: 'Cluster API offers TLS 1.2 and newer only; older versions are broken, and scanners of clusters report them.',
  remedy: 'set the lowest version of TLS to 1.2',
  async run(trial, report) {
    const current = await trial.tls({ minVersion: 'TLSv1.2', maxVersion: 'TLSv1.3' });
    // OpenSSL offers the old versions at security level 0 only.
    const old = await trial.tls({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' });
    if (old !== undefined) {
      report({ message: `the server takes ${old.protocol}`, isWarning: current !== undefined });
    } else if (current === undefined) {
      return { because: 'there is no TLS handshake at all' };
    }
    return undefined;
  },
};
