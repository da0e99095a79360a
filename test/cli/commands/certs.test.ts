import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { afterEach, beforeEach, expect, onTestFailed, onTestFinished, test, vi } from 'vitest';
import { issueCa, issueServingCertificate } from '../../../src/base/x509/index.ts';
import { run } from '../../../src/cli/index.ts';
import { day } from '../../base/x509/keys.ts';
import {
  ApiServer,
  bundlesOf,
  caPath,
  crdPath,
  mutatingPath,
  namespace,
  putTargets,
  servingPath,
  targetFlags,
  validatingPath,
  valueIn,
} from '../../kubernetes/client/api-server.ts';

let server: ApiServer;
let place: string[];

beforeEach(async () => {
  server = await new ApiServer().start();
  putTargets(server);
  place = ['--namespace', namespace, '--kubeconfig', server.kubeconfig()];
});
afterEach(() => server.stop());

async function cliWith(
  io: { env?: NodeJS.ProcessEnv; signal?: AbortSignal; isTTY?: boolean; onError?: (text: string) => void },
  ...args: string[]
): Promise<{ code: number; out: string; err: string }> {
  const stdout = new PassThrough();
  let err = '';
  const stderr = Object.assign(new PassThrough(), { isTTY: io.isTTY === true }).on('data', (chunk) => {
    err += chunk;
    io.onError?.(err);
  });
  onTestFailed(() => void process.stderr.write(`stderr of certs ${args.join(' ')}:\n${err}\n`));
  const { env = {}, signal = new AbortController().signal } = io;
  const code = await run(['certs', ...args], { stdin: new PassThrough(), stdout, stderr, env, signal });
  await finished(stderr.end());
  return { code, out: String(stdout.read() ?? ''), err };
}

const cli = (...args: string[]) => cliWith({}, ...args);

/** Every object of the API server after a bootstrap. */
let afterBootstrap: ApiServer['objects'] | undefined;
/** What `certs bootstrap` leaves behind, which is done once. */
async function bootstrapped(): Promise<void> {
  if (afterBootstrap === undefined) {
    expect(await cli('bootstrap', ...place, ...targetFlags)).toMatchObject({ code: 0 });
    afterBootstrap = structuredClone(server.objects);
    return;
  }
  for (const [path, object] of structuredClone(afterBootstrap)) {
    server.put(path, object);
  }
}

/** `certs status`, with its sentences in one line each. */
async function statusOf(...args: string[]) {
  const { code, out } = await cli('status', ...args);
  // Only names, which are longer than that, do not fit.
  expect(out.split('\n').filter((line) => line.length > 80 && line.trim().includes(' '))).toEqual([]);
  return { code, out: out.replaceAll('\n    ', ' ') };
}

const listPath = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs';
const quick = ['--propagation-delay', '0', '--overlap', '0', '--wait'];

test('bootstrap, status, rotate, status: no output contains a private key', async () => {
  expect((await cli('status', ...place, ...targetFlags)).code).toBe(1);
  const made = await cli('bootstrap', ...place, ...targetFlags);
  expect(made).toMatchObject({ code: 0 });
  const before = valueIn(server.objects.get(servingPath), 'ca.crt');
  const status = await cli('status', '--output', 'json', ...place, ...targetFlags);
  expect(status.code).toBe(0);
  expect(JSON.parse(status.out)).toMatchObject({ ok: true, stage: 'steady', next: { action: 'done' } });
  const rotated = await cli('rotate', '--force', 'ca', ...quick, ...place, ...targetFlags);
  expect(rotated).toMatchObject({ code: 0 });
  expect(valueIn(server.objects.get(servingPath), 'ca.crt')).not.toBe(before);
  const table = await statusOf(...place, ...targetFlags);
  expect(table.code).toBe(0);
  expect(table.out).toContain('CustomResourceDefinition/extensionconfigs.runtime.cluster.x-k8s.io: in sync');
  expect(table.out).toContain(
    'left alone: webhooks[0] (foreign.example.com) calls the service extensionconfig-webhook-system/other',
  );
  const key = valueIn(server.objects.get(caPath), 'ca.key').split('\n')[1]!;
  expect(key.length).toBeGreaterThan(40);
  for (const { out, err = '' } of [made, status, rotated, { out: table.out }]) {
    expect(out + err).not.toContain('PRIVATE KEY');
    expect(out + err).not.toContain(key);
  }
});

