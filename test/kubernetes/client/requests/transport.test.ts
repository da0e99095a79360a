import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { expect, onTestFinished, test } from 'vitest';
import { readLimited } from '../../../../src/base/index.ts';
import { issueCa, issueServingCertificate } from '../../../../src/base/x509/index.ts';
import { ConnectionError } from '../../../../src/kubernetes/client/index.ts';
import { causeOf, linesOf, transportFor } from '../../../../src/kubernetes/client/requests/transport.ts';
import { day } from '../../../base/x509/keys.ts';

function configOf(server: string, user: object = { token: 'a token' }): KubeConfig {
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'test', server, skipTLSVerify: true }, { name: 'test', ...user });
  return config;
}

const signal = new AbortController().signal;
const get = { method: 'GET', path: '/api/v1/x?a=b', signal, headersTimeoutMs: 10_000 } as const;

/** A server that records its requests, and how many connections there were. */
async function noting() {
  const requests: { line: string; headers: IncomingHttpHeaders; body: string }[] = [];
  let connections = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) {
      body += String(chunk);
    }
    requests.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
    response.writeHead(202, { 'x-answer': 'yes' }).end('the body');
  });
  server.on('connection', () => connections++);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, requests, connections: () => connections, server };
}

test('sends a request with credentials and body, and returns the response', async () => {
  const { url, requests, connections } = await noting();
  const transport = transportFor(configOf(`${url}/`));
  expect(transport.server).toBe(url);
  const answer = await transport.open(get);
  expect([answer.code, answer.headers['x-answer']]).toEqual([202, 'yes']);
  expect((await readLimited(answer.body, 100))?.toString()).toBe('the body');
  // Waits until the connection is free again.
  await sleep(10);
  const body = { type: 'application/json-patch+json', text: '[{"op":"test"}]' };
  (await transport.open({ ...get, method: 'PATCH', path: '/y', body })).body.resume();
  expect(requests).toMatchObject([
    { line: 'GET /api/v1/x?a=b', body: '' },
    { line: 'PATCH /y', body: body.text },
  ]);
  expect(requests[0]?.headers).toMatchObject({
    authorization: 'Bearer a token',
    accept: 'application/json',
    'user-agent': 'extensionconfig-webhook',
  });
  expect(requests[0]?.headers).not.toHaveProperty('content-type');
  expect(requests[1]?.headers).toMatchObject({ 'content-type': 'application/json-patch+json' });
  // Both on one connection.
  expect(connections()).toBe(1);
});

test('keeps the path of a server below a path', async () => {
  const { url, requests } = await noting();
  (await transportFor(configOf(`${url}/k8s/clusters/c-1`)).open(get)).body.resume();
  expect(requests[0]?.line).toBe('GET /k8s/clusters/c-1/api/v1/x?a=b');
});

test('a server has neither a user nor a query, nor blanks around it', async () => {
  const { url, requests } = await noting();
  const transport = transportFor(configOf(` ${url.replace('//', '//me:secret@')}/path/?a=b `));
  (await transport.open(get)).body.resume();
  expect(requests[0]?.line).toBe('GET /path/api/v1/x?a=b');
  expect(transport.server).toBe(`${url}/path`);
});

