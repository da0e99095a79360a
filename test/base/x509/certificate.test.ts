import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type Forge from 'node-forge';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  asCaKey,
  bundleOf,
  type Certificate,
  caProblem,
  type Issued,
  isSignedBy,
  issueServingCertificate,
  maxPemBytes,
  missingNames,
  problemOf,
  readableCertificates,
  readCertificates,
  readKey,
  servingProblem,
  unreadProblem,
  usable,
} from '../../../src/base/x509/index.ts';
import { makeCertificate } from './certificates.ts';
import { day, rsaKeys } from './keys.ts';
import { oddCa, unreadableKeys, usersCa } from './odd-ca.ts';

const forge: typeof Forge = createRequire(import.meta.url)('node-forge');
const now = new Date('2026-06-01T00:00:00Z');
const servingOf = (ca: Issued, names = ['webhook.ns.svc']) => issueServingCertificate(ca, names, now, 90 * day);
const ca = usersCa(now, 100 * day, rsaKeys(), 'ca');
const serving = await servingOf(ca);
const fixture = (name: string) =>
  readFileSync(new URL(`../../support/fixtures/certs/${name}`, import.meta.url), 'utf8');
const of = (pem: string): Certificate => usable(readCertificates(pem))?.[0] as Certificate;
const elliptic = of(fixture('elliptic-ca.crt'));
const odd = oddCa(new Date(), day);
/** Text after which `text` has this many characters. */
const padded = (text: string, length: number) => text + '\n'.repeat(length - text.length);

const header = '-----BEGIN CERTIFICATE-----';
const notACertificate = 'contains data that is not an X.509 certificate, or one with unreadable dates';
test.each([
  ['garbage', 'garbage', 'is not PEM'],
  ['a BEGIN line without an END line', `${header}\nAAAA`, 'is not PEM'],
  ['not a certificate', `${header}\nAAAA\n-----END CERTIFICATE-----`, notACertificate],
  ['a certificate, and the beginning of another', `${ca.certificate.pem}${header}`, 'is not PEM'],
  ['a certificate followed by a long text', padded(ca.certificate.pem, maxPemBytes + 1), 'is longer than 65536 bytes'],
  ['a long text', 'a'.repeat(70_000), 'is longer than 65536 bytes'],
  ['a year of five digits', fixture('year-12019.crt'), notACertificate],
])('reads %s', (_what, text, problem) => {
  expect(readCertificates(text)).toEqual({ state: 'broken', problem });
});

test.each([undefined, '', ' \n'])('reads %j as absent', (text) => {
  expect(readCertificates(text)).toEqual({ state: 'absent' });
  expect(readKey(text, ca.certificate)).toEqual({ state: 'absent' });
});

test('certificates are read in order, skipping text in between, up to the limits', () => {
  const text = `a comment\n${serving.certificate.pem}\r\nanother\n${ca.certificate.pem.trim()}`;
  const read = usable(readCertificates(text)) ?? [];
  expect(read.map(({ pem }) => pem)).toEqual([serving.certificate.pem, ca.certificate.pem]);
  expect(read.map(({ x509 }) => x509.subject)).toEqual(['CN=webhook.ns.svc', ca.certificate.x509.subject]);
  expect(read[1]?.fingerprint).toBe(new X509Certificate(ca.certificate.pem).fingerprint256);
  expect(usable(readCertificates(ca.certificate.pem.repeat(16)))).toHaveLength(16);
  expect(usable(readCertificates(padded(ca.certificate.pem, maxPemBytes)))).toHaveLength(1);
});

test('a reading has a description for the end of a sentence', () => {
  expect(problemOf({ state: 'absent' })).toBe('is missing');
  expect(problemOf({ state: 'broken', problem: 'is not PEM' })).toBe('is not PEM');
  expect(problemOf({ state: 'usable', value: 1 })).toBeUndefined();
  expect([usable({ state: 'usable', value: 1 }), usable({ state: 'absent' })]).toEqual([1, undefined]);
});

test('a trust bundle contains each certificate once, in the given order', () => {
  const { certificate } = ca;
  const bundle = bundleOf([serving.certificate, certificate, of(serving.certificate.pem), elliptic, certificate]);
  expect(bundle).toBe(serving.certificate.pem + certificate.pem + elliptic.pem);
  expect(bundleOf([])).toBe('');
});

test('a CA is recognized by its basic constraints, until the moment when it expires', () => {
  const end = ca.certificate.x509.validToDate;
  const justBefore = new Date(end.getTime() - 1);
  expect(caProblem(serving.certificate, now)).toBe('is not a CA certificate (basicConstraints)');
  expect(caProblem(ca.certificate, justBefore)).toBeUndefined();
  expect(caProblem(ca.certificate, end)).toBe(`expired at ${end.toISOString()}`);
});