test('rotate without --wait stops at a wait and says when to continue', async () => {
  await bootstrapped();
  const { code, out } = await cli('rotate', '--force', 'ca', ...place, ...targetFlags);
  expect(code).toBe(0);
  expect(out).toMatch(/^MutatingWebhook[\s\S]*stage staged: every target has the trust bundle; .* Run again after /m);
});

test('rotate --force ca continues a rotation that is under way, and says so: no clock starts over', async () => {
  await bootstrapped();
  const rotate = ['rotate', '--force', 'ca', '--propagation-delay', '0', ...place, ...targetFlags];
  const first = await cli(...rotate);
  expect(first).toMatchObject({ code: 0, out: expect.stringContaining('stage promoted: ') });
  expect(first.err).not.toContain('continue: ');
  const before = server.objects.get(servingPath);
  const second = await cli(...rotate);
  expect(second).toMatchObject({ code: 0, out: first.out });
  expect(second.err).toContain(
    'continue: a rotation is under way (stage promoted), so --force ca starts no other one\n',
  );
  expect(server.objects.get(servingPath)).toBe(before);
});

test('status shows each certificate and target in a line', async () => {
  const named = ['--target', 'ValidatingWebhookConfiguration/ours'];
  await bootstrapped();
  const { out } = await statusOf(...place, ...named);
  const time = /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
  const text = out
    .replaceAll(time, 'TIME')
    .replaceAll(/[0-9A-F]{16,}/g, 'SERIAL')
    .replaceAll(/20\d\d-\d\d-\d\d \w{8}/g, 'DATE');
  expect(
    text,
  ).toBe(`CA: ok; valid TIME to TIME, renewed from TIME on (O=extensionconfig-webhook, CN=extensionconfig-webhook CA DATE, serial SERIAL)
serving certificate: ok; valid TIME to TIME, renewed from TIME on (CN=extensionconfig-webhook, serial SERIAL)
in trust bundle: ok; valid TIME to TIME (O=extensionconfig-webhook, CN=extensionconfig-webhook CA DATE, serial SERIAL)
ValidatingWebhookConfiguration/ours: in sync
ValidatingWebhookConfiguration/ours: left alone: webhooks[1] (url.example.com) calls no service, not extensionconfig-webhook-system/extensionconfig-webhook
stage: steady
next: done: the CA, the serving certificate and all targets are in order
rotation: certificates are not renewed automatically: there is no CronJob extensionconfig-webhook-system/extensionconfig-webhook-rotate; apply it, or run certs rotate
`);
});

test('status names who rotates, and when that was done last', async () => {
  const named = ['--target', 'ValidatingWebhookConfiguration/ours'];
  await bootstrapped();
  const path = `/apis/batch/v1/namespaces/${namespace}/cronjobs/extensionconfig-webhook-rotate`;
  const job = (suspend: boolean, status = {}) =>
    server.put(path, {
      metadata: { name: 'extensionconfig-webhook-rotate' },
      spec: { schedule: '17 * * * *', suspend },
      status,
    });
  const rotation = async () => /^rotation: (.*)$/m.exec((await statusOf(...place, ...named)).out)?.[1];
  job(false, { lastSuccessfulTime: '2026-06-01T00:17:05Z' });
  const id = `CronJob ${namespace}/extensionconfig-webhook-rotate`;
  expect(await rotation()).toBe(`${id} rotates what is due (17 * * * *); its last success was at 2026-06-01T00:17:05Z`);
  job(false);
  expect(await rotation()).toBe(`${id} rotates what is due (17 * * * *); it has not succeeded yet`);
  job(true);
  expect(await rotation()).toBe(`${id} is suspended, so certificates are not renewed: resume it`);
});

test('status without targets looks at those of the shipped manifests: an empty caBundle is a finding', async () => {
  await bootstrapped();
  for (const path of [mutatingPath, validatingPath]) {
    const object = structuredClone(server.objects.get(path)!);
    object.metadata.name = 'extensionconfig-webhook';
    server.put(path.replace(/ours$/, 'extensionconfig-webhook'), object);
  }
  expect((await statusOf(...place)).code).toBe(0);
  const emptied = structuredClone(server.objects.get(mutatingPath)!);
  emptied.metadata.name = 'extensionconfig-webhook';
  emptied.webhooks[1].clientConfig.caBundle = '';
  server.put(mutatingPath.replace(/ours$/, 'extensionconfig-webhook'), emptied);
  const { code, out } = await statusOf(...place);
  expect([code, out]).toEqual([
    1,
    expect.stringContaining('MutatingWebhookConfiguration/extensionconfig-webhook: out of sync\n'),
  ]);
});

