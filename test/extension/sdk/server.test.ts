import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aroundEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { parse } from 'yaml';
import { createExtensionServer, type ExtensionServerOptions, handler } from '../../../src/extension/index.ts';
import { createHostedExtension } from '../../../src/extension/sample/index.ts';
import { prepareDevelopment } from '../../../src/extension/sdk/development.ts';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import { selfSignedPair } from '../../../src/server/index.ts';
import { makeCertificate, testCa } from '../../base/x509/certificates.ts';
import { collectingLog, until } from '../../server/running.ts';
import { ending, endWith } from '../../support/ends.ts';
import { isOpen } from '../../support/ports.ts';
import { certificateFolder, post, startExtension } from './running.ts';

aroundEach(ending);

const create = handler('BeforeClusterCreate', { name: 'create', handle: (_, { answer }) => answer.done() });
const slow = handler('BeforeClusterDelete', {
  name: 'slow',
  timeoutSeconds: 20,
  handle: (_, { answer }) => answer.done(),
});
const loopback = { host: '127.0.0.1', port: 0, healthHost: '127.0.0.1', healthPort: 0, processMetrics: false } as const;

test('for development: a certificate that is kept, and an ExtensionConfig to use at once, on this machine only', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'development-')), 'new');
  endWith(() => rmSync(folder, { recursive: true }));
  const { log, lines } = collectingLog();
  const start = () =>
    createHostedExtension({
      handlers: [create],
      certificates: { development: folder, name: 'lab' },
      port: 0,
      healthPort: 0,
      processMetrics: false,
      log,
    }).start();
  const file = join(folder, 'extension-config.yaml');
  const first = await start();
  await first.stop({ graceMs: 0, timeoutMs: 100 });
  const cert = readFileSync(join(folder, 'tls.crt'), 'utf8');
  expect(statSync(join(folder, 'tls.key')).mode & 0o777).toBe(0o600);
  const second = await start();
  endWith(() => second.stop({ graceMs: 0, timeoutMs: 100 }));
  expect(readFileSync(join(folder, 'tls.crt'), 'utf8')).toBe(cert);
  expect(parse(readFileSync(file, 'utf8'))).toMatchObject({
    kind: 'ExtensionConfig',
    metadata: { name: 'lab' },
    spec: {
      clientConfig: { url: `https://localhost:${second.port}`, caBundle: Buffer.from(cert).toString('base64') },
    },
  });
  expect(lines).toContainEqual({ level: 30, file, msg: 'ExtensionConfig written: try discover -f and call -f' });
  expect(lines.find(({ msg }) => msg === 'listening')).toMatchObject({ host: 'localhost' });
});

test('for development: a certificate is kept until it is valid for a day or less', () => {
  const folder = mkdtempSync(join(tmpdir(), 'development-'));
  endWith(() => rmSync(folder, { recursive: true }));
  const start = Date.parse('2026-01-01T00:00:00Z');
  const certificateAt = (hours: number) => {
    prepareDevelopment(folder, new Date(start + hours * 3_600_000));
    return readFileSync(join(folder, 'tls.crt'), 'utf8');
  };
  const first = certificateAt(0);
  expect(certificateAt(364 * 24 - 1)).toBe(first);
  expect(certificateAt(364 * 24)).not.toBe(first);
});

test.each<[string, (folder: string) => void]>([
  ['is gone', (folder) => rmSync(join(folder, 'tls.key'))],
  [
    'is that of another certificate',
    (folder) => writeFileSync(join(folder, 'tls.key'), selfSignedPair(new Date()).key),
  ],
  ['cannot be read', (folder) => writeFileSync(join(folder, 'tls.key'), 'x')],
])('for development: a certificate whose key %s is replaced', async (_, spoil) => {
  const folder = join(mkdtempSync(join(tmpdir(), 'development-')), 'new');
  endWith(() => rmSync(folder, { recursive: true }));
  async function start() {
    const { log, lines } = collectingLog();
    const options = { port: 0, healthPort: 0, processMetrics: false, log } as const;
    const certificates = { development: folder };
    const running = await createHostedExtension({ handlers: [create], certificates, ...options }).start();
    await running.stop({ graceMs: 0, timeoutMs: 100 });
    return lines.map(({ msg }) => msg);
  }
  const first = await start();
  spoil(folder);
  expect(await start()).toEqual(first);
});

