import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  type Issued,
  issueCa,
  issueClientCertificate,
  issueServingCertificate,
  missingNames,
  readCertificates,
} from '../../src/x509/index.ts';
import { needs } from '../tools/needs.ts';
import { day, quickEntropy } from './entropy.ts';

const now = new Date();
const names = ['webhook', 'webhook.ns.svc', '127.0.0.1', '::1'];
const ca = await issueCa(now, 100 * day, quickEntropy);
const serving = await issueServingCertificate(ca, names, now, 1000 * day, quickEntropy);

async function handshake(trusted: Issued, host: string): Promise<string> {
  const server = createServer({ cert: serving.certificate.pem, key: serving.key }, (socket) => socket.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', servername: host, ca: trusted.certificate.pem });
  const result = await new Promise<string>((resolve) => {
    socket.once('secureConnect', () => resolve('connected'));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)));
  });
  socket.destroy();
  server.close();
  return result;
}

test('a client certificate is for clients, of the CA and for its key', async () => {
  const keys = await quickEntropy.makeKeyPair();
  const { certificate, key } = issueClientCertificate(ca, 'somebody', keys, now, 1000 * day, quickEntropy);
  expect(key).toBe(keys.privateKey);
  expect(certificate.x509.subject).toBe('CN=somebody');
  expect(certificate.x509.checkIssued(ca.certificate.x509)).toBe(true);
  expect(certificate.x509.verify(ca.certificate.x509.publicKey)).toBe(true);
  expect(certificate.x509.checkPrivateKey(createPrivateKey(key))).toBe(true);
  // TLS Web Client Authentication, and nothing else.
  expect(certificate.x509.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  expect(certificate.x509.validToDate).toEqual(ca.certificate.x509.validToDate);
});

test("Node's TLS takes the serving certificate for its names, with its CA only", async () => {
  expect(await handshake(ca, 'webhook.ns.svc')).toBe('connected');
  expect(await handshake(ca, 'other.ns.svc')).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  const other = await issueCa(now, day, quickEntropy);
  expect(await handshake(other, 'webhook.ns.svc')).not.toBe('connected');
});

test('a serving certificate never outlives its CA, and both begin a little back', () => {
  expect(serving.certificate.x509.validToDate).toEqual(ca.certificate.x509.validToDate);
  expect(now.getTime() - serving.certificate.x509.validFromDate.getTime()).toBeGreaterThanOrEqual(5 * 60_000);
});

test('serials are unique and positive, 128 bits; subjects of CAs differ', async () => {
  // Bytes whose first has the high bit set, or is zero, are the ones that DER reads differently.
  for (const first of [0xff, 0x80, 0x7f, 0x00]) {
    const bytes = Buffer.alloc(16, 7);
    bytes[0] = first;
    const made = await issueCa(now, day, { ...quickEntropy, randomBytes: () => bytes });
    expect(made.certificate.x509.serialNumber).toMatch(/^[0-9A-F]{31,32}$/);
    expect(BigInt(`0x${made.certificate.x509.serialNumber}`)).toBeGreaterThan(0n);
  }
  const many = await Promise.all(Array.from({ length: 50 }, () => issueCa(now, day, quickEntropy)));
  expect(new Set(many.map(({ certificate }) => certificate.x509.serialNumber)).size).toBe(50);
  expect(new Set(many.map(({ certificate }) => certificate.x509.subject)).size).toBe(50);
});

test("a sandbox's CA is never one that the recovery of a webhook's certificates takes for its own", async () => {
  const sandbox = await issueCa(now, day, quickEntropy, { sandbox: true });
  expect(sandbox.certificate.x509.subject).toMatch(/^CN=extensionconfig-webhook sandbox [0-9a-f]{8}$/);
  expect(ca.certificate.x509.subject).toContain('O=extensionconfig-webhook\n');
});

test('the names that a certificate is not for', () => {
  const missing = (...wanted: string[]) => missingNames(serving.certificate, wanted);
  expect(missing(...names, '0:0:0:0:0:0:0:1')).toEqual([]);
  expect(missing('webhook', 'other.ns.svc', '127.0.0.2', 'DNS:webhook', '')).toEqual([
    'other.ns.svc',
    '127.0.0.2',
    'DNS:webhook',
    '',
  ]);
  expect(missingNames(ca.certificate, ['webhook'])).toEqual(['webhook']);
});

/** A folder that goes with its test. */
function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'certs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('OpenSSL verifies chain, purpose, name and extensions', needs('openssl'), () => {
  const folder = temporaryFolder();
  const file = join(folder, 'ca.crt');
  const crt = join(folder, 'tls.crt');
  writeFileSync(file, ca.certificate.pem);
  writeFileSync(crt, serving.certificate.pem);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { encoding: 'utf8' });
  const verify = [
    'verify',
    '-x509_strict',
    '-purpose',
    'sslserver',
    '-verify_hostname',
    'webhook.ns.svc',
    '-CAfile',
    file,
  ];
  expect(openssl(...verify, crt)).toContain('OK');
  expect(openssl('x509', '-in', crt, '-noout', '-text')).toMatch(
    /Key Usage: critical\s+Digital Signature, Key Encipherment\s+X509v3 Extended Key Usage:\s+TLS Web Server Auth/,
  );
  expect(openssl('x509', '-in', file, '-noout', '-text')).toMatch(
    /CA:TRUE, pathlen:0[\s\S]*Certificate Sign, CRL Sign/,
  );
});

