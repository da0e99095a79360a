import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { withRemedy } from '../../../src/base/index.ts';
import { type Issued, issueCa, issueClientCertificate, issueServingCertificate } from '../../../src/base/x509/index.ts';
import { connect, loadKubeConfig, readKubeConfig } from '../../../src/kubernetes/client/index.ts';
import { day } from '../../base/x509/keys.ts';

// Only part of the Kubernetes client is loaded: whatever a kubeconfig may name must work with that part.

const now = new Date();
let ca: Issued;
let serving: Issued;
let client: Issued;
beforeAll(async () => {
  ca = issueCa(now, day);
  serving = issueServingCertificate(ca, ['api.test'], now, day);
  client = issueClientCertificate(ca, 'jane', now, day);
});

const retryOptions = { retries: 0, minTimeoutMs: 0, maxTimeoutMs: 0, deadlineMs: 10_000 };

async function listening(server: Server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    if ('closeAllConnections' in server) {
      (server as ReturnType<typeof createHttpServer>).closeAllConnections();
    }
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** A kubeconfig with this server and user. */
async function kubeconfigOf(server: string, user: object, cluster: object = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const text = JSON.stringify({
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server, ...cluster } }],
    users: [{ name: 'c', user }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
  });
  writeFileSync(join(folder, 'config'), text, { mode: 0o600 });
  return loadKubeConfig({ kubeconfig: join(folder, 'config') });
}

const get = (config: Awaited<ReturnType<typeof kubeconfigOf>>, signal = new AbortController().signal) =>
  connect(config, signal, retryOptions).request('GET', '/version');

/** What an API server for the name api.test receives with a request by a kubeconfig with this user. */
async function seenOf(user: object, { cluster = {} }: { cluster?: object } = {}) {
  const options = { cert: serving.certificate.pem, key: serving.key, ca: ca.certificate.pem, requestCert: true };
  const server = createServer({ ...options, rejectUnauthorized: false }, (request, response) => {
    const socket = request.socket as TLSSocket;
    const { authorization = '', 'impersonate-user': as = '' } = request.headers;
    const name = socket.authorized ? socket.getPeerCertificate().subject.CN : '';
    const asked = (socket as { servername?: string }).servername;
    response.end(JSON.stringify({ authorization, as, name, asked }));
  });
  const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'ca.crt'), ca.certificate.pem);
  writeFileSync(join(folder, 'token'), 'of-file\n', { mode: 0o600 });
  writeFileSync(join(folder, 'tls.crt'), client.certificate.pem);
  writeFileSync(join(folder, 'tls.key'), client.key, { mode: 0o600 });
  const plugged = JSON.stringify({ kind: 'ExecCredential', status: { token: 'p' } });
  writeFileSync(join(folder, 'plugin'), `#!/bin/sh\necho '${plugged}'\n`, { mode: 0o700 });
  const kubeconfig = join(folder, 'config');
  const entry = {
    server: `https://127.0.0.1:${await listening(server)}`,
    'certificate-authority': 'ca.crt',
    'tls-server-name': 'api.test',
    ...cluster,
  };
  const text = JSON.stringify({
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: entry }],
    users: [{ name: 'c', user }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
  });
  writeFileSync(kubeconfig, text, { mode: 0o600 });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  return connect(await loadKubeConfig({ kubeconfig }), stop.signal, retryOptions).request('GET', '/version');
}

const anonymous = { authorization: '', as: '', name: '', asked: 'api.test' };
const later = Math.floor(now.getTime() / 1000) + 3600;
const jwt = [{ alg: 'none' }, { exp: later }, {}]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.');
const printing = (text: string) => ({
  command: process.execPath,
  args: ['-e', `console.log(${JSON.stringify(text)})`],
});
const credential = (status: object) => printing(JSON.stringify({ kind: 'ExecCredential', status }));

