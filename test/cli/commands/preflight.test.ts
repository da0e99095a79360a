import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { crd, type ExtensionConfig } from '../../../src/extensionconfig/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { makeCertificate, testCa } from '../../base/x509/certificates.ts';
import {
  type Answering,
  caBundle,
  extensionConfig,
  startExtension,
  storedHandler,
} from '../../runtimehooks/client/extension-server.ts';
import { eventually, send } from '../../sandbox/client.ts';
import { runProgram } from './io.ts';

function write(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'preflight-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

const fileOf = (...configs: object[]) =>
  write('configs.yaml', configs.map((config) => stringify(config)).join('---\n'));

const offering =
  (...hooks: string[]): Answering =>
  () => ({
    status: 'Success',
    handlers: hooks.map((hook) => ({
      name: hook.toLowerCase(),
      requestHook: { apiVersion: `${hooksGroup}/v1alpha1`, hook },
    })),
  });

async function server(answer: Answering, options = {}) {
  const started = await startExtension(answer, options);
  onTestFinished(() => started.close());
  return started;
}

interface Report {
  from: string;
  isFromKnown: boolean;
  to: string;
  verdict: string;
  findings: Finding[];
  extensions: { extensionConfig: string; verdict: string; hooks: string[]; findings: Finding[] }[];
}
interface Finding {
  severity: string;
  topic: string;
  message: string;
  remedy?: string;
}

async function preflight(...args: string[]): Promise<{ code: number; report: Report; stderr: string }> {
  const { code, stdout, stderr } = await runProgram(['preflight', '--output', 'json', ...args]);
  return { code, report: JSON.parse(stdout || '{}') as Report, stderr };
}

const upgrade = ['--target-cluster-api-version', 'v1.14', '--current-cluster-api-version', 'v1.12'];
const topicsOf = ({ extensions }: Report) =>
  extensions.flatMap(({ findings }) => findings.map(({ severity, topic }) => `${severity} ${topic}`));

describe('with files', () => {
  test('colours on a terminal, and none with NO_COLOR', async () => {
    const { url } = await server(offering('GeneratePatches'));
    const args = ['preflight', ...upgrade, '-f', fileOf(extensionConfig('a', { url, caBundle }))];
    expect((await runProgram(args, { isTTY: true, env: { TERM: 'xterm' } })).stdout).toContain('\u001b[32msafe');
    expect((await runProgram(args, { isTTY: true, env: { TERM: 'xterm', NO_COLOR: '1' } })).stdout).not.toContain(
      '\u001b[',
    );
  });

  test('files without ExtensionConfigs are a usage error, not safe', async () => {
    const { code, stderr } = await preflight(...upgrade, '-f', write('pod.yaml', 'kind: Pod\n'));
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('there are no ExtensionConfigs in the files: pass others with -f'),
    });
  });

  test('an extension that responds is safe; changes of calls are reported', async () => {
    const extension = await server(offering('BeforeClusterUpgrade'));
    const { code, report } = await preflight(
      ...upgrade,
      '-f',
      fileOf(extensionConfig('one', { url: extension.url, caBundle })),
    );
    expect(code).toBe(0);
    expect(report).toMatchObject({ from: 'v1.12', to: 'v1.14', isFromKnown: true, verdict: 'safe' });
    const messages = report.extensions[0]!.findings.map(({ message }) => message);
    expect(messages).toContain(
      'v1.13: the Cluster of requests is v1beta2 (before: v1beta1), under the same version of the hook',
    );
    expect(messages.join()).not.toContain('v1.12:');
    // Discovery only: no hook is called.
    expect(extension.received.every(({ url }) => url.includes('/discovery'))).toBe(true);
  });

  test('changed variables are reported, except for extensions without any', async () => {
    const extension = await server(offering('DiscoverVariables'));
    const file = fileOf(extensionConfig('one', { url: extension.url, caBundle }));
    const { report } = await preflight(...upgrade, '-f', file);
    const text = JSON.stringify(report);
    expect(text).toContain('ClusterClassVariables of v1beta2');
    expect(text).not.toContain('the Cluster of requests is v1beta2');
    const later = await preflight(
      '--target-cluster-api-version',
      'v1.14',
      '--current-cluster-api-version',
      'v1.13',
      '-f',
      file,
    );
    expect(JSON.stringify(later.report)).not.toContain('ClusterClassVariables of v1beta2');
  });

  test('text says what to do first, each thing once, in 80 columns; the exit code is 1', async () => {
    const newer = await server(offering('BeforeClusterCreate', 'BeforeWorkersUpgrade'));
    const good = await server(offering('GeneratePatches'));
    const file = fileOf(
      extensionConfig('good', { url: good.url, caBundle }),
      extensionConfig('newer', { url: newer.url, caBundle }),
      extensionConfig('other', { url: newer.url, caBundle }),
      extensionConfig('gone', { url: 'https://localhost:1', caBundle }),
      extensionConfig('lost', { url: 'https://localhost:1', caBundle }),
    );
    const args = [
      'preflight',
      '--target-cluster-api-version',
      '1.11',
      '--current-cluster-api-version',
      '1.10',
      '-f',
      file,
    ];
    const { code, stdout, stderr } = await runProgram(args);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toBe(
      `Cluster API v1.10 to v1.11: NOT SAFE (5 extensions, 4 not safe)
first:
  1. gone, lost: does not answer now: dial tcp 127.0.0.1:1: connect: connection
       refused
     do: repair it or delete the ExtensionConfig before the upgrade: the upgrade
         restarts the managers, and a manager that cannot discover every
         extension within a minute exits, again and again
  2. newer, other: v1.11 refuses the extension as a whole: handler
       beforeworkersupgrade requestHook
       hooks.runtime.cluster.x-k8s.io/v1alpha1/BeforeWorkersUpgrade is not in
       the Runtime SDK catalog
     do: install a release of the extension without this handler before the
         upgrade, or choose a target that knows the hook
warning: good: v1.11: the builtin variable has no cluster.network.ipFamily
         do: derive it from the CIDR blocks
note: good: v1.11: holders in the core group are v1beta2 (before: v1beta1)
      do: compare kind and fieldPath of a holder, not its apiVersion
NOT SAFE: newer, other, gone, lost
safe: good
`,
    );
  });

  test('what concerns several or all extensions is said once', async () => {
    const file = fileOf(
      ...['a', 'b', 'c'].map((name) => extensionConfig(name, { service: { name, namespace: 'team' }, caBundle })),
    );
    const { stdout } = await runProgram(['preflight', '-f', file, ...upgrade, '--no-port-forward']);
    expect(stdout).toMatch(/^ {2}1\. all extensions: cannot be reached from here: a Service has an address only\n/m);
    expect(stdout.match(/cannot be reached/g)).toHaveLength(1);
    expect(stdout.match(/^note: all extensions: /gm)).toHaveLength(3);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  test('1.13 to 1.14: patches of metadata take effect', async () => {
    const { url } = await server(offering('GeneratePatches'));
    const file = fileOf(extensionConfig('one', { url, caBundle }));
    const releases = ['--target-cluster-api-version', 'v1.14', '--current-cluster-api-version', 'v1.13'];
    const { code, report } = await preflight(...releases, '-f', file);
    expect(code).toBe(0);
    const messages = (wanted: string) =>
      report.extensions[0]!.findings.filter(({ severity }) => severity === wanted).map(({ message }) => message);
    expect(messages('warning')).toEqual([
      'v1.14: patches of labels and annotations in templates have an effect: earlier releases dropped them silently, so those that were there all along replace machines after the upgrade',
    ]);
    expect(messages('note')).toContain('v1.14: v1beta1 of Cluster API is planned to be removed in v1.16 (April 2027)');
  });

  test.each<[string, object, string, RegExp]>([
    [
      'CA that has expired',
      {
        caBundle: Buffer.from(
          makeCertificate({ commonName: 'old', isCa: true, notAfter: new Date('2021-01-01') }).cert,
        ).toString('base64'),
      },
      'error ca',
      /^renew the CA/,
    ],
    [
      'CA that expires soon',
      {
        caBundle: Buffer.from(
          testCa.cert +
            makeCertificate({ commonName: 'old', isCa: true, notAfter: new Date(Date.now() + 5 * 86_400_000) }).cert,
        ).toString('base64'),
      },
      'warning ca',
      /^renew the CA/,
    ],
    ['CA that is not PEM', { caBundle: 'eA==' }, 'error ca', /^put the certificate of the CA/],
    ['no CA', { caBundle: undefined }, 'warning ca', /^put the certificate of the CA .*, or name its Secret/],
  ])('%s', async (name, more, topic, remedy) => {
    const extension = await server(offering('GeneratePatches'));
    const clientConfig = JSON.parse(JSON.stringify({ url: extension.url, caBundle, ...more }));
    const { code, report } = await preflight(...upgrade, '-f', fileOf(extensionConfig('one', clientConfig)));
    expect(topicsOf(report)).toContain(topic);
    const about = report.extensions[0]?.findings.find((finding) => finding.topic === 'ca');
    expect(about?.remedy).toMatch(remedy);
    // With any other, the server is not trusted.
    expect(code).toBe(name === 'CA that expires soon' ? 0 : 1);
  });

  test('reports a serving certificate that expires soon', async () => {
    const certificate = makeCertificate({
      commonName: 'x',
      dnsNames: ['localhost'],
      issuer: testCa,
      notAfter: new Date(Date.now() + 3 * 86_400_000),
    });
    const extension = await server(offering('GeneratePatches'), { certificate });
    const { code, report } = await preflight(
      ...upgrade,
      '-f',
      fileOf(extensionConfig('one', { url: extension.url, caBundle })),
    );
    expect(code).toBe(0);
    expect(topicsOf(report)).toContain('warning certificate');
  });

  test('a Service whose name does not resolve here is neither a finding nor safe', async () => {
    const config = extensionConfig('one', { service: { name: 'none', namespace: 'nowhere' }, caBundle });
    const { code, report } = await preflight(...upgrade, '-f', fileOf(config));
    expect(code).toBe(1);
    expect(report.verdict).toBe('unknown');
    expect(report.extensions[0]?.findings[0]?.remedy).toContain('manifests/preflight');
  });

  test('reports an old manifest, handlers that disappear, and an in-place update hook with two handlers', async () => {
    const extension = await server(offering('UpdateMachine'));
    const config = (name: string): ExtensionConfig =>
      extensionConfig(name, { url: extension.url, caBundle }, [storedHandler(`before.${name}`, 'BeforeClusterCreate')]);
    const older = { ...config('one'), apiVersion: 'runtime.cluster.x-k8s.io/v1alpha1' };
    const { code, report } = await preflight(...upgrade, '-f', fileOf(older, config('two')));
    expect(code).toBe(0);
    expect(report.extensions[0]?.findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          topic: 'api-version',
          message: 'the manifest writes it as runtime.cluster.x-k8s.io/v1alpha1, which is deprecated',
        }),
        expect.objectContaining({
          topic: 'handlers',
          message: 'no longer offers before.one, which is registered',
        }),
      ]),
    );
    expect(report.findings[0]?.message).toMatch(/^one and two serve UpdateMachine/);
  });

  test('without the running release nothing is called safe; an older target is a downgrade', async () => {
    const { url } = await server(offering('BeforeClusterCreate'));
    const file = fileOf(extensionConfig('one', { url, caBundle }));
    const assumed = await preflight('--target-cluster-api-version', 'v1.14', '-f', file);
    expect(assumed.report).toMatchObject({
      from: 'v1.13',
      isFromKnown: false,
      verdict: 'unknown',
      findings: [expect.objectContaining({ remedy: 'name it with --current-cluster-api-version' })],
    });
    expect(assumed.code).toBe(1);
    const back = await preflight(
      '--target-cluster-api-version',
      'v1.12',
      '--current-cluster-api-version',
      'v1.14',
      '-f',
      file,
    );
    expect(back.report.findings[0]?.message).toContain('v1.12 is older than v1.14');
  });

  test.each<[string[], RegExp]>([
    [[], /name the release to upgrade to, for example --target-cluster-api-version v1\.\d+/],
    [['--target-cluster-api-version', 'v9.9'], /known are the releases/],
    [
      ['--target-cluster-api-version', 'v1.14', '--current-cluster-api-version', 'new'],
      /it must be a release such as 1\.11/,
    ],
  ])('usage error: %j', async (args, message) => {
    const file = fileOf(extensionConfig('a', { url: 'https://a:1', caBundle }));
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const { code, stdout, stderr } = await runProgram(['preflight', ...args, '-f', file]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    // One that is left over keeps the program from exiting.
    expect(timers()).toBe(before);
  });
});

