import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { crd } from '../../../src/extensionconfig/index.ts';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { makeCertificate, testCa } from '../../base/x509/certificates.ts';
import { caBundle, extensionConfig, startExtension } from '../../runtimehooks/client/extension-server.ts';
import { eventually, send } from '../../sandbox/client.ts';
import { needs } from '../../support/needs.ts';
import { startForwarding } from './forwarding.ts';
import { runProgram } from './io.ts';

let sandbox: Sandbox;
let folder: string;
let kubeconfig: string;

async function create(path: string, body: object): Promise<void> {
  const answer = await eventually(
    () => send(sandbox, 'POST', path, { body }),
    ({ status }) => status !== 404,
  );
  expect(answer.status, answer.text).toBe(201);
}

beforeAll(async () => {
  sandbox = await startSandbox();
  folder = mkdtempSync(join(tmpdir(), 'port-forward-'));
  kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, sandbox.kubeconfig);
  await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    ...crd,
    spec: { ...crd.spec, conversion: { strategy: 'None' } },
  });
  await create('/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs', {
    ...extensionConfig('one', { service: { name: 'svc', namespace: 'default', port: 9443 }, caBundle }),
    metadata: { name: 'one' },
    status: undefined,
  });
});
afterAll(async () => {
  await sandbox.stop();
  rmSync(folder, { recursive: true });
});

const handlers = [
  { name: 'validate', requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook: 'ValidateTopology' } },
];

/** An extension with a certificate for a Service. */
async function extension(dnsName = 'svc.default.svc') {
  const certificate = makeCertificate({ commonName: 'x', dnsNames: [dnsName], issuer: testCa });
  const server = await startExtension(() => ({ status: 'Success', handlers }), { certificate });
  onTestFinished(() => server.close());
  return server;
}

/**
 * A kubectl that names a port of this machine as the one that it forwards to, as the API server of a sandbox cannot, and
 * writes its number and its arguments down.
 */
function kubectl(port: number) {
  const path = mkdtempSync(join(tmpdir(), 'kubectl-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  const log = join(path, 'log');
  const lines = [
    '#!/bin/sh',
    `printf '%s\\n' $$ "$@" >'${log}'`,
    `echo 'Forwarding from 127.0.0.1:${port} -> 9443'`,
    'exec sleep 60',
  ];
  writeFileSync(join(path, 'kubectl'), lines.join('\n'), { mode: 0o755 });
  return {
    env: { PATH: `${path}${delimiter}${process.env.PATH}` },
    called() {
      if (!existsSync(log)) {
        return undefined;
      }
      const [pid, ...args] = readFileSync(log, 'utf8').trim().split('\n');
      return { pid: Number(pid), args };
    },
  };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test.each<[string, string[]]>([
  ['discover', ['discover']],
  ['rehearse', ['rehearse', '--delete']],
])('%s reaches Services through kubectl port-forward, which ends with the command', async (_name, args) => {
  const { env, called } = kubectl((await extension()).port);
  const { code, stderr } = await runProgram([...args, '--kubeconfig', kubeconfig], { env });
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: expect.stringMatching(/^default\/svc:9443 is called through kubectl port-forward \(127\.0\.0\.1:\d+\)\n$/),
  });
  const { pid = 0, args: passed } = called() ?? {};
  expect(passed).toEqual([
    `--kubeconfig=${kubeconfig}`,
    'port-forward',
    '--namespace=default',
    '--address=127.0.0.1',
    'service/svc',
    ':9443',
  ]);
  await expect.poll(() => isRunning(pid)).toBe(false);
});

test('the certificate is verified for the name of the Service, as by Cluster API', async () => {
  const { env } = kubectl((await extension('localhost')).port);
  const { code, stdout } = await runProgram(['discover', '--kubeconfig', kubeconfig], { env });
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringContaining('the certificate is not for svc.default.svc; it is for localhost'),
  });
});

test.each<[string, string[]]>([
  ['with --resolve', ['discover', '--resolve', 'default/svc:9443=127.0.0.1:1']],
])('%s, no port-forward is started', async (_name, args) => {
  const { env, called } = kubectl((await extension()).port);
  const { code, stderr } = await runProgram([...args, '--kubeconfig', kubeconfig], { env });
  expect({ code, stderr, called: called() }).toEqual({ code: 1, stderr: '', called: undefined });
});

