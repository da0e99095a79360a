import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ClientCaError, fileCertificates } from '../../src/server/index.ts';
import { localhost, makeCertificate, type TestCertificate, testCa } from '../base/x509/certificates.ts';
import { metricAt } from '../support/metrics.ts';
import { keepAliveAgent, openTls, review, send, start, stopAll, until, validate } from './running.ts';

const second = makeCertificate({ commonName: 'second', dnsNames: ['localhost'], issuer: testCa });
const third = makeCertificate({ commonName: 'third', dnsNames: ['localhost'], issuer: testCa });

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'certs-'));
});

afterEach(async () => {
  await stopAll();
  await rm(folder, { recursive: true });
});

async function write(pair: TestCertificate, into = folder): Promise<void> {
  await writeFile(join(into, 'tls.crt'), pair.cert);
  await writeFile(join(into, 'tls.key'), pair.key);
}

/** Writes a pair as the kubelet does: files are links into `..data`, which is a link to a folder of one generation. */
async function writeGeneration(name: string, pair: TestCertificate): Promise<void> {
  await mkdir(join(folder, name));
  await write(pair, join(folder, name));
  await symlink(name, join(folder, '..data_tmp'));
  await rename(join(folder, '..data_tmp'), join(folder, '..data'));
}

async function servedName(port: number): Promise<string> {
  const socket = await openTls(port);
  const name = socket.getPeerCertificate().subject.CN;
  socket.destroy();
  return String(name);
}

const failures = 'extensionconfig_webhook_certificate_reloads_total{result="failure"}';
const notAfter = 'extensionconfig_webhook_certificate_not_after_timestamp_seconds';

test('is not ready without a certificate, and serves once there is one', async () => {
  const { health, webhookPort } = await start({ certificates: fileCertificates(join(folder, 'later'), 20) });
  const before = await fetch(`${health}/readyz`);
  expect(before.status).toBe(503);
  expect(await before.text()).toMatch(/no serving certificate: the folder .*later does not exist: correct its name/);
  expect((await fetch(`${health}/healthz`)).status).toBe(200);
  await expect(send(webhookPort, validate, review('x'))).rejects.toThrow();
  expect(await metricAt(health, failures)).toBe(0);
  expect(await metricAt(health, notAfter)).toBeNaN();

  await mkdir(join(folder, 'later'));
  await write(localhost, join(folder, 'later'));
  await until(async () => (await fetch(`${health}/readyz`)).status === 200, 'ready');
  expect((await send(webhookPort, validate, review('x'))).code).toBe(200);
  expect(await metricAt(health, notAfter)).toBe(Date.parse('2049-01-01T00:00:00Z') / 1000);
});