test('a CA that API servers cannot read is rejected', async () => {
  const { certificate } = oddCa(new Date(), day, undefined, 'fb');
  expect(certificate.x509.serialNumber).toBe('-05');
  const problem = 'has a negative serial number, which API servers cannot parse: reissue it with a positive one';
  expect(caProblem(certificate, new Date())).toBe(problem);
  expect(unreadProblem(odd.certificate.x509)).toBeUndefined();
  for (const [name, keys] of unreadableKeys()) {
    const unread = oddCa(new Date(), day, keys);
    expect(caProblem(unread.certificate, new Date()), name).toMatch(/, which API servers cannot parse: /);
  }
});

test('only the certificates of a bundle that API servers can read are used', async () => {
  const unread = await Promise.all(
    [oddCa(new Date(), day, undefined, 'fb')].concat(unreadableKeys().map(([, keys]) => oddCa(new Date(), day, keys))),
  );
  const longer = Buffer.concat([elliptic.x509.raw, Buffer.from([0])]).toString('base64');
  const block = (body: string) => `${header}\n${body}\n-----END CERTIFICATE-----\n`;
  const text = [
    ca.certificate.pem,
    ...unread.map(({ certificate }) => certificate.pem),
    block('AAAA'),
    block(longer),
    ` ${serving.certificate.pem}`,
    elliptic.pem,
  ].join('');
  expect([...readableCertificates(text)].map(({ fingerprint256 }) => fingerprint256)).toEqual([
    ca.certificate.fingerprint,
    elliptic.fingerprint,
  ]);
  expect([...readableCertificates('garbage')]).toEqual([]);
});

test('a key is read together with its certificate', () => {
  const key = (text: string, certificate = ca.certificate) => readKey(text, certificate);
  expect(key(ca.key)).toEqual({ state: 'usable', value: ca.key });
  expect(key(fixture('elliptic-ca.key'), elliptic)).toMatchObject({ state: 'usable' });
  expect(key(fixture('elliptic-ca.key'))).toEqual({ state: 'broken', problem: 'does not belong to the certificate' });
  const unreadable = { state: 'broken', problem: 'is not an unencrypted private key in PEM' };
  expect(key('secret')).toEqual(unreadable);
  expect(key(ca.certificate.pem)).toEqual(unreadable);
  expect(key(padded(ca.key, maxPemBytes))).toMatchObject({ state: 'usable' });
  expect(key(padded(ca.key, maxPemBytes + 1))).toEqual({ state: 'broken', problem: 'is longer than 65536 bytes' });
});

test('a CA key must be able to sign', () => {
  const caKey = (key: string, certificate: Certificate) => asCaKey(readKey(key, certificate), certificate);
  expect(caKey(ca.key, ca.certificate)).toEqual({ state: 'usable', value: ca.key });
  expect(caKey('', odd.certificate)).toEqual({ state: 'absent' });
  expect(caKey('secret', elliptic)).toMatchObject({ problem: 'is not an unencrypted private key in PEM' });
  expect(caKey(odd.key, odd.certificate)).toEqual({
    state: 'broken',
    problem:
      'is of type ec on secp224r1, which is not supported for signing: use an RSA key, or an EC key on P-256, P-384 or P-521',
  });
});

test("signed by: both the name and the key must be the CA's", async () => {
  const keys = rsaKeys();
  const other = rsaKeys();
  const [one, sameName] = [oddCa(now, 100 * day, keys), oddCa(now, 100 * day, other)];
  const sameKey = usersCa(now, 100 * day, keys);
  const { certificate } = await servingOf(one);
  expect(isSignedBy(certificate, one.certificate)).toBe(true);
  expect(sameName.certificate.x509.subject).toBe(one.certificate.x509.subject);
  expect(isSignedBy(certificate, sameName.certificate)).toBe(false);
  expect(certificate.x509.verify(sameKey.certificate.x509.publicKey)).toBe(true);
  expect(isSignedBy(certificate, sameKey.certificate)).toBe(false);
  expect(isSignedBy(one.certificate, certificate)).toBe(false);
  expect(isSignedBy(certificate, elliptic)).toBe(false);
  // Without key identifiers, only the signature distinguishes two CAs with the same name.
  const issuer = { cert: one.certificate.pem, key: one.key };
  const anonymous = of(makeCertificate({ commonName: 'webhook', issuer }).cert);
  expect(anonymous.x509.checkIssued(sameName.certificate.x509)).toBe(true);
  expect(isSignedBy(anonymous, one.certificate)).toBe(true);
  expect(isSignedBy(anonymous, sameName.certificate)).toBe(false);
});

