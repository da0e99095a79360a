import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import { recordedAnswers } from '../../checks/rehearsal/recorded-answers.ts';
import { fixture } from '../../checks/rehearsal/rehearsing.ts';
import { clusterYaml } from '../../checks/rehearsal/simulating.ts';
import {
  caBundle,
  type ExtensionServer,
  extensionConfig,
  startExtension,
} from '../../runtimehooks/client/extension-server.ts';
import { runProgram } from './io.ts';

let folder: string;
let server: ExtensionServer;
/** The extension's response to BeforeClusterUpgrade. */
let answer: JsonObject = {};
/** How long that takes, by the body of the request. */
let delayMs: (body: string) => number = () => 0;

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const rehearse = (...args: string[]) => runProgram(['rehearse', '-f', join(folder, 'extension.yaml'), ...args]);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rehearse-'));
  server = await startExtension(({ url, body }, response) => {
    const requestHook = { apiVersion: `${hooksGroup}/v1alpha1`, hook: 'BeforeClusterUpgrade' };
    if (url.includes('/discovery')) {
      return { status: 'Success', handlers: [{ name: 'up', requestHook }] };
    }
    const ms = delayMs(body);
    if (ms > 0) {
      setTimeout(() => response.end('{ "status": "Success" }'), ms);
      return undefined;
    }
    return { status: 'Success', ...answer };
  });
  file('extension.yaml', stringify(extensionConfig('one', { url: server.url, caBundle })));
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

test('the sample Cluster of a class without worker classes has no workers', async () => {
  answer = {};
  const templateRef = (kind: string) => ({ apiVersion: 'infrastructure.example.com/v1', kind, name: 'small' });
  const [infrastructure, controlPlane] = [templateRef('LabClusterTemplate'), templateRef('LabControlPlaneTemplate')];
  const classOf = {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'ClusterClass',
    metadata: { name: 'small' },
    spec: { infrastructure: { templateRef: infrastructure }, controlPlane: { templateRef: controlPlane } },
  };
  const templates = [infrastructure, controlPlane].map(({ apiVersion, kind, name }) => ({
    apiVersion,
    kind,
    metadata: { name },
    spec: { template: { spec: {} } },
  }));
  const classes = file('small.yaml', [classOf, ...templates].map((object) => stringify(object)).join('---\n'));
  const { code, stdout } = await rehearse('--cluster-files', classes, '--set-version', 'v1.32.0');
  expect(stdout).toMatch(/The lifecycle completed/);
  expect(code).toBe(0);
});

test('prints a simulation as text', async () => {
  answer = {};
  const { code, stdout, stderr } = await rehearse('--set-version', 'v1.33.0', '--delete');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^default\/sample\n {2}0:00:00 {2}the user creates the Cluster at v1\.31\.0$/m);
  expect(stdout).toMatch(/BeforeClusterUpgrade {9}v1\.31\.0 → v1\.33\.0 {3}passed {2}\(up\.one\)/);
  expect(stdout).toMatch(/The lifecycle completed: 0:\d\d:\d\d of simulated time, 1 call$/m);
});

test('without a target only the creation is played, and the output says so', async () => {
  const { code, stdout } = await rehearse();
  expect(code).toBe(0);
  expect(stdout).toMatch(/add --set-version VERSION and --delete for the rest of the lifecycle\n$/);
});

test('a simulation that blocks forever has exit code 1, and the reason', async () => {
  answer = { retryAfterSeconds: 60, message: 'never' };
  const { code, stdout } = await rehearse('--set-version', 'v1.33.0');
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /The lifecycle could not be completed: 1000 calls were made, the limit, and BeforeClusterUpgrade would be called next/,
  );
});

test.each(['text', 'json'])('messages of extensions are shown without secrets: %s', async (output) => {
  for (const [status, retryAfterSeconds] of [
    ['Failure', 0],
    ['Success', 60],
  ]) {
    answer = { status, retryAfterSeconds, message: 'cannot log in with token=tr0ub4dor&3' } as JsonObject;
    const { code, stdout } = await rehearse('--set-version', 'v1.33.0', '--output', output);
    expect(code).toBe(1);
    expect(stdout).toContain('cannot log in with token=(not shown)');
    expect(stdout).not.toContain('tr0ub4dor');
  }
});

test('also without the values of secrets in the files', async () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { key: 'tr0ub4dor-and-3' } };
  const clusters = file('secret.yaml', `${clusterYaml('v1.31.0')}---\n${stringify(secret)}`);
  answer = { status: 'Failure', message: 'no login as tr0ub4dor-and-3' };
  const { stdout } = await rehearse('--cluster-files', clusters, '--set-version', 'v1.32.0');
  expect(stdout).toContain('no login as (not shown)');
  expect(stdout).not.toContain('tr0ub4dor');
});

