import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runProgram } from './io.ts';

const folder = mkdtempSync(join(tmpdir(), 'plan-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

const secret = 'tr0ub4dor-and-3';

/** The sample, where workers have a file and a field with the value of a variable. */
function sample(value: string): string {
  const [cluster = '', classes = ''] = ['cluster', 'class'].map((name) =>
    readFileSync(`manifests/samples/plan/${name}.yaml`, 'utf8'),
  );
  const written = classes.replaceAll('nodeLabel', 'dbPassword').replace(
    'jsonPatches:',
    `jsonPatches:
            - op: add
              path: /spec/template/spec/files
              valueFrom:
                template: '[{"path":"/etc/a","content":"mode=a\\nlevel={{ .dbPassword }}\\n"}]'
            - op: add
              path: /spec/template/spec/ntp
              valueFrom:
                template: '{"servers":["ntp.example.com","{{ .dbPassword }}"]}'`,
  );
  const file = join(folder, `${value === '' ? 'from' : 'to'}.yaml`);
  writeFileSync(
    file,
    `${cluster.replace('name: nodeLabel\n        value: ""', `name: dbPassword\n        value: "${value}"`)}---\n${written}`,
  );
  return file;
}

const args = ['plan', '--from', sample(''), '-f', sample(secret)];
const allIn = (name: string): string =>
  readdirSync(join(folder, name), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => readFileSync(join(one.parentPath, one.name), 'utf8'))
    .join('\n');

test.each([
  'text',
  'markdown',
  'json',
  'html',
])('a secret is in no output, and it is said which lines differ: %s', async (output) => {
  const { code, stdout, stderr } = await runProgram([...args, '-o', output]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).not.toContain(secret);
  expect(stdout).toContain('(2 lines, 29 characters)');
});

test('--show-values shows what is around it', async () => {
  const { stdout } = await runProgram([...args, '--show-values']);
  expect(stdout).not.toContain(secret);
  expect(stdout).toContain('mode=a');
  expect(stdout).toContain('level=(not shown)');
});

test('nor is it in what is written to folders, from which a plan can be made again', async () => {
  const [record, write] = [join(folder, 'record'), join(folder, 'write')];
  const recorded = await runProgram([...args, '--record', record]);
  expect(recorded.stdout).toContain('0 of 3 Machines are replaced');
  expect(allIn('record')).not.toContain(secret);
  expect(allIn('record')).toContain('{{ .dbPassword }}');
  expect((await runProgram(['plan', '--recorded', record])).stdout).toContain('0 of 3 Machines are replaced');
  await runProgram([...args, '--write', write]);
  expect(allIn('write')).not.toContain(secret);
  expect(allIn('write')).toContain('ntp.example.com');
});

test('nor in errors', async () => {
  const broken = sample(secret).replace('.yaml', '-broken.yaml');
  writeFileSync(
    broken,
    readFileSync(sample(secret), 'utf8').replaceAll(/\{\{ ne .*? \}\}/g, '{{ .dbPassword | fail }}'),
  );
  const { code, stdout, stderr } = await runProgram(['plan', '--from', sample(''), '-f', broken]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/error calling fail: \(not\s+shown\)/);
  expect(stdout + stderr).not.toContain(secret);
});
