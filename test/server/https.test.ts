import { expect, test } from 'vitest';
import type { CertificatePair } from '../../src/server/certificates/certificate.ts';
import { createHandshakes } from '../../src/server/https.ts';

const pair = (cert: string, key: string): CertificatePair => {
  const date = new Date(0);
  return { cert, key, notBefore: date, notAfter: date, fingerprint: '', subjectAltName: '' };
};
const first = pair('cert-1', 'key-1');
const second = pair('cert-2', 'key-2');

/** What handshakes are configured with, in order: certificate, key and client CAs. */
function handshakes(clientCertificates: boolean) {
  const used: unknown[][] = [];
  const server = { setSecureContext: (of: Record<string, unknown>) => void used.push([of.cert, of.key, of.ca]) };
  return { used, ...createHandshakes(server as never, clientCertificates) };
}

test('handshakes use each new certificate, and request no client certificate unless needed', () => {
  const { used, useCertificate } = handshakes(false);
  useCertificate(first);
  useCertificate(second);
  expect(used).toEqual([
    ['cert-1', 'key-1', undefined],
    ['cert-2', 'key-2', undefined],
  ]);
});

test('clients with certificates of public CAs are rejected until a client CA is known, which stays with each new certificate', () => {
  const { used, useCertificate, useClientCa } = handshakes(true);
  useCertificate(first);
  useClientCa('ca-1');
  useCertificate(second);
  useClientCa('ca-2');
  expect(used).toEqual([
    ['cert-1', 'key-1', []],
    ['cert-1', 'key-1', 'ca-1'],
    ['cert-2', 'key-2', 'ca-1'],
    ['cert-2', 'key-2', 'ca-2'],
  ]);
});

test('a client CA that arrives before the first certificate is kept', () => {
  const { used, useCertificate, useClientCa } = handshakes(true);
  useClientCa('ca-1');
  expect(used).toEqual([]);
  useCertificate(first);
  expect(used).toEqual([['cert-1', 'key-1', 'ca-1']]);
});
