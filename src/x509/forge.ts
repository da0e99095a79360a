import { sign } from 'node:crypto';
import { createRequire } from 'node:module';
import type Forge from 'node-forge';

const require = createRequire(import.meta.url);

/** node-forge, loaded when the first certificate is made: a server that only uses one starts without it. */
export function nodeForge(): typeof Forge {
  return require('node-forge');
}

/**
 * Signs a certificate with an RSA key in PEM and SHA-256, by node:crypto: forge's own arithmetic in JavaScript takes some
 * 50 ms a signature.
 */
export function signWithRsa(certificate: Forge.pki.Certificate, key: string): void {
  const forge = nodeForge();
  const oid = forge.pki.oids.sha256WithRSAEncryption as string;
  const open = certificate as Forge.pki.Certificate & { tbsCertificate: Forge.asn1.Asn1 };
  open.signatureOid = oid;
  open.siginfo.algorithmOid = oid;
  // Public in node-forge, unknown to its types.
  const { getTBSCertificate } = forge.pki as unknown as { getTBSCertificate(of: unknown): Forge.asn1.Asn1 };
  open.tbsCertificate = getTBSCertificate(certificate);
  const tbs = Buffer.from(forge.asn1.toDer(open.tbsCertificate).getBytes(), 'latin1');
  open.signature = sign('sha256', tbs, key).toString('latin1');
}
