import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { nodeForge, signWithRsa } from '../x509/index.ts';
import { type CertificatePair, checkPair } from './certificate.ts';

const dayMs = 24 * 60 * 60 * 1000;
const validDays = 365;

/**
 * A certificate for localhost that nobody but itself vouches for, for development. Valid for a year from `now`. The
 * private key is made here and never leaves the process.
 */
export function selfSignedPair(now: Date): CertificatePair {
  const keys = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const forge = nodeForge();
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(keys.publicKey);
  // RFC 5280 section 4.1.2.2: a positive number, so the first byte stays below 0x80 (and above 0, to be minimal).
  certificate.serialNumber = `4${randomBytes(16).toString('hex').slice(1)}`;
  certificate.validity.notBefore = new Date(now.getTime() - 60_000);
  certificate.validity.notAfter = new Date(now.getTime() + validDays * dayMs);
  const name = [{ name: 'commonName', value: 'localhost' }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, keyCertSign: true, critical: true },
    { name: 'extKeyUsage', serverAuth: true },
    {
      name: 'subjectAltName',
      altNames: [
        { type: 2, value: 'localhost' },
        { type: 7, ip: '127.0.0.1' },
        { type: 7, ip: '::1' },
      ],
    },
    { name: 'subjectKeyIdentifier' },
  ]);
  signWithRsa(certificate, keys.privateKey);
  const checked = checkPair(forge.pki.certificateToPem(certificate), keys.privateKey);
  if ('problem' in checked) {
    throw new Error(checked.problem);
  }
  return checked.pair;
}