test.each<[string, object, object]>([
  ['no credentials', {}, {}],
  ['a token', { token: 't' }, { authorization: 'Bearer t' }],
  ['a name and a password', { username: 'a', password: 'b' }, { authorization: `Basic ${base64('a:b')}` }],
  ['an impersonated user', { token: 't', as: 'joe' }, { authorization: 'Bearer t', as: 'joe' }],
  ['a certificate in files', { 'client-certificate': 'tls.crt', 'client-key': 'tls.key' }, { name: 'jane' }],
  ['a plugin for tokens', { exec: credential({ token: 'plugged' }) }, { authorization: 'Bearer plugged' }],
  [
    'a plugin whose other fields are empty',
    { exec: credential({ token: 't', clientCertificateData: '', clientKeyData: null, expirationTimestamp: null }) },
    { authorization: 'Bearer t' },
  ],
  [
    'a token in the kubeconfig before that of a plugin',
    { token: 'own', exec: credential({ token: 'plugged' }) },
    { authorization: 'Bearer own' },
  ],
  [
    'OpenID Connect',
    { 'auth-provider': { name: 'oidc', config: { 'id-token': jwt } } },
    { authorization: `Bearer ${jwt}` },
  ],
  ['a token in a file, before another one', { tokenFile: 'token', token: 't' }, { authorization: 'Bearer of-file' }],
])('sends %s, to the server name in the kubeconfig', async (_, user, expected) => {
  expect(await seenOf(user)).toEqual({ ...anonymous, ...expected });
});

test('uses client certificates from the kubeconfig, and from a plugin', async () => {
  const data = { 'client-certificate-data': base64(client.certificate.pem), 'client-key-data': base64(client.key) };
  const inline = { 'certificate-authority': undefined, 'certificate-authority-data': base64(ca.certificate.pem) };
  expect(await seenOf(data, { cluster: inline })).toEqual({ ...anonymous, name: 'jane' });
  const exec = credential({ clientCertificateData: client.certificate.pem, clientKeyData: client.key });
  expect(await seenOf({ exec })).toEqual({ ...anonymous, name: 'jane' });
});

test('rejects a server with another name, unless verification is turned off', async () => {
  await expect(seenOf({}, { cluster: { 'tls-server-name': 'other.test' } })).rejects.toThrow(
    'ERR_TLS_CERT_ALTNAME_INVALID',
  );
  const lax = { 'tls-server-name': undefined, 'certificate-authority': undefined, 'insecure-skip-tls-verify': true };
  expect(await seenOf({ token: 't' }, { cluster: lax })).toMatchObject({ authorization: 'Bearer t' });
});

test('sends a request through a proxy', async () => {
  const asked: (string | undefined)[] = [];
  const proxy = createHttpServer().on('connect', (request, socket, head) => {
    asked.push(request.url);
    const [host, port] = String(request.url).split(':');
    const beyond = connectTcp(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      beyond.write(head);
      beyond.pipe(socket).pipe(beyond);
    });
    onTestFinished(() => void beyond.destroy());
    socket.on('error', () => beyond.destroy());
    beyond.on('error', () => socket.destroy());
  });
  const cluster = { 'proxy-url': `http://127.0.0.1:${await listening(proxy)}` };
  expect(await seenOf({ token: 't' }, { cluster })).toEqual({ ...anonymous, authorization: 'Bearer t' });
  expect(asked).toEqual([expect.stringMatching(/^127\.0\.0\.1:\d+$/)]);
});

/** The port of a SOCKS proxy, which adds the ports that it connects to. */
async function socksProxy(asked: number[]): Promise<number> {
  const proxy = createTcpServer((socket) => {
    socket.on('error', () => {});
    onTestFinished(() => void socket.destroy());
    // RFC 1928: a greeting, a request to connect to an IPv4 address, both answered with success; then what is sent.
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]));
      socket.once('data', (request) => {
        const port = request.readUInt16BE(8);
        asked.push(port);
        const beyond = connectTcp(port, [...request.subarray(4, 8)].join('.'), () => {
          socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
          beyond.pipe(socket).pipe(beyond);
        });
        onTestFinished(() => void beyond.destroy());
        beyond.on('error', () => socket.destroy());
      });
    });
  });
  return listening(proxy);
}

