import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aroundEach, expect, test } from 'vitest';
import { makeCertificate, testCa } from '../../base/x509/certificates.ts';
import { handlerOf, type Lab, startCalled, startLab, until } from '../../controller/lab.ts';
import { certificateFolder } from '../../extension/sdk/running.ts';
import { ending, endWith } from '../../support/ends.ts';
import { runProgram, startProgram } from './io.ts';

aroundEach(ending);

function kubeconfigOf(lab: Lab): string {
  const folder = mkdtempSync(join(tmpdir(), 'controller-'));
  endWith(async () => rmSync(folder, { recursive: true }));
  const file = join(folder, 'config');
  writeFileSync(file, lab.sandbox.kubeconfig);
  return file;
}

/** Runs the command until it is stopped. */
function start(args: readonly string[]) {
  const program = startProgram(['controller', '--health-port', '0', ...args]);
  endWith(async () => {
    program.stop('SIGTERM');
    await program.ended;
  });
  const lines = () =>
    program
      .stdout()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...program, lines };
}

const lease = (holderIdentity: string, renewTime = new Date()) => ({
  metadata: { name: 'controller-leader-election-capi' },
  spec: { holderIdentity, leaseDurationSeconds: 1, renewTime: renewTime.toISOString().replace('Z', '000Z') },
});
const leases = '/apis/coordination.k8s.io/v1/namespaces/capi-system/leases';

test('discovers, becomes ready, serves metrics, and releases the Lease at SIGTERM', async () => {
  const lab = await startLab();
  const { spec } = await startCalled();
  await lab.request('POST', '/api/v1/namespaces', { metadata: { name: 'extensionconfig-webhook-system' } });
  await lab.create('lab', spec);
  const { stop, ended, lines } = start([...['--kubeconfig', kubeconfigOf(lab)], '--leader-elect']);
  await lab.condition('lab', 'Discovered', 'True');
  const { healthPort } = lines().find(({ msg }) => msg === 'controller started') as { healthPort: number };
  const url = `http://127.0.0.1:${healthPort}`;
  expect(await (await fetch(`${url}/readyz`)).text()).toBe('ok\n');
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain('extensionconfig_controller_leader 1');
  expect(metrics).toContain('extensionconfig_discovered{extensionconfig="lab"} 1');
  expect(metrics).toMatch(/extensionconfig_handlers\{[^}]*hook="BeforeClusterCreate",state="supported"\} 1/);
  expect(metrics).toMatch(/capi_runtime_sdk_requests_total\{code="200",/);
  stop('SIGTERM');
  expect(await ended).toMatchObject({ code: 0, stderr: '' });
  const name = 'extensionconfig-webhook-controller';
  const released = await lab.request(
    'GET',
    `/apis/coordination.k8s.io/v1/namespaces/extensionconfig-webhook-system/leases/${name}`,
  );
  expect(released).toMatchObject({ spec: { holderIdentity: '', leaseDurationSeconds: 1 } });
});

test("while Cluster API's own controller runs, it ends with code 1 and says what to do; --force works", async () => {
  const lab = await startLab();
  const { spec } = await startCalled();
  await lab.create('lab', spec);
  await lab.request('POST', '/api/v1/namespaces', { metadata: { name: 'capi-system' } });
  await lab.request('POST', leases, lease('capi-controller-manager-0'));
  const kubeconfig = kubeconfigOf(lab);
  const refused = start(['--kubeconfig', kubeconfig]);
  const { code, stderr } = await refused.ended;
  expect(code).toBe(1);
  expect(stderr).toBe(
    "extensionconfig-webhook: Cluster API's own controller discovers extensions in this cluster: capi-controller-manager-0 holds the" +
      " Lease capi-system/controller-leader-election-capi. The two would overwrite each other's status: stop one of" +
      ' them, or use --force\n',
  );
  expect((await lab.get('lab')).status).toBeUndefined();
  start(['--force', '--kubeconfig', kubeconfig]);
  await lab.condition('lab', 'Discovered', 'True');
});

test("a stale Lease of Cluster API's controller does not delay the start", async () => {
  const lab = await startLab();
  const { spec } = await startCalled();
  await lab.create('lab', spec);
  await lab.request('POST', '/api/v1/namespaces', { metadata: { name: 'capi-system' } });
  await lab.request('POST', leases, lease('capi-controller-manager-0', new Date(Date.now() - 3_600_000)));
  start(['--kubeconfig', kubeconfigOf(lab)]);
  const { status } = await lab.condition('lab', 'Discovered', 'True');
  expect(status?.handlers).not.toEqual([]);
});

test('a client certificate authenticates it to extensions that require one', async () => {
  const lab = await startLab();
  const folder = certificateFolder();
  writeFileSync(join(folder, 'clients.crt'), testCa.cert);
  const { spec } = await startCalled([handlerOf('BeforeClusterCreate', 'a')], {
    clients: { caFile: join(folder, 'clients.crt'), allowedNames: ['capi'] },
  });
  await lab.create('lab', spec);
  const args = ['--kubeconfig', kubeconfigOf(lab)];
  const without = start(args);
  const refused = await lab.condition('lab', 'Discovered', 'False');
  expect(refused.status?.conditions?.[0]?.message).toMatch(/status code 403 != 200/);
  without.stop('SIGTERM');
  await without.ended;
  const { cert, key } = makeCertificate({ commonName: 'capi', issuer: testCa });
  writeFileSync(join(folder, 'tls.crt'), cert);
  writeFileSync(join(folder, 'tls.key'), key);
  start([...args, '--cert-dir', folder]);
  await lab.condition('lab', 'Discovered', 'True');
});

test('an unreachable API server makes it not ready, with the reason', async () => {
  const lab = await startLab();
  const kubeconfig = kubeconfigOf(lab);
  await lab.sandbox.stop();
  const { lines, stop, ended } = start(['--force', '--kubeconfig', kubeconfig]);
  await until(() => expect(lines().find(({ msg }) => msg === 'controller started')).toBeDefined());
  const { healthPort } = lines().find(({ msg }) => msg === 'controller started') as { healthPort: number };
  await until(async () => {
    const answer = await fetch(`http://127.0.0.1:${healthPort}/readyz`);
    expect([answer.status, await answer.text()]).toEqual([
      503,
      expect.stringContaining('no answer from the API server '),
    ]);
  });
  stop('SIGTERM');
  expect((await ended).code).toBe(0);
});

test("it ends with code 1 if it cannot tell whether Cluster API's own controller runs", async () => {
  const lab = await startLab();
  const kubeconfig = kubeconfigOf(lab);
  await lab.sandbox.stop();
  const { code, stderr } = await start(['--kubeconfig', kubeconfig]).ended;
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /: cannot tell whether Cluster API's own controller is running: no answer .* or use --force\n$/,
  );
});

test.each([
  [['--mode', 'discover'], '--mode'],
  [['--cluster-api-namespace', 'a/b'], '--cluster-api-namespace: "a/b"'],
  [['--kubeconfig', '/nowhere'], 'no cluster: '],
])('%j is a usage error', async (args, message) => {
  const { code, stderr } = await runProgram(['controller', ...args]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
