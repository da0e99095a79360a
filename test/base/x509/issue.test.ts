import { execFileSync } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  backdateMs,
  type Issued,
  isSignedBy,
  issueCa,
  issueClientCertificate,
  issueSelfSigned,
  issueServingCertificate,
  missingNames,
  readCertificates,
  usable,
} from '../../../src/base/x509/index.ts';
import { needs } from '../../support/needs.ts';
import { shakeHands } from './handshake.ts';
import { day, keysOn, rsaKeys } from './keys.ts';
import { usersCa } from './odd-ca.ts';

const now = new Date();
/** The precision of times in a certificate: whole seconds. */
const seconds = (ms: number) => new Date(Math.floor(ms / 1000) * 1000);
const nextSecond = (ms: number) => new Date(Math.ceil(ms / 1000) * 1000);
const names = ['webhook', 'webhook.ns.svc', '127.0.0.1', '::1'];
const serverAuth = '1.3.6.1.5.5.7.3.1';
const clientAuth = '1.3.6.1.5.5.7.3.2';

function made(caDays = 100, servingDays = 1000, ca = issueCa(now, caDays * day)) {
  return { ca, serving: issueServingCertificate(ca, names, now, servingDays * day) };
}

/** A CA of this program, and of users with other keys. */
const kinds: [string, Issued][] = [
  ['its own', issueCa(now, 100 * day)],
  ['RSA', usersCa(now, 100 * day, rsaKeys(), 'RSA')],
  ['P-384', usersCa(now, 100 * day, keysOn('P-384'), 'P-384')],
  ['P-521', usersCa(now, 100 * day, keysOn('P-521'), 'P-521')],
];

function handshake({ certificate, key }: Issued, trusted: Issued, host: string): Promise<string> {
  return shakeHands({ cert: certificate.pem, key }, trusted.certificate.pem, host);
}

/** Each bit of the key usage as OpenSSL prints it, and the other extensions, for each certificate. */
function extensionsOf(...all: Issued[]): string[] {
  const file = join(temporaryFolder(), 'all.crt');
  writeFileSync(file, all.map(({ certificate }) => certificate.pem).join(''));
  const texts = execFileSync('openssl', ['storeutl', '-certs', '-noout', '-text', file], { encoding: 'utf8' })
    .split(/^\d+: Certificate$/m)
    .slice(1);
  expect(texts).toHaveLength(all.length);
  return texts.map((text) =>
    text
      .slice(text.indexOf('X509v3 extensions'), text.indexOf('Signature Algorithm', text.indexOf('X509v3 extensions')))
      .replace(/(?:[0-9A-F]{2}:){19}[0-9A-F]{2}/g, 'KEY')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .join('\n'),
  );
}

test('a client certificate is valid for clients, signed by the CA, and has its key', async () => {
  const { ca } = made();
  const { certificate, key } = issueClientCertificate(ca, 'somebody', now, 1000 * day);
  expect(certificate.x509.subject).toBe('CN=somebody');
  expect(certificate.x509.checkIssued(ca.certificate.x509)).toBe(true);
  expect(certificate.x509.verify(ca.certificate.x509.publicKey)).toBe(true);
  expect(certificate.x509.checkPrivateKey(createPrivateKey(key))).toBe(true);
  expect(certificate.x509.keyUsage).toEqual([clientAuth]);
  expect(certificate.x509.subjectAltName).toBeUndefined();
  expect(certificate.x509.validToDate).toEqual(ca.certificate.x509.validToDate);
  expect(certificate.x509.ca).toBe(false);
});