test('sends a request through a SOCKS proxy', async () => {
  const asked: number[] = [];
  const cluster = { 'proxy-url': `socks5://127.0.0.1:${await socksProxy(asked)}` };
  expect(await seenOf({ token: 't' }, { cluster })).toEqual({ ...anonymous, authorization: 'Bearer t' });
  expect(asked).toEqual([expect.any(Number)]);
  await expect(seenOf({}, { cluster: { ...cluster, 'tls-server-name': 'other.test' } })).rejects.toThrow(
    'ERR_TLS_CERT_ALTNAME_INVALID',
  );
  const lax = { 'tls-server-name': undefined, 'certificate-authority': undefined, 'insecure-skip-tls-verify': true };
  expect(await seenOf({ token: 't' }, { cluster: { ...cluster, ...lax } })).toMatchObject({
    authorization: 'Bearer t',
  });
});

const unusable = 'printed no ExecCredential with a token, or a client certificate and its key';

test.each<[string, string, string]>([
  ['text', 'echo s3cr3t', unusable],
  ['no status', `echo '{"s3cr3t":1}'`, unusable],
  ['an empty status', `echo '{"status":{}}'`, unusable],
  ['a number as a token', `echo '{"status":{"token":5}}'`, unusable],
  ['a certificate without its key', `echo '{"status":{"clientCertificateData":"s3cr3t"}}'`, unusable],
  ['output without end', 'exec cat /dev/zero', 'printed more than 1 MiB'],
  [
    'a refusal',
    'echo s3cr3t; echo refresh_token=s3cr3t >&2; exit 3',
    'failed with exit code 3: "kubectl version" with the same kubeconfig shows what it writes',
  ],
  ['nothing, killed', 'kill -9 $$', 'was ended by SIGKILL'],
])('says what is wrong with the output of a plugin, and shows none of it: %s', async (_, script, problem) => {
  // A server would be asked only with credentials.
  const config = await kubeconfigOf('https://127.0.0.1:1', { exec: { command: 'sh', args: ['-c', script] } });
  const error = await get(config).catch(withRemedy);
  expect(error).toBe(
    `no answer from the API server https://127.0.0.1:1: no credentials: the credential plugin sh ${problem}`,
  );
});

test('shows nothing of a token that is not one', async () => {
  const user = { 'auth-provider': { name: 'oidc', config: { 'id-token': `e30.${btoa('s3cr3t')}.x` } } };
  const error = await get(await kubeconfigOf('https://127.0.0.1:1', user)).catch(({ message }: Error) => message);
  expect(error).toMatch(/: no credentials: a token in the kubeconfig is not JSON$/);
});

test('a client certificate that is none is not blamed on the server', async () => {
  const user = { 'client-certificate-data': btoa('none'), 'client-key-data': btoa('none') };
  expect(await get(await kubeconfigOf('https://127.0.0.1:1', user)).catch(withRemedy)).toBe(
    'no answer from the API server https://127.0.0.1:1: no credentials: the CA, the client certificate or its key in the kubeconfig cannot be used (ERR_OSSL_PEM_NO_START_LINE)',
  );
});

test('names a file of the kubeconfig that cannot be read', async () => {
  const error = await seenOf({ 'client-certificate': 'gone.crt' }).catch(({ message }: Error) => message);
  expect(error).toMatch(/: no credentials: .*\/gone\.crt does not exist$/);
});

test.each<[string, object, object]>([
  ['client certificate', { 'client-certificate': '/dev/zero', 'client-key': '/dev/zero' }, {}],
  ['CA', {}, { 'certificate-authority': '/dev/zero' }],
  ['token', { tokenFile: '/dev/zero' }, {}],
])('a device that a kubeconfig names as a %s is not read', async (_, user, cluster) => {
  const error = await get(await kubeconfigOf('https://127.0.0.1:1', user, cluster)).catch(withRemedy);
  expect(error).toMatch(/: no credentials: \/dev\/zero is a device, not a regular file$/);
});