test('a CA with a key of an unknown algorithm has signed nothing', () => {
  const der = Buffer.from(ca.certificate.x509.raw);
  // The last digit of rsaEncryption.
  der[der.indexOf(Buffer.from('2a864886f70d010101', 'hex')) + 8] = 0x63;
  const unknown = of(new X509Certificate(der).toString());
  expect(() => unknown.x509.publicKey).toThrow();
  expect(isSignedBy(serving.certificate, unknown)).toBe(false);
  expect(unreadProblem(unknown.x509)).toBeUndefined();
  expect(servingProblem(unknown.x509)).toBeUndefined();
  expect(readKey(ca.key, unknown)).toEqual({ state: 'broken', problem: 'does not belong to the certificate' });
});

test('finds the names that a certificate is not valid for', async () => {
  const names = ['webhook', 'webhook.ns.svc', '127.0.0.1', '::1'];
  const { certificate } = await servingOf(ca, names);
  const missing = (...wanted: string[]) => missingNames(certificate, wanted);
  expect(missing(...names, '0:0:0:0:0:0:0:1')).toEqual([]);
  expect(missing('webhook', 'other.ns.svc', '127.0.0.2', 'DNS:webhook', '')).toEqual([
    'other.ns.svc',
    '127.0.0.2',
    'DNS:webhook',
    '',
  ]);
  expect(missingNames(ca.certificate, ['webhook', '127.0.0.1'])).toEqual(['webhook', '127.0.0.1']);
});

test('a DNS name that looks like an IP address does not make a certificate valid for the address', () => {
  const { cert } = makeCertificate({ commonName: 'x', dnsNames: ['127.0.0.1'] });
  expect(missingNames(of(cert), ['127.0.0.1'])).toEqual(['127.0.0.1']);
});

test('unreadable dates are rejected even if Node.js makes some date of them, which it occasionally does', () => {
  const date = vi.spyOn(X509Certificate.prototype, 'validToDate', 'get').mockReturnValue(new Date('2100-01-01'));
  onTestFinished(() => date.mockRestore());
  expect(readCertificates(fixture('year-12019.crt'))).toEqual({ state: 'broken', problem: notACertificate });
  expect([...readableCertificates(fixture('year-12019.crt'))]).toEqual([]);
  expect(unreadProblem(new X509Certificate(fixture('year-12019.crt')))).toBe(
    'has a date that cannot be read, which API servers do not read either: issue it again',
  );
});

test.each(['validFrom', 'validTo'] as const)('a date is unreadable if it is not a date: %s', (which) => {
  const date = vi.spyOn(X509Certificate.prototype, which, 'get').mockReturnValue('Bad time value');
  onTestFinished(() => date.mockRestore());
  // A text that has not been read yet.
  const text = ca.certificate.pem.replaceAll('\n', '\r\n');
  expect(readCertificates(text)).toEqual({ state: 'broken', problem: notACertificate });
});

describe('a certificate that a server presents', () => {
  const keys = forge.pki.rsa.generateKeyPair(1024);
  /** Signed with a digest, by itself or another. */
  function signedWith(digest: Forge.md.MessageDigest, issuer: string): X509Certificate {
    const certificate = forge.pki.createCertificate();
    certificate.publicKey = keys.publicKey;
    certificate.serialNumber = '01';
    certificate.validity.notBefore = now;
    certificate.validity.notAfter = new Date(now.getTime() + day);
    certificate.setSubject([{ shortName: 'CN', value: 'leaf' }]);
    certificate.setIssuer([{ shortName: 'CN', value: issuer }]);
    certificate.sign(keys.privateKey, digest);
    return new X509Certificate(forge.pki.certificateToPem(certificate));
  }
  const { md5, sha1, sha256 } = forge.md;

  // Older versions of Node.js do not tell the algorithm.
  const isTold = serving.certificate.x509.signatureAlgorithm !== undefined;
  test.runIf(isTold).each([
    ['md5WithRSAEncryption', md5.create()],
    ['sha1WithRSAEncryption', sha1.create()],
  ])('is not accepted with a signature by %s', (algorithm, digest) => {
    expect(servingProblem(signedWith(digest, 'ca'))).toBe(
      `is signed with ${algorithm}, which API servers and Cluster API do not accept: issue it with SHA-256`,
    );
  });

  test.each([
    ['issued with SHA-256', signedWith(sha256.create(), 'ca')],
    ['self-signed with SHA-1: its own signature is not checked', signedWith(sha1.create(), 'leaf')],
    ['ours', serving.certificate.x509],
  ])('is accepted: %s', (_, certificate) => {
    expect(servingProblem(certificate)).toBeUndefined();
  });

  test('is not accepted with a key that TLS does not have', () => {
    expect(servingProblem(odd.certificate.x509)).toMatch(/^has a key of type ec on secp224r1, which API servers/);
  });
});
