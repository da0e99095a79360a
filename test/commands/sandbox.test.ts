import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { AdmissionregistrationV1Api, CustomObjectsApi, KubeConfig } from '@kubernetes/client-node';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { run } from '../../src/commands/index.ts';
import { startSandbox } from '../../src/sandbox/index.ts';
import { createCertificateFolder, startServeProcess } from '../e2e/serve-process.ts';
import { eventually } from '../sandbox/client.ts';
import { needs } from '../tools/needs.ts';
import { runProgram } from './io.ts';

/** A sandbox with nothing but its API server and its webhook. */
function startAlone(args: string[]) {
  return start(['--no-extension', '--no-controller', ...args]);
}

function start(args: string[]) {
  const stop = new AbortController();
  const output = { out: '', err: '' };
  const stdout = new PassThrough().on('data', (chunk) => {
    output.out += chunk;
  });
  const stderr = new PassThrough().on('data', (chunk) => {
    output.err += chunk;
  });
  const ended = run(['sandbox', ...args], { stdin: new PassThrough(), stdout, stderr, env: {}, signal: stop.signal });
  return { stop, output, ended };
}

/** Waits until a sandbox says what to try. @returns where its kubeconfig is. */
async function ready(output: { out: string }): Promise<string> {
  await eventually(
    async () => output.out,
    (text) => text.includes('kubectl get'),
  );
  return /KUBECONFIG=(\S+)/.exec(output.out)?.[1] as string;
}

test('prints a kubeconfig that only its owner may read, and leaves nothing behind', async () => {
  const { stop, output, ended } = startAlone([]);
  const file = await ready(output);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  stop.abort();
  expect(await ended).toBe(0);
  expect(existsSync(file)).toBe(false);
  expect(output.out).toMatch(new RegExp(`\nStopped. Everything that the sandbox kept is gone, and so is ${file}.\n$`));
});

test('a terminal that is closed ends it, and leaves nothing behind', needs('script'), async () => {
  const folder = mkdtempSync(join(tmpdir(), 'closed-'));
  const env = { ...process.env, TMPDIR: folder };
  const command = `${process.execPath} src/main.ts sandbox`;
  const terminal = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  let output = '';
  terminal.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await eventually(
    async () => output,
    (text) => text.includes('kubectl get'),
  );
  expect(readdirSync(folder)).toHaveLength(1);
  // Its end of the terminal goes with it, which is a SIGHUP for what runs there.
  terminal.kill('SIGKILL');
  await eventually(
    async () => readdirSync(folder),
    (files) => files.length === 0,
  );
  rmSync(folder, { recursive: true });
});

test('a port that is taken is said as serve says it', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const { output, ended } = startAlone(['--port', String(port)]);
  expect(await ended).toBe(1);
  expect(output.err).toContain(`port ${port} is in use: stop what listens there or choose another with --port`);
  taken.close();
});

test('replaces the kubeconfig of a sandbox that was killed, and only that', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stale-'));
  const file = join(folder, 'kubeconfig');
  const dead = await startSandbox();
  await dead.stop();
  writeFileSync(file, dead.kubeconfig);
  const { stop, output, ended } = startAlone(['--write-kubeconfig', file]);
  await ready(output);
  expect(readFileSync(file, 'utf8')).not.toBe(dead.kubeconfig);
  stop.abort();
  expect(await ended).toBe(0);
  const others = [
    dead.kubeconfig.replaceAll('extensionconfig-sandbox', 'kind'),
    dead.kubeconfig.replace('127.0.0.1', '10.0.0.1'),
    `${dead.kubeconfig}- context: {}\n`,
    'not: [a kubeconfig',
    '',
  ];
  for (const text of others) {
    writeFileSync(file, text);
    const refused = startAlone(['--write-kubeconfig', file]);
    expect(await refused.ended).toBe(2);
    expect(refused.output.err).toContain(`${file} exists`);
    expect(readFileSync(file, 'utf8')).toBe(text);
  }
  rmSync(folder, { recursive: true });
});

