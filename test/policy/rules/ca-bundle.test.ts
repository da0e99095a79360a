import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { issueCa } from '../../../src/base/x509/index.ts';
import type { ExtensionConfig } from '../../../src/extensionconfig/index.ts';
import { caBundleOf } from '../../../src/policy/rules/fields.ts';
import { day } from '../../base/x509/keys.ts';
import { oddCa, unreadableKeys } from '../../base/x509/odd-ca.ts';
import { exampleCaBundle } from './examples.ts';

const withBundle = (caBundle: string) => ({ spec: { clientConfig: { caBundle } } }) as ExtensionConfig;
const pem = Buffer.from(exampleCaBundle, 'base64').toString();
const bundle = (index: number) => withBundle(Buffer.from(`${pem}# ${index}\n`).toString('base64'));

test('a bundle is parsed once, until 64 others have followed', () => {
  const first = caBundleOf(bundle(0));
  expect(first).toMatchObject({
    problem: undefined,
    hasPrivateKey: false,
    certificates: [{ subject: 'CN=Example CA' }],
  });
  const second = caBundleOf(bundle(1));
  for (let index = 2; index < 64; index++) {
    expect(caBundleOf(bundle(index))).not.toBe(first);
  }
  expect(caBundleOf(bundle(0))).toBe(first);
  // Replaces the one that was used longest ago, which is the second.
  caBundleOf(bundle(64));
  expect(caBundleOf(bundle(0))).toBe(first);
  expect(caBundleOf(bundle(1))).toEqual(second);
  expect(caBundleOf(bundle(1))).not.toBe(second);
});

test.each([
  ['no spec', {}],
  ['no bundle', { spec: { clientConfig: {} } }],
  ['an empty one', withBundle('')],
  ['the placeholder that cert-manager replaces', withBundle('Cg==')],
  ['white space in lines', withBundle('ICAg\r\nCg==\n')],
])('%s is not a valid bundle', (_, object) => {
  expect(caBundleOf(object as ExtensionConfig)).toBeUndefined();
});

test.each<[string, string, string | undefined]>([
  ['in lines of 64', `${exampleCaBundle.replaceAll(/.{64}/g, '$&\n')}\n`, undefined],
  ['in lines with CRLF', exampleCaBundle.replaceAll(/.{64}/g, '$&\r\n'), undefined],
  ['with CRLF at the end', `${exampleCaBundle}\r\n\r\n`, undefined],
  ['without padding', 'YQ', 'is not base64'],
  ['of the URL alphabet', 'ab-_', 'is not base64'],
  ['with three padding characters', 'ab===', 'is not base64'],
  ['with padding in the middle', 'ab==cd', 'is not base64'],
  ['with a space', `${exampleCaBundle.slice(0, 64)} ${exampleCaBundle.slice(64)}`, 'is not base64'],
  ['of something else', 'YWJj', 'contains no PEM certificate'],
  ['of what is white space in Latin-1 only', 'oA==', 'contains no PEM certificate'],
])('base64 %s', (_, text, problem) => {
  expect(caBundleOf(withBundle(text))?.problem).toBe(problem);
});