test('credentials are looked up for each request', async () => {
  const { url, requests } = await noting();
  const config = configOf(url);
  const transport = transportFor(config);
  (await transport.open(get)).body.resume();
  config.users = [{ name: 'test', token: 'another' }];
  (await transport.open(get)).body.resume();
  expect(requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer a token', 'Bearer another']);
});

test('reports credentials that cannot be obtained', async () => {
  const { url, requests } = await noting();
  const config = configOf(url);
  config.applySecurityAuthentication = () => Promise.reject(new Error('the plugin\u001b failed'));
  await expect(transportFor(config).open(get)).rejects.toMatchObject({
    message: new ConnectionError(url, 'no credentials: the plugin\u001b failed').message,
    remedy: undefined,
  });
  expect(requests).toEqual([]);
});

test('a credential plugin that never returns does not delay an aborted request', async () => {
  const { url } = await noting();
  const config = configOf(url);
  config.applySecurityAuthentication = () => new Promise(() => {});
  const transport = transportFor(config);
  const stop = new AbortController();
  const opened = transport.open({ ...get, signal: stop.signal });
  stop.abort(new Error('stopped'));
  await expect(opened).rejects.toThrow(new Error('stopped'));
  await expect(transport.open({ ...get, signal: stop.signal })).rejects.toThrow(new Error('stopped'));
});

test('a request aborted while waiting for the response says so', async () => {
  const server = createServer(() => stop.abort(new Error('stopped'))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const stop = new AbortController();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await expect(transportFor(configOf(url)).open({ ...get, signal: stop.signal })).rejects.toThrow(new Error('stopped'));
});

test('after a failed connection the next one is new, with the current settings', async () => {
  const { url, server, requests } = await noting();
  const { port } = server.address() as AddressInfo;
  const transport = transportFor(configOf(url));
  (await transport.open(get)).body.resume();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  const refused = new ConnectionError(url, 'ECONNREFUSED');
  await expect(transport.open(get)).rejects.toThrow(refused);
  await expect(transport.open(get)).rejects.toThrow(refused);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  (await transport.open(get)).body.resume();
  expect(requests).toHaveLength(2);
});

test('a failure names the proxy, which may come from the environment, without its password', async () => {
  const config = configOf('https://api.test:6443');
  config.clusters = config.clusters.map((known) => ({ ...known, proxyUrl: 'http://user:s3cr3t@127.0.0.1:1' }));
  await expect(transportFor(config).open(get)).rejects.toThrow(
    new ConnectionError('https://api.test:6443 (through the proxy 127.0.0.1:1)', 'ECONNREFUSED'),
  );
});

test('trusts a server by the CA of its kubeconfig, also one with a later certificate', async () => {
  const now = new Date();
  const ca = issueCa(now, day);
  const { certificate, key } = issueServingCertificate(ca, ['127.0.0.1'], now, day);
  const server = createTlsServer({ cert: certificate.pem, key }, (_request, response) => response.end('ok'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'test', server: url, skipTLSVerify: false }, { name: 'test' });
  const transport = transportFor(config);
  // Verified with the CAs that Node.js knows.
  await expect(transport.open(get)).rejects.toThrow(new ConnectionError(url, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'));
  const caData = Buffer.from(ca.certificate.pem).toString('base64');
  config.clusters = [{ name: 'cluster', ...config.getCurrentCluster(), server: url, skipTLSVerify: false, caData }];
  expect((await readLimited((await transport.open(get)).body, 10))?.toString()).toBe('ok');
});

test('a cause is an error code, or else part of the message', () => {
  expect(causeOf(Object.assign(new Error('long'), { code: 'ECONNRESET' }))).toBe('ECONNRESET');
  expect(causeOf(Object.assign(new Error('long'), { code: 7 }))).toBe('long');
  expect(causeOf(new Error('x'.repeat(1000)))).toBe('x'.repeat(300));
});

async function lines(chunks: readonly string[], maxBytes = 100): Promise<string[]> {
  const found: string[] = [];
  for await (const line of linesOf(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), maxBytes)) {
    found.push(line.toString());
  }
  return found;
}

test.each<[readonly string[], readonly string[]]>([
  [['a\nb\n'], ['a', 'b']],
  [
    ['a', 'b', 'c\nd', 'e\n'],
    ['abc', 'de'],
  ],
  [['\n\na\n\n', '\n'], ['a']],
  [
    ['a\n', '\n', 'b\nnot the end'],
    ['a', 'b'],
  ],
  [
    ['1234\n5678\n', '12', '34\n'],
    ['1234', '5678', '1234'],
  ],
  [[], []],
])('splits %j into lines', async (chunks, expected) => {
  // A line may have as many bytes as the longest one here.
  const longest = Math.max(0, ...expected.map((line) => line.length));
  expect(await lines(chunks, longest + 20)).toEqual(expected);
});

test.each<[readonly string[]]>([
  [['12345\n']],
  [['12345']],
  [['123', '45']],
  [['12', '345\n']],
  [['1\n12345\n']],
])('rejects a line of more bytes than allowed: %j', async (chunks) => {
  await expect(lines(chunks, 4)).rejects.toThrow('the API server sent a line of more than 4 bytes');
});

test('accepts any number of lines of the maximum length', async () => {
  expect(await lines(['1234\n1234\n12', '34\n1', '234', '\n'], 4)).toEqual(['1234', '1234', '1234', '1234']);
});
