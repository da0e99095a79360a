import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { isJsonObject, type JsonObject } from '../../../src/kubernetes/index.ts';
import type { Plan } from '../../../src/topology/index.ts';
import { caBundle, extensionConfig, startExtension } from '../../runtimehooks/client/extension-server.ts';
import { groupsOf } from '../../topology/recorded.ts';
import { runProgram } from './io.ts';
import { foldersOf, named, noMachines, startRecorded } from './planning.ts';

const folder = mkdtempSync(join(tmpdir(), 'plan-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the plan of a recorded change that extensions decided is what then happened', () => {
  // All of them: test/topology/recorded.test.ts.
  test.each(['E1-extension-joins', 'E6-fails', 'I1-bootstrap-of-cp'].map(named))('$name', async (change) => {
    const { from, to } = foldersOf(folder, change, ...(await startRecorded(change)));
    const args = ['--from', from, '-f', to, '--cluster-api-version', 'v1.13', '-o', 'json'];
    const { code, stdout, stderr } = await runProgram(['plan', ...args]);
    const isFaulty = change.name === 'E6-fails';
    expect({ groups: groupsOf(JSON.parse(stdout) as Plan), stderr, code }).toEqual({
      groups: change.expected,
      stderr: isFaulty ? expect.stringContaining('got failure response') : '',
      code: isFaulty ? 1 : 0,
    });
  });
});

test('text: the groups, the cause with its values, the sum in the last line', async () => {
  const { from, to } = foldersOf(folder, named('upgrade-1.35'));
  const { code, stdout, stderr } = await runProgram(['plan', '--from', from, '-f', to]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.split('\n').slice(0, 6)).toEqual([
    'default/f1',
    '  v1.34.0 → v1.35.0: control plane first, then md-0, md-1, md-2, one after the other: up to 1',
    '  Machine more',
    '  control plane  KubeadmControlPlane f1-5v9js  replaces 3 Machines',
    '      KubeadmControlPlane default/f1-5v9js: spec.version (version)',
    '          "v1.34.0" → "v1.35.0"',
  ]);
  expect(stdout.split('\n').at(-2)).toBe('8 of 8 Machines are replaced');
});

test('--set-version and --set-variable change the Clusters', async () => {
  const { from } = foldersOf(folder, named('audit-level'));
  const plan = async (...args: string[]) =>
    JSON.parse((await runProgram(['plan', '-f', from, ...args, '-o', 'json'])).stdout) as Plan;
  expect((await plan('--set-version', 'v1.35.0')).sum).toEqual({
    ...noMachines,
    clusters: 1,
    machines: 6,
    replaced: 6,
  });
  const [control] = (await plan('--set-variable', 'auditLevel="Metadata"')).clusters[0]!.groups;
  expect(control).toMatchObject({ verdict: 'replaced', causes: [{ from: 'patch audit, variable auditLevel' }] });
});

test('standard input, and a page', async () => {
  const { from } = foldersOf(folder, named('audit-level'));
  const stdin = readFileSync(join(from, 'all.yaml'), 'utf8');
  const { code, stdout } = await runProgram(['plan', '-f', '-', '--set-version', 'v1.35.0', '-o', 'html'], { stdin });
  expect(code).toBe(0);
  expect(stdout).toContain('<b>6 of 6 Machines are replaced</b>');
});

test.each([
  ['none', 'upgrade-1.35', 0],
  ['unknown', 'upgrade-1.35', 0],
  ['replace', 'upgrade-1.35', 1],
  ['replace', 'min-ready-seconds', 0],
  ['change', 'min-ready-seconds', 1],
])('--fail-on %s, for %s: exit code %i', async (condition, name, expected) => {
  const { from, to } = foldersOf(folder, named(name));
  const { code } = await runProgram(['plan', '--from', from, '-f', to, '--fail-on', condition]);
  expect(code).toBe(expected);
});

test('an extension that is not given makes its groups unknown, with the remedy', async () => {
  const { from, to } = foldersOf(folder, named('E3-only-md-0'));
  const { code, stdout } = await runProgram(['plan', '--from', from, '-f', to]);
  expect(stdout).toMatch(/ExtensionConfig patcher is not\n? *among the files: pass it with -f/);
  expect(stdout).toContain('control plane  KubeadmControlPlane f1-z2cv7  not known');
  expect(code).toBe(1);
});

test('an extension that does not answer is named with its error', async () => {
  const config = extensionConfig('patcher', { url: 'https://127.0.0.1:9', caBundle }) as unknown as JsonObject;
  const { from, to } = foldersOf(folder, named('E3-only-md-0'), config);
  const { stdout } = await runProgram(['plan', '--from', from, '-f', to, '-o', 'json', '--fail-on', 'unknown']);
  expect(stdout).toContain('extension patcher did not answer');
});

test('an extension that answers about other items is at fault: its Clusters stay as they are, exit code 1', async () => {
  const requestHook = { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'GeneratePatches' };
  const server = await startExtension(({ url }) =>
    url.includes('/discovery')
      ? { status: 'Success', handlers: [{ name: 'generatepatches', requestHook }] }
      : { status: 'Success', items: [{ uid: 'other', patchType: 'JSONPatch', patch: '' }] },
  );
  onTestFinished(() => server.close());
  const config = extensionConfig('patcher', { url: server.url, caBundle }) as unknown as JsonObject;
  const { from, to } = foldersOf(folder, named('E3-only-md-0'), config);
  const { code, stdout, stderr } = await runProgram(['plan', '--from', from, '-f', to]);
  expect(stdout).not.toContain('replaces');
  // As a real Cluster API said it in the condition TopologyReconciled.
  expect(stderr).toMatch(
    /error computing the desired state of the Cluster topology: .*: unable to find corresponding request item for patch\n$/,
  );
  expect(code).toBe(1);
});

test('--write writes the objects that Cluster API changes, before and after, for their owner only', async () => {
  const { from, to } = foldersOf(folder, named('upgrade-1.35'));
  const out = join(folder, 'written');
  await runProgram(['plan', '--from', from, '-f', to, '--write', out]);
  const file = (state: string) => join(out, state, 'default', 'f1', 'KubeadmControlPlane-f1-5v9js.yaml');
  expect(readFileSync(file('before'), 'utf8')).toContain('version: v1.34.0\n');
  expect(readFileSync(file('after'), 'utf8')).toContain('version: v1.35.0\n');
  expect(statSync(file('after')).mode & 0o077).toBe(0);
  expect(readdirSync(out).sort()).toEqual(['after', 'before']);
  const written = readdirSync(join(out, 'after'), { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  expect(written.length).toBeGreaterThan(3);
  for (const { parentPath, name } of written) {
    expect(readFileSync(join(parentPath, name), 'utf8')).not.toMatch(/^ *(?:labels|annotations): \{\}$/m);
  }
});

test('--set-variable sets a part of an object, and keeps the rest', async () => {
  const samples = join(folder, 'parts');
  mkdirSync(samples);
  const changes: readonly (readonly [string, string])[] = [
    [
      'type: string\n          default: ""',
      'type: object\n          properties: { pool: { type: string }, zone: { type: string } }',
    ],
    ['{{ ne .nodeLabel "" }}', '{{ ne .nodeLabel.pool "none" }}'],
    ['pool={{ .nodeLabel }}', 'pool={{ .nodeLabel.pool }},zone={{ .nodeLabel.zone }}'],
    ['        value: ""\n', '        value: { pool: none, zone: north }\n'],
  ];
  for (const name of ['class.yaml', 'cluster.yaml']) {
    const sample = readFileSync(join('manifests/samples/plan', name), 'utf8');
    writeFileSync(
      join(samples, name),
      changes.reduce((text, [from, to]) => text.replace(from, to), sample),
    );
  }
  const { code, stdout } = await runProgram([
    'plan',
    '-f',
    samples,
    '--set-variable',
    'nodeLabel.pool="gpu"',
    '--show-values',
  ]);
  expect(code).toBe(0);
  expect(stdout).toContain('value: pool=gpu,zone=north');
  expect(stdout.split('\n').at(-2)).toBe('2 of 3 Machines are replaced');
});

test('what a pause holds back is said, and counts for --fail-on', async () => {
  const samples = join(folder, 'paused');
  mkdirSync(samples);
  for (const name of ['class.yaml', 'cluster.yaml']) {
    const sample = readFileSync(join('manifests/samples/plan', name), 'utf8');
    writeFileSync(join(samples, name), sample.replace(/^(kind: Cluster\n(?:.*\n)*?spec:\n)/m, '$1  paused: true\n'));
  }
  const given = ['plan', '-f', samples, '--set-variable', 'nodeLabel="gpu"'];
  const { code, stdout } = await runProgram(given);
  expect(code).toBe(0);
  expect(stdout).toContain('Cluster default/demo is paused: nothing happens before it is resumed');
  expect(stdout).toMatch(/md-0 .* paused; then: replaces 2 Machines\n/);
  expect(stdout.split('\n').at(-2)).toBe('0 of 3 Machines are replaced');
  expect((await runProgram([...given, '--fail-on', 'unknown'])).code).toBe(0);
  expect((await runProgram([...given, '--fail-on', 'replace'])).code).toBe(1);
});

test('--write stays in its folder: names that lead out of it are refused', async () => {
  const samples = join(folder, 'samples');
  mkdirSync(samples);
  for (const name of ['class.yaml', 'cluster.yaml']) {
    const sample = readFileSync(join('manifests/samples/plan', name), 'utf8');
    writeFileSync(join(samples, name), sample.replaceAll('namespace: default', 'namespace: ".."'));
  }
  const out = join(folder, 'within', 'out');
  const given = ['plan', '-f', samples, '--set-variable', 'nodeLabel="gpu"', '--write', out];
  const { code, stderr } = await runProgram(given);
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /class\.yaml:6: metadata\.namespace: "\.\." is not a name of Kubernetes: it may not be "\.\."\n/,
  );
  expect(readdirSync(join(folder, 'within'))).toEqual(['out']);
  expect(readdirSync(out)).toEqual([]);
});

test('--cluster and -n narrow the plan, and what is left out is said', async () => {
  const { from, to } = foldersOf(folder, named('upgrade-1.35'));
  const given = ['plan', '--from', from, '-f', to];
  expect((await runProgram([...given, '--cluster', 'default/f1'])).stderr).toBe('');
  expect((await runProgram([...given, '-l', 'environment in (production)'])).stderr).toMatch(
    /no Cluster is left: -l selects/,
  );
  const { code, stderr, stdout } = await runProgram([...given, '-n', 'other']);
  expect(stderr).toBe(
    'extensionconfig-webhook: no Cluster is left: -n names the namespace other; there is default/f1\n',
  );
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
});

describe('what cannot be used is one line with its file and line, and the rest is planned', () => {
  test.each<[what: string, text: string, expected: RegExp]>([
    ['YAML that is none', 'a: [\n', /bad\.yaml:\d: /],
    ['a list', '- 1\n', /bad\.yaml:1: not an object: write apiVersion, kind and metadata\.name\n/],
    ['no manifest', 'dependencies: {}\n', /bad\.yaml:1: not an object: .*, or name folders that have only manifests\n/],
    [
      'a kind of Cluster API with a typo',
      'apiVersion: cluster.x-k8s.io/v1beta2\nkind: Clutser\nmetadata: {name: a}\n',
      /bad\.yaml:1: no matches for kind "Clutser" in version "cluster\.x-k8s\.io\/v1beta2": did you mean Cluster\b/,
    ],
    [
      'a version that Cluster API does not serve',
      'apiVersion: cluster.x-k8s.io/v1alpha4\nkind: Cluster\nmetadata: {name: a}\n',
      /bad\.yaml:1: no matches for kind "Cluster" in version "[^"]+": write cluster\.x-k8s\.io\/v1beta1 or cluster\.x-k8s\.io\/v1beta2\n/,
    ],
    [
      'an object without a name',
      'apiVersion: v1\nkind: Namespace\n',
      /bad\.yaml:1: the object has no metadata\.name: add it\n/,
    ],
    [
      'two objects of one name',
      'apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n',
      /bad\.yaml:5: Namespace default\/a is also in .*bad\.yaml:1: remove one of them\n/,
    ],
    [
      'a Cluster whose class is missing',
      stringify({
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Cluster',
        metadata: { name: 'lost', namespace: 'default' },
        spec: { topology: { version: 'v1.34.0', classRef: { name: 'nowhere' } } },
      }),
      /bad\.yaml:1: ClusterClass default\/nowhere is not among the objects/,
    ],
  ])('%s', async (what, text, expected) => {
    const { from, to } = foldersOf(folder, { ...named('upgrade-1.35'), name: `bad-${what.replaceAll(' ', '-')}` });
    writeFileSync(join(to, 'bad.yaml'), text);
    const { code, stdout, stderr } = await runProgram(['plan', '--from', from, '-f', to]);
    expect(stderr).toMatch(expected);
    expect(stdout).toContain('replaces 3 Machines');
    expect(code).toBe(1);
  });
});

test('of a Cluster that names no class, it is said that it names none', async () => {
  const { from } = foldersOf(folder, { ...named('upgrade-1.35'), name: 'no-class' });
  const cluster = 'apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: a}\n';
  writeFileSync(join(from, 'bad.yaml'), `${cluster}spec: {topology: {version: v1.34.0}}\n`);
  const { stdout } = await runProgram(['plan', '--from', from]);
  expect(stdout).toContain('! the Cluster names no class: set its classRef\n');
});

describe('usage errors', () => {
  test.each<[args: string[], expected: RegExp]>([
    [[], /no cluster: .*: name one with --kubeconfig, or pass the manifests before the change with --from\n/],
    [['--recorded', '.', '--from', '.'], /--recorded and --from both give the state before: leave one out/],
    [['--recorded', '.'], /--recorded: .*objects\.json does not exist/],
    [['--extension', 'a=http://localhost'], /it must be of the form my-extension=https:/],
    [['-f', 'nowhere', '--set-version', 'v1.35.0'], /-f: nowhere: cannot be read: no such file or folder/],
    [['-f', '.', '--set-version', '1.35'], /--set-version: "1\.35" is not allowed: it must be a version/],
    [['-f', '.', '--set-variable', 'a=b'], /the value is not JSON: write a text as a='"b"'/],
    [['-f', '.', '--set-variable', 'a'], /it must be of the form/],
    [['-f', '.', '--fail-on', 'never'], /it must be one of none, unknown, replace, change/],
    [['-f', '.', '--cluster-api-version', 'x'], /it must be a release such as 1\.11, .* or main/],
    [['-f', '.', '--cluster-api-version', 'v1.99'], /--cluster-api-version: "v1\.99" is not allowed/],
  ])('%j', async (args, expected) => {
    const { code, stderr } = await runProgram(['plan', ...args]);
    expect(stderr).toMatch(expected);
    expect(code).toBe(2);
  });

  test.each<[objects: string, answers: string, expected: RegExp]>([
    ['{"items":{}}', '[]', /objects\.json: it is not a list of objects: name a folder that --record wrote/],
    ['{"items":[null]}', '[]', /objects\.json: it is not a list of objects/],
    ['{"items":[]}', '[null]', /answers\.json: it is not a list of recorded answers/],
  ])('a record with the objects %s and the answers %s', async (objects, answers, expected) => {
    const record = mkdtempSync(join(folder, 'record-'));
    writeFileSync(join(record, 'objects.json'), objects);
    writeFileSync(join(record, 'answers.json'), answers);
    const { code, stderr } = await runProgram(['plan', '--recorded', record]);
    expect(stderr).toMatch(expected);
    expect(code).toBe(2);
  });

  test('a Cluster that is not there', async () => {
    const { from } = foldersOf(folder, named('upgrade-1.35'));
    const { code, stderr } = await runProgram(['plan', '-f', from, '--set-version', 'v1.35.0', '--cluster', 'a/b']);
    expect(stderr).toContain('--cluster: there is no Cluster a/b; there is default/f1');
    expect(code).toBe(1);
  });
});

test('the JSON document has the fields that scripts read', async () => {
  const { from, to } = foldersOf(folder, named('audit-level'));
  const { stdout } = await runProgram(['plan', '--from', from, '-f', to, '-o', 'json']);
  const document: unknown = JSON.parse(stdout);
  expect(isJsonObject(document) && Object.keys(document)).toEqual(['clusters', 'sum']);
  expect(document).toMatchObject({
    clusters: [
      {
        cluster: 'default/f1',
        groups: [
          {
            group: 'control-plane',
            kind: 'KubeadmControlPlane',
            name: 'f1-5v9js',
            verdict: 'replaced',
            machines: { before: 3, after: 3, replaced: 3, inPlace: 0 },
            causes: [
              {
                object: 'KubeadmControlPlane default/f1-5v9js',
                field: 'spec.kubeadmConfigSpec.files',
                from: 'patch audit, variable auditLevel',
              },
            ],
          },
          { group: 'md-0', verdict: 'unchanged' },
          { group: 'md-1', verdict: 'unchanged' },
        ],
        problems: [],
      },
    ],
    sum: { ...noMachines, clusters: 1, machines: 6, replaced: 3 },
  });
});

test('what could not be used is said in the last line', async () => {
  const samples = join(folder, 'unusable');
  mkdirSync(samples);
  for (const name of ['class.yaml', 'cluster.yaml']) {
    writeFileSync(join(samples, name), readFileSync(join('manifests/samples/plan', name)));
  }
  writeFileSync(join(samples, 'other.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a/b }\n');
  const args = ['plan', '-f', samples, '--set-variable', 'nodeLabel="gpu"'];
  const { code, stdout } = await runProgram(args);
  expect(code).toBe(1);
  expect(stdout.split('\n').at(-2)).toBe('incomplete, 1 problem: 2 of 3 Machines are replaced');
  expect(JSON.parse((await runProgram([...args, '-o', 'json'])).stdout)).toMatchObject({ unusable: 1 });
});
