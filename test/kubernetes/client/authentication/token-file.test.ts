import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { KubeConfig, type User } from '@kubernetes/client-node';
import { expect, onTestFinished, test, vi } from 'vitest';
import { TokenFile, withTokenFile } from '../../../../src/kubernetes/client/authentication/token-file.ts';
import { connect, loadKubeConfig, startInformer } from '../../../../src/kubernetes/client/index.ts';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'token-file-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const retryOptions = { retries: 0, minTimeoutMs: 0, maxTimeoutMs: 0, deadlineMs: 10_000 };

/** An API server that accepts one token at a time, and records those that it was sent. */
async function guarded() {
  const sent: string[] = [];
  const bodies: string[] = [];
  const state = { accepted: 'first' };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) {
      body += String(chunk);
    }
    const token = String(request.headers.authorization).replace('Bearer ', '');
    sent.push(token);
    if (token !== state.accepted) {
      response.writeHead(401).end(JSON.stringify({ kind: 'Status', code: 401, message: 'Unauthorized' }));
      return;
    }
    bodies.push(body);
    const list = { kind: 'List', metadata: { resourceVersion: '1' }, items: [] };
    response.end(request.url?.includes('watch=') ? '' : JSON.stringify(list));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { sent, bodies, state, port: (server.address() as AddressInfo).port };
}

/** A kubeconfig whose user has the token in a file. */
async function following() {
  const server = await guarded();
  const place = folder();
  const write = (token: string) => writeFileSync(join(place, 'token'), `${token}\n`, { mode: 0o600 });
  write('first');
  const kubeconfig = join(place, 'config');
  const cluster = { server: `http://127.0.0.1:${server.port}`, 'insecure-skip-tls-verify': true };
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      'current-context': 'c',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'c', user: { token: 'old', tokenFile: 'token' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
    }),
  );
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  return { ...server, write, config: await loadKubeConfig({ kubeconfig }), signal: stop.signal };
}

test('a request with a token that is refused is sent again with the one that the file has by now', async () => {
  const { sent, bodies, state, write, config, signal } = await following();
  const cluster = connect(config, signal, retryOptions);
  await cluster.request('GET', '/api/v1/x');
  state.accepted = 'second';
  write('second');
  await cluster.request('POST', '/api/v1/x', { a: 1 });
  await cluster.request('GET', '/api/v1/x');
  expect(sent).toEqual(['first', 'first', 'second', 'second']);
  expect(bodies).toEqual(['', '{"a":1}', '']);
});

test('without another token, the refusal is the answer', async () => {
  const { sent, state, config, signal } = await following();
  state.accepted = 'second';
  await expect(connect(config, signal, retryOptions).request('GET', '/api/v1/x')).rejects.toMatchObject({ code: 401 });
  expect(sent).toEqual(['first']);
});

test('a watch follows the file, too', async () => {
  const { sent, state, write, config } = await following();
  const problems: (string | undefined)[] = [];
  const pace = { watchMs: 1_000, graceMs: 1_000, minRetryMs: 1, maxRetryMs: 20, readDeadlineMs: 5_000 };
  const informer = startInformer(config, {
    path: '/api/v1/x',
    resource: 'x',
    pace,
    onProblem: (problem) => problems.push(problem),
  });
  onTestFinished(() => informer.stop());
  await informer.synced;
  state.accepted = 'second';
  await vi.waitFor(() => expect(problems.some((problem) => problem?.includes('credentials'))).toBe(true));
  write('second');
  await vi.waitFor(() => expect(sent.at(-1)).toBe('second'));
});

test("a pod's token is followed in the same way", async () => {
  const { sent, state, port } = await guarded();
  const pod = folder();
  const token = join(pod, 'var/run/secrets/kubernetes.io/serviceaccount/token');
  mkdirSync(dirname(token), { recursive: true });
  writeFileSync(token, 'first');
  writeFileSync(join(dirname(token), 'ca.crt'), '');
  const config = new KubeConfig();
  config.loadFromCluster(pod);
  config.clusters = [{ name: 'inCluster', server: `http://127.0.0.1:${port}`, skipTLSVerify: true }];
  config.users = config.users.map(withTokenFile);
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const cluster = connect(config, stop.signal, retryOptions);
  await cluster.request('GET', '/api/v1/x');
  state.accepted = 'second';
  writeFileSync(token, 'second');
  await cluster.request('GET', '/api/v1/x');
  // While the volume is replaced, the last token stays in use.
  rmSync(token);
  await cluster.request('GET', '/api/v1/x');
  expect(sent).toEqual(['first', 'first', 'second', 'second']);
});

test.each<User>([
  { name: 'u' },
  { name: 'u', authProvider: { name: 'a' } },
  { name: 'u', authProvider: { name: 'a', config: {} } },
])('a user whose token is in no file stays as it is: %j', (user) => {
  expect(withTokenFile(user)).toBe(user);
});

test('the file is read once a minute, and the last token stays in use if that fails', async () => {
  const path = join(folder(), 'token');
  let now = 0;
  const file = new TokenFile(path, () => now);
  await expect(file.get()).rejects.toThrow(`${path} does not exist`);
  writeFileSync(path, ' one\n');
  expect(await file.get()).toEqual({ token: 'one' });
  writeFileSync(path, 'two');
  now = 59_999;
  expect(await file.get()).toEqual({ token: 'one' });
  now = 60_000;
  const two = await file.get();
  expect(two).toEqual({ token: 'two' });
  for (const text of ['', 'three\nfour', 'é', 'x'.repeat(70_000)]) {
    writeFileSync(path, text);
    now += 60_000;
    expect(await file.get()).toBe(two);
    expect(await file.get(undefined, two)).toBe(two);
  }
  writeFileSync(path, 'five');
  expect(await file.get(undefined, two)).toEqual({ token: 'five' });
});

test.each([
  ['', 'is empty'],
  ['a b', 'is not a token: it has other characters'],
])('a file that has no token is named: %j', async (text, problem) => {
  const path = join(folder(), 'token');
  writeFileSync(path, text);
  await expect(new TokenFile(path).get()).rejects.toThrow(`${path} ${problem}`);
});
