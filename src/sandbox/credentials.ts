import { createHash, generateKeyPair, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type forge from 'node-forge';
import { nodeForge, signWithRsa } from '../x509/index.ts';

/** What a sandbox serves with and is reached with; made anew for each, never written but to its kubeconfig. */
export interface Credentials {
  /** PEM of the certificate authority. */
  ca: string;
  /** PEM of the serving certificate and its key. */
  cert: string;
  key: string;
  /** Bearer token of the one user. */
  token: string;
}

const oneDay = 24 * 60 * 60 * 1000;

/** Keys are made off the main thread. */
function keyPair() {
  return promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
}

function certificate(publicKey: string, name: string, issuer: string, now: Date): forge.pki.Certificate {
  const { pki } = nodeForge();
  const cert = pki.createCertificate();
  cert.publicKey = pki.publicKeyFromPem(publicKey);
  // The first byte is kept below 0x80: a serial number is positive.
  cert.serialNumber = `01${randomBytes(15).toString('hex')}`;
  cert.validity.notBefore = new Date(now.getTime() - 5 * 60 * 1000);
  cert.validity.notAfter = new Date(now.getTime() + 30 * oneDay);
  cert.setSubject([{ name: 'commonName', value: name }]);
  cert.setIssuer([{ name: 'commonName', value: issuer }]);
  return cert;
}

/** Makes a certificate authority, a serving certificate for loopback, and a token. The authority's key is forgotten. */
export async function makeCredentials(now: Date): Promise<Credentials> {
  const [authority, server] = await Promise.all([keyPair(), keyPair()]);
  const caName = `extensionconfig-webhook sandbox ${randomBytes(4).toString('hex')}`;
  const ca = certificate(authority.publicKey, caName, caName, now);
  ca.setExtensions([
    { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    { name: 'subjectKeyIdentifier' },
  ]);
  signWithRsa(ca, authority.privateKey);
  const leaf = certificate(server.publicKey, 'kube-apiserver', caName, now);
  leaf.setExtensions([
    { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
    { name: 'extKeyUsage', serverAuth: true },
    {
      name: 'subjectAltName',
      altNames: [
        { type: 2, value: 'localhost' },
        { type: 7, ip: '127.0.0.1' },
        { type: 7, ip: '::1' },
      ],
    },
  ]);
  signWithRsa(leaf, authority.privateKey);
  const { pki } = nodeForge();
  return {
    ca: pki.certificateToPem(ca),
    cert: pki.certificateToPem(leaf),
    key: server.privateKey,
    token: randomBytes(32).toString('base64url'),
  };
}

/** Whether an Authorization header carries the token. Takes the same time whatever is wrong with it. */
export function isAuthorized(header: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(header ?? ''), digest(`Bearer ${token}`));
}
