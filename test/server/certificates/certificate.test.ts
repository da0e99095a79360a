import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import forge from 'node-forge';
import { describe, expect, onTestFinished, test } from 'vitest';
import { checkPair, judgePair } from '../../../src/server/certificates/certificate.ts';
import { selfSignedPair } from '../../../src/server/index.ts';
import { localhost, makeCertificate, makeKey, testCa } from '../../base/x509/certificates.ts';
import { needs } from '../../support/needs.ts';
import { pairOf } from '../running.ts';

const good = pairOf(localhost);
const encrypted = forge.pki.encryptRsaPrivateKey(forge.pki.privateKeyFromPem(localhost.key), 'secret');

describe('checkPair', () => {
  test('accepts a pair, and a chain after the certificate', () => {
    const chain = pairOf({ cert: localhost.cert + testCa.cert, key: localhost.key });
    expect(chain).toEqual({
      cert: localhost.cert + testCa.cert,
      key: localhost.key,
      notBefore: new Date('2020-01-01T00:00:00Z'),
      notAfter: new Date('2049-01-01T00:00:00Z'),
      fingerprint: new X509Certificate(localhost.cert).fingerprint256,
      subjectAltName: 'DNS:localhost',
    });
    expect(checkPair(testCa.cert, testCa.key)).toMatchObject({ pair: { subjectAltName: '' } });
  });

  test('throws for a certificate and key that do not match', () => {
    expect(() => pairOf({ ...localhost, key: testCa.key })).toThrow(
      new Error('the key does not belong to the certificate'),
    );
  });

  test("rejects a pair that is too weak for OpenSSL, with OpenSSL's message", () => {
    const weak = makeCertificate({ commonName: 'weak', key: makeKey(512) });
    expect(checkPair(weak.cert, weak.key)).toEqual({
      problem: 'the pair cannot be used for TLS: ERR_SSL_EE_KEY_TOO_SMALL',
    });
  });

  /** A certificate of the test CA for a key. */
  const withKey = ({ privateKey }: { privateKey: KeyObject }) =>
    makeCertificate({
      commonName: 'localhost',
      issuer: testCa,
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    });
  const onCurve = (namedCurve: string) => withKey(generateKeyPairSync('ec', { namedCurve }));

  test.each([
    ['ec on secp224r1', onCurve('secp224r1')],
    ['ed448', withKey(generateKeyPairSync('ed448'))],
    ['rsa-pss', withKey(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }))],
  ])('rejects a key with which OpenSSL serves, but no API server connects: %s', (type, { cert, key }) => {
    const remedy = 'use an RSA key, or an EC key on P-256, P-384 or P-521';
    expect(checkPair(cert, key)).toEqual({
      problem: `the certificate has a key of type ${type}, which API servers and Cluster API do not support in TLS: ${remedy}`,
    });
  });

  test('rejects a signature with SHA-1, except on a certificate that is its own CA', { ...needs('openssl') }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'sha1-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const openssl = (command: string) => execFileSync('openssl', command.split(' '), { cwd: folder, stdio: 'pipe' });
    const read = (name: string) => readFileSync(join(folder, name), 'utf8');
    openssl('req -x509 -newkey rsa:2048 -nodes -sha1 -subj /CN=ca -keyout ca.key -out ca.crt');
    openssl('req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout tls.key -out tls.csr');
    openssl('x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -sha1 -out tls.crt');
    expect(checkPair(read('ca.crt'), read('ca.key'))).toHaveProperty('pair');
    expect(checkPair(read('tls.crt'), read('tls.key'))).toEqual({
      problem:
        'the certificate is signed with sha1WithRSAEncryption, which API servers and Cluster API do not accept: issue it with SHA-256',
    });
  });

  test('rejects a certificate that API servers cannot parse', () => {
    const { cert, key } = onCurve('secp256k1');
    expect((checkPair(cert, key) as { problem: string }).problem).toMatch(
      /^the certificate has a key on secp256k1, which API servers cannot parse: use an RSA key/,
    );
  });

  test.each([
    onCurve('prime256v1'),
    onCurve('secp521r1'),
    withKey(generateKeyPairSync('ed25519')),
  ])('accepts other keys that API servers support', ({ cert, key }) => {
    expect(checkPair(cert, key)).toHaveProperty('pair');
  });

  test.each([
    ['no certificate', '', localhost.key, /certificate is missing/],
    ['garbage', 'garbage', localhost.key, /certificate is not PEM/],
    ['half a certificate', localhost.cert.slice(0, 400), localhost.key, /certificate is not PEM/],
    ['broken base64', localhost.cert.replace(/\n[A-Za-z]{8}/, '\n!!!!!!!!'), localhost.key, /certificate is not PEM/],
    ['half a chain', localhost.cert + testCa.cert.slice(0, 300), localhost.key, /certificate is not PEM/],
    [
      'a chain concatenated without a line break',
      localhost.cert.trimEnd() + testCa.cert,
      localhost.key,
      /cannot be read \(number 1\)/,
    ],
    ['no key', localhost.cert, '', /not an unencrypted private key/],
    ['a certificate instead of a key', localhost.cert, localhost.cert, /not an unencrypted private key/],
    ['an encrypted key', localhost.cert, encrypted, /not an unencrypted private key/],
    ['the key of another certificate', localhost.cert, testCa.key, /does not belong/],
  ])('rejects %s', (_name, cert, key, message) => {
    const problem = (checkPair(cert, key) as { problem: string }).problem;
    expect(problem).toMatch(message);
    expect(problem).not.toContain('-----BEGIN');
  });
});