describe('with an API server', () => {
  let sandbox: Sandbox;
  let folder: string;
  let kubeconfig: string;
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const current = '/apis/runtime.cluster.x-k8s.io/v1beta2/extensionconfigs';

  async function create(path: string, body: object): Promise<JsonObject> {
    const answer = await eventually(
      () => send(sandbox, 'POST', path, { body }),
      ({ status }) => status !== 404,
    );
    expect(answer.status, answer.text).toBe(201);
    return answer.json;
  }

  beforeAll(async () => {
    sandbox = await startSandbox();
    folder = mkdtempSync(join(tmpdir(), 'preflight-'));
    kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, sandbox.kubeconfig);
    // Without the conversion webhook, the two versions differ in conditions only.
    await create(definitions, { ...crd, spec: { ...crd.spec, conversion: { strategy: 'None' } } });
  });
  afterAll(async () => {
    await sandbox.stop();
    rmSync(folder, { recursive: true });
  });

  test('reports conditions, CA injection, field managers, and the release that clusterctl has installed', async () => {
    const extension = await server(offering('BeforeClusterCreate'));
    const spec = { clientConfig: { url: extension.url, caBundle } };
    const metadata = (name: string, annotations = {}) => ({ metadata: { name, annotations } });
    const old = { apiVersion: 'runtime.cluster.x-k8s.io/v1alpha1', kind: 'ExtensionConfig' };
    const now = { apiVersion: 'runtime.cluster.x-k8s.io/v1beta2', kind: 'ExtensionConfig' };
    await create(current.replace('v1beta2', 'v1alpha1'), {
      ...old,
      ...metadata('applied', { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(old) }),
      spec,
    });
    await create(current, {
      ...now,
      ...metadata('injected', { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': 'a/b' }),
      spec: { clientConfig: { url: extension.url } },
    });
    const broken = await create(current, { ...now, ...metadata('broken'), spec });
    const condition = {
      type: 'Discovered',
      status: 'False',
      reason: 'NotDiscovered',
      message: 'Error in discovery: x',
      lastTransitionTime: '2026-11-21T11:17:06Z',
    };
    expect(
      (
        await send(sandbox, 'PUT', `${current}/broken/status`, {
          body: { ...broken, status: { conditions: [condition] } },
        })
      ).status,
    ).toBe(200);

    const args = ['--target-cluster-api-version', 'v1.14', '--kubeconfig', kubeconfig];
    const all = await preflight(...args);
    expect(all.code).toBe(1);
    const findings = new Map(all.report.extensions.map((one) => [one.extensionConfig, one.findings]));
    expect(findings.get('injected')).toContainEqual(expect.objectContaining({ severity: 'error', topic: 'ca' }));
    expect(findings.get('applied')).toContainEqual(
      expect.objectContaining({ topic: 'api-version', severity: 'warning' }),
    );
    expect(all.report).toMatchObject({ from: 'v1.13', isFromKnown: false });

    await create(definitions, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'providers.clusterctl.cluster.x-k8s.io' },
      spec: {
        group: 'clusterctl.cluster.x-k8s.io',
        names: { kind: 'Provider', listKind: 'ProviderList', plural: 'providers', singular: 'provider' },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1alpha3',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    });
    await create('/apis/clusterctl.cluster.x-k8s.io/v1alpha3/namespaces/default/providers', {
      ...{ apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3', kind: 'Provider', metadata: { name: 'cluster-api' } },
      ...{ type: 'CoreProvider', providerName: 'cluster-api', version: 'v1.11.2' },
    });
    // When called, the extension whose condition reports a failure responds.
    const asked = await preflight('applied', 'broken', ...args);
    expect(asked.code).toBe(0);
    expect(asked.report).toMatchObject({ from: 'v1.11', isFromKnown: true, verdict: 'safe' });
  });

  test('reads from Cluster API 1.10, which serves nothing newer than v1alpha1', async () => {
    const older = await startSandbox();
    onTestFinished(() => older.stop());
    const versions = crd.spec.versions.map((version) => ({ ...version, served: version.name === 'v1alpha1' }));
    const definition = { ...crd, spec: { ...crd.spec, versions, conversion: { strategy: 'None' } } };
    expect((await send(older, 'POST', definitions, { body: definition })).status).toBe(201);
    const extension = await server(offering('BeforeClusterCreate'));
    const config = { ...extensionConfig('one', { url: extension.url, caBundle }), status: undefined };
    const body = { ...config, apiVersion: 'runtime.cluster.x-k8s.io/v1alpha1', metadata: { name: 'one' } };
    const created = await eventually(
      () => send(older, 'POST', current.replace('v1beta2', 'v1alpha1'), { body }),
      ({ status }) => status !== 404,
    );
    expect(created.status, created.text).toBe(201);
    const args = [
      '--current-cluster-api-version',
      'v1.10',
      '--target-cluster-api-version',
      'v1.11',
      '--kubeconfig',
      write('kubeconfig', older.kubeconfig),
    ];
    const { code, report } = await preflight(...args);
    expect(code).toBe(0);
    expect(report.extensions).toMatchObject([
      { extensionConfig: 'one', hooks: ['BeforeClusterCreate'], verdict: 'safe' },
    ]);
    expect((await preflight('one', ...args)).report.extensions).toHaveLength(1);
  });

  test('reports that there are no ExtensionConfigs', async () => {
    const empty = await startSandbox();
    onTestFinished(() => empty.stop());
    const file = write('kubeconfig', empty.kubeconfig);
    const { code, stderr } = await preflight('--target-cluster-api-version', 'v1.14', '--kubeconfig', file);
    expect(code).toBe(1);
    expect(stderr).toContain('pass files with -f');
  });
});