const body = Buffer.concat([new X509Certificate(pem).raw, Buffer.from('x')]).toString('base64');
const longer = `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;

test.each<[string, string, string | undefined]>([
  ['in lines of their own', `${pem}${pem}`, undefined],
  ['of two files concatenated without a line break', `${pem.trimEnd()}${pem}`, 'cannot be read (number 1)'],
  ['after a byte order mark', `\ufeff${pem}${pem}`, 'cannot be read (number 1)'],
  ['of which the second is cut off', `${pem}${pem.slice(0, 200)}`, 'cannot be read (number 2)'],
  ['with empty lines in it', pem.replaceAll('\n', '\n\n'), undefined],
  ['with a byte after the certificate', longer, 'cannot be parsed (number 1)'],
])('certificates %s', (_, text, problem) => {
  const found = caBundleOf(withBundle(Buffer.from(text).toString('base64')))?.problem;
  expect(found).toEqual(problem === undefined ? undefined : expect.stringContaining(problem));
});

test('a certificate that Cluster API cannot read is identified by its number', async () => {
  const problemOf = (text: string) => caBundleOf(withBundle(Buffer.from(text).toString('base64')))?.problem;
  const now = new Date();
  for (const [form, keys] of unreadableKeys()) {
    const { certificate } = oddCa(now, day, keys);
    expect(problemOf(pem + certificate.pem), form).toMatch(
      /^has a certificate \(number 2\) that has a key .*which API servers cannot parse/,
    );
  }
  const { certificate } = oddCa(now, day, undefined, '80');
  expect(problemOf(certificate.pem)).toMatch(/^has a certificate \(number 1\) that has a negative serial number/);
  expect(problemOf(oddCa(now, day).certificate.pem)).toBeUndefined();
});

test.each([Number.NaN, Date.UTC(2100)])('an unreadable date is reported, also when Node.js makes %d of it', (time) => {
  const end = vi.spyOn(X509Certificate.prototype, 'validToDate', 'get').mockReturnValue(new Date(time));
  onTestFinished(() => end.mockRestore());
  const text = readFileSync(new URL('../../support/fixtures/certs/year-12019.crt', import.meta.url), 'utf8');
  // A different text each time, since each is parsed once.
  const bundle = caBundleOf(withBundle(Buffer.from(`${text}${time}`).toString('base64')));
  expect(bundle?.problem).toMatch(/^has a certificate \(number 1\) that has a date that cannot be read/);
  expect(bundle?.certificates).toMatchObject([{ notBefore: Number.NaN, notAfter: Number.NaN }]);
});

test('a subject of several parts is shown in one line', async () => {
  const { certificate } = issueCa(new Date('2026-01-01T00:00:00Z'), 1000);
  const [found] = caBundleOf(withBundle(Buffer.from(certificate.pem).toString('base64')))?.certificates ?? [];
  expect(found?.subject).toMatch(/^O=extensionconfig-webhook, CN=extensionconfig-webhook CA 2026-01-01 [0-9a-f]+$/);
});

test('a certificate that cannot be parsed is identified by its number, and a private key is detected nevertheless', () => {
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  const key = '-----BEGIN EC PRIVATE KEY-----\n';
  expect(caBundleOf(withBundle(Buffer.from(pem + broken + key).toString('base64')))).toMatchObject({
    problem: 'has a certificate that cannot be parsed (number 2)',
    hasPrivateKey: true,
    certificates: [{ isCa: true, notBefore: Date.UTC(2020, 0, 1), notAfter: Date.UTC(2120, 0, 1) }],
  });
  expect(caBundleOf(withBundle(`${key}!`))).toEqual({
    problem: 'is not base64',
    hasPrivateKey: true,
    certificates: [],
  });
});

describe('a private key is found', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  const encrypted = { cipher: 'aes-256-cbc', passphrase: 'x' };
  const found = (content: string | Buffer) =>
    caBundleOf(withBundle(Buffer.from(content).toString('base64')))?.hasPrivateKey;

  test.each<[string, string | Buffer]>([
    ['of OpenSSL, after a certificate', pem + key],
    ['of OpenSSH', '-----BEGIN OPENSSH PRIVATE KEY-----'],
    ['of PGP', `${pem}-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF\n-----END PGP PRIVATE KEY BLOCK-----\n`],
    ['of SSH2', `${pem}---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: x\n`],
    ['of PuTTY', 'PuTTY-User-Key-File-3: ssh-ed25519\n'],
    ['in UTF-16, little-endian', Buffer.from(`\ufeff${key}`, 'utf16le')],
    ['in UTF-16, big-endian', Buffer.from(key, 'utf16le').swap16()],
    ['in DER', der],
    ['in DER, SEC 1', privateKey.export({ format: 'der', type: 'sec1' })],
    ['in DER, encrypted', privateKey.export({ format: 'der', type: 'pkcs8', ...encrypted })],
    ['in base64 without BEGIN and END', der.toString('base64').replaceAll(/.{64}/g, '$&\n')],
  ])('%s', (_, content) => {
    expect(found(content)).toBe(true);
  });

  test.each<[string, string | Buffer]>([
    ['a certificate', pem],
    ['a certificate in DER', new X509Certificate(pem).raw],
    ['its base64', new X509Certificate(pem).raw.toString('base64')],
    ['a public key', createPublicKey(key).export({ format: 'pem', type: 'spki' }).toString()],
  ])('but not in %s', (_, content) => {
    expect(found(content)).toBe(false);
  });
});