test('a large file that a kubeconfig names is not read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'ca.crt'), ' '.repeat(1024 * 1024 + 1));
  const config = await kubeconfigOf('https://127.0.0.1:1', {}, { 'certificate-authority': join(folder, 'ca.crt') });
  expect(await get(config).catch(withRemedy)).toMatch(/: no credentials: .*\/ca\.crt is larger than 1 MiB$/);
});

test.each(['gcp', 'azure'])('a kubeconfig with the auth-provider %s is refused, and no program runs', async (name) => {
  const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const config = { 'cmd-path': '/bin/sh', 'cmd-args': `-c "touch ${join(folder, 'ran')}"` };
  await expect(kubeconfigOf('https://127.0.0.1:1', { 'auth-provider': { name, config } })).rejects.toThrow(
    `its user has the auth-provider "${name}", which kubectl no longer has`,
  );
  expect(existsSync(join(folder, 'ran'))).toBe(false);
});

test('the kubeconfig in a Secret may not name a file with a token', async () => {
  const text = JSON.stringify({
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
    users: [{ name: 'c', user: { tokenFile: '/etc/hostname' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
  });
  await expect(readKubeConfig(text, 'Secret default/c')).rejects.toThrow('it names files or programs');
});

test('a plugin that nobody waits for any longer is killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'pid');
  const exec = { command: 'sh', args: ['-c', `echo $$ > ${file}; exec sleep 60`] };
  const config = await kubeconfigOf('https://127.0.0.1:1', { exec });
  const stops = [new AbortController(), new AbortController()] as const;
  const asked = stops.map(({ signal }) => get(config, signal).catch((reason: unknown) => reason));
  const pid = await vi.waitFor(() => Number(readFileSync(file, 'utf8') || expect.unreachable()), { timeout: 30_000 });
  stops[0].abort('first');
  expect(await asked[0]).toBe('first');
  expect(() => process.kill(pid, 0)).not.toThrow();
  stops[1].abort('second');
  expect(await asked[1]).toBe('second');
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), { timeout: 30_000 });
});

test('tells a plugin the version that it is to speak', async () => {
  const apiVersion = 'client.authentication.k8s.io/v1';
  const script = `printf '{"status":{"token":"%s"}}' "$(printf %s "$KUBERNETES_EXEC_INFO" | base64 -w0)"`;
  const exec = { apiVersion, command: 'sh', args: ['-c', script] };
  const { authorization } = (await seenOf({ exec })) as { authorization: string };
  expect(JSON.parse(atob(authorization.replace('Bearer ', '')))).toEqual({
    kind: 'ExecCredential',
    apiVersion,
    spec: { interactive: false },
  });
});

test('names a plugin that cannot be started, and what to do', async () => {
  // EACCES if the PATH has a folder that this user cannot read.
  await expect(seenOf({ exec: { command: 'no-such-plugin' } })).rejects.toThrow(
    /no credentials: the credential plugin no-such-plugin cannot be started \((ENOENT|EACCES)\): install it, or correct exec\.command/,
  );
});

test('a plugin that reads standard input finds its end at once', async () => {
  const exec = { command: 'sh', args: ['-c', `cat >&2; echo '{"status":{"token":"t"}}'`] };
  expect(await seenOf({ exec })).toMatchObject({ authorization: 'Bearer t' });
});

test('a watch signs in, and once more if its token is refused', async () => {
  const { sent, watch } = await counted('2');
  await watch();
  expect(sent).toEqual(['Bearer 1', 'Bearer 2']);
});