test.each([
  {},
  { host: '', healthHost: '' },
])('a self-signed certificate is for this machine only: %j', async (addresses) => {
  const { log, lines } = collectingLog();
  const running = await createHostedExtension({
    handlers: [create],
    certificates: { development: certificateFolder() },
    port: 0,
    healthPort: 0,
    processMetrics: false,
    log,
    ...addresses,
  }).start();
  endWith(() => running.stop({ graceMs: 0, timeoutMs: 100 }));
  expect(lines.find(({ msg }) => msg === 'listening')).toMatchObject({ host: 'localhost' });
});

describe('invalid options', () => {
  test('a level that the log does not have', () => {
    expect(() => createExtensionServer({ handlers: [create], logLevel: 'loud' })).toThrow(
      new TypeError('logLevel: "loud" is not one of trace, debug, info, warn, error, fatal'),
    );
  });

  test.each(['/a/../b', './a', '/a b', '/a?b', '/a#b', 'a\tb'])('the path %j', (path) => {
    expect(() => createExtensionServer({ handlers: [create], path, log: collectingLog().log })).toThrow(
      new TypeError(
        `path: ${JSON.stringify(path)} is not a path: use service.path of the ExtensionConfig, such as /extensions/backup`,
      ),
    );
  });

  test('a port as text, which environment variables are', () => {
    const port = '9443' as unknown as number;
    expect(() => createExtensionServer({ handlers: [create], port })).toThrow("port: '9443' is not a whole number");
  });

  test.each([Number('abc'), -1, 65_536, 9.5])('the port %j', (port) => {
    for (const option of ['port', 'healthPort']) {
      expect(() => createExtensionServer({ handlers: [create], [option]: port })).toThrow(
        new RangeError(`${option}: ${port} is not a whole number from 0 to 65535`),
      );
    }
  });

  test('limits that the server does not have', () => {
    const limits: object = { maxBody: 1 };
    expect(() => createExtensionServer({ handlers: [create], limits })).toThrow(TypeError);
    expect(() => createExtensionServer({ handlers: [create], limits })).toThrow(
      'limits.maxBody is not a limit; it must be one of maxBodyBytes, ',
    );
  });

  test.each([{}, { caFile: '' }])('the clients %j', (given) => {
    const clients = given as ExtensionServerOptions['clients'];
    expect(() => createExtensionServer({ handlers: [create], clients })).toThrow(
      new TypeError('clients: pass a file with the CAs of clients ({ caFile })'),
    );
  });

  test.each<[string, Partial<ExtensionServerOptions>, string]>([
    ...[undefined, { folder: '' }, { development: '' }].map(
      (certificates): [string, Partial<ExtensionServerOptions>, string] => [
        `${JSON.stringify(certificates)} as certificates`,
        { certificates } as Partial<ExtensionServerOptions>,
        'certificates: pass a folder ({ folder }) or, for development, { development: FOLDER }',
      ],
    ),
  ])('%s', async (_, options, message) => {
    const server = createExtensionServer({ handlers: [create], ...loopback, ...options, log: collectingLog().log });
    await expect(server.start()).rejects.toThrow(new TypeError(message));
  });

  test.each(['port', 'healthPort'])('a %s that is taken: the error names the option', async (option) => {
    const { port: taken } = await startExtension([create]);
    const log = collectingLog().log;
    const certificates = { folder: certificateFolder() };
    const server = createExtensionServer({ handlers: [create], ...loopback, certificates, log, [option]: taken });
    await expect(server.start()).rejects.toThrow(
      `cannot listen on 127.0.0.1:${taken}: EADDRINUSE (options ${option} and ${option === 'port' ? 'host' : 'healthHost'})`,
    );
  });

  test('a folder for development that cannot be made', async () => {
    const certificates = { development: '/proc/nosuch/folder' };
    const server = createExtensionServer({ handlers: [create], ...loopback, certificates, log: collectingLog().log });
    await expect(server.start()).rejects.toThrow(/^certificates: \/proc\/nosuch\/folder cannot be written: /);
  });
});

test.each([
  ['/', ''],
  ['lab', '/lab'],
  ['//a//b/', '/a/b'],
  ['/.well-known/..a', '/.well-known/..a'],
])('the path %j is %j', async (path, prefix) => {
  const { port } = await startExtension([create], { path });
  const known = `${prefix}/${hooksGroup}/v1alpha1/discovery`;
  expect((await post(port, known, '{}')).json().status).toBe('Success');
  const unknown = await post(port, '/other', '{}');
  expect([unknown.code, unknown.json().message]).toEqual([
    404,
    `page not found: no handler has this path; ${known} lists them`,
  ]);
});