// By real signals, because what is left behind would hold a token.
test.each([
  ['before it is ready', 'SIGINT', 130],
  ['when it is ready', 'SIGINT', 0],
  ['when it is ready', 'SIGTERM', 0],
] as const)('stopped %s by %s it leaves nothing behind, exit code %d', async (when, signal, code) => {
  const folder = mkdtempSync(join(tmpdir(), 'stopped-'));
  const env = { ...process.env, TMPDIR: folder };
  const child = spawn(process.execPath, ['src/main.ts', 'sandbox'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  await eventually(
    async () => ({ files: readdirSync(folder), text: output }),
    ({ files, text }) => files.length > 0 && (when === 'before it is ready' || text.includes('kubectl get')),
  );
  child.kill(signal);
  expect((await once(child, 'exit'))[0]).toBe(code);
  expect(readdirSync(folder)).toEqual([]);
  expect(output).toMatch(code === 0 ? /kubectl get/ : /^extensionconfig-webhook: stopped before the end$/m);
  rmSync(folder, { recursive: true });
});

test('puts a webhook server that runs by itself in front of it', async () => {
  const folder = createCertificateFolder();
  const server = await startServeProcess(folder);
  const url = `https://127.0.0.1:${server.webhookPort}`;
  const { stop, output, ended } = startAlone(['--webhook-url', url, '--webhook-ca-file', `${folder.path}/tls.crt`]);
  try {
    const config = new KubeConfig();
    config.loadFromFile(await ready(output));
    expect(output.out).toContain(`its webhook: ${url}.`);
    const create = (extension: string) =>
      config.makeApiClient(CustomObjectsApi).createClusterCustomObject({
        group: 'runtime.cluster.x-k8s.io',
        version: 'v1alpha1',
        plural: 'extensionconfigs',
        body: {
          apiVersion: 'runtime.cluster.x-k8s.io/v1alpha1',
          kind: 'ExtensionConfig',
          metadata: { name: 'hooks' },
          spec: { clientConfig: { url: extension } },
        },
      });
    await expect(create('http://extension.example.com')).rejects.toMatchObject({ code: 422 });
    expect(await create('https://extension.example.com')).toMatchObject({ spec: { namespaceSelector: {} } });
  } finally {
    stop.abort();
    expect(await ended).toBe(0);
    expect(await server.stop()).toBe(0);
    folder.remove();
  }
});

test('writes its kubeconfig where scripts wait for it, and never over another file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'scripts-'));
  const file = join(folder, 'kubeconfig');
  const { stop, output, ended } = startAlone(['--write-kubeconfig', file]);
  await eventually(
    async () => readdirSync(folder),
    (files) => files.includes('kubeconfig'),
  );
  // When it is there, all is ready.
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const config = new KubeConfig();
  config.loadFromFile(file);
  const objects = config.makeApiClient(CustomObjectsApi);
  const resource = { group: 'runtime.cluster.x-k8s.io', version: 'v1beta2', plural: 'extensionconfigs' };
  expect(await objects.listClusterCustomObject(resource)).toMatchObject({ items: [] });
  const second = startAlone(['--write-kubeconfig', file]);
  expect(await second.ended).toBe(2);
  expect(second.output.err).toContain(`--write-kubeconfig: ${file} exists`);
  stop.abort();
  expect(await ended).toBe(0);
  expect(output.out).toContain(`KUBECONFIG=${file}`);
  expect(readdirSync(folder)).toEqual([]);
  const nowhere = startAlone(['--write-kubeconfig', join(folder, 'missing', 'kubeconfig')]);
  expect(await nowhere.ended).toBe(1);
  expect(nowhere.output.err).toContain('the kubeconfig cannot be written: ENOENT');
  rmSync(folder, { recursive: true });
});

test('its webhook configurations are those of the manifests, with a caBundle', async () => {
  const { stop, output, ended } = startAlone([]);
  try {
    const config = new KubeConfig();
    config.loadFromFile(await ready(output));
    const registration = config.makeApiClient(AdmissionregistrationV1Api);
    const manifests = parseAllDocuments(readFileSync('manifests/base/webhooks.yaml', 'utf8')).map((document) =>
      document.toJS(),
    );
    const found = [
      ...(await registration.listMutatingWebhookConfiguration()).items,
      ...(await registration.listValidatingWebhookConfiguration()).items,
    ];
    expect(found).toMatchObject(manifests.map(({ metadata, webhooks }) => ({ metadata, webhooks })));
    for (const { webhooks } of found) {
      expect(webhooks?.[0]?.clientConfig.caBundle).toMatch(/^[A-Za-z0-9+/]{1000}/);
    }
  } finally {
    stop.abort();
    await ended;
  }
});

test('takes the manifests of an installation with kubectl', { ...needs('kubectl'), timeout: 60_000 }, async () => {
  const { stop, output, ended } = startAlone([]);
  try {
    const kubeconfig = await ready(output);
    const kubectl = (...args: string[]) =>
      promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, ...args]).then(({ stdout }) => stdout);
    for (const overlay of ['default', 'with-crd', 'controller-discover']) {
      expect(await kubectl('apply', '-k', `manifests/overlays/${overlay}`)).toMatch(/mutatingwebhookconfiguration/);
    }
    // The webhooks still have their certificates, and now match conditions.
    expect(await kubectl('apply', '-f', 'manifests/samples/good-url.yaml')).toMatch(/created/);
    await expect(kubectl('apply', '-f', 'manifests/samples/bad-url.yaml')).rejects.toThrow(/denied the request/);
    const rotate = ['create', 'job', 'rotate-now', '--from=cronjob/extensionconfig-webhook-rotate'];
    expect(await kubectl('-n', 'extensionconfig-webhook-system', ...rotate)).toMatch(/rotate-now created/);
    expect(await kubectl('delete', '-k', 'manifests/overlays/default')).toMatch(/webhookconfiguration.* deleted/);
  } finally {
    stop.abort();
    await ended;
  }
});

