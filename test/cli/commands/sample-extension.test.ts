import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { hooks } from '../../../src/runtimehooks/index.ts';
import { sampleRequest } from '../../../src/runtimehooks/messages/index.ts';
import { send, until } from '../../server/running.ts';
import { type Ended, runProgram, startProgram } from './io.ts';

const folder = mkdtempSync(join(tmpdir(), 'sample-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
});

const loopback = ['--self-signed', '--host', '127.0.0.1', '--port', '0', '--health-port', '0'];

function behaviourFile(text: string): string {
  const file = join(folder, 'behaviour.yaml');
  writeFileSync(file, text);
  return file;
}

/** A port that something listens on. */
async function takenPort(): Promise<number> {
  const server: Server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  ends.push(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as AddressInfo).port;
}

const linesOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

test('says where it listens, logs each call in one line, and ends with 0 when it is stopped', async () => {
  const file = behaviourFile(
    'handlers: {before-cluster-upgrade: {block: {times: 1, retryAfterSeconds: 7, message: busy}}}',
  );
  const { ended, stop, stdout } = startProgram(['sample-extension', ...loopback, '--behaviour', file]);
  await until(() => stdout().includes('listening'), 'listening');
  const [listening] = linesOf(stdout()).filter(({ msg }) => msg === 'listening');
  expect(listening).toMatchObject({ level: 'info', host: '127.0.0.1', extensionPort: expect.any(Number) });
  const { extensionPort: port, healthPort } = listening as { extensionPort: number; healthPort: number };
  const path = '/hooks.runtime.cluster.x-k8s.io/v1alpha1/beforeclusterupgrade/before-cluster-upgrade';
  const body = JSON.stringify(sampleRequest(hooks.BeforeClusterUpgrade));
  const ask = async () => (await send(port, path, body, { rejectUnauthorized: false })).json();
  expect(await ask()).toMatchObject({ status: 'Success', retryAfterSeconds: 7, message: 'busy' });
  expect(await ask()).toMatchObject({ status: 'Success', retryAfterSeconds: 0 });
  expect((await fetch(`http://127.0.0.1:${healthPort}/readyz`)).status).toBe(200);
  stop('SIGTERM');
  const { code, stderr } = await ended;
  expect([code, stderr]).toEqual([0, '']);
  const calls = linesOf(stdout()).filter(({ msg }) => msg === 'call answered');
  const line = {
    level: 'info',
    time: expect.any(String),
    hook: 'BeforeClusterUpgrade',
    handler: 'before-cluster-upgrade',
    cluster: 'default/example',
    durationMs: expect.any(Number),
    msg: 'call answered',
  };
  expect(calls).toEqual([
    { ...line, result: 'blocking', retryAfterSeconds: 7 },
    { ...line, result: 'success' },
  ]);
  expect(linesOf(stdout()).at(-1)?.msg).toBe('stopped');
});

test('writes an ExtensionConfig of itself, which is enough to call it, and removes it at the end', async () => {
  const file = join(folder, 'extension.yaml');
  const { ended, stop, stdout } = startProgram(['sample-extension', ...[...loopback, '--write', file]]);
  await until(() => stdout().includes('ExtensionConfig written'), 'writing');
  expect(linesOf(stdout()).at(-1)).toMatchObject({ file, msg: 'ExtensionConfig written' });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const discovered = await runProgram(['discover', '-f', file]);
  expect([discovered.code, discovered.stdout]).toEqual([0, expect.stringMatching(/^sample: Discovered; 16 handlers;/)]);
  const linted = await runProgram(['lint', file]);
  expect([linted.code, linted.stdout]).toEqual([0, expect.stringContaining('url-local-host')]);
  stop('SIGTERM');
  expect((await ended).code).toBe(0);
  expect(existsSync(file)).toBe(false);
});

test('an ExtensionConfig that cannot be written ends it, with exit code 1', async () => {
  const long = 'n'.repeat(300);
  for (const [file, problem] of [
    ['missing/extension.yaml', ` cannot be written: the folder ${join(folder, 'missing')} does not exist: create it`],
    [long, `: ${folder} cannot be written: the name is too long: choose a folder that this user can write to\n`],
  ]) {
    const to = ['--write', join(folder, file ?? '')];
    const { code, stderr } = await runProgram(['sample-extension', ...loopback, ...to]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`the ExtensionConfig${problem}`)]);
  }
});

