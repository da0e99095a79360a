import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { signedCertificate } from '../../../src/base/x509/index.ts';

/** A certificate and its key in PEM. */
export interface TestCertificate {
  cert: string;
  key: string;
}

/** The contents of a test certificate. */
export interface TestCertificateRequest {
  /** If empty, so is its subject. */
  commonName: string;
  dnsNames?: readonly string[];
  isCa?: boolean;
  /** Default: 2020. */
  notBefore?: Date;
  /** Default: 2049. */
  notAfter?: Date;
  issuer?: TestCertificate;
  /** Its key in PEM. Default: a new one. */
  key?: string;
}

let serial = 1;

/** A new key in PEM: of the kind that is made and used with the least time. */
const makeEcKey = () =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** A new RSA key in PEM. */
export function makeKey(modulusLength: number): string {
  return generateKeyPairSync('rsa', { modulusLength }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Creates a certificate, signed by its issuer or self-signed. */
export function makeCertificate(request: TestCertificateRequest): TestCertificate {
  const key = request.key ?? makeEcKey();
  const { commonName, dnsNames, issuer, isCa = false } = request;
  const der = signedCertificate(
    {
      serial: (serial++).toString(16).padStart(4, '0'),
      subject: [{ name: 'commonName', value: commonName }],
      issuer: issuer && new X509Certificate(issuer.cert),
      publicKey: createPublicKey(key),
      notBefore: request.notBefore ?? new Date('2020-01-01T00:00:00Z'),
      notAfter: request.notAfter ?? new Date('2049-01-01T00:00:00Z'),
      extensions: [
        { name: 'basicConstraints', cA: isCa, critical: true },
        ...(isCa ? [] : [{ name: 'extKeyUsage', serverAuth: true, clientAuth: true }]),
        ...(dnsNames ? [{ name: 'subjectAltName', altNames: dnsNames.map((value) => ({ type: 2, value })) }] : []),
      ],
    },
    issuer?.key ?? key,
  );
  return { cert: new X509Certificate(der).toString(), key };
}

/** The CA of all tests, and a serving certificate for localhost issued by it. */
export const testCa = makeCertificate({ commonName: 'test CA', isCa: true });
export const localhost = makeCertificate({
  commonName: 'localhost',
  dnsNames: ['localhost'],
  issuer: testCa,
});
