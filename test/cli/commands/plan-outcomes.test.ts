import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type JsonObject, nameOf, objectAt, objectsAt } from '../../../src/kubernetes/index.ts';
import type { Plan } from '../../../src/topology/index.ts';
import { runProgram } from './io.ts';
import { foldersOf, list, named } from './planning.ts';

const cases = new URL('../../support/fixtures/plan-cases/', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'plan-outcomes-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The last line, exit code and verdicts of a plan. */
async function outcomeOf(...args: string[]) {
  const { code, stdout, stderr } = await runProgram(['plan', ...args]);
  const { clusters, sum } = JSON.parse((await runProgram(['plan', ...args, '-o', 'json'])).stdout) as Plan;
  const verdicts = clusters.flatMap(({ groups }) => groups.map(({ group, verdict }) => `${group} ${verdict}`));
  return { code, last: stdout.split('\n').at(-2), verdicts, sum, stderr };
}

/** A recorded state, and the same after a change of what users wrote, in folders. */
function changed(name: string, change: (objects: JsonObject[]) => void) {
  const recorded = named('audit-level');
  const after = structuredClone(recorded.before);
  change(after);
  const { from, to } = foldersOf(folder, { ...recorded, after, name });
  return ['--from', from, '-f', to];
}

/** A changed template of a control plane whose decisions are not known. */
const ofOtherKind = (['a', 'b'] as const).flatMap((state) => {
  const file = join(folder, `${state}.json`);
  const text = readFileSync(`${cases}unknown-not-in-sum/${state}/all.json`, 'utf8');
  writeFileSync(file, text.replaceAll('RKE2ControlPlane', 'OtherControlPlane'));
  return [state === 'a' ? '--from' : '-f', file];
});

const clusterIn = (objects: JsonObject[]) => objects.find(({ kind }) => kind === 'Cluster')!;

describe('what is refused, stopped, deleted and not known is in the last line and the exit code', () => {
  test('a patch that stops the reconcile of every Cluster', async () => {
    const args = changed('stops', (objects) => {
      const fleet = objects.find(({ kind }) => kind === 'ClusterClass')!;
      objectsAt(fleet, 'spec', 'patches')[0]!.enabledIf = '{{ eq .builtin.controlPlane.replicas 3 }}';
    });
    const { code, last, verdicts, sum } = await outcomeOf(...args);
    expect({ code, last, verdicts }).toEqual({
      code: 1,
      last: "1 of 1 Cluster can't be applied",
      verdicts: ['control-plane stopped', 'md-0 stopped', 'md-1 stopped'],
    });
    expect(sum).toMatchObject({ machines: 6, replaced: 0, notApplied: 1 });
  });

  test.each(['', 'cp/'])('a patch that leaves a file empty: %j', async (place) => {
    const [from, to] = ['a', 'b'].map((state) => `${cases}empty-file-content/${place}${state}`) as [string, string];
    const { code, last, verdicts } = await outcomeOf('--from', from, '-f', to);
    expect({ code, last, verdicts }).toEqual({
      code: 1,
      last: "1 of 1 Cluster can't be applied",
      verdicts: ['control-plane stopped', 'md-0 stopped', 'md-1 stopped'],
    });
  });

  test('a misspelt field, a text for a number', async () => {
    const misspelt = changed('misspelt', (objects) => {
      const [group] = objectsAt(clusterIn(objects), 'spec', 'topology', 'workers', 'machineDeployments');
      group!.replica = 7;
    });
    const text = changed('text', (objects) => {
      objectAt(clusterIn(objects), 'spec', 'topology', 'controlPlane').replicas = '5';
    });
    for (const args of [misspelt, text]) {
      expect(await outcomeOf(...args)).toMatchObject({
        code: 1,
        last: "1 of 1 Cluster can't be applied",
        verdicts: ['control-plane refused', 'md-0 refused', 'md-1 refused'],
      });
    }
  });

  test('a MachineDeployment renamed in the topology: its Machines are deleted, and others created', async () => {
    const args = changed('renamed', (objects) => {
      objectsAt(clusterIn(objects), 'spec', 'topology', 'workers', 'machineDeployments')[0]!.name = 'md-9';
    });
    const { code, last, verdicts } = await outcomeOf(...args);
    expect({ code, last, verdicts }).toEqual({
      code: 0,
      last: '0 of 6 Machines are replaced, 2 deleted, 2 created',
      verdicts: ['control-plane unchanged', 'md-9 created', 'md-1 unchanged', 'md-0 deleted'],
    });
    expect((await outcomeOf(...args, '--fail-on', 'replace')).code).toBe(1);
  });

  test('a downgrade is refused', async () => {
    const args = changed('downgrade', (objects) => {
      objectAt(clusterIn(objects), 'spec', 'topology').version = 'v1.33.0';
    });
    const { code, last } = await outcomeOf(...args);
    expect({ code, last }).toEqual({ code: 1, last: "1 of 1 Cluster can't be applied" });
  });

  test('an extension that does not answer: of these Machines it is not known', async () => {
    const { from, to } = foldersOf(folder, named('E3-only-md-0'));
    const { code, last, sum } = await outcomeOf('--from', from, '-f', to);
    expect({ code, last }).toEqual({ code: 1, last: 'not known for 7 of 7 Machines' });
    expect(sum).toMatchObject({ replaced: 0, unknown: 7 });
  });

  test('a control plane of a kind that is not known here', async () => {
    const { last, sum } = await outcomeOf(...ofOtherKind);
    expect(last).toContain('not known for 3 of 3 Machines');
    expect(sum.unknown).toBe(3);
  });

  test('one of a kind that is known', async () => {
    const args = ['--from', `${cases}unknown-not-in-sum/a`, '-f', `${cases}unknown-not-in-sum/b`];
    expect((await outcomeOf(...args)).last).toBe('3 of 3 Machines are replaced');
  });
});

describe('--fail-on is a ladder: each condition includes those before it', () => {
  test.each([
    ['none', 0],
    ['unknown', 1],
    ['replace', 1],
    ['change', 1],
  ])('%s, where it is not known: exit code %i', async (condition, expected) => {
    expect((await runProgram(['plan', ...ofOtherKind, '--fail-on', condition])).code).toBe(expected);
  });
});

describe('classes without Clusters', () => {
  const args = ['--from', `${cases}class-alone/a`, '-f', `${cases}class-alone/b`];

  test('a Cluster of each class is planned, and said to be made up', async () => {
    const { stdout, stderr, code } = await runProgram(['plan', ...args]);
    expect(stdout).toContain('for a Cluster of ClusterClass default/small\n');
    expect(stdout.split('\n').at(-2)).toBe('for a Cluster of this class: 1 of 4 Machines is replaced');
    expect(stderr).toBe(
      'plan: no Cluster is among the objects: a Cluster of each class is planned, with the defaults of its variables\n',
    );
    expect(code).toBe(0);
  });

  test('--fail-on replace fails', async () => {
    expect((await runProgram(['plan', ...args, '--fail-on', 'replace'])).code).toBe(1);
  });

  test('a variable without a default has to be given', async () => {
    const to = join(folder, 'required');
    cpSync(`${cases}class-alone/b`, to, { recursive: true });
    const given = JSON.parse(readFileSync(join(to, 'all.json'), 'utf8')) as { items: JsonObject[] };
    const fleet = given.items.find(({ kind }) => kind === 'ClusterClass')!;
    objectAt(fleet, 'spec').variables = [
      { name: 'region', required: true, schema: { openAPIV3Schema: { type: 'string' } } },
    ];
    writeFileSync(join(to, 'all.json'), list(given.items));
    const { code, stderr } = await runProgram(['plan', '--from', to, '-f', to]);
    expect(stderr).toContain(
      'ClusterClass default/small requires the variable region: pass a Cluster, or values, such as --set-variable region=JSON',
    );
    expect(code).toBe(1);
    const set = await runProgram(['plan', '-f', to, '--set-variable', 'region="north"']);
    expect({ code: set.code, last: set.stdout.split('\n').at(-2) }).toEqual({
      code: 0,
      last: 'for a Cluster of this class: 0 of 4 Machines are replaced',
    });
  });

  test('a variable is set for the classes that define it', async () => {
    const { items } = JSON.parse(readFileSync(`${cases}class-alone/b/all.json`, 'utf8')) as { items: JsonObject[] };
    const other = structuredClone(items.find(({ kind }) => kind === 'ClusterClass')!);
    objectAt(other, 'metadata').name = 'other';
    const region = { name: 'region', required: true, schema: { openAPIV3Schema: { type: 'string' } } };
    other.spec = { ...objectAt(other, 'spec'), variables: [region], patches: [] };
    const file = join(folder, 'two-classes.json');
    writeFileSync(file, list([...items, other]));
    const set = await runProgram(['plan', '-f', file, '--set-variable', 'region="north"']);
    expect(set.stdout.split('\n').at(-2)).toMatch(/^for a Cluster of each class: 0 of \d+ Machines are replaced$/);
    const typo = await runProgram([
      'plan',
      '-f',
      file,
      '--set-variable',
      'region="north"',
      '--set-variable',
      'regoin=1',
    ]);
    expect(typo.stdout).toContain('spec.topology.variables[regoin]: Invalid value: "1"');
    expect({ set: set.code, typo: typo.code }).toEqual({ set: 0, typo: 1 });
  });

  test('templates of v1beta1 have the limits of v1beta1', async () => {
    const read = JSON.parse(readFileSync(`${cases}class-alone/b/all.json`, 'utf8')) as { items: JsonObject[] };
    const older = read.items.map((object) => {
      const text = JSON.stringify(object).replaceAll(
        'bootstrap.cluster.x-k8s.io/v1beta2',
        'bootstrap.cluster.x-k8s.io/v1beta1',
      );
      return JSON.parse(text) as JsonObject;
    });
    const template = older.find(({ kind }) => kind === 'KubeadmConfigTemplate')!;
    template.spec = { template: { spec: { preKubeadmCommands: [] } } };
    const { variables: _variables, patches: _patches, ...spec } = objectAt(older[0], 'spec');
    older[0] = { ...older[0], spec };
    const [empty, file] = [join(folder, 'empty.yaml'), join(folder, 'older.json')];
    writeFileSync(empty, 'apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n');
    writeFileSync(file, list(older));
    const { code, verdicts } = await outcomeOf('--from', empty, '-f', file);
    expect({ code, verdicts }).toEqual({ code: 0, verdicts: ['control-plane created', 'default-worker created'] });
    writeFileSync(
      file,
      list(older).replaceAll('bootstrap.cluster.x-k8s.io/v1beta1', 'bootstrap.cluster.x-k8s.io/v1beta2'),
    );
    expect((await outcomeOf('--from', empty, '-f', file)).code).toBe(1);
  });

  test('-f without objects, such as the output of a renderer that failed, is a failure', async () => {
    const file = join(folder, 'nothing.yaml');
    writeFileSync(file, '# nothing\n');
    const { code, stdout, stderr } = await runProgram(['plan', '--from', `${cases}class-alone/a`, '-f', file]);
    expect(stderr).toMatch(/^plan: -f: no objects are in \S+nothing\.yaml$/m);
    expect(stdout).toMatch(/^incomplete, 1 problem: /m);
    expect(code).toBe(1);
  });

  test('without Clusters and classes, nothing was planned: that is a failure', async () => {
    const file = join(folder, 'namespace.yaml');
    writeFileSync(file, 'apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n');
    const { code, stderr } = await runProgram(['plan', '--from', file, '-f', file]);
    expect(stderr).toContain('no Cluster and no ClusterClass is among the objects: pass some with -f');
    expect(code).toBe(1);
  });
});

test('names that were made up are shown as such in errors too', async () => {
  const { items } = JSON.parse(readFileSync(`${cases}class-alone/a/all.json`, 'utf8')) as { items: JsonObject[] };
  const fileOf = (replicas: number) => {
    const topology = { classRef: { name: 'small' }, version: 'v1.34.0', controlPlane: { replicas } };
    const metadata = { name: 'even', namespace: 'default' };
    const file = join(folder, `replicas-${replicas}.json`);
    writeFileSync(
      file,
      list([...items, { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Cluster', metadata, spec: { topology } }]),
    );
    return file;
  };
  const { stdout } = await runProgram(['plan', '--from', fileOf(3), '-f', fileOf(2), '-o', 'markdown']);
  expect(stdout).toContain(
    'KubeadmControlPlane.cluster.x-k8s.io "even-…" is invalid: spec.replicas: Forbidden: cannot be an even number',
  );
});

describe('Clusters whose files are removed', () => {
  const { from, to } = foldersOf(folder, { ...named('audit-level'), name: 'removed' });
  const { items } = JSON.parse(readFileSync(join(to, 'all.yaml'), 'utf8')) as { items: JsonObject[] };
  writeFileSync(join(to, 'all.yaml'), list(items.filter(({ kind }) => kind !== 'Cluster')));

  test('stay, which is said', async () => {
    const { stderr, last } = await outcomeOf('--from', from, '-f', to);
    expect(stderr).toContain(
      'Clusters of --from that are not in -f stay, unless your GitOps tool prunes them (--prune plans that): default/f1',
    );
    expect(last).not.toContain('deleted');
  });

  test('of classes that -f lacks, those are said to stay that Clusters use', async () => {
    const renamed = join(folder, 'renamed-class.json');
    const isClass = ({ kind }: JsonObject) => kind === 'ClusterClass';
    const [fleet] = items.filter(isClass);
    const metadata = { ...objectAt(fleet, 'metadata'), name: 'other' };
    writeFileSync(renamed, list(items.map((object) => (isClass(object) ? { ...object, metadata } : object))));
    const note = `ClusterClasses of --from that are not in -f stay, since Clusters use them: default/${nameOf(fleet!)}\n`;
    expect((await outcomeOf('--from', from, '-f', renamed)).stderr).toContain(note);
    expect((await outcomeOf('--from', from, '-f', to)).stderr).not.toContain('ClusterClasses');
    writeFileSync(renamed, list(items.filter((object) => !isClass(object))));
    expect((await outcomeOf('--from', from, '-f', renamed)).stderr).not.toContain('ClusterClasses');
  });

  test('--prune plans their deletion', async () => {
    const { verdicts, last } = await outcomeOf('--from', from, '-f', to, '--prune');
    expect({ verdicts, last }).toEqual({
      verdicts: ['control-plane deleted', 'md-0 deleted', 'md-1 deleted'],
      last: '0 of 6 Machines are replaced, 6 deleted',
    });
  });
});

/** A reference to a variable, as shells and envsubst have it. */
const variableNamed = (name: string) => `\${${name}}`;

describe('files that have to be rendered first', () => {
  test.each<[file: string, text: string, expected: string]>([
    [
      'kustomization.yaml',
      'resources: [cluster.yaml]\n',
      'is a kustomization: render it first: kubectl kustomize FOLDER | extensionconfig-webhook plan -f -',
    ],
    [
      'helm.yaml',
      'apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata:\n  name: {{ .Values.name }}\n',
      'is a template of Helm: render it first: helm template CHART | extensionconfig-webhook plan -f -',
    ],
    [
      'cluster.yaml',
      `apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata:\n  name: ${variableNamed('CLUSTER_NAME')}\n`,
      'is a template with variables of clusterctl or envsubst: render it first: clusterctl generate yaml --from FOLDER/cluster.yaml | extensionconfig-webhook plan -f -',
    ],
  ])('%s: one message with the command, exit code 1', async (file, text, expected) => {
    const { from, to } = foldersOf(folder, { ...named('audit-level'), name: `render-${file}` });
    writeFileSync(join(to, file), text);
    const { code, stderr } = await runProgram(['plan', '--from', from, '-f', to]);
    expect(stderr.replaceAll(to, 'FOLDER')).toBe(`plan: FOLDER/${file} ${expected}\n`);
    expect(code).toBe(1);
  });

  test('variables of a shell, and templates of a ClusterClass, are none', async () => {
    const { from, to } = foldersOf(folder, { ...named('audit-level'), name: 'shell' });
    const { items } = JSON.parse(readFileSync(join(to, 'all.yaml'), 'utf8')) as { items: JsonObject[] };
    const template = items.find(({ kind }) => kind === 'KubeadmConfigTemplate')!;
    objectAt(template, 'spec', 'template', 'spec').preKubeadmCommands = [
      `echo ${variableNamed('HOSTNAME')} {{ ds.meta_data.hostname }}`,
    ];
    writeFileSync(join(to, 'all.yaml'), list(items));
    expect((await runProgram(['plan', '--from', from, '-f', to])).stderr).toBe('');
  });
});