test('a client certificate that is refused, or expired, is replaced as a token is', async () => {
  const other = issueClientCertificate(ca, 'joe', now, day);
  const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const statusOf = ({ certificate, key }: Issued, expirationTimestamp?: string) =>
    JSON.stringify({ status: { clientCertificateData: certificate.pem, clientKeyData: key, expirationTimestamp } });
  writeFileSync(join(folder, '1'), statusOf(client));
  writeFileSync(join(folder, '2'), statusOf(other, new Date(now.getTime() - 1).toISOString()));
  writeFileSync(join(folder, '3'), statusOf(client));
  const sent: string[] = [];
  const tls = { cert: serving.certificate.pem, key: serving.key, ca: ca.certificate.pem, requestCert: true };
  const server = createServer(tls, (request, response) => {
    const { CN } = (request.socket as TLSSocket).getPeerCertificate().subject;
    sent.push(String(CN));
    response.writeHead(sent.length === 1 ? 401 : 200).end('{"kind":"Status"}');
  });
  const address = `https://127.0.0.1:${await listening(server)}`;
  const script = `cd ${folder}; for n in 1 2 3; do if [ -e $n ]; then cat $n; rm $n; break; fi; done`;
  const cluster = { 'certificate-authority-data': base64(ca.certificate.pem), 'tls-server-name': 'api.test' };
  const config = await kubeconfigOf(address, { exec: { command: 'sh', args: ['-c', script] } }, cluster);
  const connection = connect(config, new AbortController().signal, retryOptions);
  await connection.request('GET', '/version');
  await connection.request('GET', '/version');
  expect(sent).toEqual(['jane', 'joe', 'jane']);
});

/** An API server that accepts one token, and the requests of a kubeconfig whose plugin counts its runs as tokens. */
async function counted(
  accepted: string,
  print = '$n',
  onRequest: (number: number) => Promise<void> | void = () => {},
  stop = new AbortController(),
) {
  const sent: string[] = [];
  const server = createHttpServer(async (request, response) => {
    const { authorization = '' } = request.headers;
    await onRequest(sent.push(authorization));
    response.writeHead(authorization === `Bearer ${accepted}` ? 200 : 401).end('{"type":"BOOKMARK","object":{}}');
  });
  const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const count = join(folder, 'count');
  const script = `n=$(($(cat ${count} 2>/dev/null || echo 0) + 1)); echo $n > ${count}; echo '{"status":{"token":"'${print}'"}}'`;
  const address = `http://127.0.0.1:${await listening(server)}`;
  const user = { exec: { command: 'sh', args: ['-c', script] } };
  const config = await kubeconfigOf(address, user, { 'insecure-skip-tls-verify': true });
  const cluster = connect(config, stop.signal, retryOptions);
  return {
    sent,
    get: () => cluster.request('GET', '/version'),
    watch: () => cluster.watch('/version', { watchMs: 1000, graceMs: 1000, onOpen() {}, onEvent() {} }),
  };
}

test('a plugin whose token is refused is asked for another one, once', async () => {
  const { sent, get } = await counted('2');
  await get();
  await get();
  expect(sent).toEqual(['Bearer 1', 'Bearer 2', 'Bearer 2']);
});

test('requests at the same time start a plugin once', async () => {
  const { sent, get } = await counted('1');
  await Promise.all([get(), get(), get()]);
  expect(sent).toEqual(['Bearer 1', 'Bearer 1', 'Bearer 1']);
});

test('a request that is refused after another one has got a new token uses that', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { sent, get } = await counted('2', '$n', (number) => {
    if (number === 3) {
      resolve();
    }
    return number === 2 ? promise : undefined;
  });
  await Promise.all([get(), get()]);
  expect(sent).toEqual(['Bearer 1', 'Bearer 1', 'Bearer 2', 'Bearer 2']);
});

test.each([
  ['that has no other token', 'same'],
  ['that fails then', "$([ $n = 1 ] || printf '\"')same"],
])('a plugin %s leaves the refusal', async (_, print) => {
  const { sent, get } = await counted('2', print);
  await expect(get()).rejects.toMatchObject({ code: 401 });
  expect(sent).toEqual(['Bearer same']);
});

test('a request that is stopped while its plugin looks for another token ends so', async () => {
  const stop = new AbortController();
  const { get } = await counted(
    '2',
    '$([ $n = 1 ] && echo 1 || exec sleep 60)',
    () => void setTimeout(() => stop.abort('end'), 50),
    stop,
  );
  await expect(get()).rejects.toBe('end');
});