test('inject without targets writes the caBundles of the shipped manifests', async () => {
  await bootstrapped();
  const shipped = structuredClone(server.objects.get(mutatingPath)!);
  shipped.metadata.name = 'extensionconfig-webhook';
  for (const webhook of shipped.webhooks) {
    webhook.clientConfig.caBundle = '';
  }
  const path = mutatingPath.replace(/ours$/, 'extensionconfig-webhook');
  server.put(path, shipped);
  await cli('inject', ...place);
  expect(server.objects.get(path)?.webhooks[1].clientConfig.caBundle).not.toBe('');
});

test('another service has no targets but those that are named', async () => {
  expect(await cli('bootstrap', ...place, '--service', 'other')).toMatchObject({ code: 0 });
  expect((await cli('inject', ...place, '--service', 'other')).out).toBe('no targets\n');
});

test('status knows the wait of a Job that names fewer targets, if none of the others calls the service', async () => {
  const crd = structuredClone(server.objects.get(crdPath)!);
  crd.spec.conversion = { strategy: 'None' };
  const fewer = ['--target', 'MutatingWebhookConfiguration/ours', '--target', 'ValidatingWebhookConfiguration/ours'];
  await bootstrapped();
  server.put(crdPath, crd);
  await cli('rotate', '--force', 'ca', ...place, ...fewer);
  const { code, out } = await statusOf(
    ...place,
    ...fewer,
    '--target',
    'CustomResourceDefinition/extensionconfigs.runtime.cluster.x-k8s.io',
  );
  expect([code, out]).toEqual([0, expect.stringMatching(/^stage: staged\nnext: wait until /m)]);
});

test('inject into a named target that calls another service is a finding', async () => {
  await bootstrapped();
  server.put(`${listPath}/other`, {
    metadata: { name: 'other' },
    spec: { clientConfig: { url: 'https://x.example' } },
  });
  const { code, err } = await cli('inject', ...place, '--target', 'ExtensionConfig/other');
  expect([code, err]).toEqual([
    1,
    'nothing was injected into ExtensionConfig/other: name its service with --service and --namespace\n',
  ]);
});

test('inject writes only caBundles, and nothing the second time', async () => {
  await bootstrapped();
  putTargets(server);
  expect(await cli('inject', ...place, ...targetFlags)).toMatchObject({ code: 0 });
  expect(new Set(bundlesOf(server.objects))).toEqual(new Set([valueIn(server.objects.get(servingPath), 'ca.crt')]));
  const { writes } = server;
  const again = await cli('inject', ...place, '--selector', 'app=ours');
  expect(again).toMatchObject({ code: 0 });
  expect(again.out).toContain('ValidatingWebhookConfiguration/ours: in sync');
  expect(server.writes).toBe(writes);
});

test('inject fills ExtensionConfigs from the Secret in their annotation', async () => {
  await bootstrapped();
  const at = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs';
  const make = (name: string, secret: string) =>
    server.put(`${at}/${name}`, {
      metadata: { name, annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': secret } },
      spec: { clientConfig: { url: 'https://example.com' } },
    });
  make('good', `${namespace}/extensionconfig-webhook-tls`);
  make('gone', `${namespace}/nothing`);
  make('odd', 'no-namespace');
  const { code, out } = await cli('inject', '--target', 'ExtensionConfig', ...place);
  expect(code).toBe(1);
  expect(out).toContain('ExtensionConfig/good: written');
  expect(out).toContain(`ExtensionConfig/gone: failed: Secret ${namespace}/nothing does not exist`);
  expect(out).toContain('secret name "no-namespace" must be in the form <namespace>/<name>');
  const bundle = server.objects.get(`${at}/good`)!.spec.clientConfig.caBundle;
  expect(Buffer.from(bundle, 'base64').toString()).toBe(valueIn(server.objects.get(servingPath), 'ca.crt'));
});

test("with cert-manager's Secret, and with --external-ca, no certificate is issued", async () => {
  await bootstrapped();
  putTargets(server);
  const secret = structuredClone(server.objects.get(servingPath)!);
  server.delete(caPath);
  expect(await cli('rotate', '--external-ca', '--force', 'ca', ...place, ...targetFlags)).toMatchObject({ code: 0 });
  secret.metadata.annotations = { 'cert-manager.io/certificate-name': 'ours' };
  server.put(servingPath, secret);
  putTargets(server);
  const { code, err } = await cli('bootstrap', ...place, ...targetFlags);
  expect(code).toBe(0);
  expect(err).toContain('belongs to cert-manager: only its ca.crt is injected');
  expect(server.objects.has(caPath)).toBe(false);
  expect(new Set(bundlesOf(server.objects)).size).toBe(1);
  const status = await statusOf(...place, ...targetFlags);
  expect([status.code, status.out]).toEqual([
    0,
    expect.stringContaining('\nrotation: cert-manager renews Certificate ours\n'),
  ]);
});

test.each([
  [[], 'extensionconfig-webhook-tls'],
  [['--ca-secret', 'ours'], 'ours'],
])('--external-ca with a Secret that does not exist is a finding, also without targets (%j)', async (flags, name) => {
  for (const command of ['bootstrap', 'rotate', 'inject', 'status']) {
    const { code, out, err } = await cli(command, '--external-ca', ...flags, ...place);
    expect(code).toBe(1);
    expect((out + err).replaceAll('\n    ', ' ')).toContain(`Secret ${namespace}/${name} does not exist`);
  }
});

test('a folder without certificates', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'no-certificates-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { code, out } = await statusOf('--cert-dir', folder);
  expect([code, out]).toEqual([1, expect.stringContaining(`trust bundle: folder ${folder} has no ca.crt\n`)]);
});

