import { execFileSync, spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Issued } from '../../../src/base/x509/index.ts';
import { type Run, runCertificates } from '../../../src/webhook/certs/index.ts';
import { makeCertificate, type TestCertificate } from '../../base/x509/certificates.ts';
import { shakeHands } from '../../base/x509/handshake.ts';
import { day, keysOn, rsaKeys } from '../../base/x509/keys.ts';
import { oddCa, unreadableKeys, usersCa } from '../../base/x509/odd-ca.ts';
import {
  type ApiServer,
  bundlesOf,
  caPath,
  putTargets,
  servingPath,
  valueIn,
} from '../../kubernetes/client/api-server.ts';
import { needs } from '../../support/needs.ts';
import { brokenMoments, expectSteady, type FakeClock, runFor, serverWithTargets } from './machine.ts';

let server: ApiServer;
let clock: FakeClock;

beforeEach(async () => {
  ({ server, clock } = await serverWithTargets());
  // The days below are before today, which is when handshakes take place.
  clock.time = Date.now() - 4 * day;
});
afterEach(() => server.stop());

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A user's CA in the Secret, before the first run. */
function bring(cert: string, key: string): void {
  server.put(caPath, {
    metadata: { name: 'extensionconfig-webhook-ca' },
    type: 'Opaque',
    data: { 'ca.crt': base64(cert), 'ca.key': base64(key) },
  });
}

const serving = () => server.objects.get(servingPath);

/** What a client reports about the certificate that pods serve, if it trusts the bundles in the targets. */
function handshake(): Promise<string> {
  const [bundle] = new Set(bundlesOf(server.objects));
  const pair = { cert: valueIn(serving(), 'tls.crt'), key: valueIn(serving(), 'tls.key') };
  return shakeHands(pair, bundle!, 'extensionconfig-webhook');
}

/** The life of a CA that a user provides: first certificates, reissued ones, a wiped target, and expiry. */
async function expectLife(cert: string, checkServing: (pem: string) => void = () => {}): Promise<void> {
  const first = runFor(server, clock, { mode: 'repair' });
  expect((await runCertificates(first)).action.kind).toBe('done');
  expect(first.progress.map(({ action }) => action)).toContain('issue-serving-certificate');
  expectSteady(server);
  expect(valueIn(server.objects.get(caPath), 'ca.crt')).toBe(cert);
  expect(await handshake()).toBe('connected');
  checkServing(valueIn(serving(), 'tls.crt'));

  clock.time += day;
  const from = server.history.length;
  const before = valueIn(serving(), 'tls.crt');
  expect((await runCertificates(runFor(server, clock, { force: true }))).action.kind).toBe('done');
  expect(valueIn(serving(), 'tls.crt')).not.toBe(before);
  expect(valueIn(serving(), 'ca.crt')).toBe(cert);
  expect(await handshake()).toBe('connected');
  expect(brokenMoments(server, from)).toEqual([]);

  putTargets(server);
  await runCertificates(runFor(server, clock, { mode: 'repair' }));
  expectSteady(server);

  clock.time += day;
  const injected = server.history.length;
  const rotation = runFor(server, clock, { forceCa: true });
  expect((await runCertificates(rotation)).action.kind).toBe('done');
  expect(rotation.progress.map(({ action }) => action)).toContain('stage-ca');
  expectSteady(server);
  expect(valueIn(serving(), 'ca.crt')).not.toBe(cert);
  expect(brokenMoments(server, injected)).toEqual([]);
}

test.each([
  ['RSA', rsaKeys()],
  ['P-256', keysOn('P-256')],
  ['P-384', keysOn('P-384')],
  ['P-521', keysOn('P-521')],
] as const)("a user's CA with a %s key signs, is injected and is rotated", async (_kind, keys) => {
  const { certificate, key } = usersCa(new Date(clock.time), 1000 * day, keys);
  bring(certificate.pem, key);
  await expectLife(certificate.pem);
});