test.each([
  ['', 'absent'],
  ['garbage', 'broken'],
  ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', 'broken'],
  [`${ca.certificate.pem}-----BEGIN CERTIFICATE-----`, 'broken'],
  [ca.certificate.pem.repeat(17), 'broken'],
  ['a'.repeat(70_000), 'broken'],
  [`a comment\n${ca.certificate.pem}`, 'usable'],
])('reading %j', (text, state) => {
  expect(readCertificates(text).state).toBe(state);
});

const lives: [string, number, string, string][] = [
  ['before 2050', 3650, '2035-12-30T00:00:00.000Z', 'UTCTIME'],
  ['from 2050 on', 36500, '2125-12-08T00:00:00.000Z', 'GENERALIZEDTIME'],
  ['past the year 9999', 3_650_000, '9999-12-31T23:59:59.000Z', 'GENERALIZEDTIME'],
];
test.each(lives)('a CA that is to be valid until a moment %s is readable', async (_name, days, notAfter) => {
  const made = await issueCa(new Date('2026-01-01'), days * day, quickEntropy);
  expect(made.certificate.x509.validToDate.toISOString()).toBe(notAfter);
});

test.each(lives)('OpenSSL reads a CA that is to be valid until a moment %s', needs('openssl'), async (...life) => {
  const [, days, notAfter, type] = life;
  const made = await issueCa(new Date('2026-01-01'), days * day, quickEntropy);
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { input: made.certificate.pem, encoding: 'utf8' });
  expect(openssl('asn1parse').match(/UTCTIME|GENERALIZEDTIME/g)).toEqual(['UTCTIME', type]);
  const [, end] = openssl('x509', '-noout', '-enddate').trim().split('=');
  expect(new Date(end!).toISOString()).toBe(notAfter);
});

test('a certificate with dates that cannot be read is broken, not valid for ever', () => {
  const pem = readFileSync(new URL('../fixtures/certs/year-12019.crt', import.meta.url), 'utf8');
  expect(readCertificates(pem)).toMatchObject({
    state: 'broken',
    problem: expect.stringContaining('unreadable dates'),
  });
});

test('nor when Node.js makes some date of them, which it does now and then', () => {
  const pem = readFileSync(new URL('../fixtures/certs/year-12019.crt', import.meta.url), 'utf8');
  const date = vi.spyOn(X509Certificate.prototype, 'validToDate', 'get').mockReturnValue(new Date('2100-01-01'));
  onTestFinished(() => date.mockRestore());
  expect(readCertificates(pem)).toMatchObject({ state: 'broken' });
});
