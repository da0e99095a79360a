import { execFileSync } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, type KeyObject, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type CertificateEvent, fileCertificates, selfSignedPair } from '../../../src/server/index.ts';
import { localhost, makeCertificate, makeKey, testCa } from '../../base/x509/certificates.ts';
import { needs } from '../../support/needs.ts';

const encrypted = createPrivateKey(localhost.key)
  .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' })
  .toString();

describe('tls.crt and tls.key', () => {
  /** What is said about the two files in a folder. */
  async function read(cert: string, key: string): Promise<CertificateEvent | undefined> {
    const folder = mkdtempSync(join(tmpdir(), 'pair-'));
    writeFileSync(join(folder, 'tls.crt'), cert);
    writeFileSync(join(folder, 'tls.key'), key);
    let event: CertificateEvent | undefined;
    const stop = await fileCertificates(folder)((first) => {
      event = first;
    });
    stop();
    rmSync(folder, { recursive: true });
    return event;
  }
  /** Why they cannot be used. */
  async function problemOf(cert: string, key: string): Promise<string> {
    const event = await read(cert, key);
    return event?.kind === 'broken' ? event.reason.replace(/^tls.crt and tls.key in \S+: /, '') : `is ${event?.kind}`;
  }

  test('are a pair, also with a chain after the certificate', async () => {
    const cert = localhost.cert + testCa.cert;
    expect(await read(cert, localhost.key)).toEqual({
      kind: 'pair',
      pair: {
        cert,
        key: localhost.key,
        notBefore: new Date('2020-01-01T00:00:00Z'),
        notAfter: new Date('2049-01-01T00:00:00Z'),
        fingerprint: new X509Certificate(localhost.cert).fingerprint256,
        subjectAltName: 'DNS:localhost',
      },
    });
    expect(await read(testCa.cert, testCa.key)).toMatchObject({ pair: { subjectAltName: '' } });
  });

  test("that are too weak for OpenSSL have OpenSSL's message", async () => {
    const weak = makeCertificate({ commonName: 'weak', key: makeKey(512) });
    expect(await problemOf(weak.cert, weak.key)).toBe('the pair cannot be used for TLS: ERR_SSL_EE_KEY_TOO_SMALL');
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
  ])('rejects a key with which OpenSSL serves, but no API server connects: %s', async (type, { cert, key }) => {
    const remedy = 'use an RSA key, or an EC key on P-256, P-384 or P-521';
    expect(await problemOf(cert, key)).toBe(
      `the certificate has a key of type ${type}, which API servers and Cluster API do not support in TLS: ${remedy}`,
    );
  });

  test('rejects a signature with SHA-1, except on a certificate that is its own CA', {
    ...needs('openssl'),
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sha1-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const openssl = (command: string) => execFileSync('openssl', command.split(' '), { cwd: folder, stdio: 'pipe' });
    const made = (name: string) => readFileSync(join(folder, name), 'utf8');
    const key = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';
    openssl(`req -x509 ${key} -sha1 -subj /CN=ca -keyout ca.key -out ca.crt`);
    openssl(`req ${key} -subj /CN=localhost -keyout tls.key -out tls.csr`);
    openssl('x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -sha1 -out tls.crt');
    expect(await read(made('ca.crt'), made('ca.key'))).toHaveProperty('pair');
    expect(await problemOf(made('tls.crt'), made('tls.key'))).toBe(
      'the certificate is signed with ecdsa-with-SHA1, which API servers and Cluster API do not accept: issue it with SHA-256',
    );
  });

  test('rejects a certificate that API servers cannot parse', async () => {
    const { cert, key } = onCurve('secp256k1');
    expect(await problemOf(cert, key)).toMatch(
      /^the certificate has a key on secp256k1, which API servers cannot parse: use an RSA key/,
    );
  });

  test.each([
    onCurve('prime256v1'),
    onCurve('secp521r1'),
    withKey(generateKeyPairSync('ed25519')),
  ])('accepts other keys that API servers support', async ({ cert, key }) => {
    expect(await read(cert, key)).toHaveProperty('pair');
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
    ['no key', localhost.cert, '', /the key is missing/],
    ['a certificate instead of a key', localhost.cert, localhost.cert, /not an unencrypted private key/],
    ['an encrypted key', localhost.cert, encrypted, /not an unencrypted private key/],
    ['the key of another certificate', localhost.cert, testCa.key, /does not belong/],
  ])('rejects %s', async (_name, cert, key, message) => {
    const problem = await problemOf(cert, key);
    expect(problem).toMatch(message);
    expect(problem).not.toContain('-----BEGIN');
  });
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
