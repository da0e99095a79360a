import { rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { ClientCaError } from '../../../src/server/index.ts';
import { makeCertificate, type TestCertificate, testCa } from '../../base/x509/certificates.ts';
import {
  collectingLog,
  metricOf,
  openTls,
  readAll,
  review,
  send,
  start,
  stopAll,
  until,
  validate,
} from '../running.ts';
import { apiServer, clientCa, clientCaFile, otherCa } from './client-ca.ts';

const byDnsName = makeCertificate({ commonName: 'x', dnsNames: ['apiserver.example'], issuer: clientCa });
const byBoth = makeCertificate({ commonName: 'kube-apiserver', dnsNames: ['other'], issuer: clientCa });
const nameless = makeCertificate({ commonName: '', dnsNames: ['other', 'apiserver.example'], issuer: clientCa });
const odd = makeCertificate({
  commonName: 'DNS:kube-apiserver',
  dnsNames: ['x, DNS:apiserver.example', 'sub.example', '*.wild.example', 'UPPER.example'],
  issuer: clientCa,
});
const nobody = makeCertificate({ commonName: 'nobody', issuer: clientCa });
const expired = makeCertificate({ commonName: 'kube-apiserver', issuer: clientCa, notAfter: new Date('2021-01-01') });
const stranger = makeCertificate({ commonName: 'kube-apiserver', issuer: otherCa });
const selfMade = makeCertificate({ commonName: 'kube-apiserver' });

afterEach(stopAll);

const allowedNames = ['kube-apiserver', 'apiserver.example'];

const clients: [string, TestCertificate | undefined, readonly string[], number, RegExp][] = [
  ['none', undefined, [], 403, /a client certificate is required/],
  ['of the CA, any name', nobody, [], 200, /allowed/],
  ['of the CA, allowed common name', apiServer, allowedNames, 200, /allowed/],
  ['of the CA, allowed common name beside DNS names', byBoth, allowedNames, 200, /allowed/],
  ['of the CA, allowed DNS name', byDnsName, allowedNames, 200, /allowed/],
  ['of the CA, allowed DNS name without a subject', nameless, allowedNames, 200, /allowed/],
  ['of the CA, another name', nobody, allowedNames, 403, /none of the allowed names/],
  ['of the CA, names that contain an allowed one', odd, allowedNames, 403, /none of the allowed names/],
  ['of the CA, a name below the allowed one', odd, ['.example', 'example', ''], 403, /none of the allowed names/],
  ['of the CA, a pattern for the allowed name', odd, ['a.wild.example'], 403, /none of the allowed names/],
  ['of the CA, the allowed name in capitals', odd, ['upper.example'], 403, /none of the allowed names/],
  ['expired', expired, allowedNames, 403, /not accepted: CERT_HAS_EXPIRED/],
  ['of another CA', stranger, allowedNames, 403, /not accepted/],
  ['self-signed', selfMade, [], 403, /not accepted/],
];

test.each([
  ...Map.groupBy(clients, ([, , names]) => String(names)),
])('clients of a server that allows the names "%s"', async (_names, group) => {
  const caFile = await clientCaFile();
  const [, , allowedNames] = group[0] as (typeof clients)[number];
  const { webhookPort, health, lines } = await start({ clients: { caFile, allowedNames } });
  let refusals = 0;
  for (const [what, certificate, , code, message] of group) {
    lines.length = 0;
    const answer = await send(webhookPort, validate, review('x'), { ...certificate });
    expect([what, answer.code]).toEqual([what, code]);
    expect(answer.body, what).toMatch(message);
    expect(lines.filter((line) => line.msg === 'client refused')).toEqual(
      code === 403 ? [{ level: 40, reason: answer.json().message, client: '127.0.0.1', msg: 'client refused' }] : [],
    );
    // The other paths cannot bypass it.
    expect((await send(webhookPort, '/', '', { ...certificate })).code).toBe(code === 403 ? 403 : 404);
    refusals += code === 403 ? 2 : 0;
    expect(await metricOf(health, 'http_refusals_total{code="403"}')).toBe(refusals);
  }
});

test('a new client CA is used, an unusable one is not', async () => {
  const caFile = await clientCaFile();
  const { webhookPort, health, lines } = await start({ clients: { caFile, allowedNames: [] }, pollMs: 20 });
  const readiness = async () => (await fetch(`${health}/readyz?verbose`)).text();
  expect(await readiness()).toContain('[+]client-ca ok\n');
  const codes = async () => [
    (await send(webhookPort, validate, review('x'), { ...apiServer })).code,
    (await send(webhookPort, validate, review('x'), { ...stranger })).code,
  ];
  expect(await codes()).toEqual([200, 403]);
  await writeFile(caFile, 'garbage');
  await until(() => lines.some((line) => /unusable/.test(String(line.msg))), 'logged');
  expect(await codes()).toEqual([200, 403]);
  expect(await readiness()).toContain(`[!]client-ca degraded: ${caFile} is not PEM\n`);
  await writeFile(caFile, otherCa.cert);
  await until(async () => String(await codes()) === '403,200', 'the new CA counts');
  expect(await readiness()).toContain('[+]client-ca ok\n');
  await writeFile(caFile, clientCa.cert + otherCa.cert);
  await until(async () => String(await codes()) === '200,200', 'both count');
});

test.each([
  ['TLSv1.2', true],
  ['TLSv1.2', false],
  ['TLSv1.3', true],
  ['TLSv1.3', false],
] as const)('a %s session is resumed unless certificates of clients are requested (%s)', async (version, isRequested) => {
  const caFile = await clientCaFile();
  const { webhookPort } = await start(isRequested ? { clients: { caFile, allowedNames: [] } } : {});
  const client = { ...apiServer, ca: testCa.cert, minVersion: version, maxVersion: version };
  const first = await openTls(webhookPort, client);
  let session = first.getSession();
  first.on('session', (ticket: NonSharedBuffer) => {
    session = ticket;
  });
  const received = readAll(first);
  first.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  expect(await received).toMatch(/^HTTP\/1.1 404 /);
  const second = await openTls(webhookPort, { ...client, ...(session && { session }) });
  expect(second.isSessionReused()).toBe(!isRequested);
  second.destroy();
});

test('a client CA after one without a final line break is used', async () => {
  const caFile = await clientCaFile(clientCa.cert.trimEnd() + otherCa.cert);
  const { webhookPort } = await start({ clients: { caFile, allowedNames: [] } });
  for (const client of [apiServer, stranger]) {
    expect((await send(webhookPort, validate, review('x'), { ...client })).code).toBe(200);
  }
});

test.each([
  ['missing', undefined, /ca.crt does not exist/],
  ['empty', '', /ca.crt is empty/],
  ['a key', clientCa.key, /ca.crt is not PEM/],
])('without a usable CA the server does not start: %s', async (_name, content, message) => {
  const caFile = await clientCaFile(content);
  if (content === undefined) {
    await rm(caFile);
  }
  const starting = start({ clients: { caFile, allowedNames: [] } });
  await expect(starting).rejects.toThrow(ClientCaError);
  await expect(starting).rejects.toThrow(message);
});

test('a server that has stopped, or did not start, no longer reads the client CA', async () => {
  const caFile = await clientCaFile();
  const clients = { clients: { caFile, allowedNames: [] }, pollMs: 20 };
  const isReloaded = (lines: readonly Record<string, unknown>[]) =>
    lines.some(({ msg }) => msg === 'client CA reloaded');
  const going = await start(clients);
  const stopped = await start(clients);
  await stopped.stop({ graceMs: 0, timeoutMs: 100 });
  const { log, lines: notStarted } = collectingLog();
  const taken = { host: '127.0.0.1', port: going.webhookPort };
  await expect(start({ ...clients, log, webhook: taken })).rejects.toThrow('EADDRINUSE');
  await writeFile(caFile, otherCa.cert);
  await until(() => isReloaded(going.lines), 'one that goes on reads it');
  // Events and polls of a file reach all of its watches at the same time, but not in the same turn.
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect([isReloaded(stopped.lines), isReloaded(notStarted)]).toEqual([false, false]);
});

/** Bytes that a client sends for its handshake and a request. */
async function bytesSent(port: number, certificate?: TestCertificate): Promise<number> {
  const transport = connect(port, '127.0.0.1');
  const socket = connectTls({ socket: transport, servername: 'localhost', ca: testCa.cert, ...certificate });
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  await readAll(socket);
  return transport.bytesWritten;
}

test('the certificates of clients are requested only if there is a policy for them', async () => {
  const { webhookPort: port } = await start();
  expect(await bytesSent(port, apiServer)).toBe(await bytesSent(port));
  const { webhookPort: other } = await start({ clients: { caFile: await clientCaFile(), allowedNames: [] } });
  expect(await bytesSent(other, apiServer)).toBeGreaterThan((await bytesSent(other)) + 300);
});