describe('usage errors have exit code 2, and name the flag, the value and the remedy', () => {
  const run = (...args: string[]): Promise<Ended> => runProgram(['sample-extension', ...args]);

  test.each([
    ['no certificate', [], '--cert-dir with a folder that has tls.crt and tls.key'],
    ['two certificates', ['--cert-dir', 'x', '--self-signed'], 'pass either'],
    ['an invalid port', [...loopback, '--port', '70000'], '70000'],
    [
      'an ExtensionConfig without a certificate of its own',
      ['--cert-dir', 'x', '--write', 'y.yaml'],
      '--write needs --self-signed',
    ],
    [
      'an ExtensionConfig of a server that localhost does not reach',
      [...loopback, '--host', '192.0.2.1', '--write', 'y.yaml'],
      'leave --host out',
    ],
    ['no behaviour file', [...loopback, '--behaviour', '/nowhere/b.yaml'], '/nowhere/b.yaml'],
    ['no file of CAs', [...loopback, '--client-ca-file', '/nowhere/ca.crt'], '--client-ca-file: /nowhere/ca.crt'],
  ])('%s', async (_name, args, message) => {
    const { code, stderr } = await run(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).not.toMatch(/\n\s+at /);
  });

  test('a file that exists is not replaced by an ExtensionConfig', async () => {
    const file = join(folder, 'mine.yaml');
    writeFileSync(file, 'mine');
    const { code, stderr } = await run(...loopback, '--write', file);
    expect([code, stderr]).toEqual([
      1,
      `extensionconfig-webhook: the ExtensionConfig cannot be written: ${file} exists: remove it, or name another file\n`,
    ]);
    expect([readFileSync(file, 'utf8'), readdirSync(folder).filter((name) => name.includes('.tmp'))]).toEqual([
      'mine',
      [],
    ]);
  });

  test('all mistakes in a behaviour file are reported, with field, value and alternatives', async () => {
    const file = behaviourFile(`
handlers:
  before-cluster-create: { fail: { message: 7 } }
  generate-patches: { block: { times: 1 } }
  before-cluster-updat: { hang: true }
`);
    const { code, stderr } = await run(...loopback, '--behaviour', file);
    expect(code).toBe(2);
    expect(stderr).toContain(`--behaviour: ${file}: `);
    expect(stderr).toContain('handlers.before-cluster-create.fail.message in body must be of type string: "integer"');
    expect(stderr).toContain(
      'handlers.generate-patches.block is not known; it must be one of hang, delaySeconds, fail',
    );
    expect(stderr).toContain('handlers.before-cluster-updat is not known; it must be one of before-cluster-create, ');
  });
});

test.each([
  ['--port', 'the hooks'],
  ['--health-port', 'health'],
])('a port that is taken has exit code 1, and the message names the flag to change (%s)', async (flag) => {
  const port = await takenPort();
  const { code, stderr } = await runProgram(['sample-extension', ...loopback, flag, String(port)]);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`port ${port} is in use`)]);
  expect(stderr).toContain(flag);
});

test('the host of another machine has exit code 1, and the message names the flag to change', async () => {
  const { code, stderr } = await runProgram(['sample-extension', ...loopback, '--host', '192.0.2.1']);
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('192.0.2.1 is not an address of this machine: correct --host\n'),
  ]);
});

test('without a certificate in its folder it waits, and says so', async () => {
  const { ended, stop, stdout } = startProgram(['sample-extension', ...loopback.slice(1), '--cert-dir', folder]);
  await until(() => stdout().includes('listening'), 'listening');
  expect(linesOf(stdout()).find(({ msg }) => msg === 'waiting for a serving certificate')?.reason).toContain('tls.crt');
  const { healthPort } = linesOf(stdout()).find(({ msg }) => msg === 'listening') as { healthPort: number };
  const ready = await fetch(`http://127.0.0.1:${healthPort}/readyz`);
  expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining('no serving certificate')]);
  stop('SIGINT');
  expect((await ended).code).toBe(0);
});