test('only the named ExtensionConfigs take part', async () => {
  const gone = stringify(extensionConfig('gone', { service: { name: 'gone', namespace: 'ns' }, caBundle }));
  const both = ['-f', join(folder, 'extension.yaml'), '-f', file('gone.yaml', gone)];
  const all = await runProgram(['rehearse', ...both]);
  expect(all).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^rehearse: .*use --resolve, or read the ExtensionConfig from the cluster, which starts kubectl port-forward\n$/,
    ),
  });
  expect(all.stdout).toMatch(/gone is not discovered, and no manager would start: /);
  expect((await runProgram(['rehearse', 'one', ...both])).code).toBe(0);
});

test('an ExtensionConfig without a namespaceSelector is for all Clusters, as Cluster API defaults it', async () => {
  answer = {};
  const { spec, ...rest } = extensionConfig('one', { url: server.url, caBundle });
  const { namespaceSelector: _, ...others } = spec as JsonObject;
  const path = file('no-selector.yaml', stringify({ ...rest, spec: others }));
  const { code, stdout } = await runProgram(['rehearse', '-f', path, '--set-version', 'v1.33.0']);
  expect({ code, warnings: stdout.match(/warning/g) }).toEqual({ code: 0, warnings: null });
  expect(stdout).toContain('passed  (up.one)');
});

test('json: a line per call', async () => {
  answer = {};
  const { code, stdout } = await rehearse('--set-version', 'v1.33.0', '--output', 'json');
  expect(code).toBe(0);
  const records = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(records.filter(({ condition }) => condition === undefined).map(({ hook, end }) => hook ?? end)).toEqual([
    'Discovery',
    'Discovery',
    'BeforeClusterUpgrade',
    'complete',
  ]);
});

test('several Clusters: their timelines one after the other, as they end', async () => {
  answer = {};
  const clusters = [1, 2, 3]
    .map((index) => clusterYaml('v1.31.0').replace('name: c,', `name: c-${index},`))
    .join('---\n');
  // The first one is ready last.
  delayMs = (body) => (body.includes('c-1') ? 300 : 0);
  const { code, stdout } = await rehearse(
    '--cluster-files',
    file('clusters.yaml', clusters),
    '--set-version',
    'v1.32.0',
  );
  delayMs = () => 0;
  expect(code).toBe(0);
  expect(stdout.match(/^team\/c-\d$/gm)?.at(-1)).toBe('team/c-1');
  expect(stdout.match(/The lifecycle completed/g)).toHaveLength(3);
});

test('an extension that replays the recorded answers of another implementation', async () => {
  const other = await startExtension(recordedAnswers());
  try {
    file('other.yaml', stringify(extensionConfig('lab', { url: other.url, caBundle })));
    const { stdout } = await runProgram([
      ...['rehearse', '-f', join(folder, 'other.yaml'), '--cluster-files', file('lab.yaml', fixture('lab.yaml'))],
      ...['--set-version', 'v1.31.0', '--delete', '--output', 'json'],
    ]);
    const records = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    // It has other variables than the Cluster sets, as Cluster API would report.
    expect(records.at(-1)).toMatchObject({
      end: 'incomplete',
      reason: expect.stringMatching(
        /variables\[flavor\]: .*variable is not defined.*required variable "imageRepository" must be set/,
      ),
    });
    const { code, stdout: sample } = await runProgram([
      ...['rehearse', '-f', join(folder, 'other.yaml'), '--set-version', 'v1.33.0', '--delete', '--output', 'json'],
    ]);
    expect(code).toBe(0);
    expect(
      sample
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
        .filter(({ condition }) => condition === undefined)
        .map(({ hook }) => hook ?? ''),
    ).toEqual([
      'Discovery',
      'Discovery',
      'BeforeClusterCreate',
      'AfterControlPlaneInitialized',
      'BeforeClusterUpgrade',
      'BeforeControlPlaneUpgrade',
      'AfterControlPlaneUpgrade',
      'BeforeControlPlaneUpgrade',
      'AfterControlPlaneUpgrade',
      'BeforeWorkersUpgrade',
      'AfterWorkersUpgrade',
      'AfterClusterUpgrade',
      'BeforeClusterDelete',
      '',
    ]);
  } finally {
    await other.close();
  }
});