test('an expired certificate does not replace one that is valid', () => {
  const soon = { ...good, notAfter: new Date('2030-01-01T00:00:00Z') };
  expect(judgePair(good, soon, new Date('2029-01-01T00:00:00Z'))).toEqual({ use: true });
  expect(judgePair(good, soon, new Date('2030-01-01T00:00:00Z'))).toEqual({
    use: false,
    reason: 'the new certificate expired at 2030-01-01T00:00:00.000Z',
  });
  expect(judgePair(soon, soon, new Date('2030-01-01T00:00:00Z'))).toEqual({ use: true });
  expect(judgePair(undefined, soon, new Date('2031-01-01T00:00:00Z'))).toEqual({ use: true });
  expect(judgePair(soon, soon, new Date('2031-01-01T00:00:00Z'))).toEqual({ use: true });
});

test('a certificate that is not valid yet does not replace one that is, until it is or that one expires', () => {
  const next = { ...good, notBefore: new Date('2030-01-01T00:00:00Z') };
  const reason = 'the new certificate is not valid before 2030-01-01T00:00:00.000Z: check the clocks';
  const now = new Date('2029-01-01T00:00:00Z');
  expect(judgePair(good, next, now)).toEqual({ use: false, reason, until: next.notBefore });
  const short = { ...good, notAfter: new Date('2029-06-01T00:00:00Z') };
  expect(judgePair(short, next, now)).toEqual({ use: false, reason, until: short.notAfter });
  expect(judgePair(short, next, short.notAfter)).toEqual({ use: true });
  expect(judgePair(good, next, next.notBefore)).toEqual({ use: true });
  expect(judgePair(undefined, next, now)).toEqual({ use: true });
  expect(judgePair(good, next, good.notBefore)).toEqual({ use: false, reason, until: next.notBefore });
  // Neither is valid.
  expect(judgePair(next, next, now)).toEqual({ use: true });
});

test('the self-signed certificate is for localhost, for a year', () => {
  const pair = selfSignedPair(new Date('2030-01-01T00:00:00Z'));
  const certificate = new X509Certificate(pair.cert);
  expect(certificate.checkHost('localhost')).toBe('localhost');
  expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(certificate.checkIP('::1')).toBeDefined();
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(pair.notAfter).toEqual(new Date('2031-01-01T00:00:00Z'));
});
