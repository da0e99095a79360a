import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mock } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import {
  ellipticEntropy,
  type Issued,
  issueCa,
  issueClientCertificate,
  issueServingCertificate,
} from '../../../../src/base/x509/index.ts';
import { mayAsk } from '../../../../src/kubernetes/client/authentication/credential-plugin.ts';
import { connect, loadKubeConfig, withRemedy } from '../../../../src/kubernetes/client/index.ts';
import { KubeConfigError } from '../../../../src/kubernetes/client/kubeconfig/kubeconfig.ts';
import { day } from '../../../base/x509/entropy.ts';

// Only part of the Kubernetes client is loaded: whatever a kubeconfig may name must work with that part.

const now = new Date();
let ca: Issued;
let serving: Issued;
let client: Issued;
beforeAll(async () => {
  ca = await issueCa(now, day, ellipticEntropy);
  serving = await issueServingCertificate(ca, ['api.test'], now, day, ellipticEntropy);
  client = issueClientCertificate(ca, 'jane', await ellipticEntropy.makeKeyPair(), now, day, ellipticEntropy);
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
    const more = Object.entries(request.headersDistinct).filter(([header]) => /^impersonate-(?!user)/.test(header));
    const asked = (socket as { servername?: string }).servername;
    response.end(
      JSON.stringify({ authorization, as, ...(more.length > 0 && { more: Object.fromEntries(more) }), name, asked }),
    );
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
  ['a token in a file', { token: 't', tokenFile: 'token' }, { authorization: 'Bearer of-file' }],
  ['a name and a password', { username: 'a', password: 'b' }, { authorization: `Basic ${base64('a:b')}` }],
  ['an impersonated user', { token: 't', as: 'joe' }, { authorization: 'Bearer t', as: 'joe' }],
  ['a name beyond ASCII', { as: 'Łukasz' }, { as: Buffer.from('Łukasz').toString('latin1') }],
  ['nothing for empty fields', { 'as-groups': [], 'as-uid': '', 'as-user-extra': {} }, {}],
  [
    'an impersonated user with groups, a uid and extra fields',
    {
      as: 'joe',
      'as-groups': ['system:masters', 'Zürich'],
      'as-uid': 'u1',
      'as-user-extra': { 'example.org/a': ['b'] },
    },
    {
      as: 'joe',
      more: {
        'impersonate-group': ['system:masters', Buffer.from('Zürich').toString('latin1')],
        'impersonate-uid': ['u1'],
        'impersonate-extra-example.org%2fa': ['b'],
      },
    },
  ],
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
    'a plugin in a folder, relative to the kubeconfig',
    { exec: { command: './plugin' } },
    { authorization: 'Bearer p' },
  ],
  [
    'OpenID Connect',
    { 'auth-provider': { name: 'oidc', config: { 'id-token': jwt } } },
    { authorization: `Bearer ${jwt}` },
  ],
  ['Google', { 'auth-provider': { name: 'gcp', config: { 'access-token': 'g' } } }, { authorization: 'Bearer g' }],
  ['Azure', { 'auth-provider': { name: 'azure', config: { 'access-token': 'z' } } }, { authorization: 'Bearer z' }],
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

test('prefers what a kubeconfig contains to the files that it names, as kubectl does', async () => {
  const user = {
    'client-certificate': 'no-such.crt',
    'client-certificate-data': base64(client.certificate.pem),
    'client-key': 'no-such.key',
    'client-key-data': base64(client.key),
  };
  const cluster = {
    'certificate-authority': 'no-such-ca.crt',
    'certificate-authority-data': base64(ca.certificate.pem),
  };
  expect(await seenOf(user, { cluster })).toEqual({ ...anonymous, name: 'jane' });
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

test.each<[string, string, string]>([
  ['s3cr3t', 'echo s3cr3t', 'printed something that is not JSON, instead of an ExecCredential'],
  ['no status', `echo '{"s3cr3t":1}'`, 'printed an ExecCredential without status'],
  ['an empty status', `echo '{"status":{}}'`, 'printed neither a token nor a client certificate'],
  [
    'a token of two words',
    `echo '{"status":{"token":"s3 cr3t"}}'`,
    'printed a token with characters that a token cannot have',
  ],
  ['a number as a token', `echo '{"status":{"token":5}}'`, 'printed a status.token that is not a string'],
  [
    'a certificate without its key',
    `echo '{"status":{"clientCertificateData":"s3cr3t"}}'`,
    'printed only one of clientCertificateData and clientKeyData',
  ],
  [
    'a key without its certificate',
    `echo '{"status":{"token":"t","clientKeyData":"s3cr3t"}}'`,
    'printed only one of clientCertificateData and clientKeyData',
  ],
  [
    'only a key',
    `echo '{"status":{"clientKeyData":"s3cr3t"}}'`,
    'printed only one of clientCertificateData and clientKeyData',
  ],
  [
    'no time',
    `echo '{"status":{"token":"s3cr3t","expirationTimestamp":"soon"}}'`,
    'printed a status.expirationTimestamp that is not a time',
  ],
  ['output without end', 'exec cat /dev/zero', 'printed more than 1 MiB'],
  ['a refusal', 'echo s3cr3t; echo run: sh login >&2; exit 3', 'failed with exit code 3: run: sh login'],
  ['a long refusal', 'printf %0400d 0 >&2; exit 1', `failed with exit code 1: ${'0'.repeat(300)}`],
  ['nothing, killed', 'kill -9 $$', 'was ended by SIGKILL'],
])('says what is wrong with the output of a plugin, and shows none of it: %s', async (_, script, problem) => {
  // A server would be asked only with credentials.
  const config = await kubeconfigOf('https://127.0.0.1:1', { exec: { command: 'sh', args: ['-c', script] } });
  const error = await get(config).catch(withRemedy);
  expect(error).toBe(
    `no answer from the API server https://127.0.0.1:1: no credentials: the credential plugin sh ${problem}`,
  );
});

/** A kubeconfig whose plugin runs a script, which writes process ids into a FIFO when it has started. */
async function startedBy(script: string) {
  const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const fifo = join(folder, 'fifo');
  spawnSync('mkfifo', [fifo]);
  const exec = { command: 'sh', args: ['-c', `cd ${folder}; ${script}`] };
  return {
    folder,
    config: await kubeconfigOf('https://127.0.0.1:1', { exec }),
    started: async () => (await readFile(fifo, 'utf8')).split(' ').map(Number) as [number, number],
  };
}

test('a plugin ends with the last request that waits for it; one that does not tidy up in two seconds is killed', async () => {
  const pipes = () => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;
  const before = [pipes(), process.listenerCount('exit')];
  // The other program keeps its output open.
  const script = 'trap "echo > tidied" TERM; sleep 60 & echo $$ $! > fifo; while :; do wait; done';
  const { folder, config, started } = await startedBy(script);
  const stops = [new AbortController(), new AbortController()] as const;
  const asked = stops.map(({ signal }) => get(config, signal).catch((error: unknown) => error));
  const [pid, other] = await started();
  onTestFinished(() => void process.kill(other));
  const isRunning = () => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  stops[0].abort('first');
  expect([await asked[0], isRunning()]).toEqual(['first', true]);
  mock.timers.enable({ apis: ['setTimeout'] });
  onTestFinished(() => mock.timers.reset());
  stops[1].abort('second');
  expect(await asked[1]).toBe('second');
  await vi.waitFor(() => expect(existsSync(join(folder, 'tidied'))).toBe(true));
  mock.timers.tick(1999);
  expect(isRunning()).toBe(true);
  mock.timers.tick(1);
  await vi.waitFor(() => expect(isRunning()).toBe(false));
  await vi.waitFor(() => expect([pipes(), process.listenerCount('exit')]).toEqual(before));
});

test('shows nothing of a token that is not one', async () => {
  const user = { 'auth-provider': { name: 'oidc', config: { 'id-token': `e30.${btoa('s3cr3t')}.x` } } };
  const error = await get(await kubeconfigOf('https://127.0.0.1:1', user)).catch(({ message }: Error) => message);
  expect(error).toMatch(/: no credentials: a token in the kubeconfig is not JSON$/);
});

test('a plugin is killed when the program exits', async () => {
  const { config, started } = await startedBy('echo $$ > fifo; exec sleep 60');
  const asked = get(config).catch(({ message }: Error) => message);
  await started();
  process.listeners('exit').at(-1)?.call(process, 0);
  expect(await asked).toMatch(/was ended by SIGKILL$/);
});

test('tells a plugin what kubectl tells it: always the version, and the cluster if it asks for it', async () => {
  const echo = "console.log(JSON.stringify({ status: { token: btoa(process.env.KUBERNETES_EXEC_INFO ?? '') } }))";
  const apiVersion = 'client.authentication.k8s.io/v1';
  const exec = {
    apiVersion,
    command: process.execPath,
    args: ['-e', echo],
    env: [{ name: 'A', value: 'b' }],
    interactiveMode: 'Never',
  };
  const extensions = [
    { name: 'other', extension: {} },
    { name: 'client.authentication.k8s.io/exec', extension: { shoot: 'one' } },
  ];
  async function toldTo(more: object) {
    const { authorization } = (await seenOf({ exec: { ...exec, ...more } }, { cluster: { extensions } })) as {
      authorization: string;
    };
    return JSON.parse(Buffer.from(authorization.replace('Bearer ', ''), 'base64').toString()) as unknown;
  }
  expect(await toldTo({})).toEqual({ kind: 'ExecCredential', apiVersion, spec: { interactive: false } });
  expect(await toldTo({ provideClusterInfo: true })).toEqual({
    kind: 'ExecCredential',
    apiVersion,
    spec: {
      interactive: false,
      cluster: {
        server: expect.stringMatching(/^https:\/\/127\.0\.0\.1:/),
        'tls-server-name': 'api.test',
        'certificate-authority-data': base64(ca.certificate.pem),
        config: { shoot: 'one' },
      },
    },
  });
});

test('says so if a plugin asks for more about the cluster than fits', async () => {
  const exec = { ...credential({ token: 'p' }), provideClusterInfo: true };
  const cluster = { 'certificate-authority-data': base64(ca.certificate.pem.repeat(400)) };
  await expect(seenOf({ exec }, { cluster })).rejects.toThrow(
    /^the user in the kubeconfig: its cluster, with CA and extension, is too long for exec\.provideClusterInfo \(\d+ bytes, at most 131050\)/,
  );
});

test('names a plugin that cannot be started, and what to do', async () => {
  // EACCES if the PATH has a folder that this user cannot read.
  await expect(seenOf({ exec: { command: 'no-such-plugin' } })).rejects.toThrow(
    /no credentials: the credential plugin no-such-plugin cannot be started \((ENOENT|EACCES)\): install it, or correct exec\.command/,
  );
});

test.each<[string, object]>([
  ['as-groups, as-uid and as-user-extra need as, the name of the user to act as', { 'as-groups': ['g'] }],
  ['exec.command must be the name or the path of a program', { exec: { command: '' } }],
  ['exec.command must be the name or the path of a program', { exec: {} }],
])('rejects a user that kubectl rejects: %s', async (problem, user) => {
  await expect(seenOf(user)).rejects.toThrow(new KubeConfigError(`the user in the kubeconfig: ${problem}`));
});

test('a variable of a plugin without a value is empty', async () => {
  const exec = { command: 'sh', args: ['-c', `echo '{"status":{"token":"'"a\${A-unset}"'"}}'`], env: [{ name: 'A' }] };
  expect(await seenOf({ exec })).toMatchObject({ authorization: 'Bearer a' });
});

test('a plugin that reads standard input, without a terminal, finds its end at once', async () => {
  const exec = { command: 'sh', args: ['-c', `cat >&2; echo '{"status":{"token":"t"}}'`], interactiveMode: 'Never' };
  expect(await seenOf({ exec })).toMatchObject({ authorization: 'Bearer t' });
});

test('rejects an interactiveMode that does not exist', async () => {
  await expect(seenOf({ exec: { command: 'a', interactiveMode: 'Sometimes' } })).rejects.toThrow(
    new KubeConfigError('the user in the kubeconfig: exec.interactiveMode must be Never, IfAvailable or Always'),
  );
});

test('a watch signs in, and once more if its token is refused', async () => {
  const { sent, watch } = await counted('2');
  await watch();
  expect(sent).toEqual(['Bearer 1', 'Bearer 2']);
});

test('a client certificate that is refused, or expired, is replaced as a token is', async () => {
  const other = issueClientCertificate(ca, 'joe', await ellipticEntropy.makeKeyPair(), now, day, ellipticEntropy);
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

test.each([
  ['Never', true, false],
  ['IfAvailable', true, true],
  ['IfAvailable', false, false],
  ['Always', true, true],
])('interactiveMode %s with a terminal %s lets a plugin ask: %s', (interactiveMode, input, expected) => {
  expect(mayAsk({ interactiveMode }, { input, errors: false })).toBe(expected);
});

test('a plugin that has to ask needs a terminal', () => {
  expect(() => mayAsk({ interactiveMode: 'Always', command: 'login' }, { input: false, errors: true })).toThrow(
    'the credential plugin "login" has interactiveMode Always, and standard input is not a terminal: ',
  );
});
