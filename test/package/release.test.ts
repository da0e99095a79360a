import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, expect, inject, onTestFinished, test, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { incomplete, unpinned } from '../../tools/release/check.ts';
import { clusterctlMetadata, renderManifests } from '../../tools/release/manifests.ts';
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

/** A new folder with some files of this checkout. */
function copyOf(paths: readonly string[]): string {
  const folder = newFolder('pins');
  for (const path of paths) {
    cpSync(join(projectFolder, path), join(folder, path), { recursive: true });
  }
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
    ...[`image-${installed.version}.cdx.json`, 'krew.yaml', 'metadata.yaml', 'release-notes.md'],
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
    readdirSync(installed.packed).filter((file) => file.endsWith('.yaml') && !/^(krew|metadata)\.yaml$/.test(file)),
  );
  for (const [file, text] of rendered) {
    expect(text, file).toBe(read(file));
    const images = [...text.matchAll(/^ +(?:- )?image: (\S+)$/gm)].map(([, name]) => name);
    expect(new Set(images), file).toEqual(new Set(images.length > 0 ? [`${image}:${installed.version}`] : []));
  }
});

test('with a digest, each manifest names the image by it; clusterctl finds its files', needs('kubectl'), () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const rendered = renderManifests(projectFolder, new Map(), { name: image, tag: '1.2.3', digest });
  const images = [...rendered.values()].flatMap((text) =>
    [...text.matchAll(/^ +(?:- )?image: (\S+)$/gm)].map(([, name]) => name),
  );
  expect(new Set(images)).toEqual(new Set([`${image}@${digest}`]));
  const components = String(rendered.get('runtime-extension-components.yaml'));
  // clusterctl would replace variables.
  expect(components).not.toContain('${');
  const objects = parseAllDocuments(components).map((document) => document.toJS());
  expect(objects.filter(({ kind }) => kind === 'Namespace')).toHaveLength(1);
  for (const { metadata } of objects) {
    expect(metadata.labels).toHaveProperty(['cluster.x-k8s.io/provider'], 'runtime-extension-extensionconfig-webhook');
  }
  expect(parse(clusterctlMetadata('1.2.3'))).toEqual({
    apiVersion: 'clusterctl.cluster.x-k8s.io/v1alpha3',
    kind: 'Metadata',
    releaseSeries: [{ major: 1, minor: 2, contract: 'v1beta2' }],
  });
});

test('a release is whole; what is missing, changed or without a digest is said', needs('kubectl'), () => {
  const withoutDigest = /^\S+\.yaml: the image \S+ has no digest: pass --digest$/;
  const problems = [...incomplete(projectFolder, installed.packed, installed.version)];
  expect(problems.filter((line) => !withoutDigest.test(line))).toEqual([]);
  const folder = newFolder('incomplete');
  cpSync(installed.packed, folder, { recursive: true });
  rmSync(join(folder, 'install.yaml'));
  writeFileSync(join(folder, 'krew.yaml'), 'changed');
  writeFileSync(join(folder, 'more'), '');
  const found = [...incomplete(projectFolder, folder, installed.version)].filter((line) => !withoutDigest.test(line));
  expect(found).toEqual([
    'install.yaml is missing',
    'SHA256SUMS has another sum of krew.yaml',
    'SHA256SUMS has no sum of more',
  ]);
});

test('what others can change later is named, with what to do', () => {
  const folder = copyOf(['Dockerfile', 'templates', 'package-lock.json', '.github']);
  const edit = (file: string, change: (text: string) => string) =>
    writeFileSync(join(folder, file), change(readFileSync(join(folder, file), 'utf8')));
  expect(unpinned(folder)).toEqual([]);
  edit('Dockerfile', (text) => text.replace(/@sha256:\w+/, ''));
  edit('templates/extension/Dockerfile', (text) => text.replace(/(RUNTIME_IMAGE=.*)@sha256:\w+/, '$1'));
  edit('.github/workflows/ci.yml', (text) => text.replace(/checkout@\w+ # /, 'checkout@'));
  edit('.github/workflows/e2e.yml', (text) => text.replace(/^.*sha256sum --check\n/m, ''));
  edit('.github/workflows/release.yml', (text) => text.replace('provenance: mode=max', 'provenance: false'));
  edit('package-lock.json', (text) =>
    text.replace(/(\n {4}"node_modules\/yaml": \{[^}]*?)\n {6}"integrity": .*/, '$1'),
  );
  expect(unpinned(folder)).toEqual([
    expect.stringMatching(/^Dockerfile: BUILD_IMAGE=\S+ is not pinned by digest: append @ and the digest /),
    expect.stringMatching(/^templates\/extension\/Dockerfile: RUNTIME_IMAGE=\S+ is not pinned by digest: /),
    expect.stringMatching(/^ci\.yml: the action actions\/checkout@v\S+ is not pinned: write the 40 digits /),
    expect.stringMatching(/^e2e\.yml: step "Cluster API" downloads without a checksum: /),
    expect.stringMatching(/^release\.yml: the image has no provenance/),
    'package-lock.json: node_modules/yaml has no hash, or names a server: install it from the registry',
  ]);
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
  const child = spawn(process.execPath, [main, 'sandbox', '--write', kubeconfig], { stdio: 'ignore' });
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
  [['1.0.0', '--digest', 'abc'], '--digest abc is not a digest: write sha256: and 64 digits'],
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
