import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { version } from '../../package/tree.ts';
import { runProgram } from './io.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'new-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

const create = (...args: string[]) => runProgram(['new-extension', ...args]);
const read = (path: string) => readFileSync(join(folder, path), 'utf8');

test('writes a project, lists its files, and says what to do next', async () => {
  const project = join(folder, 'backups');
  const { code, stdout, stderr } = await create(project);
  expect([code, stderr]).toEqual([0, '']);
  const written = readdirSync(project, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  expect(stdout.split('\n\n')[0]?.split('\n').sort()).toEqual(written.sort());
  expect(stdout).toContain(
    `Next, with Node.js 22.18 or newer: cd ${project} && npm install && npm test && npm run dev\nnpm installs cluster-api-extension ^${version} from its registry. To use a checkout, run "npm run pack -- DIR"`,
  );
  const { name, dependencies } = JSON.parse(read('backups/package.json'));
  expect([name, dependencies['cluster-api-extension']]).toEqual(['backups', `^${version}`]);
  expect(readdirSync(join(project, 'src/handlers')).sort()).toEqual(['before-cluster-upgrade.ts', 'index.ts']);
});

test('packed packages are found from the project, too, and said to be missing in the image', async () => {
  const packages = join(folder, 'packages');
  mkdirSync(packages);
  const names = ['cluster-api-extension', 'extensionconfig-webhook'];
  const [sdk, program] = names.map((name) => join(packages, `${name}-${version}.tgz`)) as [string, string];
  writeFileSync(sdk, '');
  const incomplete = await create(join(folder, 'a/b/near'), '--packages', relative('.', packages));
  expect([incomplete.code, incomplete.stderr]).toEqual([2, expect.stringContaining(`${program} is missing`)]);
  writeFileSync(program, '');
  const { stdout } = await create(join(folder, 'a/b/near'), '--packages', relative('.', packages));
  expect(JSON.parse(read('a/b/near/package.json'))).toMatchObject({
    dependencies: { 'cluster-api-extension': `file:${sdk}` },
    devDependencies: { 'extensionconfig-webhook': `file:${program}` },
  });
  expect(stdout).toContain('"docker build" sees only the project, not the packed packages');
});

test('takes hooks in one flag or several, each once, another name, and another certificate issuer', async () => {
  const { code } = await create(
    ...[join(folder, 'x'), '--hooks', 'GeneratePatches, BeforeClusterCreate', '--hooks', 'GeneratePatches'],
    ...['--name', 'quota', '--certificates', 'bootstrap'],
  );
  expect(code).toBe(0);
  expect(readdirSync(join(folder, 'x/src/handlers')).sort()).toEqual([
    'before-cluster-create.ts',
    'discover-variables.ts',
    'generate-patches.ts',
    'index.ts',
  ]);
  expect(read('x/src/handlers/index.ts')).toContain('[generatePatches, beforeClusterCreate, discoverVariables]');
  expect(read('x/manifests/certificate.yaml')).toContain('kind: CronJob');
  expect(read('x/manifests/service.yaml')).toContain('name: quota');
});

describe('usage errors have exit code 2, and nothing is written', () => {
  test.each([
    ['no folder', [], "missing required argument 'DIR'"],
    ['an empty folder name', ['', '--name', 'x'], 'DIR is empty: name the folder of the project'],
    ['a misspelled hook', ['DIR', '--hooks', 'BeforeClusterUpgrad'], 'did you mean BeforeClusterUpgrade or '],
    ['an unknown hook', ['DIR', '--hooks', 'Q'], 'the hooks are BeforeClusterCreate, '],
    ['Discovery, which the server answers itself', ['DIR', '--hooks', 'Discovery'], '--hooks'],
    ['no hook', ['DIR', '--hooks', ','], '--hooks: "," is not allowed: name at least one hook'],
    ['an invalid name', ['DIR', '--name', 'My_Extension'], 'the name "My_Extension"'],
    ['a long name', ['DIR', '--name', 'a'.repeat(41)], 'must be no more than 40 characters: choose one with --name'],
    ['a folder whose name is invalid', ['DIR/Backups'], 'the name "Backups"'],
    ['an unknown source of certificates', ['DIR', '--certificates', 'openssl'], 'cert-manager'],
  ])('%s', async (_name, args, message) => {
    const project = join(folder, 'new');
    const { code, stdout, stderr } = await create(...args.map((arg) => arg.replace('DIR', project)));
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
    expect(existsSync(project)).toBe(false);
  });
});

test('a folder of packages with quotes does not break package.json', async () => {
  const packages = join(folder, 'packs", "left": "right');
  mkdirSync(packages);
  for (const name of ['cluster-api-extension', 'extensionconfig-webhook']) {
    writeFileSync(join(packages, `${name}-${version}.tgz`), '');
  }
  expect((await create(join(folder, 'a'), '--packages', packages)).code).toBe(0);
  expect(JSON.parse(read('a/package.json')).dependencies).toEqual({
    'cluster-api-extension': `file:${join(packages, `cluster-api-extension-${version}.tgz`)}`,
  });
});

test.each([
  ['my dir', "cd 'DIR/my dir' && npm"],
  ["it's", "cd 'DIR/it'\\''s' && npm"],
])('the next steps can be copied for the folder %s', async (name, next) => {
  const { stdout } = await create(join(folder, name), '--name', 'x');
  expect(stdout).toContain(next.replace('DIR', folder));
});

describe('never overwrites: exit code 1, and existing files are unchanged', () => {
  test('a folder with a file', async () => {
    writeFileSync(join(folder, 'README.md'), 'mine');
    const { code, stdout, stderr } = await create(folder, '--name', 'x');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`${folder} is not empty (README.md): name a folder that is not there yet`);
    expect([readdirSync(folder), read('README.md')]).toEqual([['README.md'], 'mine']);
  });

  test('a project that it has written', async () => {
    await create(join(folder, 'a'));
    writeFileSync(join(folder, 'a/src/main.ts'), 'mine');
    expect((await create(join(folder, 'a'))).code).toBe(1);
    expect(read('a/src/main.ts')).toBe('mine');
  });

  test('a file of that name, and a folder below a file', async () => {
    writeFileSync(join(folder, 'file'), 'mine');
    for (const [target, why] of [
      [join(folder, 'file'), 'it exists and is not a folder'],
      [join(folder, 'file/new'), 'a part of the path is not a folder'],
    ] as const) {
      const { code, stderr } = await create(target);
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining(`${target} cannot be written: ${why}: choose a folder`),
      ]);
    }
    expect(read('file')).toBe('mine');
  });

  test('but uses an empty folder', async () => {
    mkdirSync(join(folder, 'empty'));
    expect((await create(join(folder, 'empty'))).code).toBe(0);
  });
});
