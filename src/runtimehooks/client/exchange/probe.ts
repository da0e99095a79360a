import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { connect, type PeerCertificate, type SecureContextOptions } from 'node:tls';
import { quotable } from '../call-error.ts';
import type { Resolve } from './connections.ts';
import type { Target } from './url.ts';

/** What a TLS handshake reveals about a server, whether or not its certificate would be accepted. */
export interface TlsFacts {
  /** `TLSv1.3`. */
  protocol: string;
  /** Names and addresses in the certificate. */
  names: readonly string[];
  notBefore: Date;
  notAfter: Date;
  /** Whether the certificate is valid for the server's name. */
  isForName: boolean;
}

/** Maximum number of names of a certificate that are examined. */
const maxNames = 100;

function factsOf(certificate: PeerCertificate, protocol: string | null, target: Target): TlsFacts {
  const x509 = new X509Certificate(certificate.raw);
  const names = (x509.subjectAltName ?? '').split(', ').filter((name) => name !== '');
  return {
    protocol: protocol ?? '',
    names: names.slice(0, maxNames).map((name) => quotable(name.replace(/^(DNS|IP Address):/, ''))),
    notBefore: new Date(x509.validFrom),
    notAfter: new Date(x509.validTo),
    isForName:
      (isIP(target.serverName) === 0
        ? x509.checkHost(target.serverName, { subject: 'never' })
        : x509.checkIP(target.serverName)) !== undefined,
  };
}

/**
 * Inspects the certificate of a server, even one that would not be accepted. Sends nothing after the handshake.
 *
 * @param versions the TLS versions to offer. Default: all.
 * @returns undefined if the handshake fails; a call tells why.
 */
export function probeTls(
  target: Target,
  signal: AbortSignal,
  resolve?: Resolve,
  versions: Pick<SecureContextOptions, 'minVersion' | 'maxVersion' | 'ciphers'> = { minVersion: 'TLSv1' },
): Promise<TlsFacts | undefined> {
  const { hostname, port } = new URL(target.origin);
  const elsewhere = resolve?.(target.host);
  return new Promise((done) => {
    if (signal.aborted) {
      done(undefined);
      return;
    }
    const socket = connect({
      host: elsewhere?.host ?? hostname.replace(/^\[(.*)\]$/, '$1'),
      port: elsewhere?.port ?? (port === '' ? 443 : Number(port)),
      ...(isIP(target.serverName) === 0 ? { servername: target.serverName } : {}),
      // The facts matter most when the certificate is not acceptable.
      rejectUnauthorized: false,
      ...versions,
    });
    const end = (facts: TlsFacts | undefined) => {
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      done(facts);
    };
    const onAbort = () => end(undefined);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('error', () => end(undefined));
    socket.once('close', () => end(undefined));
    socket.once('secureConnect', () => {
      try {
        end(factsOf(socket.getPeerCertificate(), socket.getProtocol(), target));
      } catch {
        end(undefined);
      }
    });
  });
}