test('takes them with a webhook server that runs by itself, too', {
  ...needs('kubectl'),
  timeout: 60_000,
}, async () => {
  const folder = createCertificateFolder();
  const server = await startServeProcess(folder);
  const url = `https://127.0.0.1:${server.webhookPort}`;
  const { stop, output, ended } = startAlone(['--webhook-url', url, '--webhook-ca-file', `${folder.path}/tls.crt`]);
  try {
    const kubeconfig = await ready(output);
    const kubectl = (...args: string[]) =>
      promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, ...args]).then(({ stdout }) => stdout);
    expect(await kubectl('apply', '-k', 'manifests/overlays/with-crd')).toMatch(/mutatingwebhookconfiguration/);
    expect(await kubectl('apply', '-f', 'manifests/samples/good-url.yaml')).toMatch(/created/);
    await expect(kubectl('apply', '-f', 'manifests/samples/bad-url.yaml')).rejects.toThrow(/denied the request/);
    expect(await kubectl('get', 'extensionconfigs.v1alpha1.runtime.cluster.x-k8s.io', '-o', 'name')).toMatch(/^\S+\n$/);
  } finally {
    stop.abort();
    await ended;
    await server.stop();
    folder.remove();
  }
});

test('kubectl asks what it may do, acts for others, and does not wait for what never runs', {
  ...needs('kubectl'),
  timeout: 60_000,
}, async () => {
  const { stop, output, ended } = startAlone([]);
  try {
    const kubeconfig = await ready(output);
    const kubectl = (...args: string[]) =>
      promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, ...args], { timeout: 20_000 }).then(
        ({ stdout }) => stdout,
        ({ stderr }: { stderr: string }) => stderr,
      );
    expect(await kubectl('auth', 'can-i', '--list')).toMatch(/\*\.\* +\[\] +\[\] +\[\*\]/);
    expect(await kubectl('auth', 'can-i', 'delete', 'nodes', '--as', 'somebody')).toBe('yes\n');
    const as = ['--as', 'system:serviceaccount:a:b', '--as-uid', '7'];
    expect(JSON.parse(await kubectl('auth', 'whoami', '-o', 'json', ...as))).toMatchObject({
      status: {
        userInfo: {
          username: 'system:serviceaccount:a:b',
          uid: '7',
          groups: ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated'],
        },
      },
    });
    expect(await kubectl('create', 'deployment', 'web', '--image=web')).toMatch(/created/);
    const started = performance.now();
    expect(await kubectl('rollout', 'status', 'deployment/web')).toContain('exceeded its progress deadline');
    expect(performance.now() - started).toBeLessThan(15_000);
    expect(await kubectl('describe', 'deployment/web')).toMatch(/ProgressDeadlineExceeded/);
    expect(await kubectl('get', 'deployment/web', '-o', 'yaml')).toContain('nothing runs in the sandbox');
  } finally {
    stop.abort();
    await ended;
  }
});