test.each(
  kinds,
)("Node's TLS accepts the serving certificate for its names, and only with its CA: %s", async (_, issuer) => {
  const { ca, serving } = made(100, 1000, issuer);
  expect(await handshake(serving, ca, 'webhook.ns.svc')).toBe('connected');
  expect(await handshake(serving, ca, 'other.ns.svc')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  const other = issueCa(now, day);
  expect(await handshake(serving, other, 'webhook.ns.svc')).not.toBe('connected');
});

test('a serving certificate is valid for servers, for its names, and has its key', async () => {
  const { ca, serving } = made();
  const { x509 } = serving.certificate;
  expect(x509.subject).toBe('CN=webhook');
  expect(x509.issuer).toBe(ca.certificate.x509.subject);
  expect(x509.subjectAltName).toBe('DNS:webhook, DNS:webhook.ns.svc, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1');
  expect(x509.keyUsage).toEqual([serverAuth]);
  expect(x509.ca).toBe(false);
  expect(x509.checkIssued(ca.certificate.x509)).toBe(true);
  expect(x509.verify(ca.certificate.x509.publicKey)).toBe(true);
  expect(x509.checkPrivateKey(createPrivateKey(serving.key))).toBe(true);
});

test('IPv6 addresses may end as IPv4 addresses', async () => {
  const ca = issueCa(now, day);
  const addresses = ['::ffff:10.0.0.1', '2001:DB8::10.0.0.1', '::1.2.3.4', '1:2:3:4:5:6:7::', '::'];
  const { certificate } = issueServingCertificate(ca, addresses, now, day);
  expect(certificate.x509.subjectAltName?.split(', ')).toEqual([
    'IP Address:0:0:0:0:0:FFFF:A00:1',
    'IP Address:2001:DB8:0:0:0:0:A00:1',
    'IP Address:0:0:0:0:0:0:102:304',
    'IP Address:1:2:3:4:5:6:7:0',
    'IP Address:0:0:0:0:0:0:0:0',
  ]);
  expect(missingNames(certificate, addresses)).toEqual([]);
});

test('a certificate begins slightly in the past and ends as requested, a serving certificate no later than its CA', async () => {
  const { ca, serving } = made(100, 1000);
  const short = made(100, 90);
  const begin = nextSecond(now.getTime() - 5 * 60_000);
  for (const { certificate } of [ca, serving, short.serving]) {
    expect(certificate.x509.validFromDate).toEqual(begin);
  }
  expect(backdateMs).toBe(5 * 60_000);
  expect(ca.certificate.x509.validToDate).toEqual(seconds(now.getTime() + 100 * day));
  expect(serving.certificate.x509.validToDate).toEqual(ca.certificate.x509.validToDate);
  expect(short.serving.certificate.x509.validToDate).toEqual(seconds(now.getTime() + 90 * day));
});

test('a long first name is truncated in the common name, which is limited to 64 characters', async () => {
  const long = `${'a'.repeat(40)}.${'b'.repeat(40)}.svc`;
  const { ca } = made();
  const { x509 } = issueServingCertificate(ca, [long], now, day).certificate;
  expect(x509.subject).toBe(`CN=${long.slice(0, 64)}`);
  expect(x509.subjectAltName).toBe(`DNS:${long}`);
});

test("a CA's subject contains the owner, the time and a unique part", async () => {
  const { x509 } = issueCa(now, day).certificate;
  const end = x509.serialNumber.toLowerCase().slice(-8);
  const today = now.toISOString().slice(0, 10);
  expect(x509.subject).toBe(`O=extensionconfig-webhook\nCN=extensionconfig-webhook CA ${today} ${end}`);
  expect(x509.issuer).toBe(x509.subject);
  expect(x509.ca).toBe(true);
  expect(x509.verify(x509.publicKey)).toBe(true);
});

test("a sandbox's CA is never mistaken for a webhook's own by the recovery", async () => {
  const { x509 } = issueCa(now, day, { sandbox: true }).certificate;
  expect(x509.subject).toBe(`CN=extensionconfig-webhook sandbox ${x509.serialNumber.toLowerCase().slice(-8)}`);
});

test('serial numbers are unique and positive, with 128 bits; subjects of CAs differ', async () => {
  const many = Array.from({ length: 20 }, () => issueCa(now, day));
  const serials = many.map(({ certificate }) => certificate.x509.serialNumber);
  expect(new Set(serials).size).toBe(20);
  // Bytes that start with a set high bit, or with zero, would need care in DER; a negative number is printed with a sign.
  expect(serials.filter((serial) => !/^[4-7][0-9A-F]{31}$/.test(serial))).toEqual([]);
  expect(new Set(many.map(({ certificate }) => certificate.x509.subject)).size).toBe(20);
});

test('a self-signed serving certificate is its own CA', async () => {
  const self = issueSelfSigned(['localhost', '127.0.0.1'], now, 30 * day);
  const { x509 } = self.certificate;
  expect(x509.subject).toBe('CN=localhost');
  expect(x509.issuer).toBe('CN=localhost');
  expect(x509.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1');
  expect(x509.ca).toBe(true);
  expect(x509.keyUsage).toEqual([serverAuth]);
  expect(x509.validFromDate).toEqual(nextSecond(now.getTime() - backdateMs));
  expect(x509.validToDate).toEqual(seconds(now.getTime() + 30 * day));
  expect(x509.checkPrivateKey(createPrivateKey(self.key))).toBe(true);
  expect(x509.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
  expect(await handshake(self, self, 'localhost')).toBe('connected');
});

test('keys are new each time, on P-256, in PEM; other types of keys cannot sign', () => {
  const [one, other] = [issueCa(now, day), issueCa(now, day)];
  expect(one.key).not.toBe(other.key);
  expect(one.key).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  expect(createPrivateKey(one.key).asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  const by = ({ privateKey }: { privateKey: string }) =>
    issueServingCertificate({ ...one, key: privateKey }, ['x'], now, day);
  expect(() => by(keysOn('secp256k1'))).toThrow(
    'no certificate can be signed: the key is of type ec on secp256k1, which is not supported for signing: use an RSA key, or an EC key on P-256, P-384 or P-521',
  );
  const { privateKey } = generateKeyPairSync('ed25519');
  expect(() => by({ privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() })).toThrow(
    'the key is of type ed25519, which is not supported for signing',
  );
});

test('values that cannot be written into a certificate are errors', () => {
  expect(() => issueCa(new Date('+012019-01-01'), day)).toThrow(
    'the new certificate contains data that is not an X.509 certificate, or one with unreadable dates',
  );
});

/** A folder that is removed after its test. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'certs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('OpenSSL verifies chain, purpose and name for all kinds of keys', needs('openssl'), async () => {
  const pairs = kinds.map(([, issuer]) => made(100, 1000, issuer));
  const folder = temporaryFolder();
  const cas = join(folder, 'ca.crt');
  writeFileSync(cas, pairs.map(({ ca }) => ca.certificate.pem).join(''));
  const files = pairs.map(({ serving }, index) => {
    const file = join(folder, `${index}.crt`);
    writeFileSync(file, serving.certificate.pem);
    return file;
  });
  const flags = ['-x509_strict', '-purpose', 'sslserver', '-verify_hostname', 'webhook.ns.svc', '-CAfile', cas];
  const output = execFileSync('openssl', ['verify', ...flags, ...files], { encoding: 'utf8' });
  expect(output.trim().split('\n')).toEqual(files.map((file) => `${file}: OK`));
});

const critical = { ca: 'X509v3 Basic Constraints: critical', usage: 'X509v3 Key Usage: critical' };
const purpose = 'X509v3 Extended Key Usage:';
const subjectKey = ['X509v3 Subject Key Identifier:', 'KEY'];
const alternatives = 'X509v3 Subject Alternative Name:';

test('each kind of certificate has the right extensions', needs('openssl'), async () => {
  const { ca, serving } = made();
  const client = issueClientCertificate(ca, 'x', now, day);
  const self = issueSelfSigned(['localhost'], now, day);
  const lines = (...all: string[]) => ['X509v3 extensions:', ...all].join('\n');
  const issued = [critical.ca, 'CA:FALSE', critical.usage, 'Digital Signature', purpose];
  const issuer = ['X509v3 Authority Key Identifier:', 'KEY'];
  expect(extensionsOf(ca, serving, client, self)).toEqual([
    lines(critical.ca, 'CA:TRUE, pathlen:0', critical.usage, 'Certificate Sign, CRL Sign', ...subjectKey),
    lines(
      ...issued,
      'TLS Web Server Authentication',
      alternatives,
      'DNS:webhook, DNS:webhook.ns.svc, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
      ...issuer,
      ...subjectKey,
    ),
    lines(...issued, 'TLS Web Client Authentication', ...issuer, ...subjectKey),
    lines(
      critical.ca,
      'CA:TRUE',
      critical.usage,
      'Digital Signature, Certificate Sign',
      purpose,
      'TLS Web Server Authentication',
      alternatives,
      'DNS:localhost',
      ...subjectKey,
    ),
  ]);
});

/** A CA made by OpenSSL, with this key identifier. */
async function foreignCa(identifier: string): Promise<Issued> {
  const folder = temporaryFolder();
  const file = join(folder, 'ca.key');
  const { privateKey } = rsaKeys();
  writeFileSync(file, privateKey, { mode: 0o600 });
  const extensions = [`subjectKeyIdentifier=${identifier}`, 'authorityKeyIdentifier=none'];
  const options = ['-subj', '/CN=theirs', '-key', file, ...extensions.flatMap((extension) => ['-addext', extension])];
  const [certificate] = usable(
    readCertificates(execFileSync('openssl', ['req', '-x509', '-new', ...options], { encoding: 'utf8' })),
  )!;
  return { certificate, key: privateKey };
}

test.each([
  ['01:02:03:04:05', '01:02:03:04:05'],
  ['none', 'KEY'],
])(
  'the key of a CA that others have made is named as there, and by its hash otherwise: %s',
  needs('openssl'),
  async (identifier, expected) => {
    const ca = await foreignCa(identifier);
    const serving = issueServingCertificate(ca, names, now, day);
    expect(isSignedBy(serving.certificate, ca.certificate)).toBe(true);
    expect(extensionsOf(serving)[0]).toContain(`X509v3 Authority Key Identifier:\n${expected}\n`);
    expect(await handshake(serving, ca, 'webhook.ns.svc')).toBe('connected');
  },
);

const lives: [string, number, string, string][] = [
  ['before 2050', 3650, '2035-12-30T00:00:00.000Z', 'UTCTIME'],
  ['from 2050 on', 36500, '2125-12-08T00:00:00.000Z', 'GENERALIZEDTIME'],
  ['past the year 9999', 3_650_000, '9999-12-31T23:59:59.000Z', 'GENERALIZEDTIME'],
];
test.each(lives)(
  'a CA that is valid until a moment %s is readable, also by OpenSSL',
  needs('openssl'),
  async (...life) => {
    const [, days, notAfter, type] = life;
    const { certificate } = issueCa(new Date('2026-01-01'), days * day);
    expect(certificate.x509.validToDate.toISOString()).toBe(notAfter);
    const read = execFileSync('openssl', ['asn1parse'], { input: certificate.pem, encoding: 'utf8' });
    const digits = notAfter.replace(/\.000|[-:T]/g, '');
    const end = type === 'UTCTIME' ? digits.slice(2) : digits;
    expect(read.match(/(?:UTCTIME|GENERALIZEDTIME) +:\w+/g)).toEqual([
      expect.stringMatching(/^UTCTIME +:251231235500Z$/),
      expect.stringMatching(new RegExp(`^${type} +:${end}$`)),
    ]);
  },
);