test('the start logs warnings, the ports, and the version', async () => {
  const { port, healthPort, health, lines } = await startExtension([slow], { version: '1.2.3' });
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    [40, expect.stringMatching(/^handler "slow" of .*: timeoutSeconds 20 is more than 10/)],
    [30, 'serving certificate loaded'],
    [30, 'listening'],
  ]);
  expect(lines.at(-1)).toMatchObject({ extensionPort: port, healthPort, host: '127.0.0.1' });
  const metrics = await (await fetch(`${health}/metrics`)).text();
  expect(metrics).toContain('runtime_extension_build_info{version="1.2.3",');
  expect(metrics).not.toContain('process_cpu_seconds_total');
});

test('a self-signed certificate works, and metrics of the process can be turned off', async () => {
  const { log } = collectingLog();
  const { processMetrics: _, ...options } = loopback;
  const server = createExtensionServer({
    handlers: [create],
    ...options,
    certificates: { development: certificateFolder() },
    log,
  });
  const { port, healthPort, stop } = await server.start();
  try {
    const agentless = { rejectUnauthorized: false } as object;
    expect((await post(port, `/${hooksGroup}/v1alpha1/discovery`, '{}', agentless)).json().status).toBe('Success');
    const metrics = await (await fetch(`http://127.0.0.1:${healthPort}/metrics`)).text();
    expect(metrics).toContain('process_cpu_seconds_total');
    expect(metrics).toContain('runtime_extension_build_info{version="unknown",');
  } finally {
    await stop({ graceMs: 0, timeoutMs: 100 });
  }
});

test('without a health port, only the port of the hooks is opened', async () => {
  const { log } = collectingLog();
  const options = { ...loopback, healthPort: 'none', certificates: { folder: certificateFolder() }, log } as const;
  const opened = vi.spyOn(Server.prototype, 'listen');
  onTestFinished(() => opened.mockRestore());
  const { port, healthPort, stop } = await createHostedExtension({ handlers: [create], ...options }).start();
  onTestFinished(() => stop({ graceMs: 0, timeoutMs: 100 }));
  expect([healthPort, opened.mock.calls.length]).toEqual([0, 1]);
  const agentless = { rejectUnauthorized: false } as object;
  expect((await post(port, `/${hooksGroup}/v1alpha1/discovery`, '{}', agentless)).json().status).toBe('Success');
});

test('listens on the given ports', async () => {
  const first = await startExtension([create]);
  await first.stop({ graceMs: 0, timeoutMs: 100 });
  const { port, healthPort } = first;
  const second = await startExtension([create], { port, healthPort });
  expect([second.port, second.healthPort]).toEqual([port, healthPort]);
});

test('clients can be allowed by name, or all of a CA', async () => {
  const caFile = join(certificateFolder(), 'clients.crt');
  writeFileSync(caFile, testCa.cert);
  const certificates = ['capi', 'other'].map((commonName) => makeCertificate({ commonName, issuer: testCa }));
  async function codes(clients: { caFile: string; allowedNames?: string[] }): Promise<number[]> {
    const { port } = await startExtension([create], { clients });
    const path = `/${hooksGroup}/v1alpha1/discovery`;
    return Promise.all(
      certificates.map(async ({ cert, key }) => (await post(port, path, '{}', { cert, key } as object)).code),
    );
  }
  expect(await codes({ caFile, allowedNames: ['capi'] })).toEqual([200, 403]);
  expect(await codes({ caFile })).toEqual([200, 200]);
});

describe('run', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('ends with %s', async (signal) => {
    const { log, lines } = collectingLog();
    const others = process.listeners(signal);
    const running = createExtensionServer({
      handlers: [create],
      ...loopback,
      certificates: { folder: certificateFolder() },
      log,
    }).run();
    await until(() => lines.some(({ msg }) => msg === 'listening'), 'it listens');
    const port = Number(lines.find(({ msg }) => msg === 'listening')?.extensionPort);
    expect(await isOpen(port)).toBe(true);
    const own = process.listeners(signal).filter((listener) => !others.includes(listener));
    expect(own).toHaveLength(1);
    // As the process would, but only to this server: other listeners belong to the test runner.
    (own[0] as (signal: string) => void)(signal);
    await running;
    expect(await isOpen(port)).toBe(false);
    expect(lines.filter(({ level }) => level === 30).map(({ msg }) => msg)).toEqual([
      'serving certificate loaded',
      'listening',
      'stopping',
      'stopped',
    ]);
    expect(process.listeners(signal)).toEqual(others);
  });
});