describe('usage errors', () => {
  const v1alpha4 = clusterYaml('v1.31.0').replace('v1beta2', 'v1alpha4');
  test.each<[string, () => string[], RegExp]>([
    [
      'a target that is not a version',
      () => ['--set-version', '1.33'],
      /--set-version.*"1\.33".*a version such as v1\.35\.0/,
    ],
    [
      'a missing file',
      () => ['--cluster-files', join(folder, 'none.yaml')],
      /none\.yaml: cannot be read: no such file/,
    ],
    [
      'files without a Cluster',
      () => ['--cluster-files', file('none-of-it.yaml', 'apiVersion: v1\nkind: Pod\nmetadata: { name: p }\n')],
      /--cluster-files: there is no Cluster in .*none-of-it\.yaml/,
    ],
    [
      'a Cluster of an old version',
      () => ['--cluster-files', file('old.yaml', v1alpha4)],
      /old\.yaml:2: Cluster of apiVersion cluster\.x-k8s\.io\/v1alpha4: write it as cluster\.x-k8s\.io\/v1beta2/,
    ],
    [
      'a Cluster without a topology',
      () => [
        '--cluster-files',
        file('bare.yaml', 'apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: { name: c }\nspec: {}\n'),
      ],
      /Cluster c has no spec\.topology/,
    ],
    [
      'an invalid version',
      () => ['--cluster-files', file('version.yaml', clusterYaml('new'))],
      /spec\.topology\.version "new" is not a version/,
    ],
    [
      'an unknown field',
      () => ['--cluster-files', file('field.yaml', `${clusterYaml('v1.31.0')}  speed: 9\n`)],
      /field\.yaml:2: the Cluster is not valid: .*speed/,
    ],
    [
      'two Clusters with the same name',
      () => ['--cluster-files', file('two.yaml', `${clusterYaml('v1.31.0')}---${clusterYaml('v1.31.0')}`)],
      /this is a second Cluster team\/c/,
    ],
    [
      'a missing class',
      () => [
        '--cluster-files',
        file('c.yaml', clusterYaml('v1.31.0')),
        '--cluster-files',
        file(
          'k.yaml',
          'apiVersion: cluster.x-k8s.io/v1beta2\nkind: ClusterClass\nmetadata: { name: other, namespace: team }\nspec: {}\n',
        ),
      ],
      /ClusterClass team\/k is not among the files: add it with --cluster/,
    ],
    [
      'two classes with the same name',
      () => {
        const one = 'apiVersion: cluster.x-k8s.io/v1beta2\nkind: ClusterClass\nmetadata: { name: k }\nspec: {}\n';
        return ['--cluster-files', file('k.yaml', `${one}---\n${one}`)];
      },
      /k\.yaml:6: this is a second ClusterClass default\/k: leave one out/,
    ],
    [
      'one file given twice, which is read once, without the class',
      () => {
        const one = file(
          'both.yaml',
          `${clusterYaml('v1.31.0')}---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: ClusterClass\nmetadata: { name: other, namespace: team }\nspec: {}\n`,
        );
        return ['--cluster-files', one, '--cluster-files', one];
      },
      /ClusterClass team\/k is not among the files: add it with --cluster/,
    ],
  ])('%s', async (_, args, message) => {
    const { code, stderr, stdout } = await rehearse(...args());
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
  });

  test('without ExtensionConfigs', async () => {
    const { code, stderr } = await runProgram(['rehearse', '-f', file('empty.yaml', '')]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/there are no ExtensionConfigs in the files: pass others with -f/);
  });
});

test('a Namespace that may not be read is named, with a remedy', async () => {
  answer = {};
  const api = createServer(({ url = '' }, response) => {
    const items = [extensionConfig('one', { url: server.url, caBundle })];
    const isList = url.endsWith('/extensionconfigs');
    response.writeHead(isList ? 200 : 403, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isList ? { items } : { kind: 'Status', code: 403, message: 'that is forbidden' }));
  }).listen(0, '127.0.0.1');
  await once(api, 'listening');
  onTestFinished(() => void api.close());
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const clusters = [{ name: 'a', cluster: { server: url, 'insecure-skip-tls-verify': true } }];
  const contexts = [{ name: 'a', context: { cluster: 'a', user: 'a' } }];
  const users = [{ name: 'a', user: {} }];
  const kubeconfig = file(
    'kubeconfig',
    stringify({ apiVersion: 'v1', kind: 'Config', clusters, contexts, users, 'current-context': 'a' }),
  );
  const ofCluster = (...args: string[]) => runProgram(['rehearse', '--kubeconfig', kubeconfig, ...args]);
  expect(await ofCluster()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /: the labels of Namespace default cannot be read: that is forbidden.*; or pass the Namespace in a file of --cluster-files\n$/,
    ),
  });
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } };
  expect(await ofCluster('--cluster-files', file('default.yaml', stringify(namespace)))).toMatchObject({ code: 0 });
});

test('ends when it is stopped', async () => {
  answer = {};
  delayMs = () => 2_000;
  const stop = new AbortController();
  const running = runProgram(['rehearse', '-f', join(folder, 'extension.yaml'), '--set-version', 'v1.33.0'], {
    signal: stop.signal,
  });
  setTimeout(() => stop.abort(new Error('stopped')), 200);
  expect((await running).code).toBe(130);
  delayMs = () => 0;
});