test('uses a new pair without a failed request, on new and existing connections', async () => {
  await write(localhost);
  const { webhookPort } = await start({ certificates: fileCertificates(folder) });
  const agent = keepAliveAgent();
  let done = false;
  let answered = 0;
  async function load(options: object): Promise<void> {
    while (!done) {
      const { code } = await send(webhookPort, validate, review('x'), options);
      expect(code).toBe(200);
      answered++;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  const loads = Promise.all([load({ agent }), load({})]);
  loads.catch(() => {
    done = true;
  });
  try {
    for (const pair of [second, third]) {
      const before = answered;
      await write(pair);
      const name = pair === second ? 'second' : 'third';
      await until(async () => done || (await servedName(webhookPort)) === name, `${name} is served`);
      await until(() => done || answered > before + 4, 'requests go on');
    }
  } finally {
    done = true;
    await loads;
    agent.destroy();
  }
  expect(answered).toBeGreaterThan(8);
});

test('follows the ..data symlink of a Kubernetes volume, and never sees half of a change', async () => {
  await writeGeneration('..2030_01', localhost);
  await symlink(join('..data', 'tls.crt'), join(folder, 'tls.crt'));
  await symlink(join('..data', 'tls.key'), join(folder, 'tls.key'));
  const { webhookPort, health } = await start({ certificates: fileCertificates(folder) });
  expect(await servedName(webhookPort)).toBe('localhost');
  await writeGeneration('..2030_02', second);
  await rm(join(folder, '..2030_01'), { recursive: true });
  await until(async () => (await servedName(webhookPort)) === 'second', 'second is served');
  expect(await metricAt(health, failures)).toBe(0);
});

test('keeps the old pair if the new one does not match, is invalid or missing, and reports that', async () => {
  await write(localhost);
  const { webhookPort, health, lines } = await start({ certificates: fileCertificates(folder, 20) });
  const errors = () => lines.filter((line) => line.level === 50).map((line) => String(line.reason));

  await writeFile(join(folder, 'tls.crt'), second.cert);
  await until(() => errors().some((reason) => /does not belong/.test(reason)), 'the mismatch is logged');
  expect(await servedName(webhookPort)).toBe('localhost');
  expect((await fetch(`${health}/readyz`)).status).toBe(200);
  expect(await metricAt(health, failures)).toBeGreaterThan(0);

  await writeFile(join(folder, 'tls.crt'), 'garbage');
  await until(() => errors().some((reason) => /not PEM/.test(reason)), 'the garbage is logged');
  await rm(join(folder, 'tls.crt'));
  await until(() => errors().some((reason) => /does not exist/.test(reason)), 'the loss is logged');
  expect(await servedName(webhookPort)).toBe('localhost');

  await write(third);
  await until(async () => (await servedName(webhookPort)) === 'third', 'third is served');
  const key = await readFile(join(folder, 'tls.key'), 'utf8');
  expect(JSON.stringify(lines)).not.toContain(key.split('\n')[1]!);
});

test('an expired certificate makes the server not ready', async () => {
  await write(localhost);
  let now = new Date('2048-12-31T23:59:59Z');
  const { health } = await start({ certificates: fileCertificates(folder), now: () => now });
  expect((await fetch(`${health}/readyz`)).status).toBe(200);
  now = new Date('2049-01-01T00:00:00Z');
  const answer = await fetch(`${health}/readyz`);
  expect(answer.status).toBe(503);
  expect(await answer.text()).toMatch(/expired at 2049-01-01/);
});

test.each([
  ['tls.key', 'is a FIFO, not a regular file', (path: string): unknown => execFileSync('mkfifo', [path])],
  ['tls.crt', 'is a folder, not a regular file', async (path: string): Promise<void> => mkdir(path)],
  ['tls.crt', 'is a device, not a regular file', (path: string): Promise<void> => symlink('/dev/zero', path)],
  [
    'tls.crt',
    'is larger than 1 MiB',
    async (path: string) => {
      await writeFile(path, '');
      await truncate(path, 1024 ** 3);
    },
  ],
] as const)('%s that %s is reported, and does not prevent reading the next pair', async (name, problem, replace) => {
  await write(localhost);
  const { webhookPort, health, lines } = await start({ certificates: fileCertificates(folder, 20) });
  await rm(join(folder, name));
  await replace(join(folder, name));
  await until(() => lines.some(({ reason }) => reason === `${join(folder, name)} ${problem}`), 'the problem is logged');
  const verbose = await (await fetch(`${health}/readyz?verbose`)).text();
  expect(verbose).toContain(`[!]serving-certificate degraded: the previous certificate is still served: ${folder}`);
  expect(await servedName(webhookPort)).toBe('localhost');
  await rm(join(folder, name), { recursive: true });
  await write(third);
  await until(async () => (await servedName(webhookPort)) === 'third', 'third is served');
});

test('a FIFO as tls.key keeps nothing alive after its watch has ended', async () => {
  await write(localhost);
  await rm(join(folder, 'tls.key'));
  execFileSync('mkfifo', [join(folder, 'tls.key')]);
  const module = fileURLToPath(new URL('../../src/server/certificates/files.ts', import.meta.url));
  const program = `import { fileCertificates } from ${JSON.stringify(module)};
const stop = await fileCertificates(${JSON.stringify(folder)}, 20)(({ reason }) => console.log(reason));
setTimeout(stop, 100);`;
  const args = ['--input-type=module', '--eval', program];
  const { status, signal, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 });
  expect([status, signal, stdout]).toEqual([0, null, `${join(folder, 'tls.key')} is a FIFO, not a regular file\n`]);
});

test('a FIFO as the client CA prevents the start, with an error', async () => {
  const caFile = join(folder, 'ca.crt');
  execFileSync('mkfifo', [caFile]);
  await expect(start({ clients: { caFile, allowedNames: [] } })).rejects.toThrow(
    new ClientCaError(`${caFile} is a FIFO, not a regular file`),
  );
});
