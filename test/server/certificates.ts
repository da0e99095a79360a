import { generateKeyPairSync } from 'node:crypto';
import forge from 'node-forge';

/** A certificate and its key in PEM. */
export interface TestCertificate {
  cert: string;
  key: string;
}

/** What a certificate of a test is to say. */
export interface TestCertificateRequest {
  commonName: string;
  dnsNames?: readonly string[];
  isCa?: boolean;
  notAfter?: Date;
  issuer?: TestCertificate;
  /** Bits of its RSA key. */
  modulusLength?: number;
}

let serial = 1;

/** Makes a certificate, signed by its issuer or by itself. */
export function makeCertificate(request: TestCertificateRequest): TestCertificate {
  const keys = generateKeyPairSync('rsa', {
    modulusLength: request.modulusLength ?? 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(keys.publicKey);
  certificate.serialNumber = (serial++).toString(16).padStart(4, '0');
  certificate.validity.notBefore = new Date('2020-01-01T00:00:00Z');
  certificate.validity.notAfter = request.notAfter ?? new Date('2049-01-01T00:00:00Z');
  certificate.setSubject([{ name: 'commonName', value: request.commonName }]);
  const issuer = request.issuer;
  certificate.setIssuer(
    issuer === undefined
      ? [{ name: 'commonName', value: request.commonName }]
      : forge.pki.certificateFromPem(issuer.cert).subject.attributes,
  );
  certificate.setExtensions([
    { name: 'basicConstraints', cA: request.isCa === true, critical: true },
    ...(request.isCa ? [] : [{ name: 'extKeyUsage', serverAuth: true, clientAuth: true }]),
    ...(request.dnsNames === undefined
      ? []
      : [{ name: 'subjectAltName', altNames: request.dnsNames.map((value) => ({ type: 2, value })) }]),
  ]);
  certificate.sign(forge.pki.privateKeyFromPem(issuer?.key ?? keys.privateKey), forge.md.sha256.create());
  return { cert: forge.pki.certificateToPem(certificate), key: keys.privateKey };
}

/** The authority of all tests, and a serving certificate for localhost by it. */
export const testCa = makeCertificate({ commonName: 'test CA', isCa: true });
export const localhost = makeCertificate({ commonName: 'localhost', dnsNames: ['localhost'], issuer: testCa });
