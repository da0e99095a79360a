import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { quotable } from '../call-error.ts';
import type { Resolve } from './connections.ts';
import type { Target } from './url.ts';

/** The facts from a TLS handshake with a server, whether or not its certificate would be accepted. */
export interface TlsFacts {
  /** `TLSv1.3`. */
  protocol: string;
  /** The name that the certificate should be valid for. */
  serverName: string;
  /** Names and addresses in the certificate. */
  names: readonly string[];
  /** When the certificate is valid; undefined if its dates cannot be read. */
  validity: { notBefore: Date; notAfter: Date } | undefined;
  /** Whether it is. */
  isForName: boolean;
}

/** Maximum number of names of a certificate that are examined. */
const maxNames = 100;

function factsOf(socket: TLSSocket, { serverName }: Target): TlsFacts {
  const x509 = new X509Certificate(socket.getPeerCertificate().raw);
  const names = (x509.subjectAltName ?? '').split(', ').filter((name) => name !== '');
  const [notBefore, notAfter] = [new Date(x509.validFrom), new Date(x509.validTo)];
  const isReadable = !Number.isNaN(notBefore.getTime()) && !Number.isNaN(notAfter.getTime());
  return {
    protocol: socket.getProtocol() ?? '',
    serverName,
    names: names.slice(0, maxNames).map((name) => quotable(name.replace(/^(DNS|IP Address):/, ''))),
    validity: isReadable ? { notBefore, notAfter } : undefined,
    isForName:
      (isIP(serverName) === 0 ? x509.checkHost(serverName, { subject: 'never' }) : x509.checkIP(serverName)) !==
      undefined,
  };
}

/**
 * Inspects the certificate of a server, even one that would not be accepted. Sends nothing after the handshake.
 *
 * @returns undefined if the handshake fails, or the signal is aborted before its end; a call tells why.
 */
export async function probeTls(target: Target, signal: AbortSignal, resolve?: Resolve): Promise<TlsFacts | undefined> {
  const { hostname, port } = new URL(target.origin);
  const elsewhere = resolve?.(target.host);
  const socket = connect({
    host: elsewhere?.host ?? hostname.replace(/^\[(.*)\]$/, '$1'),
    port: elsewhere?.port ?? (port === '' ? 443 : Number(port)),
    ...(isIP(target.serverName) === 0 ? { servername: target.serverName } : {}),
    rejectUnauthorized: false,
    minVersion: 'TLSv1',
  });
  // Errors after the handshake do not matter: the connection is closed.
  socket.on('error', () => {});
  try {
    await once(socket, 'secureConnect', { signal });
    return factsOf(socket, target);
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}