describe('the story that it prints', needs('kubectl'), () => {
  test('runs, command by command, and the page about the sandbox tells the same', { timeout: 90_000 }, async () => {
    const { stop, output, ended } = start([]);
    try {
      await ready(output);
      const lines = output.out.split('\n').filter((line) => line.startsWith('  '));
      const commands = lines.map((line) => line.replace(/ +#.*$/, '').trim());
      const env = { ...process.env, KUBECONFIG: /=(.*)/.exec(commands[0] ?? '')?.[1] };
      const results = new Map<string, string>();
      for (const command of commands.slice(1)) {
        const [program = '', ...args] = command.split(' ');
        const answer = await promisify(execFile)(program, args, { env, timeout: 40_000 }).catch(
          (error: { code: number; stdout: string; stderr: string }) => error,
        );
        const text = `${answer.stdout}${answer.stderr}`;
        expect('code' in answer ? answer.code : 0, `${command}\n${text}`).toBe(command.includes('bad-') ? 1 : 0);
        results.set(command.replace(/\/\S*\//, ''), text);
      }
      const printed = (part: string) => [...results].find(([command]) => command.includes(part))?.[1] ?? '';
      expect(printed('get extensionconfigs')).toMatch(/^sample-extension +True /m);
      const described = printed('describe');
      expect(described).toMatch(/Name: +before-cluster-create\.sample-extension$/m);
      expect(described).toMatch(/Normal +Discovered .* extensionconfig-webhook +discovered 16 handlers$/m);
      expect(printed('get events')).toMatch(
        /Warning +NotDiscovered +extensionconfig\/sample-extension +Error in discovery: .*connection refused$/m,
      );
      expect(printed('bad-target')).toMatch(/url and service are both set/);

      // What stopped comes back at the place where it was, and is found again.
      const wait = ['wait', 'extensionconfig', 'sample-extension', '--for=condition=Discovered', '--timeout=30s'];
      expect((await promisify(execFile)('kubectl', wait, { env })).stdout).toMatch(/condition met/);
      const rollout = ['-n', 'sample-extension', 'rollout', 'status', 'deployment/sample-extension', '--timeout=20s'];
      expect((await promisify(execFile)('kubectl', rollout, { env })).stdout).toMatch(/successfully rolled out/);

      const [, rehearsal = ''] = /^extensionconfig-webhook (rehearse .*)$/m.exec(output.out) ?? [];
      const played = await runProgram([...rehearsal.split(' '), '--kubeconfig', env.KUBECONFIG ?? '']);
      expect([played.code, played.stderr]).toEqual([0, '']);
      expect(played.stdout).toMatch(/The life was played to its end: .* 11 calls$/m);

      const page = readFileSync('docs/sandbox.md', 'utf8');
      for (const command of commands.slice(1)) {
        expect(page).toContain(command.replace(`${process.cwd()}/`, ''));
      }
    } finally {
      stop.abort();
      expect(await ended).toBe(0);
    }
    expect(output.err).not.toMatch(/"level":"error"/);
  });

  test('--no-extension and --no-controller leave out one of them', { timeout: 60_000 }, async () => {
    const { stop, output, ended } = start(['--no-extension']);
    try {
      const kubeconfig = await ready(output);
      const kubectl = (...args: string[]) =>
        promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, ...args]).then(({ stdout }) => stdout);
      expect(await kubectl('get', 'ext,deployments', '-A')).toBe('');
      // Somebody's own extension, which is not there.
      const config = new KubeConfig();
      config.loadFromFile(kubeconfig);
      await config.makeApiClient(CustomObjectsApi).createClusterCustomObject({
        group: 'runtime.cluster.x-k8s.io',
        version: 'v1beta2',
        plural: 'extensionconfigs',
        body: {
          apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
          kind: 'ExtensionConfig',
          metadata: { name: 'own' },
          spec: { clientConfig: { url: 'https://127.0.0.1:1' } },
        },
      });
      await kubectl('wait', 'ext', '--all', '--for=condition=Discovered=False', '--timeout=30s');
    } finally {
      stop.abort();
      expect(await ended).toBe(0);
    }
    const alone = start(['--no-controller']);
    try {
      const kubeconfig = await ready(alone.output);
      const kubectl = (...args: string[]) =>
        promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, ...args]).then(({ stdout }) => stdout);
      await kubectl('wait', '--for=create', '-n', 'sample-extension', 'deployment/sample-extension', '--timeout=30s');
      const [resource, name] = ['deployment', 'sample-extension'];
      await kubectl('-n', 'sample-extension', 'rollout', 'status', resource, name, '--timeout=30s');
      expect(await kubectl('get', 'ext', 'sample-extension', '-o', 'jsonpath={.status}')).toBe('');
    } finally {
      alone.stop.abort();
      expect(await alone.ended).toBe(0);
    }
  });
});

test.each([
  [['--port', 'x'], '--port'],
  [['--webhook-url', 'http://localhost:1'], 'must begin with https://'],
  [['--webhook-url', 'nothing'], 'is not a URL'],
  [['--webhook-url', 'https://localhost:1'], 'needs --webhook-ca-file'],
  [['--webhook-url', 'https://localhost:1', '--webhook-ca-file', '/nowhere.pem'], '/nowhere.pem: no such file'],
  [
    ['--webhook-url', 'https://localhost:1', '--webhook-ca-file', '/dev/null'],
    '/dev/null: is a device, not a regular file',
  ],
  [['--webhook-url', 'https://localhost:1', '--webhook-ca-file', 'package.json'], 'package.json holds no certificates'],
  [['--webhook-ca-file', 'package.json'], 'belongs to --webhook-url'],
])('%j is a usage error', async (args, message) => {
  const { output, ended } = startAlone(args);
  expect(await ended).toBe(2);
  expect(output.err).toContain(message);
});