test('so is a CA that openssl created on the curve P-384', needs('openssl'), async () => {
  const folder = mkdtempSync(join(tmpdir(), 'own-ca-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const at = (name: string) => join(folder, name);
  // The key as "EC PRIVATE KEY", which openssl also writes.
  execFileSync('openssl', ['ecparam', '-name', 'P-384', '-genkey', '-noout', '-out', at('ca.key')]);
  // The days begin before today: only "openssl ca" can set when a certificate becomes valid.
  const time = (ms: number) => new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '');
  const from = ['-startdate', time(clock.time), '-enddate', time(clock.time + 1000 * day)];
  writeFileSync(at('database'), '');
  writeFileSync(
    at('openssl.cnf'),
    `[ca]
default_ca = own
[own]
database = ${at('database')}
new_certs_dir = ${folder}
rand_serial = yes
default_md = sha384
policy = any
x509_extensions = ca_extensions
[any]
organizationName = optional
commonName = supplied
[req]
distinguished_name = any
[ca_extensions]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
`,
  );
  const openssl = (...args: string[]) =>
    execFileSync('openssl', [...args, '-config', at('openssl.cnf')], { stdio: 'pipe' });
  openssl('req', '-new', '-key', at('ca.key'), '-out', at('ca.csr'), '-subj', '/O=Example/CN=Own CA');
  const files = ['-in', at('ca.csr'), '-keyfile', at('ca.key'), '-out', at('ca.crt')];
  openssl('ca', '-batch', '-selfsign', '-notext', ...files, ...from);
  const [cert, key] = [readFileSync(at('ca.crt'), 'utf8'), readFileSync(at('ca.key'), 'utf8')];
  bring(cert, key);
  await expectLife(cert, (pem) => {
    writeFileSync(at('tls.crt'), pem);
    const strictly = ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', at('ca.crt'), at('tls.crt')];
    expect(execFileSync('openssl', strictly, { encoding: 'utf8' })).toContain('OK');
  });
});

/** An intermediate CA, or a root CA, with any number of CAs below it. */
async function caBelow(issuer: TestCertificate | undefined, commonName: string): Promise<TestCertificate> {
  const { privateKey: key } = keysOn('P-256');
  const [notBefore, notAfter] = [new Date(clock.time), new Date(clock.time + 1000 * day)];
  return makeCertificate({ commonName, isCa: true, notBefore, notAfter, key, ...(issuer && { issuer }) });
}

test.each([
  'intermediate, root',
  'root, intermediate',
])('an intermediate CA with its root (%s) signs, and both are trusted until both are retired', async (order) => {
  const root = await caBelow(undefined, 'Root CA');
  const intermediate = await caBelow(root, 'Intermediate CA');
  const both = [intermediate.cert, root.cert];
  const given = (order.startsWith('root') ? [...both].reverse() : both).join('');
  bring(given, intermediate.key);
  expect((await runCertificates(runFor(server, clock, { mode: 'repair' }))).action.kind).toBe('done');
  expect(valueIn(server.objects.get(caPath), 'ca.crt')).toBe(given);
  expect(valueIn(serving(), 'ca.crt')).toBe(both.join(''));
  expect(new Set(bundlesOf(server.objects))).toEqual(new Set([both.join('')]));
  expect(new X509Certificate(valueIn(serving(), 'tls.crt')).issuer).toBe('CN=Intermediate CA');
  // Node.js requires the root; API servers accept the intermediate CA as a trust anchor.
  expect(await handshake()).toBe('connected');

  clock.time += day;
  const from = server.history.length;
  await runCertificates(runFor(server, clock, { forceCa: true }, { blockOn: new Set() }));
  await runCertificates(runFor(server, clock, {}, { blockOn: new Set(['propagation']) }));
  expect(valueIn(server.objects.get(caPath), 'previous.crt')).toBe(both.join(''));
  await runCertificates(runFor(server, clock));
  expectSteady(server);
  expect(brokenMoments(server, from)).toEqual([]);
});

/** A run that refuses the CA: nothing is written. Returns the reason. */
async function refusal(settings: Partial<Run['settings']> = {}): Promise<string> {
  const before = server.history.length;
  const { action } = await runCertificates(runFor(server, clock, { mode: 'repair', ...settings }));
  expect(action.kind).toBe('blocked');
  expect(server.history.length).toBe(before);
  return action.reason;
}

test('a CA whose key cannot sign is refused, and the reason names the supported keys', async () => {
  const { certificate, key } = oddCa(new Date(clock.time), 1000 * day);
  bring(certificate.pem, key);
  expect(await refusal()).toContain('use an RSA key, or an EC key on P-256, P-384 or P-521');
  expect(await refusal({ mode: 'rotate', forceCa: true })).toContain('It is not replaced');
});

test('once the Secret of a refused CA is deleted, one of this program takes over from it', async () => {
  const root = await caBelow(undefined, 'Root CA');
  bring(root.cert, root.key);
  await runCertificates(runFor(server, clock, { mode: 'repair' }));
  clock.time += day;
  bring(root.cert, 'damaged');
  expect(await refusal()).toContain('delete the Secret of the CA and run bootstrap, which creates one');
  server.delete(caPath);
  const from = server.history.length;
  expect((await runCertificates(runFor(server, clock))).action.kind).toBe('done');
  expectSteady(server);
  expect(brokenMoments(server, from)).toEqual([]);
});

test.each(
  unreadableKeys(),
)('a CA that would invalidate a bundle for API servers is in none (%s)', async (_kind, keys) => {
  const { certificate, key } = oddCa(new Date(clock.time), 1000 * day, keys);
  bring(certificate.pem, key);
  expect(await refusal()).toContain('which API servers cannot parse');
});

test('API servers do not read what is in no bundle', needs('kubectl'), async () => {
  const folder = mkdtempSync(join(tmpdir(), 'own-ca-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const said = (cas: Issued[]) => {
    const file = join(folder, 'ca.crt');
    writeFileSync(file, cas.map(({ certificate }) => certificate.pem).join(''));
    // Nothing listens there: if the bundle can be parsed, kubectl gets as far as a refused connection.
    const flags = [
      '--kubeconfig=/dev/null',
      '--token=x',
      '--server=https://127.0.0.1:1',
      `--certificate-authority=${file}`,
    ];
    return spawnSync('kubectl', [...flags, 'get', '--raw', '/'], { encoding: 'utf8', input: '' }).stderr;
  };
  const unreadable = unreadableKeys().map(([, keys]) => oddCa(new Date(), day, keys));
  // A bundle is invalid if none of its certificates can be read.
  expect(said(await Promise.all(unreadable))).toContain('unable to load root certificates');
  expect(said([oddCa(new Date(), day)])).toContain('refused');
});
