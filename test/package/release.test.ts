import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, inject, onTestFinished, test, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { renderManifests } from '../../tools/release/manifests.ts';
import { readOptions, UsageProblem } from '../../tools/release/options.ts';
import { withVersion } from '../../tools/release/version-places.ts';
import { needs } from '../support/needs.ts';
import { type Installed, installedPackages, repository, runRelease } from './installed.ts';
import { version as checkedOut, projectFolder, run, runWell } from './tree.ts';

let installed: Installed;

beforeAll(async () => {
  installed = await installedPackages();
}, 300_000);

const image = 'ghcr.io/acme/extensionconfig-webhook';

const read = (file: string) => readFileSync(join(installed.packed, file), 'utf8');
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

/** A new folder of this test run. */
function newFolder(name: string): string {
  const folder = join(inject('runFolder'), name);
  mkdirSync(folder);
  return folder;
}

/** A folder with the programs that a release needs, but kubectl. */
function pathWithoutKubectl(): string {
  const folder = newFolder('without-kubectl');
  const isThere = (path: string) => existsSync(path);
  for (const name of ['git', 'sh', 'npm']) {
    const found = (process.env.PATH ?? '')
      .split(':')
      .map((one) => join(one, name))
      .find(isThere);
    if (found !== undefined) {
      symlinkSync(found, join(folder, name));
    }
  }
  symlinkSync(process.execPath, join(folder, 'node'));
  return folder;
}

