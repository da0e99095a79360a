// npm run release -- VERSION: everything that a release publishes, in release/. Changes no file of the checkout without
// --write.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { oldestNode } from '../../src/exports/node-version.ts';
import { buildImage, type ReleaseFacts } from '../build/build-packages.ts';
import { packages } from '../build/packages.ts';
import { writeTarballs } from '../build/tarballs.ts';
import { missingEntries } from './breaking-changes.ts';
import { ReleaseProblem, releaseChangelog } from './changelog.ts';
import { krewManifest } from './krew.ts';
import { lastRelease } from './last-release.ts';
import { hasKubectl, renderManifests } from './manifests.ts';
import { withVersion } from './version-places.ts';

const usage = `usage: npm run release -- VERSION [--repository URL] [--image NAME] [--output DIR] [--write]

Writes what a release publishes into DIR (release/): tarballs, manifests, bills of materials, checksums, notes.

  --repository URL   where the project is published, for package.json and krew.yaml: https://github.com/OWNER/NAME
  --image NAME       the image without its tag (default: ghcr.io/OWNER/NAME on GitHub, extensionconfig-webhook elsewhere)
  --output DIR       a folder that is not there, is empty, or has an earlier release (default: release)
  --write            also writes the version into the files of the checkout, and dates the section of CHANGELOG.md
`;

class UsageProblem extends Error {}

interface Options {
  version: string;
  repository: string | undefined;
  image: string;
  output: string;
  writes: boolean;
}

function imageOf(repository: string | undefined): string {
  const path = /^https:\/\/github\.com\/(.+)$/.exec(repository ?? '')?.[1];
  return path === undefined ? 'extensionconfig-webhook' : `ghcr.io/${path.toLowerCase()}`;
}

function readOptions(args: string[]): Options {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      repository: { type: 'string' },
      image: { type: 'string' },
      output: { type: 'string', default: 'release' },
      write: { type: 'boolean', default: false },
    },
  });
  const [version, ...more] = positionals;
  if (version === undefined || more.length > 0) {
    throw new UsageProblem('name one version');
  }
  // A tag of an image has no +.
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version)) {
    throw new UsageProblem(`${version} is not a version: write MAJOR.MINOR.PATCH, without v and +`);
  }
  const { repository, image = imageOf(repository), output, write: writes } = values;
  if (repository !== undefined && !/^https:\/\/[\w.-]+(\/[\w.-]+)+$/.test(repository)) {
    throw new UsageProblem(`--repository ${repository} is not an address: write https://HOST/OWNER/NAME`);
  }
  if (!/^[a-z0-9.:/_-]+$/.test(image)) {
    throw new UsageProblem(`--image ${image} is not the name of an image`);
  }
  const folder = resolve(process.env.INIT_CWD ?? '.', output);
  const present = existsSync(folder) ? readdirSync(folder) : [];
  if (present.length > 0 && !present.includes('SHA256SUMS')) {
    throw new UsageProblem(`${folder} is not empty, and has no earlier release: name another folder`);
  }
  return { version, repository, image, output: folder, writes };
}

/** The address fields of package.json. */
const addressesOf = (repository: string | undefined): ReleaseFacts['addresses'] =>
  repository === undefined
    ? {}
    : {
        homepage: `${repository}#readme`,
        bugs: `${repository}/issues`,
        repository: { type: 'git', url: `git+${repository}.git` },
      };

const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

/** The bill of materials that a tarball or folder of a package has. */
const billIn = (folder: string) => join(folder, 'sbom.cdx.json');

async function writePackages(folder: string, release: ReleaseFacts): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    await writeTarballs(folder, scratch, release);
    await buildImage(join(scratch, 'image'), release);
    for (const name of [...packages.map((one) => one.name), 'image']) {
      cpSync(billIn(join(scratch, name)), join(folder, `${name}-${release.version}.cdx.json`));
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function writeRelease(root: string, options: Options, release: ReleaseFacts, notes: string): Promise<void> {
  const { version, repository, image, output } = options;
  await writePackages(output, release);
  if (hasKubectl()) {
    for (const [file, text] of renderManifests(root, release.edits, { name: image, tag: version })) {
      writeFileSync(join(output, file), text);
    }
  }
  const krew = krewManifest({
    version,
    oldestNode,
    address: repository ?? 'https://example.com/extensionconfig-webhook',
    sha256: sha256(join(output, `extensionconfig-webhook-${version}.tgz`)),
  });
  writeFileSync(join(output, 'krew.yaml'), krew);
  writeFileSync(join(output, 'release-notes.md'), `${notes}\n`);
  const sums = readdirSync(output)
    .toSorted()
    .map((file) => `${sha256(join(output, file))}  ${file}\n`);
  writeFileSync(join(output, 'SHA256SUMS'), sums.join(''));
}

/** Files whose text speaks of the time before the first release. */
const stillBefore = (root: string, release: ReleaseFacts) =>
  ['README.md', 'tools/build/sdk-readme.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)].filter(
    (path) =>
      path.endsWith('.md') &&
      /(until|after) the \[?first\s+release/i.test(release.edits.get(path) ?? readFileSync(join(root, path), 'utf8')),
  );

async function main(root: string, args: string[]): Promise<void> {
  const options = readOptions(args);
  const { version, repository, output, writes } = options;
  const { version: current } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const today = new Date().toISOString().slice(0, 10);
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const { text, notes } = releaseChangelog(changelog, version, today);
  const last = lastRelease(root, version);
  if (last !== undefined) {
    const missing = missingEntries(last.reports, reportsOf(root), notes);
    if (missing.length > 0) {
      throw new ReleaseProblem([`since ${last.tag}:`, ...missing].join('\n'));
    }
  }
  const edits = withVersion(root, current, version);
  const release: ReleaseFacts = { version, addresses: addressesOf(repository), edits };
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  await writeRelease(root, options, release, notes);
  const changed = text === changelog ? edits : new Map([...edits, ['CHANGELOG.md', text]]);
  if (writes) {
    for (const [path, edited] of changed) {
      writeFileSync(join(root, path), edited);
    }
  }
  const say = (line: string) => process.stdout.write(`${line}\n`);
  say(`${version}, ${last === undefined ? 'the first release' : `after ${last.tag}`}: ${output}`);
  if (changed.size > 0) {
    say(`${writes ? 'changed' : 'unchanged (--write changes them)'}: ${[...changed.keys()].join(', ')}`);
  }
  if (repository === undefined) {
    say('no --repository: package.json has no address, krew.yaml has that of example.com');
  }
  for (const path of stillBefore(root, release)) {
    say(`${path} still says what to do until the first release`);
  }
  if (!existsSync(join(output, 'install.yaml'))) {
    throw new ReleaseProblem('incomplete: kubectl, which renders install.yaml and the overlays, is not on the PATH');
  }
}

function reportsOf(root: string): Map<string, string> {
  const folder = join(root, 'docs/api');
  return new Map(readdirSync(folder).map((file) => [file, readFileSync(join(folder, file), 'utf8')]));
}

try {
  await main(fileURLToPath(new URL('../../', import.meta.url)), process.argv.slice(2));
} catch (error) {
  const isUsage = error instanceof UsageProblem || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS');
  if (!isUsage && !(error instanceof ReleaseProblem)) {
    throw error;
  }
  process.stderr.write(`${(error as Error).message}\n${isUsage ? usage : ''}`);
  process.exitCode = isUsage ? 2 : 1;
}