test('a machine without kubectl', async () => {
  const { code, stderr } = await runProgram(['discover', '--kubeconfig', kubeconfig], { env: { PATH: folder } });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'default/svc:9443 cannot be reached: kubectl port-forward failed: it is not on the PATH\n',
  });
});

test('kubectl says why a Service cannot be forwarded', needs('kubectl'), async () => {
  const { code, stdout, stderr } = await runProgram(['discover', '--kubeconfig', kubeconfig], {
    env: { HOME: folder },
  });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^default\/svc:9443 cannot be reached: kubectl port-forward failed: .*not found\n$/),
  });
  expect(stdout).toMatch(
    /^one: NotDiscovered.*\n {2}error: .*no such host; the name of a Service has an address only in its cluster: use --resolve\n/,
  );
});

test('the real kubectl forwards to a pod of the Service, and ends with the command', needs('kubectl'), async () => {
  const forwarding = await startForwarding(sandbox, (await extension()).port);
  onTestFinished(() => forwarding.close());
  const paths = ['/api/v1/namespaces/default/services', '/api/v1/namespaces/default/pods'] as const;
  const labels = { app: 'svc' };
  await create(paths[0], {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'svc' },
    spec: { selector: labels, ports: [{ port: 9443, targetPort: 8443 }] },
  });
  const containers = [{ name: 'extension', image: 'extension' }];
  await create(paths[1], { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'pod', labels }, spec: { containers } });
  const { json: pod } = await send(sandbox, 'GET', `${paths[1]}/pod`);
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await send(sandbox, 'PUT', `${paths[1]}/pod/status`, { body: { ...pod, status } });
  onTestFinished(async () => {
    await send(sandbox, 'DELETE', `${paths[0]}/svc`);
    await send(sandbox, 'DELETE', `${paths[1]}/pod`);
  });
  const file = join(folder, 'forwarding');
  const cluster = { server: forwarding.url, 'insecure-skip-tls-verify': true };
  writeFileSync(
    file,
    stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'a', cluster }],
      users: [{ name: 'a', user: {} }],
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      'current-context': 'a',
    }),
  );
  const { code, stdout, stderr } = await runProgram(['discover', '--kubeconfig', file], { env: { HOME: folder } });
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^one: Discovered; 1 handler;/),
    stderr: expect.stringMatching(/^default\/svc:9443 is called through kubectl port-forward \(127\.0\.0\.1:\d+\)\n$/),
  });
  expect(forwarding.forwarded).toEqual([`${paths[1]}/pod/portforward`]);
  await expect.poll(forwarding.open).toBe(0);
});

describe('a Service of the sandbox', () => {
  test.each<[string, string, number]>([
    ['is called where its annotation says', '127.0.0.1', 0],
    ['is not called on another machine', '192.0.2.1', 1],
  ])('%s', async (_name, host, code) => {
    const { port } = await extension();
    await create('/api/v1/namespaces/default/services', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'svc', annotations: { 'extensionconfig-webhook/reached-at': `${host}:${port}` } },
      spec: { ports: [{ port: 9443 }] },
    });
    onTestFinished(async () => void (await send(sandbox, 'DELETE', '/api/v1/namespaces/default/services/svc')));
    const { env, called } = kubectl(1);
    expect(await runProgram(['discover', '--kubeconfig', kubeconfig], { env })).toMatchObject({ code });
    expect(called() === undefined).toBe(code === 0);
  });
});

test.each<[string, object, RegExp]>([
  [
    'another Service',
    { service: { name: 'a', namespace: 'b' }, caBundle },
    /at ns\/svc:443; they are called at b\/a:443\n$/,
  ],
  ['no Service', { url: 'https://localhost:1', caBundle }, /at ns\/svc:443; none is called at a Service\n$/],
])('an address for a Service that is not called is a usage error: %s', async (_name, clientConfig, message) => {
  const file = join(folder, 'config.yaml');
  writeFileSync(file, stringify(extensionConfig('one', clientConfig)));
  const { code, stderr } = await runProgram(['discover', '-f', file, '--resolve', 'ns/svc:443=localhost:1']);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) });
});