/** What a clone of this checkout would have, with its packages. */
function copyCheckout(): string {
  const folder = newFolder('another-checkout');
  for (const path of ['bin', 'docs', 'manifests', 'src', 'templates', 'tools']) {
    cpSync(join(projectFolder, path), join(folder, path), { recursive: true });
  }
  for (const file of readdirSync(projectFolder, { withFileTypes: true }).filter((entry) => entry.isFile())) {
    cpSync(join(projectFolder, file.name), join(folder, file.name));
  }
  symlinkSync(join(projectFolder, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

test('from another folder a release is the same, byte by byte; without kubectl it lacks the manifests; --write changes the checkout', {
  timeout: 300_000,
}, async () => {
  const checkout = copyCheckout();
  const folder = join(checkout, 'release');
  const REVISION = readFileSync(join(installed.program, 'node_modules/extensionconfig-webhook/commit'), 'utf8');
  const { code, stderr } = await runRelease(checkout, [installed.version, '--write', '--output', folder], {
    PATH: pathWithoutKubectl(),
    REVISION,
  });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'incomplete: kubectl, which renders install.yaml and the overlays, is not on the PATH\n',
  });
  const files = readdirSync(folder).filter((file) => file !== 'SHA256SUMS');
  expect(files).toEqual([
    ...[`cluster-api-extension-${installed.version}.cdx.json`, `cluster-api-extension-${installed.version}.tgz`],
    ...[`extensionconfig-webhook-${installed.version}.cdx.json`, `extensionconfig-webhook-${installed.version}.tgz`],
    ...[`image-${installed.version}.cdx.json`, 'krew.yaml', 'release-notes.md'],
  ]);
  for (const file of files) {
    expect(readFileSync(join(folder, file)).equals(readFileSync(join(installed.packed, file))), file).toBe(true);
  }
  expect(JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'))).toHaveProperty('version', installed.version);
  expect(readFileSync(join(checkout, 'CHANGELOG.md'), 'utf8')).toMatch(
    new RegExp(`^## \\[Unreleased\\]\\n\\n## \\[${installed.version}\\] - \\d{4}-\\d\\d-\\d\\d\\n\\n`, 'm'),
  );
  expect(withVersion(checkout, installed.version, checkedOut)).toEqual(
    new Map(
      [...withVersion(projectFolder, checkedOut, installed.version).keys()].map((path) => [
        path,
        readFileSync(join(projectFolder, path), 'utf8'),
      ]),
    ),
  );
});

test('rendered again, the manifests are the same', needs('kubectl'), () => {
  const edits = withVersion(projectFolder, checkedOut, installed.version);
  const rendered = renderManifests(projectFolder, edits, { name: image, tag: installed.version });
  expect([...rendered.keys()].toSorted()).toEqual(
    readdirSync(installed.packed).filter((file) => file.endsWith('.yaml') && file !== 'krew.yaml'),
  );
  for (const [file, text] of rendered) {
    expect(text, file).toBe(read(file));
    const images = [...text.matchAll(/^ +(?:- )?image: (\S+)$/gm)].map(([, name]) => name);
    expect(new Set(images), file).toEqual(new Set(images.length > 0 ? [`${image}:${installed.version}`] : []));
  }
});

test('SHA256SUMS has every file', () => {
  const sums = readdirSync(installed.packed)
    .filter((file) => file !== 'SHA256SUMS')
    .map((file) => `${sha256(readFileSync(join(installed.packed, file)))}  ${file}`);
  expect(read('SHA256SUMS').trimEnd().split('\n')).toEqual(sums);
});

test('the installed packages and bills of materials say the version, and where the project is', async () => {
  const addresses = {
    homepage: `${repository}#readme`,
    bugs: `${repository}/issues`,
    repository: { type: 'git', url: `git+${repository}.git` },
  };
  for (const [consumer, name] of [
    ['program', 'extensionconfig-webhook'],
    ['sdk', 'cluster-api-extension'],
  ] as const) {
    const text = readFileSync(join(installed[consumer], 'node_modules', name, 'package.json'), 'utf8');
    expect(JSON.parse(text)).toMatchObject({ name, version: installed.version, ...addresses });
    const bill = JSON.parse(read(`${name}-${installed.version}.cdx.json`)) as { metadata: { component: object } };
    expect(bill.metadata.component).toMatchObject({ name, version: installed.version });
  }
  expect(readFileSync(join(projectFolder, 'package.json'), 'utf8')).not.toMatch(/"(repository|homepage|bugs)"/);
  const program = join(installed.program, 'node_modules/.bin/extensionconfig-webhook');
  expect(await runWell(installed.program, program, ['--version'])).toContain(`webhook ${installed.version} (`);
});

test('nothing that is published has another version of this project', () => {
  const folder = join(installed.program, 'node_modules/extensionconfig-webhook');
  const others = globSync('{README.md,manifests/**/*.yaml,templates/**/manifests/*.yaml}', { cwd: folder }).flatMap(
    (path) => {
      const named = readFileSync(join(folder, path), 'utf8').matchAll(
        /(?:extensionconfig-webhook[:-]|cluster-api-extension-|newTag: |bootstrap-(?:crd-)?)(\d+[.-]\d+[.-]\d+)/g,
      );
      return [...named].map(([, version]) => version?.replaceAll('-', '.'));
    },
  );
  expect(others.length).toBeGreaterThan(5);
  expect(new Set(others)).toEqual(new Set([installed.version]));
});

/** Where krew puts a plugin, and the link that kubectl finds; krew's own steps, without a network. */
async function installPlugin(home: string): Promise<void> {
  const manifest = parse(read('krew.yaml')) as {
    metadata: { name: string };
    spec: {
      version: string;
      platforms: { uri: string; sha256: string; files: { from: string; to: string }[]; bin: string }[];
    };
  };
  const [platform] = manifest.spec.platforms;
  const archive = join(installed.packed, String(platform?.uri.split('/').at(-1)));
  expect(sha256(readFileSync(archive))).toBe(platform?.sha256);
  const unpacked = join(home, 'unpacked');
  const store = join(home, 'store', manifest.metadata.name, manifest.spec.version);
  mkdirSync(unpacked);
  await runWell(unpacked, 'tar', ['-xzf', archive]);
  for (const { from, to } of platform?.files ?? []) {
    for (const path of globSync(from, { cwd: unpacked })) {
      cpSync(join(unpacked, path), join(store, to, path.slice(dirname(from).length)), { recursive: true });
    }
  }
  mkdirSync(join(home, 'bin'));
  symlinkSync(join(store, String(platform?.bin)), join(home, 'bin', `kubectl-${manifest.metadata.name}`));
}

test('kubectl finds and runs the plugin as krew installs it', needs('kubectl'), async () => {
  const home = newFolder('krew');
  await installPlugin(home);
  const PATH = [join(home, 'bin'), dirname(process.execPath), process.env.PATH].join(':');
  const { stdout } = await run(home, 'kubectl', ['extensionconfig', '--version'], { PATH });
  expect(stdout).toContain(installed.version);
  expect((await run(home, 'kubectl', ['plugin', 'list'], { PATH })).stdout).toContain(
    join(home, 'bin/kubectl-extensionconfig'),
  );
});

test('the installed sandbox decides as an installation does, and takes install.yaml', {
  ...needs('kubectl'),
  timeout: 120_000,
}, async () => {
  const kubeconfig = join(installed.program, 'kubeconfig-release');
  const main = join(installed.program, 'node_modules/extensionconfig-webhook/main.js');
  const child = spawn(process.execPath, [main, 'sandbox', '--write-kubeconfig', kubeconfig], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const kubectl = (...args: string[]) => run(installed.packed, 'kubectl', ['--kubeconfig', kubeconfig, ...args]);
  await vi.waitFor(
    async () => expect((await kubectl('get', 'extensionconfigs')).stdout).toContain('sample-extension'),
    { timeout: 60_000, interval: 500 },
  );
  const script = join(projectFolder, 'test/e2e/installed.sh');
  expect(await run(projectFolder, 'sh', [script], { KUBECONFIG: kubeconfig })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
  const count = parseAllDocuments(read('install.yaml')).length;
  const applied = await kubectl('apply', '-f', 'install.yaml');
  expect([applied.code, applied.stdout.trim().split('\n').length], applied.stderr).toEqual([0, count]);
});

test.each([
  [[], 'name one version'],
  [['1.0.0', '1.0.1'], 'name one version'],
  [['1.0'], '1.0 is not a version: write MAJOR.MINOR.PATCH, without v and +'],
  [['1.0.0', '--image', 'A b'], '--image A b is not the name of an image'],
  [['v1.0.0'], 'v1.0.0 is not a version: write MAJOR.MINOR.PATCH, without v and +'],
  [
    ['1.0.0', '--repository', 'acme/webhook'],
    '--repository acme/webhook is not an address: write https://HOST/OWNER/NAME',
  ],
  [
    ['1.0.0', '--output', 'docs'],
    `${join(projectFolder, 'docs')} has other files than those of an earlier release: name another folder`,
  ],
])('%j is a usage error', (args, message) => {
  const read = () => readOptions(projectFolder, args);
  expect(read).toThrow(UsageProblem);
  expect(read).toThrow(message);
});

test('a usage error ends with 2 and the usage', async () => {
  const { code, stdout, stderr } = await runRelease(projectFolder, ['1.0.0', '--publish']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^Unknown option '--publish'.*\nusage: npm run release -- VERSION /s);
});

test('a change that breaks users and is not in the changelog ends the release', async () => {
  const folder = newFolder('breaking');
  for (const path of ['package.json', 'CHANGELOG.md', 'docs/api', 'tools', 'src/exports/node-version.ts']) {
    cpSync(join(projectFolder, path), join(folder, path), { recursive: true });
  }
  symlinkSync(join(projectFolder, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'CHANGELOG.md'), '## [Unreleased]\n\n- **Breaking:** something else.\n');
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'tag.gpgSign=false'];
  await runWell(folder, 'git', ['init', '--quiet']);
  await runWell(folder, 'git', ['add', 'docs', 'CHANGELOG.md']);
  await runWell(folder, 'git', [...identity, 'commit', '--quiet', '--no-gpg-sign', '--message', 'a']);
  await runWell(folder, 'git', [...identity, 'tag', 'v97.0.0']);
  const report = join(folder, 'docs/api/extensionconfig-webhook.program.txt');
  const text = readFileSync(report, 'utf8');
  writeFileSync(report, text.replace(/^flag \S+ lint --quiet:.*\n/m, ''));
  expect(readFileSync(report, 'utf8')).not.toBe(text);
  const { code, stderr } = await run(folder, process.execPath, ['tools/release/release.ts', '98.0.0']);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `since v97.0.0:
docs/api/extensionconfig-webhook.program.txt: flag extensionconfig-webhook lint --quiet is gone, and CHANGELOG.md lacks an entry that begins with **Breaking:** and names --quiet
`,
  });
});