test.each([-2 * 3_600_000, 70 * day])('a clock that is wrong by %d ms: nothing is issued', async (wrongByMs) => {
  // The fake server's responses have the real time.
  vi.useFakeTimers({ now: Date.now() + wrongByMs, toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { code, err } = await cli('bootstrap', ...place, ...targetFlags);
  expect(code).toBe(1);
  expect(err).toMatch(/this machine's clock says .*Z, and the API server's .*Z: correct the one that is wrong/);
  expect(server.objects.has(caPath)).toBe(false);
  vi.setSystemTime(Date.now() - wrongByMs);
  expect(await cli('bootstrap', ...place, ...targetFlags)).toMatchObject({ code: 0 });
});

test.each([
  ['in time', 45, 0, ''],
  ['that is late', 80, 0, 'the serving certificate expires at '],
  ['that begins tomorrow', -1, 0, 'the serving certificate is not valid before '],
  ['that has expired', 100, 1, 'the serving certificate expired at '],
])('a certificate that is issued elsewhere, %s: exit code and remedy', async (_, age, code, text) => {
  const issuedAt = new Date(Date.now() - age * day);
  const ca = issueCa(issuedAt, 1000 * day);
  const serving = issueServingCertificate(ca, ['ours.test'], issuedAt, 90 * day);
  server.put(servingPath, {
    metadata: { name: 'extensionconfig-webhook-tls', annotations: { 'cert-manager.io/certificate-name': 'ours' } },
    data: {
      'tls.crt': Buffer.from(serving.certificate.pem).toString('base64'),
      'tls.key': Buffer.from(serving.key).toString('base64'),
      'ca.crt': Buffer.from(ca.certificate.pem).toString('base64'),
    },
  });
  const result = await cli('rotate', ...place, ...targetFlags);
  expect(result.code).toBe(code);
  expect(result.err.includes('renew it where it is issued; for one from this program instead, uninstall')).toBe(
    text !== '',
  );
  expect(result.err).toContain(text);
  const asJson = await cli('rotate', '--output', 'json', ...place, ...targetFlags);
  expect(asJson.code).toBe(code);
  const { problem = '', targets, ...rest } = JSON.parse(asJson.out);
  expect(rest).toEqual({
    stage: 'external',
    result: 'inject only',
    reason: expect.stringMatching(/belongs to cert-manager: only its ca\.crt is injected$/),
    missing: [],
  });
  expect([problem.slice(0, text.length), problem !== '', targets.length]).toEqual([text, text !== '', 4]);
  expect(new Set(bundlesOf(server.objects))).toEqual(new Set([ca.certificate.pem]));
});

test.each([
  [
    'a forbidden Secret',
    `GET ${caPath}`,
    `the permission to get secrets ${namespace}/extensionconfig-webhook-ca is missing`,
    false,
  ],
  ['a forbidden patch', `PATCH ${crdPath}`, 'patch customresourcedefinitions.apiextensions.k8s.io', true],
  ['a forbidden list', `GET ${listPath}`, 'list extensionconfigs.runtime.cluster.x-k8s.io (all) is missing', true],
])('%s is exit code 1 and names the permission, and stops no renewal that does not need it', async (...row) => {
  const [, request, text, isIssued] = row;
  server.forbidden.add(request);
  const { code, out, err } = await cli('bootstrap', ...place, ...targetFlags, '--selector', 'app=ours');
  expect(code).toBe(1);
  expect(out + err).toContain(text);
  expect(server.objects.has(servingPath)).toBe(isIssued);
});

test.each([
  [
    ['--propagation-delay', 'soon'],
    '--propagation-delay: "soon" is not allowed: it must be a duration from 0 to 24h, such as 30s, 1h30m or 1d',
  ],
  [
    ['--dns-name', 'fe80::1%eth0'],
    '--dns-name: "fe80::1%eth0" is not allowed: it must be an IP address without a zone',
  ],
  [['--secret', 'a', '--ca-secret', 'a'], 'name the same Secret'],
  [['--overlap', '366d'], '--overlap: "366d" is not allowed: it must be a duration from 0 to 365d, such as'],
  [['--propagation-delay', '25h'], 'it must be a duration from 0 to 24h'],
  [['--propagation-delay', '1'.repeat(65)], 'is not allowed: it must be a duration'],
  [
    Array.from({ length: 100 }, (_, index) => `--dns-name=n${index}.example.com`),
    'too many for a certificate, which may have 100',
  ],
  [['--target', 'Pod/a'], '--target: "Pod/a" is not allowed: it must be KIND/NAME; the kinds are Mutating'],
  [
    ['--target', 'CustomResourceDefinition/../secrets'],
    '--target: "CustomResourceDefinition/../secrets" is not allowed: it must consist of',
  ],
  [['--context', 'other'], 'context "other"'],
])('%.60j is a usage error', async (flags, text) => {
  const { code, err } = await cli('rotate', ...place, ...flags);
  expect(code).toBe(2);
  expect(err).toContain(text);
});

test('a command that is stopped while it waits for the API server says so, with exit code 130', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const folder = mkdtempSync(join(tmpdir(), 'silent-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const text = readFileSync(server.kubeconfig(), 'utf8');
  writeFileSync(kubeconfig, text.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${(silent.address() as AddressInfo).port}`));
  const stop = new AbortController();
  const [status] = await Promise.all([
    cliWith({ signal: stop.signal }, 'status', '--kubeconfig', kubeconfig),
    once(silent, 'connection').then(() => stop.abort('SIGINT')),
  ]);
  // With a real signal: test/cli/commands/sandbox/process.test.ts.
  expect(status).toEqual({ code: 130, out: '', err: 'extensionconfig-webhook: interrupted\n' });
  silent.closeAllConnections();
  silent.close();
  rmSync(folder, { recursive: true });
});

test('a named target that is missing is a finding, in the same words everywhere, and nothing is «in order»', async () => {
  server.delete(crdPath);
  const finding =
    'CustomResourceDefinition/extensionconfigs.runtime.cluster.x-k8s.io: missing: does not exist: create it, or name other targets';
  const made = await cli('bootstrap', ...place, ...targetFlags);
  const results = [
    made,
    await statusOf(...place, ...targetFlags),
    await cli('rotate', ...place, ...targetFlags),
    await cli('rotate', '--force', 'ca', ...quick, ...place, ...targetFlags),
    await cli('inject', ...place, ...targetFlags),
  ];
  for (const { code, out } of results) {
    expect(code).toBe(1);
    expect(out.split('\n')).toContain(finding);
    expect(out).not.toContain('in order');
  }
  // The others were rotated all the same.
  expect(new Set(bundlesOf(server.objects))).toEqual(new Set([valueIn(server.objects.get(servingPath), 'ca.crt')]));
  const forced = await cli('rotate', '--force', 'ca', ...place, ...targetFlags);
  expect(forced).toMatchObject({ code: 1 });
  expect(forced.out).toContain('Run again after');
  expect(forced.out.split('\n')).toContain(finding);
  // Without any target, nothing is said about «every target».
  for (const path of [...server.objects.keys()].filter((found) => !found.includes('/secrets/'))) {
    server.delete(path);
  }
  const status = await statusOf(...place, ...targetFlags);
  expect(status.code).toBe(1);
  expect(status.out).toMatch(
    /^next: wait until \S+: no target exists \(Mutating\S+: missing: does not exist: create it, /m,
  );
  expect(status.out).not.toContain('every target');
});

test.each([
  ['a Secret', servingPath, { data: 'x' }],
  ['a target', mutatingPath, { webhooks: 'x' }],
])('a malformed %s (%s) is an error, not an empty one: nothing is written', async (_what, path, changes) => {
  await bootstrapped();
  server.objects.set(path, { ...server.objects.get(path)!, ...(changes as object) });
  const { writes } = server;
  for (const command of ['status', 'rotate']) {
    const { code, out, err } = await cli(command, ...place, ...targetFlags);
    expect(code).toBe(1);
    expect(out + err).toMatch(/API server(?:'s answer is not the| returned a webhook configuration whose)/);
    expect(out).not.toContain('create-ca');
  }
  expect(server.writes).toBe(writes);
});

test('-n is the namespace, and a flag for targets may be repeated', async () => {
  const targets = [
    '--target',
    'MutatingWebhookConfiguration/ours',
    '--target',
    'ValidatingWebhookConfiguration/ours',
    '--target',
    'ValidatingWebhookConfiguration/gone',
  ];
  const { code, out } = await cli('bootstrap', '-n', namespace, ...place.slice(2), ...targets);
  expect(code).toBe(1);
  expect(out).toContain('ValidatingWebhookConfiguration/gone: missing');
  expect(valueIn(server.objects.get(servingPath), 'ca.crt')).toBe(bundlesOf(server.objects)[0]);
});

test('a list is read in pages, and the work is linear in the targets', async () => {
  const at = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs';
  const count = 45;
  server.maxPage = 20;
  for (let index = 0; index < count; index++) {
    server.put(`${at}/e-${index}`, {
      metadata: { name: `e-${index}`, labels: { app: 'ours' } },
      spec: { clientConfig: { service: { name: 'extensionconfig-webhook', namespace } } },
    });
  }
  server.requests = 0;
  const { code, out } = await cli('bootstrap', ...place, '--selector', 'app=ours');
  expect([code, out]).toMatchObject([0, expect.stringContaining('in order')]);
  const bundles = [...server.objects].filter(([path]) => path.startsWith(`${at}/e-`));
  expect(bundles).toHaveLength(count);
  expect(new Set(bundles.map(([, { spec }]) => spec.clientConfig.caBundle)).size).toBe(1);
  // A patch for each, and a few reads of everything, each of several pages.
  expect(server.requests).toBeLessThan(count + 80);
});

test('on a terminal a wait of over a second is shown, and erased when it is stopped', async () => {
  await bootstrapped();
  const stop = new AbortController();
  const onError = (text: string) => text.includes(' …') && stop.abort('SIGINT');
  const rotate = ['rotate', '--force', 'ca', '--wait', ...place, ...targetFlags];
  const { code, out, err } = await cliWith({ signal: stop.signal, isTTY: true, onError }, ...rotate);
  expect(code).toBe(130);
  expect(out).toContain('stage staged: every target has the trust bundle');
  expect(err.match(/^wait: until /gm)).toHaveLength(1);
  expect(err).toContain('\r\u001b[Kwait: until ');
  expect(err.endsWith(' …\r\u001b[Kextensionconfig-webhook: interrupted\n')).toBe(true);
});

test.each<[string, (path: string) => unknown]>([
  ['a FIFO', (path) => execFileSync('mkfifo', [path])],
  ['a folder', mkdirSync],
])('a kubeconfig that is not a regular file (%s) is a usage error at once', async (_what, make) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  const path = join(folder, 'config');
  make(path);
  const { code, err } = await cli('status', '--kubeconfig', path);
  rmSync(folder, { recursive: true });
  expect(code).toBe(2);
  expect(err).toContain(`no cluster: the kubeconfig ${path} is a `);
});

test('a rotation that a GitOps tool holds up ends with code 1, and says what to do', async () => {
  await bootstrapped();
  expect(await cli('rotate', '--force', 'ca', ...place, ...targetFlags)).toMatchObject({ code: 0 });
  const secret = structuredClone(server.objects.get(caPath)!);
  const since = new Date(Date.now() - 4 * 3_600_000).toISOString();
  secret.metadata.annotations = { ...secret.metadata.annotations, 'extensionconfig-webhook/staged-since': since };
  server.put(caPath, secret);
  const said = expect.stringContaining(
    `the rotation is staged since ${since}, and the wait starts over each time that`,
  );
  putTargets(server);
  expect(await cli('rotate', ...place, ...targetFlags)).toMatchObject({ code: 1, out: said });
  putTargets(server);
  const json = await cli('status', '--output', 'json', ...place, ...targetFlags);
  expect(JSON.parse(json.out)).toMatchObject({ ok: false, stage: 'staged', next: { action: 'inject' } });
});
