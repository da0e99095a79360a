import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { runProgram } from './io.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'escapes-'));
  const created = folder;
  onTestFinished(() => rmSync(created, { recursive: true }));
});

const names = ['../../victim/a', '..', '.', 'a/b', 'a%2fb', 'x'.repeat(254)];
const object = (kind: string, apiVersion: string, metadata: object) =>
  JSON.stringify({ apiVersion, kind, metadata, spec: {} });

describe.each(['name', 'namespace'])('metadata.%s that is not a name of Kubernetes is refused', (field) => {
  const of = (kind: string, apiVersion: string, name: string) => {
    const file = join(folder, 'evil.yaml');
    writeFileSync(file, `# first\n${object(kind, apiVersion, { name: 'a', namespace: 'b', [field]: name })}\n`);
    return file;
  };
  const problem = (name: string) => `:2: metadata.${field}: "${name.slice(0, 80)}`;

  test.each(names)('by plan, which writes nothing: %s', async (name) => {
    const file = of('Cluster', 'cluster.x-k8s.io/v1beta2', name);
    const from = 'manifests/samples/plan';
    const { code, stdout, stderr } = await runProgram([
      'plan',
      '--from',
      from,
      '-f',
      file,
      '--write',
      join(folder, 'a/b/out'),
    ]);
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain(`evil.yaml${problem(name)}`);
    expect(readdirSync(folder).filter((made) => made !== 'a' && made !== 'evil.yaml')).toEqual([]);
  });

  test.each([
    ['lint', '-f'],
    ['convert', '-f'],
    ['discover', '-f'],
    ['rehearse', '-f'],
    ['conformance', '-f'],
    ['template-types'],
  ])('by %s', async (...args) => {
    const file = of('ExtensionConfig', 'runtime.cluster.x-k8s.io/v1alpha1', '../a');
    const { code, stdout, stderr } = await runProgram([...args, file]);
    expect(code).not.toBe(0);
    expect(stdout + stderr).toMatch(
      /evil\.yaml:2(?::\d+)?: .*metadata\.(?:name|namespace): "\.\.\/a" is not a name of Kubernetes/,
    );
  });
});

const old = object('ExtensionConfig', 'runtime.cluster.x-k8s.io/v1alpha1', { name: 'a' });

test.each([
  [['lint', '--fix']],
  [['convert', '--write']],
])('%j of a folder does not write through a link out of it, and does through one in it', async (args) => {
  mkdirSync(join(folder, 'in'));
  writeFileSync(join(folder, 'out.yaml'), old);
  writeFileSync(join(folder, 'in/target.yaml'), old);
  symlinkSync('../out.yaml', join(folder, 'in/link.yaml'));
  symlinkSync('target.yaml', join(folder, 'in/inner.yaml'));
  const { code, stdout, stderr } = await runProgram([...args, join(folder, 'in')]);
  expect(readFileSync(join(folder, 'out.yaml'), 'utf8')).toBe(old);
  expect(readFileSync(join(folder, 'in/target.yaml'), 'utf8')).not.toBe(old);
  expect(lstatSync(join(folder, 'in/inner.yaml')).isSymbolicLink()).toBe(true);
  expect(stdout + stderr).toContain('is a symbolic link to a file outside of its folder: name that file itself');
  expect(code).not.toBe(0);
});
