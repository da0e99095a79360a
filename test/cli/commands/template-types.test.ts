import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { labTemplate } from '../../extension/scaffold/crds.ts';
import { runProgram } from './io.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'types-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  file = join(folder, 'crd.yaml');
  writeFileSync(file, JSON.stringify(labTemplate({ v1: { type: 'object' } })));
});

test('types are printed, and a new project gets the same', async () => {
  const { code, stdout, stderr } = await runProgram(['template-types', file]);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('export interface LabMachineTemplate {');
  const project = join(folder, 'lab');
  const created = await runProgram(['new-extension', project, '--hooks', 'GeneratePatches', '--crds', file]);
  expect(created.code).toBe(0);
  expect(readFileSync(join(project, 'src/template-types.ts'), 'utf8')).toBe(stdout);
});

test.each<[string, (path: string) => string[], RegExp]>([
  ['no file', () => ['template-types'], /missing required argument 'FILE'/],
  ['a file that is not there', (path) => ['template-types', `${path}x`], /crd\.yamlx: .*does not exist|no such file/],
  ['no definition', () => ['template-types', 'package.json'], /there is no CustomResourceDefinition/],
  [
    'no definition for a project',
    (path) => ['new-extension', `${path}-lab`, '--name', 'lab', '--crds', 'package.json'],
    /there is no Custom/,
  ],
])('%s: exit code 2', async (_, args, message) => {
  const { code, stderr } = await runProgram(args(file));
  expect(stderr).toMatch(message);
  expect(code).toBe(2);
});
