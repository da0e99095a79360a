import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Clusters, createClusters, HandlerFailure } from '../../../src/extension/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { localhost, testCa } from '../../base/x509/certificates.ts';

/** The token that the workload cluster takes, and how many connections it has had. */
let token = 'first';
let connections = 0;
const workload = createServer({ ...localhost }, ({ headers, url }, response) => {
  const code = headers.authorization === `Bearer ${token}` ? 200 : 401;
  const status = { apiVersion: 'v1', kind: 'Status', status: 'Failure', code, reason: 'Unauthorized' };
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(code === 200 ? { kind: 'NodeList', path: url } : status));
}).on('secureConnection', () => {
  connections++;
});

let sandbox: Sandbox;
let clusters: Clusters;
const folder = mkdtempSync(join(tmpdir(), 'clusters-'));
beforeAll(async () => {
  sandbox = await startSandbox();
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, sandbox.kubeconfig, { mode: 0o600 });
  clusters = createClusters({ kubeconfig });
  await new Promise<void>((resolve) => workload.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  workload.closeAllConnections();
  workload.close();
  await sandbox.stop();
  rmSync(folder, { recursive: true });
});

const kubeconfigOf = (user: object) => {
  const server = `https://localhost:${(workload.address() as AddressInfo).port}`;
  const cluster = { server, 'certificate-authority-data': Buffer.from(testCa.cert).toString('base64') };
  return JSON.stringify({
    'current-context': 'one',
    clusters: [{ name: 'one', cluster }],
    contexts: [{ name: 'one', context: { cluster: 'one', user: 'one' } }],
    users: [{ name: 'one', user }],
  });
};
const secret = (name: string, value: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: `${name}-kubeconfig`, namespace: 'default' },
  data: { value: Buffer.from(value).toString('base64') },
});
const cluster = (name: string) => ({ metadata: { name, namespace: 'default' } });
const secrets = '/api/v1/namespaces/default/secrets';

test('the client of a Cluster is that of its Secret, and is kept until the Secret changes', async () => {
  await expect(clusters.workloadCluster(cluster('one'))).rejects.toThrow(
    new HandlerFailure(
      'the Cluster has no kubeconfig yet: Secret default/one-kubeconfig is not there, or has no value',
    ),
  );
  const management = await clusters.management();
  await management.request('POST', secrets, secret('one', kubeconfigOf({ token: 'first' })));
  const nodes = async () => (await clusters.workloadCluster(cluster('one'))).request('GET', '/api/v1/nodes');
  expect([await nodes(), await nodes()]).toEqual([
    { kind: 'NodeList', path: '/api/v1/nodes' },
    { kind: 'NodeList', path: '/api/v1/nodes' },
  ]);
  expect(connections).toBe(1);
  token = 'second';
  await expect(nodes()).rejects.toMatchObject({ code: 401 });
  const { metadata } = await management.request('GET', `${secrets}/one-kubeconfig`);
  await management.request('PUT', `${secrets}/one-kubeconfig`, {
    ...secret('one', kubeconfigOf({ token })),
    metadata: metadata as object,
  });
  expect(await nodes()).toMatchObject({ kind: 'NodeList' });
  expect(connections).toBe(2);
});

test('after 401 the connection is forgotten', async () => {
  token = 'third';
  const management = await clusters.management();
  await management.request('POST', secrets, secret('two', kubeconfigOf({ token })));
  const nodes = async () => (await clusters.workloadCluster(cluster('two'))).request('GET', '/api/v1/nodes');
  await nodes();
  const before = connections;
  token = 'fourth';
  await expect(nodes()).rejects.toMatchObject({ code: 401 });
  token = 'third';
  await nodes();
  expect(connections).toBe(before + 1);
});

test.each<[string, string]>([
  [
    JSON.stringify({ exec: { command: 'sh', apiVersion: 'v1' } }),
    'it names files or programs, and must have data instead',
  ],
  [JSON.stringify({ 'client-certificate': '/etc/passwd', 'client-key': '/x' }), 'it names files or programs'],
])('a kubeconfig with %s is refused: whoever writes Secrets does not run programs here', async (user, problem) => {
  const management = await clusters.management();
  const name = `bad-${problem.length}`;
  await management.request('POST', secrets, secret(name, kubeconfigOf(JSON.parse(user))));
  await expect(clusters.workloadCluster(cluster(name))).rejects.toThrow(problem);
});

test('an object is fetched as it is now, by its kind', async () => {
  const management = await clusters.management();
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'default' } };
  const containers = [{ name: 'a', image: 'a:1' }];
  await management.request('POST', '/api/v1/namespaces/default/pods', { ...pod, spec: { containers } });
  await management.request('PATCH', '/api/v1/namespaces/default/pods/a/status', { status: { phase: 'Running' } });
  expect(await clusters.refetch(pod)).toMatchObject({ ...pod, status: { phase: 'Running' } });
  expect(await clusters.refetch({ ...pod, metadata: { name: 'b', namespace: 'default' } })).toBeUndefined();
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } };
  expect(await clusters.refetch(namespace)).toMatchObject(namespace);
  await expect(clusters.refetch({ ...pod, kind: 'Nope' })).rejects.toThrow('the API server has no Nope of v1');
});
